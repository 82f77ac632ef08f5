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

import numpy as np
import numpy.typing as npt

from rdplearn.losses import all_pairs_loss, unit_normalise, unit_normalise_gradient
from rdplearn.random_kernel import Kernel
from rdplearn.random_mapping import Rows
from rdplearn.representation import Representation

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

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


def train_on_all_pairs(
    take_rows: Callable[[Ints], Rows],
    n_rows: int,
    kernel: Kernel,
    phi: Representation,
    settings: GramSettings,
    rng: np.random.Generator,
    after_steps: Callable[[int], None],
) -> list[dict[str, float]]:
    """Train `phi` in place and return its losses.

    take_rows : gives the prepared rows of some indices, so that no copy of the table need be made
    after_steps : called with the number of steps just taken; may raise to end the training
    """
    descent = NormalisedDescent(phi, settings)
    records, losses = [], []
    stretch = -(-settings.n_steps // RECORDS)
    for step, batch in enumerate(batches(n_rows, settings, rng), start=1):
        rows = take_rows(batch)
        loss, weight_gradient, bias_gradient = gram_gradient(rows, kernel(rows), phi, settings)
        descent.step(step, weight_gradient, bias_gradient)
        losses.append(loss)
        if len(losses) == stretch or step == settings.n_steps:
            records.append({"step": step, "distance_loss": float(np.mean(losses))})
            after_steps(len(losses))
            losses = []
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


class NormalisedDescent:
    """Gradient descent with momentum whose steps do not depend on the scale of the loss."""

    def __init__(self, phi: Representation, settings: GramSettings) -> None:
        self.phi, self.settings = phi, settings
        self.weight_momenta, self.bias_momenta = np.zeros_like(phi.weights), np.zeros_like(phi.bias)
        self.mean_square = 0.0
        self.step_length = settings.learning_rate * float(np.sqrt(phi.bias.size))

    def step(self, number: int, weight_gradient: Floats, bias_gradient: Floats) -> None:
        """Take step `number`, counted from 1; overwrites the gradients."""
        momentum = self.settings.momentum
        square = float(np.vdot(weight_gradient, weight_gradient) + np.vdot(bias_gradient, bias_gradient))
        self.mean_square = NORM_MEMORY * self.mean_square + (1 - NORM_MEMORY) * square
        # both running means start at zero; the divisions make up for that in the first steps
        typical = np.sqrt(self.mean_square / (1 - NORM_MEMORY**number))
        if typical == 0:  # no pair was predicted wrongly yet: a table of equal rows
            return
        decay = 0.5 * (1 + np.cos(np.pi * (number - 1) / self.settings.n_steps))
        rate = decay * self.step_length / typical * (1 - momentum) / (1 - momentum**number)
        for parameter, momenta, gradient in (
            (self.phi.weights, self.weight_momenta, weight_gradient),
            (self.phi.bias, self.bias_momenta, bias_gradient),
        ):
            momenta *= np.float32(momentum)
            momenta += gradient
            np.multiply(momenta, np.float32(rate), out=gradient)
            parameter -= gradient
