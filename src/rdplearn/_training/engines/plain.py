"""The training step in plain NumPy, straight from the formulas of `losses.py`.

The small engine: it needs no compiler, so small jobs run on it, and the compiled kernels are compared with it. Members
of a stack take their steps together, for on batches this small NumPy spends most of its time on getting started. Each
one's numbers are those that it would have alone, to the last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rdplearn._model import losses
from rdplearn._model.decoder import Decoder
from rdplearn._training.descent import ScaledRate, batches_of
from rdplearn._training.random_stream import Draw, UInts, drop_limit, words
from rdplearn._training.reconstruction import cells_to_decode, column_chances, sample_columns
from rdplearn._training.settings import Losses, TrainingSettings, TrainingTask
from rdplearn._types import Arrays, Floats, Ints, Rows
from rdplearn._views.unit_rows import unit_normalise

Sums = npt.NDArray[np.floating]  # a number for each member
Parameters = list[Floats]  # each with members first


class PlainEngine:
    """Train φ of every task, a stretch of steps at a time.

    The rows of all tasks have equally many columns and are dense; sparse ones, those that are reconstructed and those
    whose inner products are a function of the rows make a stack of one.
    """

    def __init__(self, tasks: list[TrainingTask], settings: TrainingSettings) -> None:
        self.tasks, self.settings = tasks, settings
        self.batches = batches_of(tasks, settings)
        self.targets: Any = tasks[0].targets
        is_apart = callable(self.targets) or settings.reconstruction_weight > 0
        self.layer = Layer(tasks[0]) if is_apart else LayerWithOnes(tasks)
        if not callable(self.targets):
            self.targets = np.concatenate([task.targets for task in tasks])
        self.decoding = None if tasks[0].decoder is None else Decoding(tasks[0], tasks[0].decoder, settings)
        self.parameters = [*self.layer.parameters, *([] if self.decoding is None else self.decoding.parameters)]
        self.momenta = [np.zeros_like(parameter) for parameter in self.parameters]
        self.rates = np.full(len(tasks), settings.learning_rate, dtype=np.float32)
        is_scaled, n_components = settings.pairs == "all", tasks[0].phi.n_components
        self.scaled_rate = ScaledRate(len(tasks), n_components, settings) if is_scaled else None

    def run(self, first_step: int, n_steps: int) -> list[Losses]:
        """Take `n_steps` steps; returns the mean losses of every member."""
        taken = [self.step(draw) for draw in self.batches.draws(first_step, n_steps)]
        means = np.mean(np.asarray(taken, dtype=np.float64), axis=0)  # (n_losses, n_members)
        return [Losses(*of_member) for of_member in means.T.tolist()]

    def step(self, draw: Draw) -> tuple[Sums, ...]:
        """Take the rows of each member's batch, go forward, go backward, descend; returns the losses of members."""
        settings = self.settings
        rows = self.layer.take(draw.places)
        phi, slopes = activate(self.layer.product(rows), draw.drop_keys, settings)
        distance, novelty, gradient = weighted_losses(phi, self.wanted(rows, draw.places), draw.shifts, settings)
        reconstruction: Sums = np.zeros(len(phi))
        of_decoder: Parameters = []
        if self.decoding is not None:
            reconstruction, pull, of_decoder = self.decoding.loss(phi[0], rows, draw.column_key)
            gradient += pull
        gradient *= slopes
        self.descend(draw.number, [*self.layer.gradients(rows, gradient, settings), *of_decoder])
        return distance, novelty, reconstruction

    def wanted(self, rows: Rows, places: Ints) -> Floats:
        """What the batch of each member is to predict: η, (n_members, batch_size, n_targets), or inner products."""
        if callable(self.targets):
            return np.asarray(self.targets(rows))[None]
        eta = self.targets.take(places, axis=0)
        return eta @ eta.swapaxes(1, 2) if self.settings.pairs == "all" else eta

    def descend(self, number: int, gradients: Parameters) -> None:
        """Go down the gradients, with momentum: clipped, or with all pairs at a pace of their own."""
        momentum = np.float32(self.settings.momentum)
        squares = losses.sums_of_squares(gradients[0])
        for gradient in gradients[1:]:
            squares = squares + losses.sums_of_squares(gradient)
        if self.scaled_rate is not None:
            rates = self.scaled_rate(number, squares).astype(np.float32)[:, None, None]
        else:
            self.clip(gradients, squares)
        for parameter, momenta, gradient in zip(self.parameters, self.momenta, gradients, strict=True):
            momenta *= momentum
            momenta += gradient
            if self.scaled_rate is None:
                parameter -= momenta
            else:
                parameter -= np.multiply(momenta, rates, out=gradient)

    def clip(self, gradients: Parameters, squares: Sums) -> None:
        """Clip each member's gradient of all parameters together, and give it the length of a step."""
        excess = np.maximum(np.sqrt(squares) / np.float32(self.settings.max_grad_norm), np.float32(1.0))
        for gradient in gradients:
            of_members = gradient.reshape(len(gradient), -1)  # a view: long rows are quicker
            of_members *= (self.rates / excess)[:, None]

    def stop(self, number: int) -> None:
        """Let one member rest from now on."""
        self.rates[number] = 0.0
        for momenta in self.momenta:
            momenta[number] = 0.0

    def state(self) -> Arrays:
        """All that changes while training, to go on from later."""
        arrays: Arrays = {f"parameter_{number}": parameter for number, parameter in enumerate(self.parameters)}
        arrays |= {f"momentum_{number}": momenta for number, momenta in enumerate(self.momenta)}
        return arrays if self.scaled_rate is None else arrays | {"mean_square": self.scaled_rate.mean_square}

    def restore(self, state: Arrays) -> None:
        """Go back to a `state`."""
        for name, array in self.state().items():
            array[...] = state[name]

    def finish(self) -> None:
        """Leave what was learned in the tasks."""
        self.layer.finish()
        if self.decoding is not None:
            self.decoding.finish()


