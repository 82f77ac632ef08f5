"""The training steps of one member on the compiled kernels: same interface and same result as `PlainSteps`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rdplearn._model.representation import Losses, Representation, TrainingSettings
from rdplearn._training import random_stream
from rdplearn._training.checkpoint import put_back
from rdplearn._training.engines import dense_kernels as kernels
from rdplearn._training.engines import sparse_kernels
from rdplearn._types import Floats, Ints, Rows


class FusedSteps:
    """Train `representation` in place on `rows`, dense or CSR, a stretch of steps at a time."""

    def __init__(
        self,
        rows: Rows,
        targets: Floats,
        representation: Representation,
        settings: TrainingSettings,
        seed: int,
    ) -> None:
        self.rows, self.targets, self.phi = rows, np.ascontiguousarray(targets), representation
        self.settings, self.seed = settings, seed
        self.target_scale = np.ones(len(targets), dtype=np.float32)
        if settings.inner_product == "l1":
            kernels.inverse_l1_norms(self.targets, self.target_scale)
        self.momenta = (np.zeros_like(representation.weights), np.zeros_like(representation.bias))
        self.rates = tuple(map(np.float32, (settings.learning_rate, settings.momentum, settings.max_grad_norm)))
        self.lazy = LazyMomentum(rows, representation.weights, settings) if sp.issparse(rows) else None
        self.n_steps_taken = 0

    def run(self, kept: Ints, first_step: int, n_steps: int) -> Losses:
        """Take `n_steps` steps on batches drawn from the rows `kept`."""
        settings = self.settings
        common = (
            self.targets,
            self.target_scale,
            kept,
            random_stream.all_step_keys([self.seed], first_step, n_steps)[:, 0],
            settings.batch_size,
            (self.phi.weights, self.phi.bias),
            self.momenta,
            (np.float32(settings.distance_weight), np.float32(settings.novelty_weight)),
            settings.inner_product == "l1",
            random_stream.drop_limit(settings.dropout),
            self.rates,
        )
        if self.lazy is None:
            distance, novelty = kernels.train_dense(self.rows, *common)
        else:
            distance, novelty = sparse_kernels.train_sparse(*self.lazy.columns, first_step, self.lazy.decay, *common)
        self.n_steps_taken = first_step + n_steps
        return Losses(distance, novelty)

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """All that changes while training, to go on from later."""
        last_used = {} if self.lazy is None else {"last_used": self.lazy.last_used}
        momenta = {"weight_momenta": self.momenta[0], "bias_momenta": self.momenta[1]}
        return {"weights": self.phi.weights, "bias": self.phi.bias, **momenta, **last_used}

    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Go back to a `state`."""
        put_back(self.state(), state)

    def finish(self) -> None:
        """Let every row of W that was not used lately catch up with its momentum."""
        if self.lazy is not None:
            learning_rate, momentum, _ = self.rates
            sparse_kernels.catch_up_all(
                self.phi.weights, self.momenta[0], self.lazy.last_used, self.n_steps_taken - 1, learning_rate, momentum,
                self.lazy.decay,
            )  # fmt: skip


class LazyMomentum:
    """What the sparse kernels need to know of the rows and of each column's past."""

    def __init__(self, rows: sp.csr_array, weights: Floats, settings: TrainingSettings) -> None:
        indptr = rows.indptr.astype(np.int64)
        longest_row = int(np.diff(indptr).max())
        n_touched = min(rows.shape[1], max(1, longest_row * settings.batch_size))
        self.last_used = np.full(rows.shape[1], -1, dtype=np.int64)
        gradient = np.empty((n_touched, weights.shape[1]), dtype=np.float32)
        self.columns = (rows.data, rows.indices.astype(np.int64), indptr, longest_row, self.last_used, gradient)
        # Beyond this many idle steps nothing is left of the momentum in single precision.
        n_powers = 2 if settings.momentum == 0 else int(np.ceil(-46.0 / np.log(settings.momentum))) + 2
        self.decay = (settings.momentum ** np.arange(n_powers)).astype(np.float32)
