"""Small tables for the statements, and the library's random mappings on them: the one place that reaches inside it."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from experiments import datasets


def small_table(name: str, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Give at most so many rows of a set, dense with columns in [0, 1], and their classes."""
    loaded = datasets.load(name)
    chosen = np.random.default_rng(seed).permutation(loaded.rows.shape[0])[:n_rows]
    rows = loaded.rows[chosen]
    rows = np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)
    spread = np.ptp(rows, axis=0)
    rows = (rows - rows.min(axis=0)) / np.where(spread > 0, spread, 1)
    return rows[:, spread > 0], loaded.labels[chosen]


def project(rows: np.ndarray, kind: str, n_targets: int, seed: int, bandwidth: float | None = None) -> np.ndarray:
    """Apply a fresh random mapping of the library's, η."""
    from rdplearn._model.mapping import draw_mapping

    every, random = np.arange(len(rows)), np.random.default_rng(seed)
    return draw_mapping(kind, rows.astype(np.float32), every, n_targets, random, bandwidth)(
        rows.astype(np.float32)
    ).astype(np.float64)
