"""The paper's representation learning step by step with PyTorch autograd on dense rows: reference and oracle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from rdplearn._model.decoder import Decoder
from rdplearn._model.representation import Representation


def linear_layer(weights: np.ndarray, bias: np.ndarray | None) -> nn.Linear:
    """A layer with given weights, (n_out, n_in)."""
    layer = nn.Linear(weights.shape[1], weights.shape[0], bias=bias is not None)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weights))
        if bias is not None:
            layer.bias.copy_(torch.from_numpy(bias))
    return layer


class LearnedCoder(NamedTuple):
    """What was learned, as arrays."""

    phi: Representation
    decoder: Decoder | None


class AutogradCoder:
    """φ, η and the decoder as modules, trained by `torch.optim.SGD` with the paper's setting."""

    def __init__(
        self, phi: Representation, mapping_weights: np.ndarray, decoder: Decoder | None, *, dropout: float = 0.1
    ) -> None:
        self.phi = nn.Sequential(linear_layer(phi.weights.T, phi.bias), nn.LeakyReLU(0.2), nn.Dropout(dropout))
        self.eta = nn.Sequential(linear_layer(mapping_weights.T, None), nn.LeakyReLU(0.25)).requires_grad_(False)
        self.decoder = None if decoder is None else linear_layer(decoder.weights, decoder.bias)
        self.parameters = [*self.phi.parameters(), *(self.decoder.parameters() if self.decoder else [])]
        self.optimiser = torch.optim.SGD(self.parameters, lr=0.1, momentum=0.9)

    def step(self, rows: Tensor, partners: Tensor) -> float:
        """Take one step on a batch of rows and their partners; returns the loss."""
        phi_i, phi_j = self.phi(rows), self.phi(partners)
        wanted = [F.normalize(self.eta(batch), p=1, dim=1) for batch in (rows, partners)]
        predicted = [F.normalize(phi, p=1, dim=1) for phi in (phi_i, phi_j)]
        loss = F.mse_loss((predicted[0] * predicted[1]).sum(dim=1), (wanted[0] * wanted[1]).sum(dim=1))
        if self.decoder is not None:
            loss = loss + F.mse_loss(self.decoder(phi_i), rows)
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, 0.1)
        self.optimiser.step()
        return float(loss.detach())

    def train(self, rows: np.ndarray, n_steps: int, batch_size: int, seed: int = 0) -> None:
        """Take steps on random batches, each row with a partner from the same batch."""
        table = torch.from_numpy(rows)
        generator = torch.Generator().manual_seed(seed)
        for _ in range(n_steps):
            batch = table[torch.randint(len(table), (batch_size,), generator=generator)]
            self.step(batch, batch[torch.randperm(batch_size, generator=generator)])

    def coder(self) -> LearnedCoder:
        """φ and decoder as arrays."""
        linear = self.phi[0]
        phi = Representation(linear.weight.detach().numpy().T, linear.bias.detach().numpy())
        if self.decoder is None:
            return LearnedCoder(phi, None)
        return LearnedCoder(phi, Decoder(self.decoder.weight.detach().numpy(), self.decoder.bias.detach().numpy()))
