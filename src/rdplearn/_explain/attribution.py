r"""How much of a row's anomaly score each of its columns accounts for.

A column is to blame if mending it mends the row. A row :math:`x` is scored again with the cells of one column as other
rows have them: typical rows that are like it, what is usual in the table (`typical_rows.py`), and, where columns are
few, rows that are like it in all other columns and values spread over the column (`company.py`). A column that is as
in similar rows may be wrong as well, since it helped to choose them: where columns are few, it is mended too. The
lowest of these scores counts, and what mending takes off the score is the column's *repair*,

.. math:: r_j = s(x) - \min_t s(x \text{ with } t_j) \ge 0 .

Where two columns are both odd, mending one of them may change nothing. So what a value does alone decides where mending
says nothing: :math:`e_j = s(t \text{ with } x_j) - s(t)`. With :math:`s_0` the score of the most typical row, the rest
of :math:`s(x) - s_0 - \sum_j (r_j + 0.01 e_j)` is shared out in proportion, so that contributions add up. The column
whose repair is the largest comes first: what others have more than it is shared with it.

Where no single repair takes off a twentieth, two columns may carry the row: a state and its number, say, of which each
vouches for the other. Pairs of the columns with the largest contributions are then mended together. With
:math:`r_{ij}` what the best pair takes off, its columns have the repairs :math:`(r_{ij} + r_i - r_j) / 2` and the other
way round: what each adds to nothing and to the other, on average (their Shapley values).

Of many columns only those are tried whose values deviate most from those of similar rows. Only scores are asked for, so
that this holds for every detector, whatever it does inside. Columns may be grouped: a group is mended as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rdplearn._explain.borrowed_values import BorrowedPairs, BorrowedValues
from rdplearn._explain.company import Company
from rdplearn._explain.shared_out import (
    WORTH_MENDING,
    best_repair_first,
    fallback_columns,
    share_rest,
    share_sparse_rest,
)
from rdplearn._explain.typical_rows import TypicalRows
from rdplearn._types import Doubles, Ints, Matrix, row_blocks

ALL_TRIED, MOST_TRIED, SHARE_TRIED = 40, 128, 0.3  # columns: all of so few, and of more this share, at most so many
ALONE = 0.01  # how much it counts what a value does by itself, beside what mending it does
CELLS_AT_ONCE, FEWEST_ROWS, MOST_ROWS = 2**22, 256, 2**14
WORTH_TOGETHER = 0.2  # of a row's score, for two columns
N_PROMISING = 6  # columns of a row that are mended in many ways
N_PAIRED = 4  # columns of a row that are mended two at a time


class Attribution(NamedTuple):
    """What `attribute` finds.

    contributions : (n_rows, n_groups), float64, CSR for sparse rows with a group per column
    pairs : (n_rows, 2), two groups that lower the score only if both are mended; -1 for rows without
    """

    contributions: Matrix
    pairs: Ints


def attribute(
    matrix: Matrix,
    scores: Doubles,
    typical_rows: TypicalRows,
    group_of_column: Ints,
    anomaly_scores: Callable[[Any], Doubles],
) -> Attribution:
    """Contributions of groups of columns, and which of them matter only together.

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
    usual, company = typical_rows.usual(together), Company(typical_rows, group_of_column, weights)
    size = int(np.clip(CELLS_AT_ONCE // matrix.shape[1], FEWEST_ROWS, MOST_ROWS))
    parts, pairs = [], []
    for block in row_blocks(matrix.shape[0], size):
        actual = matrix[block].astype(np.float64)
        typical, nearest = typical_rows.similar_rows(actual, together, weights)
        deviations = typical_rows.deviations(actual - typical)
        rows, groups = most_deviating(deviations, group_of_column, n_tried(len(sizes)))
        others = [typical, usual[np.zeros(len(nearest), dtype=np.int64)]]
        cells = Cells(actual, rows, groups, group_of_column, anomaly_scores)
        alone = cells.alone(typical)
        mended = cells.repairs(others, company if len(sizes) <= ALL_TRIED else None, scores[block], alone)
        if len(sizes) <= ALL_TRIED:
            mended = mended + cells.others().repairs_by_company(company, scores[block])
        alone = cells.placed(alone)
        totals = scores[block] - typical_rows.score
        pair = np.full((len(totals), 2), -1)
        if keeps_sparse:
            shared = share_sparse_rest(mended, ALONE * alone, totals, fallback_columns(actual, typical_rows))
        else:
            shared = share_rest(mended.toarray(), ALONE * alone.toarray(), totals)
            if len(sizes) <= ALL_TRIED:
                few = np.flatnonzero(mended.max(axis=1).toarray().ravel() <= WORTH_MENDING * totals)
                found = cells.repaired_pairs(few, shared[few], others, company, scores[block])
                mended, pair = found.credited(mended, totals)
                shared = share_rest(mended.toarray(), ALONE * alone.toarray(), totals)
        parts.append(best_repair_first(shared, mended))
        pairs.append(pair)
    return Attribution(sp.vstack(parts, format="csr") if keeps_sparse else np.concatenate(parts), np.concatenate(pairs))


def n_tried(n_groups: int) -> int:
    """How many columns of a row are tried.

    Examples
    --------
    >>> n_tried(2), n_tried(100), n_tried(1000)
    (2, 40, 128)
    """
    return min(n_groups, max(ALL_TRIED, min(MOST_TRIED, int(SHARE_TRIED * n_groups))))


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
    chosen = first_of_each(rows, sizes, n_most)
    return rows[chosen], groups[chosen]


def first_of_each(rows: Ints, effects: Doubles, n_first: int) -> Ints:
    """Places of the largest effects of each row, ascending. rows : ascending.

    Examples
    --------
    >>> first_of_each(np.array([0, 0, 0, 2]), np.array([1.0, 3.0, 2.0, 0.0]), 2)
    array([1, 2, 3])
    """
    order = np.lexsort((-effects, rows))
    rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
    return np.sort(order[rank < n_first])


@dataclass(frozen=True)
class Cells:
    """Cells that are tried. rows, groups : of each, its row among the `actual` ones and its group of columns."""

    actual: Matrix
    rows: Ints
    groups: Ints
    group_of_column: Ints
    anomaly_scores: Callable[[Any], Doubles]

    def repairs(self, others: list[Matrix], company: Company | None, scores: Doubles, alone: Doubles) -> sp.csr_array:
        """What mending takes off the score of each row: (n_rows, n_groups), zero where nothing is tried.

        others : rows to take mended values from, in the places of the actual ones
        company : more such rows, for the few cells of each row that promise most
        alone : what each value does by itself
        """
        mended = [self._scores_of(self.actual, other, self.rows, self.groups) for other in others]
        lowest = np.min([scores[self.rows], *mended], axis=0)
        if company is not None and len(self.rows):
            few = first_of_each(self.rows, scores[self.rows] - lowest + ALONE * alone, N_PROMISING)
            self._try(few, company.sources(self.actual, self.rows[few], self.groups[few]), company, lowest)
        return self.placed(scores[self.rows] - lowest)

    def others(self) -> Cells:
        """The cells that are not tried: of few columns, those that are as in similar rows."""
        n_rows, n_groups = self.actual.shape[0], int(self.group_of_column.max()) + 1
        left = np.setdiff1d(np.arange(n_rows * n_groups), self.rows * n_groups + self.groups)
        return replace(self, rows=left // n_groups, groups=left % n_groups)

    def repairs_by_company(self, company: Company, scores: Doubles) -> sp.csr_array:
        """The same, with what those rows have that are like it in all other columns."""
        lowest = scores[self.rows]
        if len(self.rows):
            sources = company.nearest_sources(self.actual, self.rows, self.groups)
            self._try(np.arange(len(self.rows)), sources, company, lowest)
        return self.placed(scores[self.rows] - lowest)

    def _try(self, cells: Ints, sources: tuple[Ints, Ints], company: Company, lowest: Doubles) -> None:
        """Mend some of the cells with values of the company; `lowest` keeps the lowest score of each cell's row."""
        which, places = sources
        cells = cells[which]
        borrowed = BorrowedValues(
            self.actual, company.rows, self.rows[cells], self.groups[cells], self.group_of_column, places
        )
        np.minimum.at(lowest, cells, self.anomaly_scores(borrowed))

    def repaired_pairs(
        self, rows: Ints, contributions: Doubles, others: list[Matrix], company: Company, scores: Doubles
    ) -> RepairedPairs:
        """What mending two columns at once takes off the score of some rows.

        contributions : (len(rows), n_groups), by which the columns are chosen
        """
        n_paired = min(N_PAIRED, contributions.shape[1])
        chosen = np.argsort(-contributions, axis=1, kind="stable")[:, :n_paired]
        pairs = np.array(list(combinations(range(n_paired), 2)), dtype=np.int64).reshape(-1, 2)
        groups = chosen[:, pairs].reshape(-1, 2)
        of_pair = np.repeat(rows, len(pairs))
        if not len(groups):
            return RepairedPairs(of_pair, groups, np.empty(0))
        lowest = scores[of_pair]
        for other in others:
            made = BorrowedPairs(self.actual, other, of_pair, groups, self.group_of_column, of_pair)
            lowest = np.minimum(lowest, self.anomaly_scores(made))
        cells, sources = company.sources_of_pairs(self.actual, of_pair, groups)
        made = BorrowedPairs(self.actual, company.rows, of_pair[cells], groups[cells], self.group_of_column, sources)
        np.minimum.at(lowest, cells, self.anomaly_scores(made))
        return RepairedPairs(of_pair, groups, scores[of_pair] - lowest)

    def alone(self, typical: Matrix) -> Doubles:
        """By how much the score of each typical row changes with the value of each cell of the actual row."""
        n_rows = typical.shape[0]
        nothing = np.full(n_rows, int(self.group_of_column.max()) + 1)
        rows, groups = np.concatenate([np.arange(n_rows), self.rows]), np.concatenate([nothing, self.groups])
        scores = self._scores_of(typical, self.actual, rows, groups)
        return np.asarray(scores[n_rows:] - scores[self.rows])

    def _scores_of(self, base: Matrix, other: Matrix, rows: Ints, groups: Ints) -> Doubles:
        if not len(rows):
            return np.empty(0)
        return self.anomaly_scores(BorrowedValues(base, other, rows, groups, self.group_of_column))

    def placed(self, effects: Doubles) -> sp.csr_array:
        """Effects of cells in their places: (n_rows, n_groups), zero where nothing is tried."""
        shape = (self.actual.shape[0], int(self.group_of_column.max()) + 1)
        return sp.csr_array((effects, (self.rows, self.groups)), shape=shape)


class RepairedPairs(NamedTuple):
    """Pairs of columns that were mended together. rows : (n_pairs,), ascending; groups : (n_pairs, 2)."""

    rows: Ints
    groups: Ints
    lowered: Doubles

    def credited(self, mended: sp.csr_array, totals: Doubles) -> tuple[sp.csr_array, Ints]:
        """Repairs with those of the best pair of each row shared out between its columns, and which pair that is."""
        together = np.full((len(totals), 2), -1)
        best = first_of_each(self.rows, self.lowered, 1)
        best = best[self.lowered[best] > WORTH_TOGETHER * np.maximum(totals[self.rows[best]], 0.0)]
        if not len(best):
            return mended, together
        changed = mended.tolil()
        for row, (one, other), both in zip(self.rows[best], self.groups[best], self.lowered[best], strict=True):
            by_one, by_other = mended[row, one], mended[row, other]
            changed[row, one], changed[row, other] = (both + by_one - by_other) / 2, (both + by_other - by_one) / 2
        together[self.rows[best]] = self.groups[best]
        return sp.csr_array(changed), together
