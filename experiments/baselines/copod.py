"""COPOD (Li et al. 2020): tail probabilities of an empirical copula."""

from __future__ import annotations

from experiments.baselines.pyod_detector import PyODDetector


class COPOD(PyODDetector):
    """PyOD's; it has no options."""

    module = "copod"
    class_name = "COPOD"
