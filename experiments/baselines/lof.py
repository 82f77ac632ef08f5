"""LOF (Breunig et al. 2000): how much sparser a row's neighbourhood is than its neighbours'."""

from __future__ import annotations

from experiments.baselines.pyod_detector import PyODDetector


class LOF(PyODDetector):
    """PyOD's, 20 neighbours."""

    module = "lof"
    class_name = "LOF"
