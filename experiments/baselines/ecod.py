"""ECOD (Li et al. 2022): how far out in the tails of its columns' distributions a row lies."""

from __future__ import annotations

from experiments.baselines.pyod_detector import PyODDetector


class ECOD(PyODDetector):
    """PyOD's; it has no options."""

    module = "ecod"
    class_name = "ECOD"
