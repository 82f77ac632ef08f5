"""LODA (Pevný 2016): histograms of sparse random projections."""

from __future__ import annotations

from experiments.baselines.pyod_detector import PyODDetector


class LODA(PyODDetector):
    """PyOD's, 100 projections."""

    module = "loda"
    class_name = "LODA"
    takes_seed = True
