r"""Learning features from *all* distances of a batch: its whole Gram matrix instead of one partner a row.

The representation learns to reproduce the kernel values T between all rows of a batch,

.. math:: L = \frac{1}{B (B - 1)} \sum_{i \ne j} \left( \phi_i \cdot \phi_j - T_{ij} \right)^2 .

A step is divided by the running root mean square of the norm of the *whole* gradient, so that the learning rate has no
unit and no loss is too small to learn from; its length falls to zero along half a cosine. One scale for all weights,
not one each as in Adam: there, columns seen once would learn as fast as the others. W starts small, so that directions
that nothing asks for stay small instead of keeping their random start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rdplearn._model.inner_products import Kernel
from rdplearn._model.losses import all_pairs_loss, unit_normalise, unit_normalise_gradient
from rdplearn._model.representation import Representation
from rdplearn._training.checkpoint import SavedTraining, put_back
from rdplearn._types import Floats, Ints, Rows
from rdplearn.callbacks import Records

NORM_MEMORY = 0.99  # of the running mean of the squared gradient norm
RECORDS = 20  # the loss is written down this many times


@dataclass(frozen=True)
class GramSettings:
    """How φ learns from all pairs of a batch.

    slope : of φ for negative numbers; 1 makes it linear, and leaves it without a bias
    unit : compare inner products of φ's rows at length 1
    """

    n_steps: int
    batch_size: int
    learning_rate: float
    momentum: float
    slope: float
    unit: bool


class GramSteps(Protocol):
    """An engine at work on all pairs of a batch."""

    def step(self, number: int, rows: Rows, kernel: Floats) -> dict[str, float]: ...
    def finish(self) -> None: ...
    def state(self) -> dict[str, npt.NDArray[Any]]: ...
    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None: ...


def train_on_all_pairs(
    steps: GramSteps,
    take_rows: Callable[[Ints], Rows],
    n_rows: int,
    kernel: Kernel,
    settings: GramSettings,
    rng: np.random.Generator,
    after_stretch: Callable[[Records], bool | None],
    *,
    record_every: int | None = None,
    saved: SavedTraining | None = None,
) -> Records:
    """Train the φ that `steps` works on, and return its losses.

    take_rows : gives the prepared rows of some indices, so that no copy of the table need be made
    after_stretch : called with the records so far; ends the training if it returns True, and may raise to end the work
    saved : where to go on from, and to save to; batches that were used by then are drawn again and passed over
    """
    records: Records = []
    if saved is not None and (found := saved.load()) is not None:
        records = found.records
        steps.restore(found.arrays)
    n_done = int(records[-1]["step"]) if records else 0
    stretch = record_every or -(-settings.n_steps // RECORDS)
    losses: list[dict[str, float]] = []
    for number, batch in enumerate(batches(n_rows, settings, rng), start=1):
        if number <= n_done:
            continue
        rows = take_rows(batch)
        losses.append(steps.step(number, rows, kernel(rows)))
        if len(losses) == stretch or number == settings.n_steps:
            means = {name: float(np.mean([loss[name] for loss in losses])) for name in losses[0]}
            records.append({"step": number, **means})
            losses = []
            if after_stretch(records):
                break
            if saved is not None and number < settings.n_steps:
                saved.save_if_due(records, steps.state)
    steps.finish()
    return records


def batches(n_rows: int, settings: GramSettings, rng: np.random.Generator) -> Iterator[Ints]:
    """Draw batches of distinct rows, in shuffled passes over the table."""
    size = min(settings.batch_size, n_rows)
    left = np.empty(0, dtype=np.int64)
    for _ in range(settings.n_steps):
        if len(left) < size:  # what is left over is not carried on: a row might come twice in a batch
            left = rng.permutation(n_rows)
        batch, left = left[:size], left[size:]
        yield np.sort(batch)


def gram_gradient(
    rows: Rows, kernel: Floats, phi: Representation, settings: GramSettings
) -> tuple[float, Floats, Floats]:
    """Loss of a batch, and its gradients with respect to W and b."""
    before = np.asarray(rows @ phi.weights)  # (n_rows, n_components)
    before += phi.bias
    slopes = np.where(before > 0, np.float32(1.0), np.float32(settings.slope))
    features = before * slopes
    if settings.unit:
        unit, lengths = unit_normalise(features)
        loss, gradient = all_pairs_loss(unit, kernel)
        gradient = unit_normalise_gradient(gradient, unit, lengths)
    else:
        loss, gradient = all_pairs_loss(features, kernel)
    gradient = (gradient * slopes).astype(before.dtype, copy=False)
    bias_gradient = np.zeros_like(phi.bias) if settings.slope == 1 else gradient.sum(axis=0)
    return loss, np.asarray(rows.T @ gradient), bias_gradient


class StepRate:
    """How far to go along the gradient: steps whose length does not depend on the scale of the loss."""

    def __init__(self, n_units: int, settings: GramSettings) -> None:
        self.settings = settings
        self.mean_square = np.zeros(1)
        self.step_length = settings.learning_rate * float(np.sqrt(n_units))

    def __call__(self, number: int, squared_norm: float) -> float:
        """Of step `number`, counted from 1, with a gradient of this squared norm; 0 if there never was a gradient."""
        momentum = self.settings.momentum
        self.mean_square[:] = NORM_MEMORY * self.mean_square + (1 - NORM_MEMORY) * squared_norm
        # both running means start at zero; the divisions make up for that in the first steps
        typical = float(np.sqrt(self.mean_square[0] / (1 - NORM_MEMORY**number)))
        if typical == 0:  # no pair was predicted wrongly yet: a table of equal rows
            return 0.0
        decay = 0.5 * (1 + np.cos(np.pi * (number - 1) / self.settings.n_steps))
        return float(decay * self.step_length / typical * (1 - momentum) / (1 - momentum**number))


class PlainGramSteps:
    """Train `phi` in place by the formulas above."""

    def __init__(self, phi: Representation, settings: GramSettings) -> None:
        self.phi, self.settings = phi, settings
        self.weight_momenta, self.bias_momenta = np.zeros_like(phi.weights), np.zeros_like(phi.bias)
        self.rate = StepRate(phi.bias.size, settings)

    def step(self, number: int, rows: Rows, kernel: Floats) -> dict[str, float]:
        """Take step `number`, counted from 1."""
        loss, weight_gradient, bias_gradient = gram_gradient(rows, kernel, self.phi, self.settings)
        square = float(np.vdot(weight_gradient, weight_gradient) + np.vdot(bias_gradient, bias_gradient))
        rate = self.rate(number, square)
        for parameter, momenta, gradient in (
            (self.phi.weights, self.weight_momenta, weight_gradient),
            (self.phi.bias, self.bias_momenta, bias_gradient),
        ):
            momenta *= np.float32(self.settings.momentum)
            momenta += gradient
            np.multiply(momenta, np.float32(rate), out=gradient)
            parameter -= gradient
        return {"distance_loss": loss}

    def finish(self) -> None:
        """Leave φ as it is: it was trained in place."""

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """All that changes while training, to go on from later."""
        return {
            "weights": self.phi.weights,
            "bias": self.phi.bias,
            "weight_momenta": self.weight_momenta,
            "bias_momenta": self.bias_momenta,
            "mean_square": self.rate.mean_square,
        }

    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Go back to a `state`."""
        put_back(self.state(), state)
