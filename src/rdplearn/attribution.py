r"""How much of a row's anomaly score each of its columns accounts for.

A row is held against the typical row that it is most like (`rdplearn.background`). A column's contribution is what its
value alone does to that row: the typical row gets the value, is scored again, and the difference counts. What no column
does alone, :math:`s(x) - s_0 - \sum_j c_j`, is shared out in proportion to their sizes :math:`|c_j|`, so that the
contributions add up to the row's score :math:`s(x)` minus the baseline :math:`s_0`, the score of a typical row.

The columns are put in from the most to the least deviating, as many as keep the cost below that of scoring a row for
each column; the others, whose values are those of similar rows or nearly so, get nothing. Only scores are asked for, so
that this holds for every detector, whatever it does inside. Columns may be grouped: a group is put in as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rdplearn.background import Background
from rdplearn.matrix import Matrix, row_blocks

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SHARE_OF_COST = 0.7  # of scoring one row for each column; the rest is for finding similar rows
FEWEST_TRIED = 3
CELLS_AT_ONCE, FEWEST_ROWS, MOST_ROWS = 2**22, 256, 2**14
N_FREQUENT = 10


def attribute(
    matrix: Matrix,
    scores: Doubles,
    background: Background,
    group_of_column: Ints,
    anomaly_scores: Callable[[Any], Doubles],
) -> Matrix:
    """Contributions of groups of columns: (n_rows, n_groups), float64, CSR for sparse rows with a group per column.

    Parameters
    ----------
    scores : (n_rows,), what `anomaly_scores` says of the rows
    group_of_column : (n_columns,), numbers from 0
    anomaly_scores : takes anything with a `shape` of which slices are rows
    """
    n_groups = int(group_of_column.max()) + 1
    sizes = np.bincount(group_of_column)
    together, weights = sizes[group_of_column] > 1, 1.0 / np.sqrt(sizes[group_of_column])
    keeps_sparse = sp.issparse(matrix) and not together.any()
    size = int(np.clip(CELLS_AT_ONCE // matrix.shape[1], FEWEST_ROWS, MOST_ROWS))
    parts = []
    for block in row_blocks(matrix.shape[0], size):
        actual = matrix[block].astype(np.float64)
        typical = background.similar_rows(actual, together, weights)
        rows, groups = most_deviating(background.deviations(actual - typical), group_of_column, n_tried(n_groups))
        effects = effects_of_values(typical, actual, rows, groups, group_of_column, anomaly_scores)
        contributions = sp.csr_array((effects, (rows, groups)), shape=(actual.shape[0], n_groups))
        totals = scores[block] - background.score
        parts.append(
            share_sparse_rest(contributions, totals, fallback_columns(actual, background))
            if keeps_sparse
            else share_rest(contributions.toarray(), totals)
        )
    return sp.vstack(parts, format="csr") if keeps_sparse else np.concatenate(parts)


def n_tried(n_groups: int) -> int:
    """How many columns of a row are put in, so that all of it costs less than scoring a row for each column.

    Two rows more are scored: the row itself and the typical one.

    Examples
    --------
    >>> n_tried(2), n_tried(10), n_tried(100)
    (2, 5, 68)
    """
    return min(n_groups, max(FEWEST_TRIED, int(SHARE_OF_COST * n_groups) - 2))


def most_deviating(deviations: Matrix, group_of_column: Ints, n_most: int) -> tuple[Ints, Ints]:
    """Rows and groups whose values differ from those of similar rows, in each row the `n_most` that do so most.

    Examples
    --------
    >>> most_deviating(np.array([[0.5, 2.0, 1.0], [0.0, 0.0, 3.0]]), np.array([0, 1, 2]), 2)
    (array([0, 0, 1]), array([1, 2, 2]))
    """
    if sp.issparse(deviations):
        return _most_deviating_stored(deviations, group_of_column, n_most)
    by_group = np.argsort(group_of_column, kind="stable")
    starts = np.searchsorted(group_of_column[by_group], np.arange(group_of_column.max() + 1))
    of_group = np.maximum.reduceat(deviations[:, by_group], starts, axis=1)
    chosen = np.zeros(of_group.shape, dtype=bool)
    np.put_along_axis(chosen, np.argpartition(-of_group, n_most - 1, axis=1)[:, :n_most], True, axis=1)
    return np.nonzero(chosen & (of_group > 0))


def _most_deviating_stored(deviations: sp.csr_array, group_of_column: Ints, n_most: int) -> tuple[Ints, Ints]:
    cells = deviations.tocoo()
    n_groups = int(group_of_column.max()) + 1
    keys = cells.coords[0].astype(np.int64) * n_groups + group_of_column[cells.coords[1]]
    order = np.lexsort((cells.data, keys))
    order = order[cells.data[order] > 0]
    keys, sizes = keys[order], cells.data[order]
    is_largest = np.append(keys[1:] != keys[:-1], True)[: len(keys)]  # the last of equal keys
    rows, groups, sizes = keys[is_largest] // n_groups, keys[is_largest] % n_groups, sizes[is_largest]
    rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
    chosen = np.sort(np.lexsort((groups, -sizes, rows))[rank < n_most])
    return rows[chosen], groups[chosen]


def effects_of_values(
    typical: Matrix,
    actual: Matrix,
    rows: Ints,
    groups: Ints,
    group_of_column: Ints,
    anomaly_scores: Callable[[Any], Doubles],
) -> Doubles:
    """By how much the scores of typical rows change with the values of one group of the actual row: (len(rows),)."""
    n_rows, nothing = typical.shape[0], int(group_of_column.max()) + 1
    all_rows = np.concatenate([np.arange(n_rows), rows])
    all_groups = np.concatenate([np.full(n_rows, nothing), groups])
    scores = anomaly_scores(BorrowedValues(typical, actual, all_rows, all_groups, group_of_column))
    return scores[n_rows:] - scores[rows]


class BorrowedValues:
    """Typical rows, each with the values of one group taken from the actual row; made when a slice is asked for.

    Shape
    -----
    (len(rows), n_columns) : row `t` is row `rows[t]` of `typical` with group `groups[t]` as in `actual`; the number
        after the last group stands for no group at all
    """

    def __init__(self, typical: Matrix, actual: Matrix, rows: Ints, groups: Ints, group_of_column: Ints) -> None:
        self.typical, self.actual, self.rows, self.groups = typical, actual, rows, groups
        self.group_of_column = group_of_column
        self.columns_by_group = np.argsort(group_of_column, kind="stable")
        self.group_sizes = np.append(np.bincount(group_of_column), 0)
        self.shape = (len(rows), actual.shape[1])

    def __getitem__(self, stretch: slice) -> Matrix:
        rows, groups = self.rows[stretch], self.groups[stretch]
        if not sp.issparse(self.actual):
            made = self.typical[rows]
            places, columns = self._cells_of(groups)
            made[places, columns] = self.actual[rows[places], columns]
            return made
        return self._of(self.actual, rows, groups, inside=True) + self._of(self.typical, rows, groups, inside=False)

    def _cells_of(self, groups: Ints) -> tuple[Ints, Ints]:
        """The cells of a stretch that are borrowed: their rows in the stretch, and their columns."""
        sizes = self.group_sizes[groups]
        places = np.repeat(np.arange(len(groups)), sizes)
        within = np.arange(len(places)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        starts = np.cumsum(self.group_sizes) - self.group_sizes
        return places, self.columns_by_group[starts[groups][places] + within]

    def _of(self, source: sp.csr_array, rows: Ints, groups: Ints, *, inside: bool) -> sp.csr_array:
        """Rows of a sparse matrix, each without what lies outside or inside of its group."""
        taken = source[rows]
        of_entry = np.repeat(groups, np.diff(taken.indptr))
        taken.data[(self.group_of_column[taken.indices] == of_entry) != inside] = 0.0
        taken.eliminate_zeros()
        return taken


def share_rest(contributions: Doubles, totals: Doubles) -> Doubles:
    """Let each row add up to its total: the rest is shared in proportion to sizes, or equally where all are zero.

    Examples
    --------
    >>> share_rest(np.array([[3.0, 1.0], [0.0, 0.0]]), np.array([8.0, 1.0])).tolist()
    [[6.0, 2.0], [0.5, 0.5]]
    """
    sizes = np.abs(contributions)
    sizes[~sizes.any(axis=1)] = 1.0
    rest = totals - contributions.sum(axis=1)
    return contributions + rest[:, None] * (sizes / sizes.sum(axis=1, keepdims=True))


def share_sparse_rest(contributions: sp.csr_array, totals: Doubles, fallback: sp.csr_array) -> sp.csr_array:
    """`share_rest` on stored entries alone; a row without any gets the columns of `fallback` in equal parts."""
    sizes = abs(contributions)
    is_empty = np.asarray(sizes.sum(axis=1)).ravel() == 0
    sizes = sizes + sp.diags_array(is_empty.astype(np.float64)) @ fallback
    rest = totals - np.asarray(contributions.sum(axis=1)).ravel()
    shared = sp.diags_array(rest / np.asarray(sizes.sum(axis=1)).ravel()) @ sizes
    return sp.csr_array(contributions + shared)


def fallback_columns(rows: sp.csr_array, background: Background) -> sp.csr_array:
    """For rows that differ in no column from typical ones: a 1 for what they store, or else for what most rows do."""
    stored = rows.astype(bool).astype(np.float64)
    n_stored = np.bincount(background.rows.indices, minlength=rows.shape[1])
    frequent = np.zeros(rows.shape[1])
    frequent[np.argsort(-n_stored, kind="stable")[:N_FREQUENT]] = 1.0
    is_empty = np.asarray(stored.sum(axis=1)).ravel() == 0
    return stored + sp.csr_array(is_empty[:, None].astype(np.float64)) @ sp.csr_array(frequent[None])