class LayerWithOnes:
    """φ's layer of many members: the bias is a row of W that meets a column of ones, and one product serves both."""

    def __init__(self, tasks: list[TrainingTask]) -> None:
        self.phis = [task.phi for task in tasks]
        self.rows = with_ones([task.rows for task in tasks])
        self.is_sparse = sp.issparse(self.rows)
        self.parameters = [np.stack([np.vstack([phi.weights, phi.bias]) for phi in self.phis])]

    def take(self, places: Ints) -> Rows:
        """Each member's batch of rows: (n_members, batch_size, n_columns + 1), or one batch of sparse ones."""
        return self.rows[places[0]] if self.is_sparse else self.rows.take(places, axis=0)

    def product(self, rows: Rows) -> Floats:
        """Rows times W plus b: (n_members, batch_size, n_components)."""
        (weights,) = self.parameters
        return np.asarray(rows @ weights[0])[None] if self.is_sparse else rows @ weights

    def gradients(self, rows: Rows, gradient: Floats, settings: TrainingSettings) -> Parameters:
        """By each member's parameters, from that by the product."""
        if self.is_sparse:
            return [np.asarray(rows.T @ gradient[0])[None]]
        return [rows.swapaxes(1, 2) @ gradient]

    def finish(self) -> None:
        """Leave what was learned in φ."""
        for phi, learned in zip(self.phis, self.parameters[0], strict=True):
            phi.weights[:], phi.bias[:] = learned[:-1], learned[-1]


class Layer:
    """φ's layer of one member, whose rows are taken as they are, dense, sparse or when they are drawn."""

    def __init__(self, task: TrainingTask) -> None:
        self.rows = task.rows
        self.parameters = [task.phi.weights[None], task.phi.bias[None, None]]  # views: trained in place

    def take(self, places: Ints) -> Rows:
        """The batch: (batch_size, n_columns)."""
        return self.rows[places[0]]

    def product(self, rows: Rows) -> Floats:
        """Rows times W plus b: (1, batch_size, n_components)."""
        weights, bias = self.parameters
        before = np.asarray(rows @ weights[0])
        before += bias[0]
        return before[None]

    def gradients(self, rows: Rows, gradient: Floats, settings: TrainingSettings) -> Parameters:
        """By W and b, from that by the product."""
        bias = gradient.sum(axis=1, keepdims=True)
        if settings.pairs == "all" and settings.slope == 1:
            bias[:] = 0.0  # linear features have no bias
        return [np.asarray(rows.T @ gradient[0])[None], bias]

    def finish(self) -> None:
        """Leave φ as it is: it was trained in place."""


