"""SRP (Li, Hastie, Church 2006): sparse random projection, scikit-learn's, with its density 1 / sqrt(D)."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.random_projection import SparseRandomProjection

from experiments.baselines.ensemble import dense
from experiments.preprocessing import Rows


class SRP:
    """A projection to `n_components` dense columns."""

    def __init__(self, *, n_components: int = 1_024, seed: int = 0) -> None:
        self.n_components = n_components
        self.seed = seed

    def fit(self, rows: Rows) -> Self:
        n_components = min(self.n_components, rows.shape[1])
        self.projection_ = SparseRandomProjection(n_components, random_state=self.seed).fit(rows)
        return self

    def transform(self, rows: Rows) -> np.ndarray:
        return dense(self.projection_.transform(rows))
