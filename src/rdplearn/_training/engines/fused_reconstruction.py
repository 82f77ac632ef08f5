"""Training with the reconstruction loss on the compiled kernels: same result as `PlainReconstruction`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rdplearn._model.decoder import Decoder, chance_limits, column_chances
from rdplearn._model.representation import Losses, Representation, TrainingSettings
from rdplearn._training import random_stream
from rdplearn._training.checkpoint import put_back
from rdplearn._training.engines import dense_kernels as kernels
from rdplearn._training.engines import reconstruction_kernels, sparse_kernels, sparse_reconstruction_kernels
from rdplearn._training.engines.compiled import LazyMomentum
from rdplearn._types import Floats, Ints, Rows


class FusedReconstruction:
    """Train a representation and its decoder in place on `rows`, dense or CSR, a stretch of steps at a time."""

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
        self.rows, self.targets = rows, np.ascontiguousarray(targets)
        self.settings, self.n_columns, self.seed = settings, n_columns, seed
        self.target_scale = np.ones(len(targets), dtype=np.float32)
        if settings.inner_product == "l1":
            kernels.inverse_l1_norms(self.targets, self.target_scale)
        self.parameters = (representation.weights, representation.bias, decoder.weights, decoder.bias)
        self.momenta = tuple(np.zeros_like(parameter) for parameter in self.parameters)
        self.rates = tuple(map(np.float32, (settings.learning_rate, settings.momentum, settings.max_grad_norm)))
        self.lazy = LazyMomentum(rows, representation.weights, settings) if sp.issparse(rows) else None
        chances = column_chances(rows)
        self.sampling = chance_limits(chances), 1 / chances
        self.decoder_gradient = np.empty_like(decoder.weights)  # room for that of the columns a step touches
        self.decoder_last_used = np.full(rows.shape[1], -1, dtype=np.int64)
        self.n_steps_taken = 0

    def run(self, kept: Ints, first_step: int, n_steps: int) -> Losses:
        """Take `n_steps` steps on batches drawn from the rows `kept`."""
        settings = self.settings
        column_keys = random_stream.step_keys(self.seed, first_step, n_steps, random_stream.COLUMNS)
        common = (
            self.targets,
            self.target_scale,
            kept,
            np.column_stack([random_stream.all_step_keys([self.seed], first_step, n_steps)[:, 0], column_keys]),
            settings.batch_size,
            self.parameters,
            self.momenta,
            self.n_columns,
            (np.float32(settings.distance_weight), np.float32(settings.reconstruction_weight)),
            settings.inner_product == "l1",
            random_stream.drop_limit(settings.dropout),
            self.rates,
        )
        if self.lazy is None:
            distance, reconstruction = reconstruction_kernels.train_dense(self.rows, *common)
        else:
            distance, reconstruction = sparse_reconstruction_kernels.train_sparse(
                *self.lazy.columns, self.decoder_last_used, self.decoder_gradient, *self.sampling, first_step,
                self.lazy.decay, *common,
            )  # fmt: skip
        self.n_steps_taken = first_step + n_steps
        return Losses(distance, 0.0, reconstruction)

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """All that changes while training, to go on from later."""
        arrays = {f"parameter_{number}": parameter for number, parameter in enumerate(self.parameters)}
        arrays |= {f"momentum_{number}": momenta for number, momenta in enumerate(self.momenta)}
        if self.lazy is None:
            return arrays
        return arrays | {"last_used": self.lazy.last_used, "decoder_last_used": self.decoder_last_used}

    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Go back to a `state`."""
        put_back(self.state(), state)

    def finish(self) -> None:
        """Let every row of W and of the decoder that was not used lately catch up with its momentum."""
        if self.lazy is None:
            return
        learning_rate, momentum, _ = self.rates
        weights, _, decoder, decoder_bias = self.parameters
        rest = self.n_steps_taken - 1, learning_rate, momentum, self.lazy.decay
        for parameter, momenta, last_used in (
            (weights, self.momenta[0], self.lazy.last_used),
            (decoder_bias[:, None], self.momenta[3][:, None], self.decoder_last_used.copy()),
            (decoder, self.momenta[2], self.decoder_last_used),
        ):
            sparse_kernels.catch_up_all(parameter, momenta, last_used, *rest)