class Decoding:
    """The reconstruction loss of one member, with its decoder."""

    def __init__(self, task: TrainingTask, decoder: Decoder, settings: TrainingSettings) -> None:
        self.n_columns, self.weight = task.n_columns, np.float32(settings.reconstruction_weight)
        self.chances = column_chances(task.rows)
        self.parameters = [decoder.weights[None], decoder.bias[None, None]]  # views: trained in place

    def loss(self, phi: Floats, rows: Rows, key: UInts) -> tuple[Sums, Floats, Parameters]:
        """The loss, and its gradients by φ, by the decoder's weights and by its bias."""
        (weights,), ((bias,),) = self.parameters
        columns, wanted, cell_weights = self.chosen_cells(rows, key)
        decoded = phi @ weights[columns].T + bias[columns]
        loss, pull = losses.reconstruction_loss(decoded, wanted, cell_weights, self.n_columns)
        pull *= self.weight
        of_weights, of_bias = np.zeros_like(weights), np.zeros_like(bias)
        of_weights[columns], of_bias[columns] = pull.T @ phi, pull.sum(axis=0)
        return np.array([loss]), pull @ weights[columns], [of_weights[None], of_bias[None, None]]

    def chosen_cells(self, rows: Rows, key: UInts) -> tuple[Ints, Floats, Floats]:
        """Choose the columns to decode in this step; gives the rows there, and how many cells each cell stands for."""
        if not sp.issparse(rows):
            return np.arange(rows.shape[1]), rows, np.ones(1, dtype=np.float32)
        return cells_to_decode(rows, sample_columns(self.chances, key))

    def finish(self) -> None:
        """Leave the decoder as it is: it was trained in place."""


def with_ones(rows: list[Rows]) -> Rows:
    """The rows of all members one after the other, with a column of ones at the end."""
    n_rows, n_columns = sum(some.shape[0] for some in rows), rows[0].shape[1]
    if sp.issparse(rows[0]):
        ones = np.ones((n_rows, 1), dtype=np.float32)
        return sp.csr_array(sp.hstack([rows[0], ones], format="csr"))
    longer = np.empty((n_rows, n_columns + 1), dtype=np.float32)
    np.concatenate(rows, out=longer[:, :-1])
    longer[:, -1] = 1.0
    return longer


def activate(before: Floats, drop_keys: UInts, settings: TrainingSettings) -> tuple[Floats, Floats]:
    """Compute φ of each member's batch with dropout from `rows @ W + b`, in place, and its derivative by that.

    before : (n_members, batch_size, n_components); drop_keys : (n_members,)
    """
    slopes = (before > 0) * before.dtype.type(1.0 - settings.slope)
    slopes += before.dtype.type(settings.slope)
    if limit := drop_limit(settings.dropout):
        keep = words(drop_keys[:, None], before[0].size).reshape(before.shape) >= limit
        slopes *= keep
        slopes *= np.float32(1.0 / (1.0 - limit / 2.0**32))
    before *= slopes
    return before, slopes


def weighted_losses(phi: Floats, wanted: Floats, shifts: Ints, settings: TrainingSettings) -> tuple[Sums, Sums, Floats]:
    """Distance and novelty losses of each member's batch, and the gradient of their weighted sum by φ.

    phi : (n_members, batch_size, n_components); shifts : (n_members,)
    wanted : η, (n_members, batch_size, n_targets); with all pairs inner products, (n_members, batch_size, batch_size)
    """
    distance: Sums = np.zeros(len(phi))
    novelty: Sums = np.zeros(len(phi))
    gradient = None
    if settings.novelty_weight > 0:
        novelty, gradient = losses.novelty_loss(phi, wanted)
        if settings.novelty_weight != 1:
            gradient *= np.float32(settings.novelty_weight)
    if settings.distance_weight > 0:
        distance, pulls = distance_losses(phi, wanted, shifts, settings)
        if settings.distance_weight != 1:
            pulls *= pulls.dtype.type(settings.distance_weight)
        gradient = pulls if gradient is None else gradient + pulls
    return distance, novelty, np.zeros_like(phi) if gradient is None else gradient


def distance_losses(phi: Floats, wanted: Floats, shifts: Ints, settings: TrainingSettings) -> tuple[Sums, Floats]:
    """The distance prediction loss of each member's batch, and its gradient by φ."""
    if settings.pairs == "all":
        loss, pull = all_pairs(phi, wanted, unit=settings.inner_product == "unit")
        return loss, pull.astype(phi.dtype, copy=False)
    one = losses.l1_distance_prediction_loss if settings.inner_product == "l1" else losses.distance_prediction_loss
    of_members = [one(*each) for each in zip(phi, wanted, shifts, strict=True)]
    return np.array([loss for loss, _ in of_members]), np.stack([pull for _, pull in of_members])


def all_pairs(phi: Floats, wanted: Floats, *, unit: bool) -> tuple[Sums, Floats]:
    """The loss of all pairs of each batch, and its gradient by φ. unit : compare inner products at length 1."""
    if not unit:
        return losses.all_pairs_loss(phi, wanted)
    at_length_one, lengths = unit_normalise(phi)
    loss, gradient = losses.all_pairs_loss(at_length_one, wanted)
    return loss, losses.unit_normalise_gradient(gradient, at_length_one, lengths)
