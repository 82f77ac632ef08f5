"""The paper's view of the columns: every column scaled to [0, 1] by its smallest and largest value at fit.

A column that is mostly zero and has negative values keeps its zero and is divided by its largest magnitude instead, so
that a sparse table stays sparse. The rule looks at the values alone: sparse and dense tables with the same content are
scaled alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rdplearn._types import Doubles, Matrix, Rows, row_blocks

# A new row may lie far outside the fitted range. Beyond a million ranges it only matters that it is finite.
FARTHEST = 1e6
CACHED_CELLS = 2**15  # of double precision
LARGEST_UNCHANGED = 3e18  # of columns taken as they are: its square is still a number in single precision


@dataclass(frozen=True)
class MinMaxView:
    """`(x - low) / width`, column by column, in single precision.

    low, width : (n_columns,); width is never zero
    """

    low: Doubles
    width: Doubles

    def __call__(self, block: Matrix) -> Rows:
        """Scale a block of rows."""
        return self._sparse(block) if sp.issparse(block) else self._dense(block)

    def undo(self, rows: npt.NDArray[Any]) -> Doubles:
        """Bring dense scaled rows back to the table's own units."""
        return np.asarray(rows * self.width + self.low)

    def _dense(self, block: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        seen = np.empty(block.shape, dtype=np.float32)
        huge = np.flatnonzero(self.width > np.finfo(np.float64).max / 4)
        for some in cached_blocks(block):
            with np.errstate(over="ignore"):  # infinity is as far as FARTHEST
                scaled = np.subtract(block[some], self.low, dtype=np.float64)
                scaled /= self.width
                scaled[:, huge] = block[some, huge] / self.width[huge] - self.low[huge] / self.width[huge]
            seen[some] = np.clip(scaled, -FARTHEST, FARTHEST, out=scaled)
        return seen

    def _sparse(self, block: sp.csr_array) -> sp.csr_array:
        shifted = np.flatnonzero(self.low)
        scaled = sp.csr_array(block, dtype=np.float64, copy=True)
        with np.errstate(over="ignore"):
            scaled.data /= self.width[scaled.indices]
        np.clip(scaled.data, -FARTHEST, FARTHEST, out=scaled.data)
        if shifted.size:
            filled = MinMaxView(self.low[shifted], self.width[shifted])._dense(block[:, shifted].toarray())
            return with_full_columns(scaled, shifted, filled)
        scaled.eliminate_zeros()
        return scaled.astype(np.float32)


@dataclass(frozen=True)
class UnchangedView:
    """The columns as they are, in single precision."""

    def __call__(self, block: Matrix) -> Rows:
        """Convert a block of rows."""
        if sp.issparse(block):
            clipped = sp.csr_array(block, copy=True)
            clipped.data = np.clip(clipped.data, -LARGEST_UNCHANGED, LARGEST_UNCHANGED).astype(np.float32)
            return clipped
        return np.ascontiguousarray(np.clip(block, -LARGEST_UNCHANGED, LARGEST_UNCHANGED), dtype=np.float32)

    def undo(self, rows: npt.NDArray[Any]) -> Doubles:
        """Give dense rows in double precision, as `MinMaxView` does."""
        return rows.astype(np.float64)


def with_full_columns(block: sp.csr_array, columns: npt.NDArray[np.int64], values: npt.NDArray[Any]) -> sp.csr_array:
    """Replace some columns of a sparse block by dense ones; overwrites its data. values : (n_rows, n_chosen)."""
    block.data[np.isin(block.indices, columns)] = 0.0
    n_rows, n_chosen = values.shape
    places = (values.ravel(), np.tile(columns, n_rows), np.arange(n_rows + 1) * n_chosen)
    whole = sp.csr_array(block + sp.csr_array(places, shape=block.shape), dtype=np.float32)
    whole.eliminate_zeros()
    return whole


def cached_blocks(rows: npt.NDArray[Any]) -> Iterator[slice]:
    """Slices of so few dense rows that what is computed of them stays in the cache."""
    return row_blocks(len(rows), max(1, CACHED_CELLS // rows.shape[1]))


def fit_min_max(matrix: Matrix) -> MinMaxView:
    """Learn the range of every column, in one or two passes over the rows.

    Examples
    --------
    >>> view = fit_min_max(np.array([[0, 5], [4, 5], [2, 5]]))
    >>> view(np.array([[1, 6]])).tolist()
    [[0.25, 0.20000000298023224]]
    """
    low, high = column_ranges(matrix)
    return min_max_view(low, high, zero_counts(matrix, low < 0), matrix.shape[0])


def min_max_view(low: Doubles, high: Doubles, n_zeros: npt.NDArray[np.int64], n_rows: int) -> MinMaxView:
    """Make the view of the ranges of the columns, and of how many zeros those have that go below zero."""
    keeps_zero = (low < 0) & (n_zeros > n_rows / 2)
    with np.errstate(over="ignore"):
        width = np.where(keeps_zero, np.maximum(-low, high), high - low)
    width = np.minimum(width, np.finfo(np.float64).max)
    low = np.where(keeps_zero, 0.0, low)
    # A constant column has no range; another value is measured against the constant itself.
    width = np.where(width > 0, width, np.where(low != 0, np.abs(low), 1.0))
    return MinMaxView(low, width)


def column_ranges(matrix: Matrix) -> tuple[Doubles, Doubles]:
    """Smallest and largest value of every column."""
    if sp.issparse(matrix):
        return (
            matrix.min(axis=0).toarray().ravel().astype(np.float64),
            matrix.max(axis=0).toarray().ravel().astype(np.float64),
        )
    low = np.min([matrix[block].min(axis=0) for block in row_blocks(len(matrix))], axis=0)
    high = np.max([matrix[block].max(axis=0) for block in row_blocks(len(matrix))], axis=0)
    return low.astype(np.float64), high.astype(np.float64)


def zero_counts(matrix: Matrix, columns: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """How many zeros the chosen columns have; 0 for the others."""
    counts = np.zeros(matrix.shape[1], dtype=np.int64)
    if not columns.any():
        return counts
    if sp.issparse(matrix):
        stored = np.bincount(matrix.indices[matrix.data != 0], minlength=matrix.shape[1])
        counts[columns] = matrix.shape[0] - stored[columns]
        return counts
    for block in row_blocks(len(matrix)):
        counts[columns] += np.sum(matrix[block][:, columns] == 0, axis=0)
    return counts
