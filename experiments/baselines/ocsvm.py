"""OCSVM (Schölkopf et al. 2001): the side of a boundary around most rows, RBF kernel."""

from __future__ import annotations

from experiments.baselines.pyod_detector import PyODDetector


class OCSVM(PyODDetector):
    """PyOD's."""

    module = "ocsvm"
    class_name = "OCSVM"
