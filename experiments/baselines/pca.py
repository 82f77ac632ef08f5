"""PCA (Shyu et al. 2003): weighted distances along the principal components."""

from __future__ import annotations

from typing import Any, ClassVar

from experiments.baselines.pyod_detector import PyODDetector


class PCA(PyODDetector):
    """PyOD's, components of 99.9 % of the variance: the score divides by each one's share."""

    module = "pca"
    class_name = "PCA"
    options: ClassVar[dict[str, Any]] = {"n_components": 0.999, "svd_solver": "full"}
    takes_seed = True
