"""HBOS (Goldstein, Dengel 2012): the product of inverse heights of the columns' histograms."""

from __future__ import annotations

from experiments.baselines.pyod_detector import PyODDetector


class HBOS(PyODDetector):
    """PyOD's, 10 bins."""

    module = "hbos"
    class_name = "HBOS"
