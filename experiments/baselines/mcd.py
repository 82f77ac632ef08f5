"""MCD (Rousseeuw, Van Driessen 1999): the robust Mahalanobis distance."""

from __future__ import annotations

from typing import Self

import numpy as np

from experiments.baselines.ensemble import dense, sample_rows
from experiments.baselines.pyod_detector import PyODDetector
from experiments.preprocessing import Rows

_JITTER = 1e-3  # of a column's standard deviation


class MCD(PyODDetector):
    """PyOD's. Where most rows have the same values it has no covariance; there, columns get a little noise."""

    module = "mcd"
    class_name = "MCD"
    takes_seed = True

    def fit(self, rows: Rows) -> Self:
        try:
            return super().fit(rows)
        except ValueError:
            table = dense(sample_rows(rows, self.max_samples, self.seed))
            noise = np.random.default_rng(self.seed).normal(size=table.shape)
            return super().fit(table + _JITTER * table.std(axis=0) * noise)
