"""MCD (Rousseeuw, Van Driessen 1999): the robust Mahalanobis distance."""

from __future__ import annotations

from experiments.baselines.pyod_detector import PyODDetector


class MCD(PyODDetector):
    """PyOD's."""

    module = "mcd"
    class_name = "MCD"
    takes_seed = True
