"""MCD (Rousseeuw, Van Driessen 1999): the robust Mahalanobis distance."""

from __future__ import annotations

import numpy as np

from experiments.baselines.pyod_detector import PyODDetector

_JITTER = 1e-3  # of a column's standard deviation


class MCD(PyODDetector):
    """PyOD's. Where most rows have the same values it has no covariance; there, columns get a little noise."""

    module = "mcd"
    class_name = "MCD"
    takes_seed = True

    def _fit_table(self, table: np.ndarray) -> None:
        try:
            super()._fit_table(table)
        except ValueError:
            noise = np.random.default_rng(self.seed).normal(size=table.shape)
            super()._fit_table(table + _JITTER * table.std(axis=0) * noise)
