"""Typical rows of a table: what a row is held against when it is explained.

A fit keeps a few rows that its members find normal, and what is usual in each column. A new row is compared with what
those rows would have in its place that are most like it: in each column the median of the nearest few. A column counts
to the distance up to its usual spread and no further, so that one odd value does not choose the company of all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rdplearn._types import Doubles, Ints, Matrix, dense, drawn_rows, row_blocks
from rdplearn.table.typical import TYPICAL_SHARES

SAMPLED_ROWS = 1_000
NORMAL_SHARE = 0.9  # of the sampled rows; those with higher scores are no company to compare a row with
SOUND_SHARE = 0.95  # of the sampled rows; what stands in those with higher scores mends nothing
MOST_ROWS, FEWEST_ROWS, MOST_CELLS = 128, 16, 2**16
MOST_COMPANY = 512  # rows of the table as it is, to take values from; as many cells at most
N_NEAREST = 3  # rows that are like a row say what it would have; odd, so that a median is a value that occurs
ROWS_AT_ONCE = 2**12  # their distances to all typical rows stay in the processor's cache
SMALLEST_DISTANCE = 0.5  # in spreads
DECIMALS, TIE = 5, 1e-9  # of distances
LARGEST_RATIO = 1e30  # squares of spreads this small still fit into single precision


@dataclass(frozen=True)
class TypicalRows:
    """Typical rows, what is usual in each column, and the anomaly score of the most typical row.

    rows : (n_typical, n_columns), float64, dense or CSR like the table; the most typical one is the first
    low, high : (n_columns,), between which nine tenths of a column's values lie
    spread : (n_columns,), mean distance of a column's values from their median
    score : of the first row, the lowest of all
    company : (n_company, n_columns), of the same form as the rows: a sample of the table without its oddest rows
    """

    rows: Matrix
    low: Doubles
    high: Doubles
    spread: Doubles
    score: float
    company: Matrix

    def in_the_form_of(self, matrix: Matrix) -> TypicalRows:
        """The same with rows that are dense or CSR as those of the matrix are."""
        if sp.issparse(matrix) == sp.issparse(self.rows):
            return self
        in_form = sp.csr_array if sp.issparse(matrix) else dense
        return replace(self, rows=in_form(self.rows), company=in_form(self.company))

    def usual(self, together: npt.NDArray[np.bool_]) -> Matrix:
        """One row of the usual values: medians, and where columns make sense only together, the most typical row's."""
        (row,) = column_quantiles(self.rows, [0.5])
        if together.any():
            row = np.where(together, dense(self.rows[[0]])[0], row)
        return sp.csr_array(row[None]) if sp.issparse(self.rows) else row[None]

    def deviations(self, differences: Matrix) -> Matrix:
        """Differences of values in units of their column's spread; of the same form, (n_rows, n_columns)."""
        if sp.issparse(differences):
            scaled = differences.copy()
            scaled.data = self._in_spreads(differences.data, self.spread[differences.indices])
            return scaled
        return self._in_spreads(differences, self.spread)

    def weights(self, group_of_column: Ints) -> Doubles:
        """How much each column counts in distances, so that groups of few and of many columns count alike.

        The mean distance of typical rows in a group becomes 1; a group in which they hardly differ does not grow for
        that, or rows that share the same odd value would be taken for alike.
        """
        between = self.deviations(self.rows[1:] - self.rows[:-1])
        between = between.minimum(1.0) if sp.issparse(between) else np.minimum(between, 1.0)
        means = np.bincount(group_of_column, np.asarray(between.sum(axis=0)).ravel()) / max(between.shape[0], 1)
        return 1.0 / np.maximum(means, SMALLEST_DISTANCE)[group_of_column]

    def similar_rows(self, block: Matrix, together: npt.NDArray[np.bool_], weights: Doubles) -> tuple[Matrix, Ints]:
        """For each row, what typical rows that are like it have, (n_rows, n_columns), and which these are.

        They are of the same form as the block; which they are has shape (n_rows, N_NEAREST), the nearest first.

        Parameters
        ----------
        together : (n_columns,)
            Columns that make sense only together, such as the parts of a date. They come from the nearest row; each of
            the others is the median of the nearest few.
        weights : (n_columns,), how much each column counts in distances
        """
        if sp.issparse(block):
            return self._similar_sparse(block, together, weights)
        nearest = np.concatenate([self._nearest(block[part], weights) for part in row_blocks(len(block), ROWS_AT_ONCE)])
        first, second, third = (self.rows[nearest[:, place]] for place in range(N_NEAREST))
        return np.where(together, first, middle_of_three(first, second, third)), nearest

    def _in_spreads(self, differences: Doubles, spread: Doubles) -> Doubles:
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            # A column that never varied has no spread: any other value is far away, the same one is not.
            return np.nan_to_num(np.minimum(np.abs(differences) / spread, LARGEST_RATIO), nan=0.0)

    def _nearest(self, rows: Doubles, weights: Doubles) -> Ints:
        """The typical rows nearest to dense rows, the nearest first: (n_rows, N_NEAREST)."""
        scale = np.minimum(1.0 / np.maximum(self.spread, 1.0 / LARGEST_RATIO), LARGEST_RATIO)
        here, there = (_in_single_precision(part, self.low, scale) for part in (rows, self.rows))
        distances = np.zeros((len(rows), len(self.rows)), dtype=np.float32)
        apart = np.empty_like(distances)
        for column in range(rows.shape[1]):
            np.subtract.outer(here[:, column], there[:, column], out=apart)
            np.abs(apart, out=apart)
            np.minimum(apart, np.float32(1.0), out=apart)
            apart *= np.float32(weights[column])
            distances += apart
        return _places_of_smallest(distances)

    def _similar_sparse(
        self, block: sp.csr_array, together: npt.NDArray[np.bool_], weights: Doubles
    ) -> tuple[sp.csr_array, Ints]:
        from_zero = self.deviations(self.rows)
        from_zero.data = np.minimum(from_zero.data, 1.0) * weights[from_zero.indices]
        of_empty_row = np.asarray(from_zero.sum(axis=1)).ravel()
        by_column, from_zero = self.rows.tocsc(), from_zero.tocsc()
        nearest = np.empty((block.shape[0], N_NEAREST), dtype=np.int64)
        found = []
        for row in range(block.shape[0]):
            stored = slice(block.indptr[row], block.indptr[row + 1])
            columns, values = block.indices[stored], block.data[stored]
            apart = self._in_spreads(values - by_column[:, columns].toarray(), self.spread[columns])
            distances = np.minimum(apart, 1.0) @ weights[columns] - from_zero[:, columns].sum(axis=1) + of_empty_row
            nearest[row] = _places_of_smallest(distances[None])[0]
            neighbours = self.rows[nearest[row]]
            columns = np.unique(neighbours.indices)
            first, second, third = neighbours[:, columns].toarray()
            found.append((columns, np.where(together[columns], first, middle_of_three(first, second, third))))
        return _csr_of_rows(found, block.shape[1]), nearest


