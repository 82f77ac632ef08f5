"""EIF (Hariri, Carrasco Kind, Brunner 2019): an isolation forest that cuts along random directions."""

from __future__ import annotations

from typing import Self

import numpy as np

from experiments.baselines.ensemble import dense
from experiments.preprocessing import Rows

_COLUMNS_OF_A_CUT = 3  # isotree's own choice


class EIF:
    """isotree's, with as many trees and rows a tree as the isolation forest."""

    def __init__(self, *, n_trees: int = 100, n_rows_per_tree: int = 256, seed: int = 0) -> None:
        self.n_trees = n_trees
        self.n_rows_per_tree = n_rows_per_tree
        self.seed = seed

    def fit(self, rows: Rows) -> Self:
        from isotree import IsolationForest

        self.forest_ = IsolationForest(
            ndim=min(_COLUMNS_OF_A_CUT, rows.shape[1]),
            ntrees=self.n_trees,
            sample_size=min(self.n_rows_per_tree, rows.shape[0]),
            missing_action="fail",
            nthreads=1,
            random_seed=self.seed,
        ).fit(dense(rows))
        return self

    def score(self, rows: Rows) -> np.ndarray:
        return self.forest_.decision_function(dense(rows))
