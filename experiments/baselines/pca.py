"""PCA (Shyu et al. 2003): weighted distances along the principal components."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from experiments.baselines.pyod_detector import PyODDetector


class PCA(PyODDetector):
    """PyOD's, components of 99.9 % of the variance: the score divides by each one's share."""

    module = "pca"
    class_name = "PCA"
    options: ClassVar[dict[str, Any]] = {"n_components": 0.999, "svd_solver": "full"}
    takes_seed = True

    def _fit_table(self, table: np.ndarray) -> None:
        try:
            super()._fit_table(table)
        except np.linalg.LinAlgError:  # on R8 the decomposition does not converge in single precision
            super()._fit_table(table.astype(np.float64))
