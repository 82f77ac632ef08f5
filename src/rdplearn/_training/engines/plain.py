"""The training steps of members in plain NumPy, straight from the formulas of `losses.py`.

The small engine: it needs no compiler, so small jobs run on it, and `dense_kernels.py` is compared with it. Members of a
stack take their steps together, for on batches this small NumPy spends most of its time on getting started. Each one's
numbers are those that it would have alone, to the last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rdplearn._model import losses
from rdplearn._model.representation import Losses, TrainingSettings
from rdplearn._training import random_stream
from rdplearn._training.batches import batches_of
from rdplearn._training.checkpoint import put_back
from rdplearn._training.task import Problem
from rdplearn._types import Floats, Ints, Rows

Sums = npt.NDArray[np.floating]  # a number for each member


class PlainSteps:
    """Train φ of every problem, a stretch of steps at a time; `finish` puts the results into the problems.

    The rows of all problems have equally many columns and are dense; sparse ones make a stack of one. The bias is a row
    of W that meets a column of ones: one product serves both.
    """

    def __init__(self, problems: list[Problem], settings: TrainingSettings) -> None:
        self.problems, self.settings = problems, settings
        self.rows = with_ones([problem.rows for problem in problems])
        self.targets = np.concatenate([problem.targets for problem in problems])
        self.batches = batches_of(problems, settings.batch_size)
        self.parameters = np.stack([np.vstack([problem.phi.weights, problem.phi.bias]) for problem in problems])
        self.momenta = np.zeros_like(self.parameters)
        self.rates = np.full(len(problems), settings.learning_rate, dtype=np.float32)

    def run(self, first_step: int, n_steps: int) -> list[Losses]:
        """Take `n_steps` steps; returns the mean losses of every member."""
        taken = [self.step(*each) for each in zip(*self.batches.draw(first_step, n_steps), strict=True)]
        return [Losses(float(distance), float(novelty)) for distance, novelty in np.mean(taken, axis=0).T]

    def step(self, batch: Ints, shifts: Ints, drop_keys: random_stream.UInts) -> tuple[Sums, Sums]:
        """Take the rows of each member's batch, go forward, go backward, descend. batch : (n_members, batch_size)."""
        rows = self.rows[batch[0]] if sp.issparse(self.rows) else self.rows.take(batch, axis=0)
        phi, slopes = activate(products(rows, self.parameters), drop_keys, self.settings.dropout)
        distance, novelty, gradient = weighted_losses(phi, self.targets.take(batch, axis=0), shifts, self.settings)
        gradient *= slopes
        self.descend(transposed_products(rows, gradient))
        return distance, novelty

    def descend(self, gradient: Floats) -> None:
        """Clip each member's gradient of all parameters together, then take a step with momentum."""
        settings = self.settings
        excess = np.maximum(np.sqrt(losses.sums_of_squares(gradient)) / np.float32(settings.max_grad_norm), 1.0)
        of_members = gradient.reshape(len(gradient), -1)  # a view, for products are contiguous: long rows are quicker
        of_members *= (self.rates / excess)[:, None]
        self.momenta *= np.float32(settings.momentum)
        self.momenta += gradient
        self.parameters -= self.momenta

    def stop(self, number: int) -> None:
        """Let one member rest from now on."""
        self.rates[number] = 0.0
        self.momenta[number] = 0.0

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """All that changes while training, to go on from later."""
        return {"parameters": self.parameters, "momenta": self.momenta}

    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Go back to a `state`."""
        put_back(self.state(), state)

    def finish(self) -> None:
        """Leave what was learned in the problems."""
        for problem, learned in zip(self.problems, self.parameters, strict=True):
            problem.phi.weights[:], problem.phi.bias[:] = learned[:-1], learned[-1]


def with_ones(rows: list[Rows]) -> Rows:
    """The rows of all members one after the other, with a column of ones at the end."""
    n_rows, n_columns = sum(some.shape[0] for some in rows), rows[0].shape[1]
    if sp.issparse(rows[0]):
        ones = np.ones((n_rows, 1), dtype=np.float32)
        return sp.csr_array(sp.hstack([rows[0], ones], format="csr"))
    longer = np.ones((n_rows, n_columns + 1), dtype=np.float32)
    np.concatenate(rows, out=longer[:, :-1])
    return longer


def products(rows: Rows, parameters: Floats) -> Floats:
    """Each member's batch times its parameters: (n_members, batch_size, n_components)."""
    return np.asarray(rows @ parameters[0])[None] if sp.issparse(rows) else rows @ parameters


def transposed_products(rows: Rows, gradient: Floats) -> Floats:
    """The gradient with respect to each member's parameters: (n_members, n_columns + 1, n_components)."""
    return np.asarray(rows.T @ gradient[0])[None] if sp.issparse(rows) else rows.swapaxes(1, 2) @ gradient


def activate(before: Floats, drop_keys: random_stream.UInts, dropout: float) -> tuple[Floats, Floats]:
    """Compute φ of each member's batch with dropout from `rows @ W + b`, in place, and its derivative by that.

    before : (n_members, batch_size, n_components); drop_keys : (n_members,)
    """
    slopes = (before > 0) * np.float32(1.0 - losses.REPRESENTATION_SLOPE)
    slopes += np.float32(losses.REPRESENTATION_SLOPE)
    if limit := random_stream.drop_limit(dropout):
        keep = random_stream.words(drop_keys[:, None], before[0].size).reshape(before.shape) >= limit
        slopes *= keep
        slopes *= np.float32(1.0 / (1.0 - limit / 2.0**32))
    before *= slopes
    return before, slopes


def weighted_losses(phi: Floats, eta: Floats, shifts: Ints, settings: TrainingSettings) -> tuple[Sums, Sums, Floats]:
    """Both losses of each member's batch, and the gradient of their weighted sum with respect to φ.

    phi : (n_members, batch_size, n_components); eta : (n_members, batch_size, n_targets); shifts : (n_members,)
    """
    distance: Sums = np.zeros(len(phi))
    novelty: Sums = np.zeros(len(phi))
    gradient = None
    if settings.novelty_weight > 0:
        novelty, gradient = losses.novelty_loss(phi, eta)
        if settings.novelty_weight != 1:
            gradient *= np.float32(settings.novelty_weight)
    if settings.distance_weight > 0:
        distance, pulls = distance_losses(phi, eta, shifts, settings.inner_product)
        pulls *= np.float32(settings.distance_weight)
        gradient = pulls if gradient is None else gradient + pulls
    return distance, novelty, np.zeros_like(phi) if gradient is None else gradient


def distance_losses(phi: Floats, eta: Floats, shifts: Ints, inner_product: str) -> tuple[Sums, Floats]:
    """The distance prediction loss of each member's batch, and its gradient with respect to φ."""
    one = losses.l1_distance_prediction_loss if inner_product == "l1" else losses.distance_prediction_loss
    of_members = [one(*each) for each in zip(phi, eta, shifts, strict=True)]
    return np.array([loss for loss, _ in of_members]), np.stack([pull for _, pull in of_members])
