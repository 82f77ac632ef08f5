"""What might stand in a cell instead: values that other rows of the table have.

A cell is mended with what the rows have that are most like it by all *other* columns and differ in this one, and with
values spread over what occurs in its column. So a fit keeps a sample of the table beside its typical rows
(`typical_rows.py`): a row that is odd may be like another odd one, and mended by it. The oddest rows are left out:
another row with the same error would mend a cell by repeating it, such as by emptying it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rdplearn._explain.typical_rows import DECIMALS, TypicalRows
from rdplearn._types import Doubles, Ints, Matrix, dense, row_blocks

N_NEAREST, N_SPREAD = 5, 12  # rows like a row, and values of its column, that each cell is mended with at most
CELLS_AT_ONCE = 2**22


@dataclass(frozen=True)
class Company:
    """Rows to take values from. weights : (n_columns,), how much each column counts in distances."""

    typical_rows: TypicalRows
    group_of_column: Ints
    weights: Doubles

    @property
    def rows(self) -> Matrix:
        """The sample: (n_company, n_columns)."""
        return self.typical_rows.company

    def sources(self, actual: Matrix, rows: Ints, groups: Ints) -> tuple[Ints, Ints]:
        """Which values each of some cells is to be tried with, each value once: numbers of cells, places of rows.

        rows, groups : of each cell, its row among the `actual` ones, ascending, and its group of columns
        """
        places = np.concatenate([self._nearest_of(actual, rows, groups[:, None]), self._spread[:, groups].T], axis=1)
        return self._different(places, groups)

    def nearest_sources(self, actual: Matrix, rows: Ints, groups: Ints) -> tuple[Ints, Ints]:
        """The same, of the rows alone that are most like each cell's row."""
        return self._different(self._nearest_of(actual, rows, groups[:, None]), groups)

    def _different(self, places: Ints, groups: Ints) -> tuple[Ints, Ints]:
        return _each_once(places, np.take_along_axis(self._values[:, groups].T, places, axis=1))

    def sources_of_pairs(self, actual: Matrix, rows: Ints, pairs: Ints) -> tuple[Ints, Ints]:
        """The same for two groups at once, whose values come from one row. pairs : (n_cells, 2)."""
        spread = [self._spread[place::2, groups].T for place, groups in enumerate(pairs.T)]
        places = np.concatenate([self._nearest_of(actual, rows, pairs), *spread], axis=1)
        one, other = (np.take_along_axis(self._values[:, groups].T, places, axis=1) for groups in pairs.T)
        return _each_once(places, one * (self._values.max() + 1) + other)

    def _nearest_of(self, actual: Matrix, rows: Ints, groups: Ints) -> Ints:
        """The rows that are nearest by all columns but those of `groups`: (n_cells, N_NEAREST).

        groups : (n_cells, n_left_out)
        """
        n_rows, n_company = actual.shape[0], self._dense_rows.shape[0]
        widest = max(len(self._columns), *(len(columns) for columns in self._columns))
        at_once = max(1, CELLS_AT_ONCE // (n_company * widest))
        nearest = np.empty((len(rows), min(N_NEAREST, n_company)), dtype=np.int64)
        for block in row_blocks(n_rows, at_once):
            inside = slice(*np.searchsorted(rows, [block.start, block.stop]))
            if inside.start < inside.stop:
                nearest[inside] = self._nearest(dense(actual[block]), rows[inside] - block.start, groups[inside])
        return nearest

    @cached_property
    def _dense_rows(self) -> Doubles:
        return dense(self.rows)

    @cached_property
    def _distinct(self) -> list[tuple[Doubles, Ints]]:
        """Of each group the values that occur, and which of them each row has."""
        return [_distinct_rows(self._dense_rows[:, columns]) for columns in self._columns]

    @cached_property
    def _columns(self) -> list[Ints]:
        """The columns of each group."""
        return [np.flatnonzero(self.group_of_column == group) for group in range(int(self.group_of_column.max()) + 1)]

    @cached_property
    def _values(self) -> Ints:
        """Numbers for what rows have in each group, the same for the same values: (n_company, n_groups)."""
        return np.stack([values for _, values in self._distinct], axis=1)

    @cached_property
    def _spread(self) -> Ints:
        """Rows whose values are spread over each group, of several columns the most frequent: (N_SPREAD, n_groups)."""
        return np.stack(
            [
                _by_rank(values) if size == 1 else _by_frequency(values)
                for values, size in zip(self._values.T, np.bincount(self.group_of_column), strict=True)
            ],
            axis=1,
        )

    def _nearest(self, block: Doubles, rows: Ints, groups: Ints) -> Ints:
        """The rows that are nearest to each cell's row by all other columns: (n_cells, N_NEAREST), ascending.

        groups : (n_cells, n_left_out)
        """
        # pairs of values, not of rows: the rows of a category have few
        apart = np.empty((len(self._columns), len(block), self._dense_rows.shape[0]))
        for group, (columns, (there, values)) in enumerate(zip(self._columns, self._distinct, strict=True)):
            here, own = _distinct_rows(block[:, columns])
            between = np.abs(here[:, None] - there)
            with np.errstate(divide="ignore", invalid="ignore"):
                in_spreads = np.minimum(between / self.typical_rows.spread[columns], 1.0)
            in_spreads[between == 0] = 0.0  # of a column that never varied, the same value is not far away
            # no product: BLAS would give the same row other last bits among other rows
            apart[group] = np.add.reduce(in_spreads * self.weights[columns], axis=2)[own][:, values]
        by_others = apart.sum(axis=0)[rows]
        for left_out in groups.T:
            by_others -= apart[left_out, rows]
        is_same = np.all([apart[left_out, rows] == 0 for left_out in groups.T], axis=0)
        by_others[is_same] = np.inf  # nothing would be mended
        by_others = np.round(by_others, DECIMALS)  # rounding, as of sparse rows, must not decide between equal ones
        n_nearest = min(N_NEAREST, by_others.shape[1])
        return np.sort(np.argpartition(by_others, n_nearest - 1, axis=1)[:, :n_nearest], axis=1)


def _each_once(places: Ints, values: Ints) -> tuple[Ints, Ints]:
    """Of each cell, a place for every different value: numbers of cells, places."""
    order = np.argsort(values, axis=1, kind="stable")
    places, values = (np.take_along_axis(part, order, axis=1) for part in (places, values))
    is_new = np.diff(values, axis=1, prepend=-1) > 0
    return np.nonzero(is_new)[0], places[is_new]


def _distinct_rows(rows: Doubles) -> tuple[Doubles, Ints]:
    """The different ones among the rows, and which of them each is."""
    if rows.shape[1] == 1:
        values, which = np.unique(rows[:, 0], return_inverse=True)
        return values[:, None], which
    keys = np.ascontiguousarray(rows + 0.0).view(np.dtype((np.void, rows.shape[1] * rows.itemsize))).ravel()
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], which


def _by_rank(values: Ints) -> Ints:
    order = np.argsort(values, kind="stable")
    return order[np.round(np.linspace(0.02, 0.98, N_SPREAD) * (len(order) - 1)).astype(np.int64)]


def _by_frequency(values: Ints) -> Ints:
    found, first, counts = np.unique(values, return_index=True, return_counts=True)
    most = first[np.argsort(-counts, kind="stable")]
    if counts.max() == 1:  # all are different: any of them
        most = most[:: max(1, len(found) // N_SPREAD)]
    return np.resize(most[:N_SPREAD], N_SPREAD)
