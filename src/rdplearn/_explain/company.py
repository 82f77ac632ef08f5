"""What might stand in a cell instead: values that other rows of the table have.

A cell is mended with what the rows have that are most like it by all *other* columns, and with values spread over what
occurs in its column. So a fit keeps a plain sample of the table beside its typical rows (`typical_rows.py`): a row that
is odd may be like another odd one, and mended by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rdplearn._explain.typical_rows import TypicalRows
from rdplearn._types import Doubles, Ints, Matrix, dense, row_blocks

N_NEAREST, N_SPREAD = 6, 16  # rows like a row, and values of its column, that each cell is mended with at most
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
        n_rows, n_company = actual.shape[0], self._dense_rows.shape[0]
        at_once = max(1, CELLS_AT_ONCE // self._dense_rows.size)
        nearest = np.empty((len(rows), min(N_NEAREST, n_company)), dtype=np.int64)
        for block in row_blocks(n_rows, at_once):
            inside = slice(*np.searchsorted(rows, [block.start, block.stop]))
            nearest[inside] = self._nearest(dense(actual[block]), rows[inside] - block.start, groups[inside])
        places = np.concatenate([nearest, self._spread[:, groups].T], axis=1)
        values = np.take_along_axis(self._values[:, groups].T, places, axis=1)
        order = np.argsort(values, axis=1, kind="stable")
        places, values = (np.take_along_axis(part, order, axis=1) for part in (places, values))
        is_new = np.diff(values, axis=1, prepend=-1) > 0
        return np.nonzero(is_new)[0], places[is_new]

    @cached_property
    def _dense_rows(self) -> Doubles:
        return dense(self.rows)

    @cached_property
    def _values(self) -> Ints:
        """Numbers for what rows have in each group, the same for the same values: (n_company, n_groups)."""
        groups = range(int(self.group_of_column.max()) + 1)
        parts = [self._dense_rows[:, self.group_of_column == group] for group in groups]
        return np.stack([np.unique(part, axis=0, return_inverse=True)[1].ravel() for part in parts], axis=1)

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
        """The rows that are nearest to each cell's row by all other columns: (n_cells, N_NEAREST), ascending."""
        apart = self.typical_rows.deviations(block[:, None] - self._dense_rows)  # (n_rows, n_company, n_columns)
        apart = np.minimum(apart, 1.0) * self.weights
        by_group = np.argsort(self.group_of_column, kind="stable")
        starts = np.searchsorted(self.group_of_column[by_group], np.arange(self.group_of_column.max() + 1))
        apart = np.add.reduceat(apart[:, :, by_group], starts, axis=2)
        by_others = apart.sum(axis=2)[rows] - apart[rows, :, groups]
        n_nearest = min(N_NEAREST, by_others.shape[1])
        return np.sort(np.argpartition(by_others, n_nearest - 1, axis=1)[:, :n_nearest], axis=1)


def _by_rank(values: Ints) -> Ints:
    order = np.argsort(values, kind="stable")
    return order[np.round(np.linspace(0.02, 0.98, N_SPREAD) * (len(order) - 1)).astype(np.int64)]


def _by_frequency(values: Ints) -> Ints:
    found, first, counts = np.unique(values, return_index=True, return_counts=True)
    most = first[np.argsort(-counts, kind="stable")]
    if counts.max() == 1:  # all are different: any of them
        most = most[:: max(1, len(found) // N_SPREAD)]
    return np.resize(most[:N_SPREAD], N_SPREAD)
