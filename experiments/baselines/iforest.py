"""Isolation forest (Liu, Ting, Zhou 2008): 100 trees on 256 rows each, the original's sizes."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.ensemble import IsolationForest

from experiments.preprocessing import Rows


class IForest:
    """scikit-learn's, with the sign turned."""

    def __init__(self, *, n_trees: int = 100, n_rows_per_tree: int = 256, seed: int = 0) -> None:
        self.n_trees = n_trees
        self.n_rows_per_tree = n_rows_per_tree
        self.seed = seed

    def fit(self, rows: Rows) -> Self:
        self.forest_ = IsolationForest(
            n_estimators=self.n_trees,
            max_samples=min(self.n_rows_per_tree, rows.shape[0]),
            random_state=self.seed,
        ).fit(rows)
        return self

    def score(self, rows: Rows) -> np.ndarray:
        return -self.forest_.score_samples(rows)
