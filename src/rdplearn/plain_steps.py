"""The training steps of one member in plain NumPy, straight from the formulas of `losses.py`.

The small engine: it needs no compiler, so small jobs run on it, and `kernels.py` is compared with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rdplearn import losses, random_stream
from rdplearn.fit_folder import put_back
from rdplearn.random_mapping import Rows
from rdplearn.representation import Losses, Representation, TrainingSettings

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


class PlainSteps:
    """Train `representation` in place on `rows`, a stretch of steps at a time."""

    def __init__(
        self,
        rows: Rows,
        targets: Floats,
        representation: Representation,
        settings: TrainingSettings,
        seed: int,
    ) -> None:
        self.rows, self.targets, self.phi = rows, targets, representation
        self.settings, self.seed = settings, seed
        self.weight_momenta = np.zeros_like(representation.weights)
        self.bias_momenta = np.zeros_like(representation.bias)

    def run(self, kept: Ints, first_step: int, n_steps: int) -> Losses:
        """Take `n_steps` steps on batches drawn from the rows `kept`."""
        keys = random_stream.all_step_keys(self.seed, first_step, n_steps)
        batches, shifts = draw_batches(kept, keys, self.settings.batch_size)
        taken = [self.step(*each) for each in zip(batches, shifts, keys[:, 2], strict=True)]
        distance, novelty = np.mean(taken, axis=0)
        return Losses(float(distance), float(novelty))

    def step(self, batch: Ints, shift: int, drop_key: np.uint32) -> tuple[float, float]:
        """Take the rows of a batch, go forward, go backward, descend."""
        rows = self.rows[batch] if sp.issparse(self.rows) else self.rows.take(batch, axis=0)
        phi, slopes = self.forward(rows, drop_key)
        distance, novelty, gradient = weighted_losses(phi, self.targets.take(batch, axis=0), shift, self.settings)
        gradient *= slopes
        self.descend(np.asarray(rows.T @ gradient), gradient.sum(axis=0))
        return distance, novelty

    def forward(self, rows: Rows, drop_key: np.uint32) -> tuple[Floats, Floats]:
        """Compute φ of the batch with dropout, and its derivative with respect to `rows @ W + b`."""
        before = np.asarray(rows @ self.phi.weights)
        before += self.phi.bias
        slopes = np.where(before > 0, np.float32(1.0), np.float32(losses.REPRESENTATION_SLOPE))
        if limit := random_stream.drop_limit(self.settings.dropout):
            keep = random_stream.words(drop_key, before.size).reshape(before.shape) >= limit
            slopes *= keep
            slopes *= np.float32(1.0 / (1.0 - limit / 2.0**32))
        before *= slopes
        return before, slopes

    def descend(self, weight_gradient: Floats, bias_gradient: Floats) -> None:
        """Clip the gradient of all parameters together, then take a step with momentum."""
        settings = self.settings
        norm = np.sqrt(np.vdot(weight_gradient, weight_gradient) + np.vdot(bias_gradient, bias_gradient))
        factor = np.float32(settings.max_grad_norm / norm if norm > settings.max_grad_norm else 1.0)
        for parameter, momenta, gradient in (
            (self.phi.weights, self.weight_momenta, weight_gradient),
            (self.phi.bias, self.bias_momenta, bias_gradient),
        ):
            momenta *= np.float32(settings.momentum)
            momenta += factor * gradient
            parameter -= np.float32(settings.learning_rate) * momenta

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """All that changes while training, to go on from later."""
        return {
            "weights": self.phi.weights,
            "bias": self.phi.bias,
            "weight_momenta": self.weight_momenta,
            "bias_momenta": self.bias_momenta,
        }

    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Go back to a `state`."""
        put_back(self.state(), state)

    def finish(self) -> None:
        """Leave the representation as it is: plain momentum owes nothing."""


def draw_batches(kept: Ints, keys: random_stream.UInts, batch_size: int) -> tuple[Ints, list[int]]:
    """The rows of every step's batch, and how far on each row's partner is. keys : (n_steps, 3)."""
    places = random_stream.below(random_stream.words(keys[:, :1], batch_size), len(kept))
    shifts = 1 + random_stream.below(random_stream.words(keys[:, 1:2], 1), batch_size - 1)[:, 0]
    return kept[places], shifts.tolist()


def weighted_losses(phi: Floats, eta: Floats, shift: int, settings: TrainingSettings) -> tuple[float, float, Any]:
    """Both losses of a batch, and the gradient of their weighted sum with respect to φ."""
    distance, novelty = 0.0, 0.0
    gradient = None
    if settings.novelty_weight > 0:
        novelty, gradient = losses.novelty_loss(phi, eta)
        gradient *= np.float32(settings.novelty_weight)
    if settings.distance_weight > 0:
        distance_loss = (
            losses.l1_distance_prediction_loss if settings.inner_product == "l1" else losses.distance_prediction_loss
        )
        distance, pull = distance_loss(phi, eta, shift)
        pull *= np.float32(settings.distance_weight)
        gradient = pull if gradient is None else gradient + pull
    return distance, novelty, np.zeros_like(phi) if gradient is None else gradient
