"""kNN (Ramaswamy, Rastogi, Shim 2000): the distance to the k-th nearest row."""

from __future__ import annotations

from experiments.baselines.pyod_detector import PyODDetector


class KNN(PyODDetector):
    """PyOD's, 5 neighbours."""

    module = "knn"
    class_name = "KNN"
