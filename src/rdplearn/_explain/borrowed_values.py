"""Rows, each with some values of another row: what a column would do to the score of a row if it were mended."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rdplearn._types import Ints, Matrix


class BorrowedValues:
    """Rows, each with the values of one group taken from another row; made when a slice is asked for.

    Shape
    -----
    (len(rows), n_columns) : row `t` is row `rows[t]` of `base` with group `groups[t]` as in row `sources[t]` of
        `other`, by default the same row; the number after the last group stands for no group at all
    """

    def __init__(
        self,
        base: Matrix,
        other: Matrix,
        rows: Ints,
        groups: Ints,
        group_of_column: Ints,
        sources: Ints | None = None,
    ) -> None:
        self.base, self.other, self.rows, self.groups = base, other, rows, groups
        self.sources = rows if sources is None else sources
        self.group_of_column = group_of_column
        self.columns_by_group = np.argsort(group_of_column, kind="stable")
        self.group_sizes = np.append(np.bincount(group_of_column), 0)
        self.shape = (len(rows), other.shape[1])

    def __getitem__(self, stretch: slice) -> Matrix:
        rows, groups, sources = self.rows[stretch], self.groups[stretch], self.sources[stretch]
        if not sp.issparse(self.other):
            made = self.base[rows]
            places, columns = self._cells_of(groups)
            made[places, columns] = self.other[sources[places], columns]
            return made
        return self._of(self.other, sources, groups, inside=True) + self._of(self.base, rows, groups, inside=False)

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


class BorrowedPairs:
    """Rows, each with the values of two groups taken from another row; made when a slice is asked for.

    groups : (n_made, 2); the rest is as in `BorrowedValues`
    """

    def __init__(
        self, base: Matrix, other: Matrix, rows: Ints, groups: Ints, group_of_column: Ints, sources: Ints
    ) -> None:
        self.once = BorrowedValues(base, other, rows, groups[:, 0], group_of_column, sources)
        self.groups, self.shape = groups[:, 1], self.once.shape

    def __getitem__(self, stretch: slice) -> Matrix:
        made, once = self.once[stretch], self.once
        places, sources = np.arange(made.shape[0]), once.sources[stretch]
        twice = BorrowedValues(made, once.other, places, self.groups[stretch], once.group_of_column, sources)
        return twice[:]
