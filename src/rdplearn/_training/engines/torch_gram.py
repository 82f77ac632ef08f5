"""Learning features from all distances of a batch in PyTorch: any network, any loss, any device.

With the default φ and loss the result is that of `gram.py` up to rounding.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor

from rdplearn._model.losses import SMALLEST_NORM
from rdplearn._model.representation import Representation
from rdplearn._training import random_stream
from rdplearn._training.engines.torch_device import CompiledOrNot, find_device
from rdplearn._training.engines.torch_losses import AuxiliaryLoss, DistanceLoss
from rdplearn._training.engines.torch_networks import (
    LeakyLayers,
    OwnNetworks,
    StackedPhi,
    as_arrays,
    fill,
    numbered,
    seeded,
)
from rdplearn._training.engines.torch_rows import sparse_block
from rdplearn._training.gram import GramSettings, StepRate
from rdplearn._training.task import Phi
from rdplearn._training.torch_options import TorchSettings
from rdplearn._types import Floats, Rows


class TorchGramSteps:
    """Train `phi`; `finish` puts the result into it. distance_weight : of the distance prediction loss."""

    def __init__(self, phi: Phi, settings: GramSettings, wanted: TorchSettings, distance_weight: float) -> None:
        self.settings, self.wanted = settings, wanted
        self.device = find_device(wanted.device)
        is_ours = isinstance(phi, Representation)
        self.phi: StackedPhi = (
            LeakyLayers([phi], self.device, settings.slope) if is_ours else OwnNetworks([phi], self.device)
        )
        is_linear = isinstance(phi, Representation) and settings.slope == 1 and not phi.deeper
        self.parameters = self.phi.parameters[:1] if is_linear else self.phi.parameters  # linear features have no bias
        self.momenta = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.rate = StepRate(phi.n_components, settings)
        self.distance_loss = DistanceLoss(wanted.distance_loss)
        self.auxiliary = {name: AuxiliaryLoss(name, loss) for name, (loss, _) in wanted.auxiliary_losses.items()}
        self.weights = {"distance": distance_weight}
        self.weights |= {name: float(weight) for name, (_, weight) in wanted.auxiliary_losses.items()}
        self.losses = CompiledOrNot(self._losses) if wanted.compile else self._losses

    def step(self, number: int, rows: Rows, kernel: Floats) -> dict[str, float]:
        """Take step `number`, counted from 1."""
        with seeded(number):
            losses = self.losses(
                self.on_device(rows), torch.from_numpy(kernel).to(self.device), self.partner(number, len(kernel))
            )
            total = cast(Tensor, sum(self.weights[name] * loss.sum() for name, loss in losses.items()))
            gradients = torch.autograd.grad(total, self.parameters)
        with torch.no_grad():
            square = float(torch.stack([gradient.square().sum() for gradient in gradients]).sum())
            rate = self.rate(number, square)
            for parameter, momenta, gradient in zip(self.parameters, self.momenta, gradients, strict=True):
                momenta.mul_(self.settings.momentum).add_(gradient)
                parameter.sub_(momenta, alpha=rate)
        return {f"{name}_loss": float(loss.detach()) for name, loss in losses.items()}

    def _losses(self, rows: Tensor, kernel: Tensor, partner: Tensor) -> dict[str, Tensor]:
        """All losses of one batch. rows : (1, n_rows, n_columns); kernel : (n_rows, n_rows); partner : (1, n_rows)."""
        phi = self.phi(rows)  # (1, n_rows, n_components)
        compared = unit_rows(phi[0]) if self.settings.unit else phi[0]
        predicted, wanted = off_diagonal(compared @ compared.T), off_diagonal(kernel)
        losses = {"distance": self.distance_loss(predicted[None], wanted[None])}
        return losses | {name: loss(rows, phi, kernel[None], partner) for name, loss in self.auxiliary.items()}

    def partner(self, number: int, n_rows: int) -> Tensor:
        """A random partner for every row of the batch: (1, n_rows)."""
        key = random_stream.step_keys(0, number, 1, random_stream.PARTNER)
        shift = 1 + int(random_stream.below(random_stream.words(key, 1), max(1, n_rows - 1))[0])
        return ((torch.arange(n_rows, device=self.device) + shift) % n_rows)[None]

    def on_device(self, rows: Rows) -> Tensor:
        """A batch as a tensor, sparse if it is and nobody but us looks at the columns."""
        if not sp.issparse(rows):
            return torch.from_numpy(np.ascontiguousarray(rows))[None].to(self.device)
        if self.wanted.sees_columns:
            return torch.from_numpy(rows.toarray())[None].to(self.device)
        return sparse_block(rows, 1).to(self.device)

    def finish(self) -> None:
        """Put the trained parameters into φ."""
        self.phi.write_back()

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """All that changes while training, to go on from later."""
        return as_arrays(self._changing()) | {"mean_square": self.rate.mean_square}

    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Go back to a `state`."""
        fill(self._changing(), state)
        self.rate.mean_square[:] = state["mean_square"]

    def _changing(self) -> dict[str, Tensor]:
        return {**numbered("parameter", self.parameters), **numbered("momentum", self.momenta), **self.phi.buffers}


def off_diagonal(square: Tensor) -> Tensor:
    """All numbers of a square matrix but those of its diagonal, as a vector."""
    n_rows = len(square)
    return square.flatten()[1:].view(n_rows - 1, n_rows + 1)[:, :-1].flatten()


def unit_rows(vectors: Tensor) -> Tensor:
    """Divide every row by its length; a row of zeros stays as it is."""
    lengths = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)
    return torch.where(lengths > SMALLEST_NORM, vectors / lengths.clamp(min=SMALLEST_NORM), 0.0)
