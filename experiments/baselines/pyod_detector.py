"""The door to PyOD: its detectors, fitted to at most 10,000 rows, as RDP's members are."""

from __future__ import annotations

import importlib
from typing import Any, ClassVar, Self

import numpy as np

from experiments.baselines.ensemble import MAX_SAMPLES, dense, sample_rows
from experiments.preprocessing import Rows

_BLOCK_ROWS = 20_000


class PyODDetector:
    """A PyOD class (`module`, `class_name` under `pyod.models`) with its defaults and these `options`."""

    module: ClassVar[str]
    class_name: ClassVar[str]
    options: ClassVar[dict[str, Any]] = {}
    takes_seed: ClassVar[bool] = False

    def __init__(self, *, max_samples: int = MAX_SAMPLES, seed: int = 0) -> None:
        self.max_samples = max_samples
        self.seed = seed

    def fit(self, rows: Rows) -> Self:
        self._fit_table(dense(sample_rows(rows, self.max_samples, self.seed)))
        return self

    def score(self, rows: Rows) -> np.ndarray:
        blocks = (dense(rows[start : start + _BLOCK_ROWS]) for start in range(0, rows.shape[0], _BLOCK_ROWS))
        return np.concatenate([self.detector_.decision_function(block) for block in blocks])

    def _fit_table(self, table: np.ndarray) -> None:
        make = getattr(importlib.import_module(f"pyod.models.{self.module}"), self.class_name)
        self.detector_ = make(**self._all_options(table)).fit(table)

    def _all_options(self, table: np.ndarray) -> dict[str, Any]:
        return {**self.options, **({"random_state": self.seed} if self.takes_seed else {})}
