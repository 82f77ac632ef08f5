"""DeepSVDD (Ruff et al. 2018): the distance to the centre of a sphere that a network packs the rows into."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.baselines.pyod_detector import PyODDetector


class DeepSVDD(PyODDetector):
    """PyOD's, 20 epochs."""

    module = "deep_svdd"
    class_name = "DeepSVDD"
    takes_seed = True

    def _all_options(self, table: np.ndarray) -> dict[str, Any]:
        return {**super()._all_options(table), "n_features": table.shape[1], "epochs": 20, "verbose": 0}
