"""Rows of length 1: what the transformer sees of a table by default.

Inner products of such rows say how alike two rows are, whatever their size. What comes before depends on how full the
table is, and on the values alone: sparse and dense tables with the same content are treated alike.

- A mostly zero table (text, one-hot columns) keeps its zeros. Each column is divided by the square root of its root
  mean square, half-way between leaving frequent columns their weight and giving all columns the same.
- Any other table has its columns scaled to [0, 1] and their means taken off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rdplearn._types import Doubles, Floats, Matrix, Rows, dense, row_blocks
from rdplearn._views.minmax import MinMaxView, fit_min_max

SMALLEST_NORM = 1e-12
MOSTLY_ZERO = 0.10  # share of non-zero cells below which zero means "absent" rather than a value like any other


@dataclass(frozen=True)
class CentredRows:
    """Columns scaled to [0, 1] minus their means; then, if `unit`, rows of length 1. Always dense.

    centre : (n_columns,), means of the scaled columns
    """

    columns: MinMaxView
    centre: Floats
    unit: bool

    def __call__(self, block: Matrix) -> Rows:
        """Prepare a block of rows."""
        rows = self.columns(dense(block))
        rows -= self.centre
        return unit_normalise(rows)[0].astype(np.float32, copy=False) if self.unit else rows


@dataclass(frozen=True)
class WeightedUnitRows:
    """Columns times a weight each, then rows of length 1. Always CSR.

    weights : (n_columns,); a column that was zero at fit has weight 0, since nothing was learned about it
    """

    weights: Doubles

    def __call__(self, block: Matrix) -> Rows:
        """Prepare a block of rows."""
        rows = sp.csr_array(block, dtype=np.float64, copy=True)
        rows.data *= self.weights[rows.indices]
        row_of_value = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        # by the largest value first: the square of a huge one would overflow
        largest = np.zeros(rows.shape[0])
        np.maximum.at(largest, row_of_value, np.abs(rows.data))
        rows.data /= np.where(largest > 0, largest, 1.0)[row_of_value]
        lengths = np.sqrt(np.bincount(row_of_value, weights=rows.data**2, minlength=rows.shape[0]))
        rows.data /= np.where(lengths > 0, lengths, 1.0)[row_of_value]
        return rows.astype(np.float32)


def is_mostly_zero(matrix: Matrix) -> bool:
    """Tell whether fewer than one cell in ten is other than zero.

    Examples
    --------
    >>> is_mostly_zero(np.eye(11)), is_mostly_zero(np.eye(9))
    (True, False)
    """
    if sp.issparse(matrix):
        n_filled = int(np.count_nonzero(matrix.data))
    else:
        n_filled = sum(int(np.count_nonzero(matrix[block])) for block in row_blocks(len(matrix)))
    return bool(n_filled < MOSTLY_ZERO * matrix.shape[0] * matrix.shape[1])


def fit_weighted_unit_rows(matrix: Matrix) -> WeightedUnitRows:
    """Learn the weight of every column of a mostly zero table.

    Examples
    --------
    >>> view = fit_weighted_unit_rows(np.array([[4.0, 0.0], [4.0, 0.0], [4.0, 0.0]]))
    >>> view.weights.tolist(), view(np.array([[2.0, 7.0]])).toarray().tolist()
    ([0.5, 0.0], [[1.0, 0.0]])
    """
    largest, mean_squares = np.zeros(matrix.shape[1]), np.zeros(matrix.shape[1])
    blocks = [slice(None)] if sp.issparse(matrix) else list(row_blocks(matrix.shape[0]))
    for block in blocks:
        values = sp.csr_array(matrix[block], dtype=np.float64)
        np.maximum.at(largest, values.indices, np.abs(values.data))
    seen = largest > 0
    for block in blocks:
        values = sp.csr_array(matrix[block], dtype=np.float64)
        shares = values.data / np.where(seen, largest, 1.0)[values.indices]
        mean_squares += np.bincount(values.indices, weights=shares**2, minlength=matrix.shape[1]) / matrix.shape[0]
    weights = np.zeros(matrix.shape[1])
    weights[seen] = largest[seen] ** -0.5 * mean_squares[seen] ** -0.25
    return WeightedUnitRows(weights)


def fit_centred_rows(matrix: Matrix, *, unit: bool) -> CentredRows:
    """Learn range and mean of every column.

    Examples
    --------
    >>> view = fit_centred_rows(np.array([[0.0, 1.0], [10.0, 5.0]]), unit=True)
    >>> view.centre.tolist(), view(np.array([[5.0, 9.0]])).tolist()
    ([0.5, 0.5], [[0.0, 1.0]])
    """
    columns = fit_min_max(matrix)
    total = np.zeros(matrix.shape[1])
    for block in row_blocks(matrix.shape[0]):
        total += columns(dense(matrix[block])).sum(axis=0, dtype=np.float64)
    return CentredRows(columns, (total / matrix.shape[0]).astype(np.float32), unit)


def unit_normalise(vectors: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Divide every row by its length; a row of zeros stays as it is. Returns the rows and their lengths."""
    lengths = np.sqrt(np.einsum("...ij,...ij->...i", vectors, vectors))[..., None]
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > SMALLEST_NORM), lengths
