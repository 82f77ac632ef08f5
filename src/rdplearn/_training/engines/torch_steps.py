"""The training step in PyTorch, of many members at once: any network, any loss, any device.

Batches, partners and dropout are those of the other engines. All members of a stack take a step together: one batched
product, the losses summed over members, autograd, and then each member's gradient clipped by its own norm, for one
exploding member must not slow the rest. With the paper's φ the result is that of `PlainEngine` up to rounding.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from rdplearn._model.representation import Representation
from rdplearn._training.descent import ScaledRate, batches_of
from rdplearn._training.engines import torch_stream
from rdplearn._training.engines.torch_decoder import Chosen, StackedDecoder
from rdplearn._training.engines.torch_device import CompiledOrNot, find_device
from rdplearn._training.engines.torch_losses import (
    AuxiliaryLoss,
    DistanceLoss,
    all_pair_products,
    inverse_l1_norms,
    novelty_loss,
    off_diagonal,
    pair_products,
)
from rdplearn._training.engines.torch_networks import (
    LeakyLayers,
    OwnNetworks,
    StackedPhi,
    as_arrays,
    fill,
    numbered,
    seeded,
)
from rdplearn._training.engines.torch_rows import DenseStack, SparseStack, on_device, stack_rows
from rdplearn._training.random_stream import Draw, drop_limit
from rdplearn._training.settings import Losses, TrainingSettings, TrainingTask
from rdplearn._training.torch_options import TorchOptions
from rdplearn._types import Arrays


class TorchEngine:
    """Train φ of every task, a stretch of steps at a time; `finish` puts the result into the tasks."""

    def __init__(self, tasks: list[TrainingTask], settings: TrainingSettings, wanted: TorchOptions) -> None:
        self.tasks, self.settings, self.sees_columns = tasks, settings, wanted.sees_columns
        self.device = find_device(wanted.device)
        self.batches = batches_of(tasks, settings)
        self.phi = stack_phi(tasks, settings.slope, self.device)
        self.parameters = self.phi.parameters
        self.rows: DenseStack | SparseStack | None = None  # with all pairs, a batch at a time
        self.decoder: StackedDecoder | None = None
        self.scaled_rate: ScaledRate | None = None
        if settings.pairs == "all":
            self.scaled_rate = ScaledRate(1, tasks[0].phi.n_components, settings)
            if isinstance(tasks[0].phi, Representation) and settings.slope == 1 and not tasks[0].phi.deeper:
                self.parameters = self.parameters[:1]  # linear features have no bias
        else:
            self.rows = stack_rows([task.rows for task in tasks], self.device, dense=wanted.sees_columns)
            self.targets = DenseStack([cast(Any, task.targets) for task in tasks], self.device)
            if decoders := [task.decoder for task in tasks if task.decoder is not None]:
                self.decoder = StackedDecoder(decoders, self.rows, tasks[0].n_columns, self.device)
                self.parameters = [*self.parameters, *self.decoder.parameters]
        self.momenta = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.distance_loss = DistanceLoss(wanted.distance_loss)
        auxiliary = wanted.auxiliary_losses or {}
        self.auxiliary = {name: AuxiliaryLoss(name, loss) for name, (loss, _) in auxiliary.items()}
        self.weights = {
            "distance": settings.distance_weight,
            "novelty": settings.novelty_weight,
            "reconstruction": settings.reconstruction_weight,
            **{name: float(weight) for name, (_, weight) in auxiliary.items()},
        }
        self.runs_own_code = bool(self.auxiliary) or isinstance(self.phi, OwnNetworks)
        self.active = torch.ones(len(tasks), device=self.device)
        self.losses = CompiledOrNot(self._losses) if wanted.compile else self._losses

    def run(self, first_step: int, n_steps: int) -> list[Losses]:
        """Take `n_steps` steps; returns the mean losses of every member."""
        taken = [self.step(draw) for draw in self.batches.draws(first_step, n_steps)]
        names = list(taken[0])
        values = torch.stack([torch.stack(list(losses.values())) for losses in taken])  # (n_steps, n_losses, n_members)
        means = values.cpu().double().mean(dim=0).T.tolist()
        return [losses_of(dict(zip(names, of_member, strict=True))) for of_member in means]

    def step(self, draw: Draw) -> dict[str, Tensor]:
        """Go forward, go backward, descend; returns the losses, each (n_members,)."""
        with self._own_randomness(int(draw.column_key)):
            rows, wanted, decoded = self.take(draw)
            batch_size = draw.places.shape[1]
            partner = torch.from_numpy((np.arange(batch_size) + draw.shifts[:, None]) % batch_size).to(self.device)
            losses = self.losses(rows, wanted, partner, torch_stream.signed(draw.drop_keys).to(self.device), decoded)
            total = cast(Tensor, sum(self.weights[name] * loss.sum() for name, loss in losses.items()))
            gradients = torch.autograd.grad(total, self.parameters)
        with torch.no_grad():
            self.descend(draw.number, gradients)
        return {name: loss.detach() for name, loss in losses.items()}

    def take(self, draw: Draw) -> tuple[Tensor, Tensor, Chosen | None]:
        """The rows of a batch, what is wanted of them, and what is to be reconstructed."""
        if self.rows is None:
            (task,) = self.tasks
            batch = task.rows[draw.places[0]]
            products = torch.from_numpy(cast(Any, task.targets)(batch)).to(self.device)
            return on_device(batch, self.device, dense=self.sees_columns), products[None], None
        places = torch.from_numpy(draw.places.ravel())
        rows, eta = self.rows.take(places), self.targets.take(places)
        decoded = None if self.decoder is None else self.decoder.choose(rows, places, draw.column_key)
        return rows, eta, decoded

    def _losses(
        self, rows: Tensor, wanted: Tensor, partner: Tensor, drop_keys: Tensor, decoded: Chosen | None
    ) -> dict[str, Tensor]:
        """All losses. wanted : η of the rows, (n_members, n_rows, n_targets); with all pairs their inner products."""
        settings = self.settings
        phi = self.drop(self.phi(rows), drop_keys)
        losses = {}
        if settings.distance_weight > 0:
            losses["distance"] = self.distance(phi, wanted, partner)
        if settings.novelty_weight > 0:
            losses["novelty"] = novelty_loss(phi, wanted)
        if self.decoder is not None and decoded is not None:
            losses["reconstruction"] = self.decoder.loss(phi, decoded)
        for name, loss in self.auxiliary.items():
            losses[name] = loss(rows, phi, wanted, partner)
        return losses

    def distance(self, phi: Tensor, wanted: Tensor, partner: Tensor) -> Tensor:
        """The distance prediction loss of every member."""
        settings = self.settings
        if settings.pairs == "all":
            predicted = all_pair_products(phi, unit=settings.inner_product == "unit")
            return self.distance_loss(predicted, off_diagonal(wanted[0])[None])
        first_rows = torch.arange(len(phi), device=phi.device)[:, None] * phi.shape[1]
        among_all = (partner + first_rows).flatten()
        is_l1 = settings.inner_product == "l1"
        products = pair_products(wanted, among_all, inverse_l1_norms(wanted) if is_l1 else None)
        return self.distance_loss(pair_products(phi, among_all, inverse_l1_norms(phi) if is_l1 else None), products)

    def drop(self, phi: Tensor, keys: Tensor) -> Tensor:
        """Set units to zero, and let the others make up for it."""
        limit = drop_limit(self.settings.dropout)
        if limit == 0:
            return phi
        keep = torch_stream.keep_mask(keys, phi[0].numel(), limit).view_as(phi)
        return phi * (keep * (1.0 / (1.0 - limit / 2.0**32)))

    def descend(self, number: int, gradients: tuple[Tensor, ...]) -> None:
        """Go down the gradients, with momentum: each member's clipped, or with all pairs at a pace of their own."""
        settings = self.settings
        if self.scaled_rate is not None:
            square = float(torch.stack([gradient.square().sum() for gradient in gradients]).sum())
            rate = float(self.scaled_rate(number, np.array([square]))[0])
            for parameter, momenta, gradient in zip(self.parameters, self.momenta, gradients, strict=True):
                momenta.mul_(settings.momentum).add_(gradient)
                parameter.sub_(momenta, alpha=rate)
            return
        squares = torch.stack([gradient.flatten(1).square().sum(dim=1) for gradient in gradients])
        norms = squares.sum(dim=0).sqrt()
        factors = torch.where(norms > settings.max_grad_norm, settings.max_grad_norm / norms, 1.0)
        rates = settings.learning_rate * self.active  # members that have stopped stay where they are
        for parameter, momenta, gradient in zip(self.parameters, self.momenta, gradients, strict=True):
            over_members = (-1, *[1] * (parameter.dim() - 1))
            momenta.mul_(settings.momentum).addcmul_(gradient, factors.view(over_members))
            parameter.addcmul_(momenta, rates.view(over_members), value=-1)

    def stop(self, number: int) -> None:
        """Let one member of the stack rest from now on."""
        self.active[number] = 0.0

    def finish(self) -> None:
        """Put the trained parameters into the tasks."""
        self.phi.write_back()
        if self.decoder is not None:
            self.decoder.write_back()

    def state(self) -> Arrays:
        """All that changes while training, to go on from later."""
        arrays = as_arrays(self._changing())
        return arrays if self.scaled_rate is None else arrays | {"mean_square": self.scaled_rate.mean_square}

    def restore(self, state: Arrays) -> None:
        """Go back to a `state`."""
        fill(self._changing(), state)
        if self.scaled_rate is not None:
            self.scaled_rate.mean_square[:] = state["mean_square"]

    def _changing(self) -> dict[str, Tensor]:
        return {**numbered("parameter", self.parameters), **numbered("momentum", self.momenta), **self.phi.buffers}

    def _own_randomness(self, seed: int) -> AbstractContextManager[None]:
        return seeded(seed) if self.runs_own_code else nullcontext()


def stack_phi(tasks: list[TrainingTask], slope: float, device: torch.device) -> StackedPhi:
    """Put φ of all tasks together."""
    phis: list[Any] = [task.phi for task in tasks]
    return LeakyLayers(phis, device, slope) if isinstance(phis[0], Representation) else OwnNetworks(phis, device)


def losses_of(values: dict[str, float]) -> Losses:
    """Mean losses of one member by name, as a record."""
    built_in = {name: values.pop(name, 0.0) for name in ("distance", "novelty", "reconstruction")}
    return Losses(**built_in, auxiliary=values)
