"""One member trained step by step with PyTorch autograd, the way the authors' code does it.

The reference that speed is measured against, and, with dropout off and the same batches, the oracle that the kernels
are compared with. It is written for reading, not for speed: η is evaluated at every step, and a row and its
partner go through φ one after the other.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812


class AutogradMember:
    """φ and η as modules, trained by `torch.optim.SGD`.

    weights, bias : φ's start; mapping_weights : η's; all as NumPy arrays with columns first
    """

    def __init__(
        self,
        weights: np.ndarray,
        bias: np.ndarray,
        mapping_weights: np.ndarray,
        *,
        learning_rate: float = 0.1,
        momentum: float = 0.9,
        max_grad_norm: float = 0.1,
        dropout: float = 0.1,
        distance_weight: float = 1.0,
        novelty_weight: float = 1.0,
        inner_product: str = "l1",
    ) -> None:
        n_columns, n_components = weights.shape
        linear = nn.Linear(n_columns, n_components)
        with torch.no_grad():
            linear.weight.copy_(torch.from_numpy(weights.T))
            linear.bias.copy_(torch.from_numpy(bias))
        self.phi = nn.Sequential(linear, nn.LeakyReLU(0.2), nn.Dropout(dropout))
        frozen = nn.Linear(n_columns, mapping_weights.shape[1], bias=False)
        with torch.no_grad():
            frozen.weight.copy_(torch.from_numpy(mapping_weights.T))
        self.eta = nn.Sequential(frozen, nn.LeakyReLU(0.25)).requires_grad_(False)
        self.optimiser = torch.optim.SGD(self.phi.parameters(), lr=learning_rate, momentum=momentum)
        self.max_grad_norm = max_grad_norm
        self.distance_weight, self.novelty_weight = distance_weight, novelty_weight
        self.normalise = inner_product == "l1"

    def step(self, rows: Tensor, partners: Tensor) -> float:
        """Take one step on a batch of rows and their partners; returns the loss."""
        phi_i, phi_j = self.phi(rows), self.phi(partners)
        eta_i, eta_j = self.eta(rows), self.eta(partners)
        loss = self.novelty_weight * F.mse_loss(phi_i, eta_i)
        if self.distance_weight:
            if self.normalise:
                phi_i, phi_j, eta_i, eta_j = (F.normalize(v, p=1, dim=1) for v in (phi_i, phi_j, eta_i, eta_j))
            predicted, wanted = (phi_i * phi_j).sum(dim=1), (eta_i * eta_j).sum(dim=1)
            loss = loss + self.distance_weight * F.mse_loss(predicted, wanted)
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.phi.parameters(), self.max_grad_norm)
        self.optimiser.step()
        return float(loss.detach())

    def train(self, rows: np.ndarray, n_steps: int, batch_size: int, seed: int = 0) -> None:
        """Take steps on random batches, each row with a partner from the same batch."""
        table = torch.from_numpy(rows)
        generator = torch.Generator().manual_seed(seed)
        for _ in range(n_steps):
            batch = table[torch.randint(len(table), (batch_size,), generator=generator)]
            self.step(batch, batch[torch.randperm(batch_size, generator=generator)])

    def parameters(self) -> tuple[np.ndarray, np.ndarray]:
        """φ's weights (n_columns, n_components) and bias."""
        linear = self.phi[0]
        return linear.weight.detach().numpy().T, linear.bias.detach().numpy()
