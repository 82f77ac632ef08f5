"""INNE (Bandaragoda et al. 2018): isolation by hyperspheres around the rows of small subsamples."""

from __future__ import annotations

from experiments.baselines.pyod_detector import PyODDetector


class INNE(PyODDetector):
    """PyOD's, 200 subsamples of 8 rows."""

    module = "inne"
    class_name = "INNE"
    takes_seed = True
