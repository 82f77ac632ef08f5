"""Truncated SVD with rows scaled to length 1: what a user would pick for text."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

from experiments.preprocessing import Rows


class SVD:
    """scikit-learn's randomised truncated SVD."""

    def __init__(self, *, n_components: int = 100, seed: int = 0) -> None:
        self.n_components = n_components
        self.seed = seed

    def fit(self, rows: Rows) -> Self:
        n_components = min(self.n_components, min(rows.shape) - 1)
        self.svd_ = TruncatedSVD(n_components, random_state=self.seed).fit(rows)
        return self

    def transform(self, rows: Rows) -> np.ndarray:
        return normalize(self.svd_.transform(rows))
