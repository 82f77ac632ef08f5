"""The training steps of one member in plain NumPy, straight from the formulas of `losses.py`.

The small engine: it needs no compiler, so small jobs run on it, and `kernels.py` is compared with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

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
        row_keys, partner_keys, drop_keys = random_stream.all_step_keys(self.seed, first_step, n_steps).T
        taken = [self.step(kept, *keys) for keys in zip(row_keys, partner_keys, drop_keys, strict=True)]
        distance, novelty = np.mean(taken, axis=0)
        return Losses(float(distance), float(novelty))

    def step(self, kept: Ints, row_key: np.uint32, partner_key: np.uint32, drop_key: np.uint32) -> tuple[float, float]:
        """Draw a batch, go forward, go backward, descend."""
        settings, batch_size = self.settings, self.settings.batch_size
        batch = kept[random_stream.below(random_stream.words(row_key, batch_size), len(kept))]
        shift = 1 + int(random_stream.below(random_stream.words(partner_key, 1), batch_size - 1)[0])
        rows, eta = self.rows[batch], self.targets[batch]
        phi, slopes = self.forward(rows, drop_key)
        distance, novelty, gradient = weighted_losses(phi, eta, shift, settings)
        gradient *= slopes
        self.descend(np.asarray(rows.T @ gradient), gradient.sum(axis=0))
        return distance, novelty

    def forward(self, rows: Rows, drop_key: np.uint32) -> tuple[Floats, Floats]:
        """Compute φ of the batch with dropout, and its derivative with respect to `rows @ W + b`."""
        before = np.asarray(rows @ self.phi.weights) + self.phi.bias
        words = random_stream.words(drop_key, before.size).reshape(before.shape)
        limit = random_stream.drop_limit(self.settings.dropout)
        keep = np.where(words >= limit, np.float32(1.0 / (1.0 - limit / 2.0**32)), np.float32(0.0))
        slopes = keep * np.where(before > 0, np.float32(1.0), np.float32(losses.REPRESENTATION_SLOPE))
        return before * slopes, slopes

    def descend(self, weight_gradient: Floats, bias_gradient: Floats) -> None:
        """Clip the gradient of all parameters together, then take a step with momentum."""
        settings = self.settings
        norm = np.sqrt(np.sum(weight_gradient**2) + np.sum(bias_gradient**2))
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


def weighted_losses(phi: Floats, eta: Floats, shift: int, settings: TrainingSettings) -> tuple[float, float, Floats]:
    """Both losses of a batch, and the gradient of their weighted sum with respect to φ."""
    distance, novelty = 0.0, 0.0
    gradient = np.zeros_like(phi)
    if settings.novelty_weight > 0:
        novelty, pull = losses.novelty_loss(phi, eta)
        gradient += settings.novelty_weight * pull
    if settings.distance_weight > 0:
        distance_loss = (
            losses.l1_distance_prediction_loss if settings.inner_product == "l1" else losses.distance_prediction_loss
        )
        distance, pull = distance_loss(phi, eta, shift)
        gradient += settings.distance_weight * pull
    return distance, novelty, gradient
