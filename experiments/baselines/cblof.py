"""CBLOF (He, Xu, Deng 2003): the distance to the nearest large cluster of K-means."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.baselines.pyod_detector import PyODDetector

_FEWER_CLUSTERS = (8, 4, 2)


class CBLOF(PyODDetector):
    """PyOD's, 8 clusters; fewer where these do not part into large and small ones."""

    module = "cblof"
    class_name = "CBLOF"
    takes_seed = True

    def fit(self, rows: Any) -> CBLOF:
        for n_clusters in _FEWER_CLUSTERS:
            self.n_clusters = n_clusters
            try:
                return super().fit(rows)
            except ValueError as problem:
                if "separate" not in str(problem):
                    raise
        raise ValueError(f"CBLOF finds no large and small clusters among {_FEWER_CLUSTERS}.")

    def _all_options(self, table: np.ndarray) -> dict[str, Any]:
        return {**super()._all_options(table), "n_clusters": self.n_clusters}