def rows_to_sample(n_rows: int, seed: int) -> Ints:
    """The rows of a table that say what is typical, of its rows and of scores, ascending: all, or a uniform sample."""
    return drawn_rows(n_rows, SAMPLED_ROWS, [seed, SAMPLED_ROWS])


def learn_typical_rows(sample: Matrix, scores: Doubles, seed: int) -> TypicalRows:
    """Choose typical rows of a sample and see what is usual in its columns. scores : the sample's anomaly scores.

    Examples
    --------
    >>> sample = np.random.default_rng(0).normal(size=(400, 3))
    >>> typical_rows = learn_typical_rows(sample, np.abs(sample).sum(axis=1), seed=0)
    >>> typical_rows.rows.shape, bool((typical_rows.low < -1).all() and (typical_rows.high > 1).all())
    ((128, 3), True)
    """
    rows = sample.astype(np.float64)
    normal = np.flatnonzero(scores <= np.quantile(scores, NORMAL_SHARE))
    filled = rows.nnz / rows.shape[0] if sp.issparse(rows) else rows.shape[1]
    n_kept, n_company = (
        int(np.clip(MOST_CELLS // max(filled, 1), FEWEST_ROWS, most)) for most in (MOST_ROWS, MOST_COMPANY)
    )
    kept = np.random.default_rng(seed).permutation(normal)[:n_kept]
    kept = kept[np.argsort(scores[kept], kind="stable")]
    sound = np.flatnonzero(scores <= np.quantile(scores, SOUND_SHARE))
    company = np.sort(np.random.default_rng([seed, MOST_COMPANY]).permutation(sound)[:n_company])
    low, middle, high = column_quantiles(sample, [TYPICAL_SHARES[0], 0.5, TYPICAL_SHARES[1]])
    score = float(scores[kept[0]])
    return TypicalRows(rows[kept], low, high, mean_distances(rows, middle), score, rows[company])


def column_quantiles(rows: Matrix, shares: Sequence[float]) -> Doubles:
    """In every column the value below which each share of values lies, zeros included: one that occurs.

    Returns (n_shares, n_columns).

    Examples
    --------
    >>> rows = np.array([[0.0, 5.0], [-1.0, 0.0], [0.0, 7.0]])
    >>> column_quantiles(rows, [0.5]).tolist(), column_quantiles(sp.csr_array(rows), [0.5]).tolist()
    ([[0.0, 5.0]], [[0.0, 5.0]])
    """
    places = [round(share * (rows.shape[0] - 1)) for share in shares]
    if not sp.issparse(rows):
        ordered = np.sort(np.ascontiguousarray(rows.T), axis=1)
        return ordered[:, places].T.astype(np.float64)
    by_column = rows.tocsc()
    n_stored = np.diff(by_column.indptr)
    columns = np.repeat(np.arange(rows.shape[1]), n_stored)
    n_below = np.bincount(columns, by_column.data < 0, minlength=rows.shape[1]).astype(np.int64)
    # zeros that are not stored lie between the negative values and the rest
    within = [np.where(place < n_below, place, place - (rows.shape[0] - n_stored)) for place in places]
    is_stored = [(place < n_below) | (of_place >= n_below) for place, of_place in zip(places, within, strict=True)]
    is_asked = np.any(is_stored, axis=0)  # the others need not be sorted: in a sparse table, nearly all
    asked = is_asked[columns]
    values, columns = by_column.data[asked], columns[asked]
    ordered = np.append(values[np.lexsort((values, columns))], 0.0)
    starts = np.cumsum(n_stored * is_asked) - n_stored * is_asked
    pairs = zip(within, is_stored, strict=True)
    return np.stack([np.where(is_in, ordered[np.where(is_in, starts + place, -1)], 0.0) for place, is_in in pairs])


def mean_distances(rows: Matrix, middle: Doubles) -> Doubles:
    """Mean distance of a column's values from a value of its own."""
    with np.errstate(over="ignore"):
        if not sp.issparse(rows):
            distances = np.abs(rows - middle).mean(axis=0)
        else:
            stored = np.bincount(rows.indices, np.abs(rows.data - middle[rows.indices]), minlength=rows.shape[1])
            n_stored = np.bincount(rows.indices, minlength=rows.shape[1])
            distances = (stored + np.abs(middle) * (rows.shape[0] - n_stored)) / rows.shape[0]
    return np.minimum(distances, np.finfo(np.float64).max)


def middle_of_three(first: Doubles, second: Doubles, third: Doubles) -> Doubles:
    """The median of three numbers, number by number.

    Examples
    --------
    >>> middle_of_three(np.array([1.0, 9.0]), np.array([3.0, 8.0]), np.array([2.0, 7.0])).tolist()
    [2.0, 8.0]
    """
    return np.maximum(np.minimum(first, second), np.minimum(np.maximum(first, second), third))


def _in_single_precision(rows: Doubles, low: Doubles, scale: Doubles) -> npt.NDArray[np.float32]:
    """Rows in spreads, column after column in memory, cut to what leaves room for a difference."""
    with np.errstate(over="ignore"):
        return np.clip((rows - low) * scale, -LARGEST_RATIO, LARGEST_RATIO).astype(np.float32, order="F")


def _places_of_smallest(distances: npt.NDArray[Any]) -> Ints:
    """The places of the smallest N_NEAREST numbers of each row, in order; the smallest again where there are fewer.

    Of those that are equal up to rounding the first come first, so that sparse and dense rows have the same company.
    """
    n_found = min(N_NEAREST, distances.shape[1])
    distances = np.round(distances.astype(np.float64), DECIMALS) + TIE * np.arange(distances.shape[1])
    found = np.sort(np.argpartition(distances, n_found - 1, axis=1)[:, :n_found], axis=1)
    order = np.argsort(np.take_along_axis(distances, found, axis=1), axis=1, kind="stable")
    found = np.take_along_axis(found, order, axis=1)
    return np.concatenate([found, *[found[:, :1]] * (N_NEAREST - n_found)], axis=1)


def _csr_of_rows(rows: list[tuple[Ints, Doubles]], n_columns: int) -> sp.csr_array:
    """Rows given as columns and values."""
    ends = np.cumsum([0, *(len(columns) for columns, _ in rows)])
    columns = np.concatenate([np.empty(0, np.int64), *(columns for columns, _ in rows)])
    values = np.concatenate([np.empty(0), *(values for _, values in rows)])
    made = sp.csr_array((values, columns, ends), shape=(len(rows), n_columns))
    made.eliminate_zeros()
    return made
