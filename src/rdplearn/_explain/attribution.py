r"""How much of a row's anomaly score each of its columns accounts for.

A row :math:`x` is held against what the typical rows nearest to it have, :math:`t` (`typical_rows.py`), and these
against the most typical row of all, whose score :math:`s_0` is the baseline. Each column is judged by what its value
alone does: :math:`t` gets the value that :math:`x` has there, is scored again, and the difference counts,

.. math:: c_j = s(t \text{ with } x_j) - s(t) + \bar e_j

where :math:`\bar e_j` is the same for the nearest rows against the most typical one, on average. What no column does
alone, :math:`s(x) - s_0 - \sum_j c_j`, is shared out in proportion to the sizes of both effects, so that the
contributions add up to :math:`s(x) - s_0`.

The columns are put in from the most to the least deviating, as many as keep the cost below that of scoring a row for
each column; the others, whose values are those of similar rows or nearly so, count as equal to them. Only scores are
asked for, so that this holds for every detector, whatever it does inside. Columns may be grouped: a group is put in as
a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from rdplearn._explain.typical_rows import TypicalRows
from rdplearn._types import Doubles, Ints, Matrix, row_blocks

SHARE_OF_COST = 0.7  # of scoring one row for each column; the rest is for finding similar rows
FEWEST_TRIED = 3
CELLS_AT_ONCE, FEWEST_ROWS, MOST_ROWS = 2**22, 256, 2**14
N_FREQUENT = 10


def attribute(
    matrix: Matrix,
    scores: Doubles,
    typical_rows: TypicalRows,
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
    typical_rows = typical_rows.in_the_form_of(matrix)
    sizes = np.bincount(group_of_column)
    together, weights = sizes[group_of_column] > 1, typical_rows.weights(group_of_column)
    keeps_sparse = sp.issparse(matrix) and not together.any()
    most_typical = typical_rows.rows[np.zeros(typical_rows.rows.shape[0], dtype=np.int64)]
    company = effects_of_values(most_typical, typical_rows.rows, typical_rows, group_of_column, anomaly_scores)
    size = int(np.clip(CELLS_AT_ONCE // matrix.shape[1], FEWEST_ROWS, MOST_ROWS))
    parts = []
    for block in row_blocks(matrix.shape[0], size):
        actual = matrix[block].astype(np.float64)
        typical, nearest = typical_rows.similar_rows(actual, together, weights)
        own = effects_of_values(typical, actual, typical_rows, group_of_column, anomaly_scores)
        shared = mean_of_rows(company, nearest)
        totals = scores[block] - typical_rows.score
        parts.append(
            share_sparse_rest(own, shared, totals, fallback_columns(actual, typical_rows))
            if keeps_sparse
            else share_rest(own.toarray(), shared.toarray(), totals)
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
    rows, groups = np.nonzero(chosen & (of_group > 0))
    return rows, groups


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
    typical_rows: TypicalRows,
    group_of_column: Ints,
    anomaly_scores: Callable[[Any], Doubles],
) -> sp.csr_array:
    """By how much the score of each typical row changes with the values of one group of the actual row.

    Shape
    -----
    (n_rows, n_groups) : zero where a group does not deviate, or so little that it is not tried
    """
    n_rows, n_groups = typical.shape[0], int(group_of_column.max()) + 1
    deviations = typical_rows.deviations(actual - typical)
    rows, groups = most_deviating(deviations, group_of_column, n_tried(n_groups))
    nothing = np.full(n_rows, n_groups)
    all_rows, all_groups = np.concatenate([np.arange(n_rows), rows]), np.concatenate([nothing, groups])
    scores = anomaly_scores(BorrowedValues(typical, actual, all_rows, all_groups, group_of_column))
    return sp.csr_array((scores[n_rows:] - scores[rows], (rows, groups)), shape=(n_rows, n_groups))


def mean_of_rows(effects: sp.csr_array, places: Ints) -> sp.csr_array:
    """For each row of places, the mean of the rows of `effects` that stand there."""
    n_rows, n_each = places.shape
    choice = (np.full(places.size, 1.0 / n_each), places.ravel(), np.arange(n_rows + 1) * n_each)
    return sp.csr_array(sp.csr_array(choice, shape=(n_rows, effects.shape[0])) @ effects)


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


def share_rest(own: Doubles, shared: Doubles, totals: Doubles) -> Doubles:
    """Let effects of each row add up to its total: the rest is shared by their sizes, or equally where all are zero.

    Examples
    --------
    >>> nothing = np.zeros((2, 2))
    >>> share_rest(np.array([[3.0, 1.0], [0.0, 0.0]]), nothing, np.array([8.0, 1.0])).tolist()
    [[6.0, 2.0], [0.5, 0.5]]
    """
    contributions, sizes = own + shared, np.abs(own) + np.abs(shared)
    sizes[~sizes.any(axis=1)] = 1.0
    rest = totals - contributions.sum(axis=1)
    return contributions + rest[:, None] * (sizes / sizes.sum(axis=1, keepdims=True))


def share_sparse_rest(own: sp.csr_array, shared: sp.csr_array, totals: Doubles, fallback: sp.csr_array) -> sp.csr_array:
    """`share_rest` on stored entries alone; a row without any gets the columns of `fallback` in equal parts."""
    contributions, sizes = own + shared, abs(own) + abs(shared)
    is_empty = np.asarray(sizes.sum(axis=1)).ravel() == 0
    sizes = sizes + sp.diags_array(is_empty.astype(np.float64)) @ fallback
    rest = totals - np.asarray(contributions.sum(axis=1)).ravel()
    shares = sp.diags_array(rest / np.asarray(sizes.sum(axis=1)).ravel()) @ sizes
    return sp.csr_array(contributions + shares)


def fallback_columns(rows: sp.csr_array, typical_rows: TypicalRows) -> sp.csr_array:
    """For rows that differ in no column from typical ones: a 1 for what they store, or else for what most rows do."""
    stored = rows.astype(bool).astype(np.float64)
    n_stored = np.bincount(typical_rows.rows.indices, minlength=rows.shape[1])
    frequent = np.zeros(rows.shape[1])
    frequent[np.argsort(-n_stored, kind="stable")[:N_FREQUENT]] = 1.0
    is_empty = np.asarray(stored.sum(axis=1)).ravel() == 0
    return stored + sp.csr_array(is_empty[:, None].astype(np.float64)) @ sp.csr_array(frequent[None])
