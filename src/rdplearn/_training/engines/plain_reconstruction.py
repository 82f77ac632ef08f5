"""Training with the reconstruction loss in plain NumPy: the oracle of `reconstruction_kernels.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rdplearn._model import losses
from rdplearn._model.decoder import Decoder, cells_to_decode, column_chances, sample_columns
from rdplearn._model.representation import Losses, Representation, TrainingSettings
from rdplearn._training import random_stream
from rdplearn._training.batches import Batches
from rdplearn._training.checkpoint import put_back
from rdplearn._training.engines.plain import activate, weighted_losses
from rdplearn._types import Floats, Ints, Rows


class PlainReconstruction:
    """Train a representation and its decoder in place on `rows`, a stretch of steps at a time.

    n_columns : that the reconstruction error is a mean over; more than `rows` has, if these were rotated
    """

    def __init__(
        self,
        rows: Rows,
        targets: Floats,
        representation: Representation,
        decoder: Decoder,
        settings: TrainingSettings,
        n_columns: int,
        seed: int,
    ) -> None:
        self.rows, self.targets, self.phi, self.decoder = rows, targets, representation, decoder
        self.settings, self.n_columns, self.seed = settings, n_columns, seed
        self.chances = column_chances(rows)
        self.parameters = (representation.weights, representation.bias, decoder.weights, decoder.bias)
        self.momenta = tuple(np.zeros_like(parameter) for parameter in self.parameters)

    def run(self, kept: Ints, first_step: int, n_steps: int) -> Losses:
        """Take `n_steps` steps on batches drawn from the rows `kept`."""
        column_keys = random_stream.step_keys(self.seed, first_step, n_steps, random_stream.COLUMNS)
        drawn = Batches([kept], [self.seed], self.settings.batch_size).draw(first_step, n_steps)
        taken = [self.step(*each) for each in zip(*drawn, column_keys, strict=True)]
        distance, reconstruction = np.mean(taken, axis=0)
        return Losses(float(distance), 0.0, float(reconstruction))

    def step(
        self, batch: Ints, shifts: Ints, drop_keys: random_stream.UInts, column_key: np.uint32
    ) -> tuple[float, float]:
        """Take the rows of a batch, draw columns, go forward, go backward, descend. batch : (1, batch_size)."""
        settings = self.settings
        rows = self.rows[batch[0]]
        before = np.asarray(rows @ self.phi.weights) + self.phi.bias
        (phi,), (slopes,) = activate(before[None], drop_keys, settings.dropout)
        distances, _, (gradient,) = weighted_losses(phi[None], self.targets[batch], shifts, settings)
        columns, wanted, cell_weights = self.chosen_cells(rows, column_key)
        decoded = phi @ self.decoder.weights[columns].T + self.decoder.bias[columns]
        reconstruction, pull = losses.reconstruction_loss(decoded, wanted, cell_weights, self.n_columns)
        pull *= np.float32(settings.reconstruction_weight)
        gradient += pull @ self.decoder.weights[columns]
        gradient *= slopes
        decoder_gradients = np.zeros_like(self.decoder.weights), np.zeros_like(self.decoder.bias)
        decoder_gradients[0][columns] = pull.T @ phi
        decoder_gradients[1][columns] = pull.sum(axis=0)
        self.descend((np.asarray(rows.T @ gradient), gradient.sum(axis=0), *decoder_gradients))
        return float(distances[0]), reconstruction

    def chosen_cells(self, rows: Rows, key: np.uint32) -> tuple[Ints, Floats, Floats]:
        """Choose the columns to decode in this step; gives the rows there, and how many cells each cell stands for."""
        if not sp.issparse(rows):
            return np.arange(rows.shape[1]), rows, np.ones(1, dtype=np.float32)
        return cells_to_decode(rows, sample_columns(self.chances, key))

    def descend(self, gradients: tuple[Floats, Floats, Floats, Floats]) -> None:
        """Clip the gradient of all parameters together, then take a step with momentum."""
        settings = self.settings
        norm = np.sqrt(sum(float(np.vdot(gradient, gradient)) for gradient in gradients))
        factor = np.float32(settings.max_grad_norm / norm if norm > settings.max_grad_norm else 1.0)
        for parameter, momenta, gradient in zip(self.parameters, self.momenta, gradients, strict=True):
            momenta *= np.float32(settings.momentum)
            momenta += factor * gradient
            parameter -= np.float32(settings.learning_rate) * momenta

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """All that changes while training, to go on from later."""
        arrays = {f"parameter_{number}": parameter for number, parameter in enumerate(self.parameters)}
        return arrays | {f"momentum_{number}": momenta for number, momenta in enumerate(self.momenta)}

    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Go back to a `state`."""
        put_back(self.state(), state)

    def finish(self) -> None:
        """Leave everything as it is: plain momentum owes nothing."""
