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
    """Train `representation` on `rows`, a stretch of steps at a time; `finish` puts the result into it.

    The bias is a row of W that meets a column of ones: one product serves both.
    """

    def __init__(
        self,
        rows: Rows,
        targets: Floats,
        representation: Representation,
        settings: TrainingSettings,
        seed: int,
    ) -> None:
        self.rows, self.targets, self.phi = with_ones(rows), targets, representation
        self.settings, self.seed = settings, seed
        self.parameters = np.vstack([representation.weights, representation.bias])
        self.momenta = np.zeros_like(self.parameters)

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
        phi, slopes = activate(np.asarray(rows @ self.parameters), drop_key, self.settings.dropout)
        distance, novelty, gradient = weighted_losses(phi, self.targets.take(batch, axis=0), shift, self.settings)
        gradient *= slopes
        self.descend(np.asarray(rows.T @ gradient))
        return distance, novelty

    def descend(self, gradient: Floats) -> None:
        """Clip the gradient of all parameters together, then take a step with momentum."""
        settings = self.settings
        norm = np.sqrt(np.vdot(gradient, gradient))
        factor = settings.max_grad_norm / norm if norm > settings.max_grad_norm else 1.0
        self.momenta *= np.float32(settings.momentum)
        gradient *= np.float32(settings.learning_rate * factor)
        self.momenta += gradient
        self.parameters -= self.momenta

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """All that changes while training, to go on from later."""
        return {"parameters": self.parameters, "momenta": self.momenta}

    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Go back to a `state`."""
        put_back(self.state(), state)

    def finish(self) -> None:
        """Leave what was learned in the representation."""
        self.phi.weights[:], self.phi.bias[:] = self.parameters[:-1], self.parameters[-1]


def with_ones(rows: Rows) -> Rows:
    """The rows with a column of ones at the end."""
    ones = np.ones((rows.shape[0], 1), dtype=np.float32)
    return sp.csr_array(sp.hstack([rows, ones], format="csr")) if sp.issparse(rows) else np.hstack([rows, ones])


def activate(before: Floats, drop_key: np.uint32, dropout: float) -> tuple[Floats, Floats]:
    """Compute φ of a batch with dropout from `rows @ W + b`, in place, and its derivative with respect to that."""
    slopes = (before > 0) * np.float32(1.0 - losses.REPRESENTATION_SLOPE)
    slopes += np.float32(losses.REPRESENTATION_SLOPE)
    if limit := random_stream.drop_limit(dropout):
        keep = random_stream.words(drop_key, before.size).reshape(before.shape) >= limit
        slopes *= keep
        slopes *= np.float32(1.0 / (1.0 - limit / 2.0**32))
    before *= slopes
    return before, slopes


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
