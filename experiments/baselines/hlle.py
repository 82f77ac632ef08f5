"""HLLE (Donoho, Grimes 2003): Hessian locally linear embedding, scikit-learn's.

The eigenproblem is solved densely: arpack meets a singular matrix here. Cubic in the number of rows.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.manifold import LocallyLinearEmbedding

from experiments.baselines import TooLargeError
from experiments.baselines.ensemble import dense
from experiments.preprocessing import Rows

_MOST_BYTES = 10e9  # of rows, which it takes dense and in 64 bits


class HLLE:
    """Each row needs more neighbours than d (d + 3) / 2; it has five more."""

    embeds_while_fitted = True

    def __init__(self, *, n_components: int = 10, seed: int = 0) -> None:
        self.n_components = n_components
        self.seed = seed

    def fit(self, rows: Rows) -> Self:
        if (n_bytes := 8 * rows.shape[0] * rows.shape[1]) > _MOST_BYTES:
            raise TooLargeError(f"HLLE takes dense rows of 64 bits, at most 10 GB. Got {n_bytes / 1e9:.0f} GB instead.")
        n_neighbors = self.n_components * (self.n_components + 3) // 2 + 5
        self.embedding_ = LocallyLinearEmbedding(
            n_neighbors=n_neighbors,
            n_components=self.n_components,
            method="hessian",
            eigen_solver="dense",
            random_state=self.seed,
        ).fit(dense(rows).astype(np.float64))
        self._fitted_rows = rows
        return self

    def transform(self, rows: Rows) -> np.ndarray:
        if rows is self._fitted_rows:
            return self.embedding_.embedding_
        return self.embedding_.transform(dense(rows).astype(np.float64))
