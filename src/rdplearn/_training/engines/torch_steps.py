"""The training steps of many members at once, in PyTorch: same batches, partners and dropout as the other engines.

All members of a stack take a step together: one batched product, the losses summed over members, autograd, and then
each member's gradient clipped by its own norm, for one exploding member must not slow the rest. With the paper's φ the
result is that of `PlainSteps` up to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rdplearn._model.representation import Losses, Representation, TrainingSettings
from rdplearn._training import random_stream
from rdplearn._training.batches import batches_of
from rdplearn._training.engines import torch_stream
from rdplearn._training.engines.torch_decoder import Chosen, StackedDecoder
from rdplearn._training.engines.torch_device import CompiledOrNot, find_device
from rdplearn._training.engines.torch_losses import (
    AuxiliaryLoss,
    DistanceLoss,
    inverse_l1_norms,
    novelty_loss,
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
from rdplearn._training.engines.torch_rows import DenseStack, stack_rows
from rdplearn._training.task import Problem
from rdplearn._training.torch_options import TorchSettings

STEPS_DRAWN_AT_ONCE = 64


@dataclass(frozen=True)
class Draw:
    """What is random in one step, for all members.

    places : (n_members * batch_size,), of the rows; partner : (n_members, batch_size), places within the batch
    drop_keys : (n_members,), for dropout
    column_key : for sampled reconstruction, and for what is random in the user's own code
    """

    places: Tensor
    partner: Tensor
    drop_keys: Tensor
    column_key: np.uint32


class StackedSteps:
    """Train φ of every problem, a stretch of steps at a time; `finish` puts the result into the problems."""

    def __init__(self, problems: list[Problem], settings: TrainingSettings, wanted: TorchSettings) -> None:
        self.problems, self.settings = problems, settings
        self.device = find_device(wanted.device)
        self.rows = stack_rows([p.rows for p in problems], self.device, dense=wanted.sees_columns)
        self.targets = DenseStack([p.targets for p in problems], self.device)
        self.batches = batches_of(problems, settings.batch_size)
        self.phi = stack_phi(problems, self.device)
        decoders = [problem.decoder for problem in problems if problem.decoder is not None]
        self.decoder = StackedDecoder(decoders, self.rows, problems[0].n_columns, self.device) if decoders else None
        self.parameters = [*self.phi.parameters, *(self.decoder.parameters if self.decoder else [])]
        self.momenta = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.distance_loss = DistanceLoss(wanted.distance_loss)
        self.auxiliary = {name: AuxiliaryLoss(name, loss) for name, (loss, _) in wanted.auxiliary_losses.items()}
        self.weights = {
            "distance": settings.distance_weight,
            "novelty": settings.novelty_weight,
            "reconstruction": settings.reconstruction_weight,
            **{name: float(weight) for name, (_, weight) in wanted.auxiliary_losses.items()},
        }
        self.runs_own_code = bool(self.auxiliary) or isinstance(self.phi, OwnNetworks)
        self.active = torch.ones(len(problems), device=self.device)
        self.losses = CompiledOrNot(self._losses) if wanted.compile else self._losses

    def run(self, first_step: int, n_steps: int) -> list[Losses]:
        """Take `n_steps` steps; returns the mean losses of every member."""
        taken = [self.step(draw) for draw in self.draws(first_step, n_steps)]
        names = list(taken[0])
        values = torch.stack([torch.stack(list(losses.values())) for losses in taken])  # (n_steps, n_losses, n_members)
        means = values.cpu().double().mean(dim=0).T.tolist()
        return [losses_of(dict(zip(names, of_member, strict=True))) for of_member in means]

    def step(self, draw: Draw) -> dict[str, Tensor]:
        """Go forward, go backward, descend; returns the losses, each (n_members,)."""
        with self._own_randomness(int(draw.column_key)):
            rows, eta = self.rows.take(draw.places), self.targets.take(draw.places)
            decoded = None if self.decoder is None else self.decoder.choose(rows, draw.places, draw.column_key)
            losses = self.losses(rows, eta, draw.partner, draw.drop_keys, decoded)
            total = cast(Tensor, sum(self.weights[name] * loss.sum() for name, loss in losses.items()))
            gradients = torch.autograd.grad(total, self.parameters)
        with torch.no_grad():
            self.descend(gradients)
        return {name: loss.detach() for name, loss in losses.items()}

    def _losses(
        self, rows: Tensor, eta: Tensor, partner: Tensor, drop_keys: Tensor, decoded: Chosen | None
    ) -> dict[str, Tensor]:
        settings = self.settings
        phi = self.drop(self.phi(rows), drop_keys)
        losses = {}
        if settings.distance_weight > 0:
            losses["distance"] = self.distance(phi, eta, partner)
        if settings.novelty_weight > 0:
            losses["novelty"] = novelty_loss(phi, eta)
        if self.decoder is not None and decoded is not None:
            losses["reconstruction"] = self.decoder.loss(phi, decoded)
        for name, loss in self.auxiliary.items():
            losses[name] = loss(rows, phi, eta, partner)
        return losses

    def distance(self, phi: Tensor, eta: Tensor, partner: Tensor) -> Tensor:
        """The distance prediction loss of every member."""
        first_rows = torch.arange(len(phi), device=phi.device)[:, None] * phi.shape[1]
        among_all = (partner + first_rows).flatten()
        is_l1 = self.settings.inner_product == "l1"
        wanted = pair_products(eta, among_all, inverse_l1_norms(eta) if is_l1 else None)
        return self.distance_loss(pair_products(phi, among_all, inverse_l1_norms(phi) if is_l1 else None), wanted)

    def drop(self, phi: Tensor, keys: Tensor) -> Tensor:
        """Set units to zero, and let the others make up for it."""
        limit = random_stream.drop_limit(self.settings.dropout)
        if limit == 0:
            return phi
        keep = torch_stream.keep_mask(keys, phi[0].numel(), limit).view_as(phi)
        return phi * (keep * (1.0 / (1.0 - limit / 2.0**32)))

    def descend(self, gradients: tuple[Tensor, ...]) -> None:
        """Clip each member's gradient of all parameters together, then take a step with momentum."""
        settings = self.settings
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
        """Put the trained parameters into the problems."""
        self.phi.write_back()
        if self.decoder is not None:
            self.decoder.write_back()

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """All that changes while training, to go on from later."""
        return as_arrays(self._changing())

    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Go back to a `state`."""
        fill(self._changing(), state)

    def _changing(self) -> dict[str, Tensor]:
        return {**numbered("parameter", self.parameters), **numbered("momentum", self.momenta), **self.phi.buffers}

    def draws(self, first_step: int, n_steps: int) -> Iterator[Draw]:
        """Draw rows, partners and dropout for every step, some steps at a time."""
        batch_size = self.settings.batch_size
        within = np.arange(batch_size)
        for start in range(first_step, first_step + n_steps, STEPS_DRAWN_AT_ONCE):
            n_now = min(STEPS_DRAWN_AT_ONCE, first_step + n_steps - start)
            column_keys = random_stream.step_keys(self.problems[0].seed, start, n_now, random_stream.COLUMNS)
            drawn = self.batches.draw(start, n_now)
            for places, shifts, drop_keys, column_key in zip(*drawn, column_keys, strict=True):
                yield Draw(
                    torch.from_numpy(places.ravel()),
                    torch.from_numpy((within + shifts[:, None]) % batch_size).to(self.device),
                    torch_stream.signed(drop_keys).to(self.device),
                    column_key,
                )

    def _own_randomness(self, seed: int) -> AbstractContextManager[None]:
        return seeded(seed) if self.runs_own_code else nullcontext()


def stack_phi(problems: list[Problem], device: torch.device) -> StackedPhi:
    """Put φ of all members together."""
    phis: list[Any] = [problem.phi for problem in problems]
    return LeakyLayers(phis, device) if isinstance(phis[0], Representation) else OwnNetworks(phis, device)


def losses_of(values: dict[str, float]) -> Losses:
    """Mean losses of one member by name, as a record."""
    built_in = {name: values.pop(name, 0.0) for name in ("distance", "novelty", "reconstruction")}
    return Losses(**built_in, auxiliary=values)
