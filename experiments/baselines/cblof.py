"""CBLOF (He, Xu, Deng 2003): the distance to the nearest large cluster of K-means."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.baselines.pyod_detector import PyODDetector

_CLUSTERS = (8, 16)


class CBLOF(PyODDetector):
    """PyOD's, 8 clusters; more where these are so even that seven of them hold less than nine tenths of the rows."""

    module = "cblof"
    class_name = "CBLOF"
    takes_seed = True

    def _fit_table(self, table: np.ndarray) -> None:
        for n_clusters in _CLUSTERS:
            self.n_clusters = n_clusters
            try:
                return super()._fit_table(table)
            except ValueError as problem:
                if "cluster separation" not in str(problem):
                    raise
        raise ValueError(f"CBLOF finds no large and small clusters among {_CLUSTERS}.")

    def _all_options(self, table: np.ndarray) -> dict[str, Any]:
        return {**super()._all_options(table), "n_clusters": self.n_clusters}
