"""LeSiNN (Pang, Ting, Albrecht 2015): the mean distance to the nearest row of many small random samples."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import pairwise_distances

from experiments.preprocessing import Rows

_BLOCK_ROWS = 16_384


def lesinn_scores(
    rows: Rows, reference: Rows, *, n_samples: int = 50, sample_size: int = 8, seed: int = 0
) -> np.ndarray:
    """Score `rows` by their distance to samples of `reference`; higher is more anomalous.

    Shape: rows (n_rows, n_columns), reference (n_reference, n_columns), result (n_rows,)
    """
    random = np.random.default_rng(seed)
    size = min(sample_size, reference.shape[0])
    chosen = [random.choice(reference.shape[0], size, replace=False) for _ in range(n_samples)]
    points = reference[np.concatenate(chosen)]
    blocks = []
    for start in range(0, rows.shape[0], _BLOCK_ROWS):
        distances = pairwise_distances(rows[start : start + _BLOCK_ROWS], points)
        # (block, n_samples * size) -> nearest of each sample -> mean over samples
        blocks.append(distances.reshape(-1, n_samples, size).min(axis=2).mean(axis=1))
    return np.concatenate(blocks)
