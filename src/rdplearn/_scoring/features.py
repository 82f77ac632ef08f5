"""The learned representation as it is applied to a table: blocks of rows, spread over threads, into one array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from rdplearn._model.products import BLOCK, in_steady_blocks, row_products
from rdplearn._model.representation import Phi
from rdplearn._model.threads import one_blas_thread
from rdplearn._types import Floats, Matrix, Rows, row_blocks
from rdplearn._views.unit_rows import SMALLEST_NORM


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
        """Take a block of prepared rows (n_rows, n_columns) to features (n_rows, n_components)."""
        features = self.phi.before_activation(rows, row_products)
        if self.slope != 1:
            np.maximum(features, np.float32(self.slope) * features, out=features)
        return with_unit_rows(features) if self.unit else features


def with_unit_rows(features: Floats) -> Floats:
    """Divide every row of `row_products` by its length; overwrites them. A row of zeros stays as it is."""
    lengths = np.sqrt(np.add.reduce(features * features, axis=1))
    features /= np.where(lengths > SMALLEST_NORM, lengths, np.float32(1.0))[:, None]
    return features


def map_rows(
    matrix: Matrix,
    prepare: Callable[[Matrix], Rows],
    function: Callable[[Rows], Floats],
    n_out: int,
    n_jobs: int | None,
) -> Floats:
    """Apply a function of blocks of prepared rows to a whole matrix. Returns (n_rows, n_out).

    A row gets the same bits wherever it stands, if the function's products are `row_products`.
    """
    result = np.empty((matrix.shape[0], n_out), dtype=np.float32)

    def fill(block: slice) -> None:
        in_steady_blocks(prepare(matrix[block]), function, result[block])

    with one_blas_thread():
        Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(fill)(b) for b in row_blocks(matrix.shape[0], 8 * BLOCK))
    return result
