"""The learned representation as it is applied to a table: blocks of rows, spread over threads, into one array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed

from rdplearn.losses import unit_normalise
from rdplearn.matrix import Matrix, row_blocks
from rdplearn.problem import Phi
from rdplearn.random_mapping import Rows
from rdplearn.threads import one_blas_thread

Floats = npt.NDArray[np.float32]

BLOCK = 2048  # rows at a time


@dataclass(frozen=True)
class FeatureMap:
    """φ with all that belongs to it.

    slope : for negative numbers; 1 makes it linear, and is what a network of the user's own has
    unit : give every row of features length 1
    """

    phi: Phi
    slope: float
    unit: bool

    def __call__(self, rows: Rows) -> Floats:
        """Take prepared rows (n_rows, n_columns) to features (n_rows, n_components)."""
        features = self.phi.before_activation(rows)
        if self.slope != 1:
            np.maximum(features, np.float32(self.slope) * features, out=features)
        return unit_normalise(features)[0] if self.unit else features


def map_rows(
    matrix: Matrix,
    prepare: Callable[[Matrix], Rows],
    function: Callable[[Rows], Floats],
    n_out: int,
    n_jobs: int | None,
) -> Floats:
    """Apply a function of prepared rows to a whole matrix. Returns (n_rows, n_out)."""
    result = np.empty((matrix.shape[0], n_out), dtype=np.float32)

    def fill(block: slice) -> None:
        result[block] = function(prepare(matrix[block]))

    with one_blas_thread():
        Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(fill)(b) for b in row_blocks(matrix.shape[0], BLOCK))
    return result
