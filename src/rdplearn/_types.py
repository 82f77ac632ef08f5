"""Types that every stage shares, and how rows are drawn or cut into blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Arrays = dict[str, npt.NDArray[Any]]
Matrix: TypeAlias = Any  # (n_rows, n_columns): a NumPy array of any numeric type, or a CSR array, which has no types
Rows: TypeAlias = Any  # the same in float32, as members see it

ROWS_AT_ONCE = 2**16


def row_blocks(n_rows: int, size: int = ROWS_AT_ONCE) -> Iterator[slice]:
    """Slices that go through `n_rows` rows, `size` at a time."""
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def dense(rows: Matrix) -> npt.NDArray[Any]:
    """Rows with every zero written out, whether or not they were sparse."""
    return rows.toarray() if hasattr(rows, "toarray") else rows


def arrays_under(start: str, arrays: Arrays) -> Arrays:
    """The arrays whose names begin so, without that beginning.

    Examples
    --------
    >>> list(arrays_under("decoder.", {"decoder.bias": np.zeros(2), "weights": np.ones(2)}))
    ['bias']
    """
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def draw_seed(random_state: Any) -> int:
    """One number from what scikit-learn calls a `random_state`, from which all that follows is drawn."""
    from sklearn.utils import check_random_state  # here: reading a table does without scikit-learn

    return int(check_random_state(random_state).randint(2**31 - 1))


def drawn_rows(n_rows: int, most: int, seed: int | list[int]) -> Ints:
    """Places of rows, ascending: of all, or of `most` of them, drawn uniformly and without replacement.

    Examples
    --------
    >>> drawn_rows(3, 10, 0).tolist(), len(drawn_rows(100, 10, 0))
    ([0, 1, 2], 10)
    """
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, most, replace=False))


@dataclass(frozen=True)
class TableColumns:
    """Which columns of a matrix came from which column of a table.

    names : of the columns of the table, (n_groups,)
    group_of_column : (n_columns,), the place in `names` that each matrix column came from
    is_mark : (n_columns,), whether it only says that a cell is missing or cannot be read
    weights : (n_groups,), how much each column of the table counts; 0 is the same as ignoring it
    is_rest : (n_columns,), whether it stands for all rare values together; None after the fit, which alone asks
    """

    names: list[str]
    group_of_column: Ints
    is_mark: npt.NDArray[np.bool_]
    weights: Doubles
    is_rest: Flags | None = None

    @cached_property
    def sizes(self) -> Ints:
        """How many matrix columns each column of the table became, marks aside, at least 1."""
        found = np.bincount(self.group_of_column[~self.is_mark], minlength=len(self.names))
        return np.maximum(found, 1)

    @cached_property
    def columns_of_group(self) -> list[Ints]:
        """The matrix columns of each column of the table."""
        return [np.flatnonzero(self.group_of_column == group) for group in range(len(self.names))]

    def reduced(self, function: np.ufunc, cells: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Something of each matrix column to something of each column of the table: (n_rows, n_groups)."""
        by_group, starts = self._in_order
        return function.reduceat(cells[:, by_group], starts, axis=1)

    @cached_property
    def _in_order(self) -> tuple[Ints, Ints]:
        """The matrix columns, group by group, and where each group starts among them."""
        by_group = np.argsort(self.group_of_column, kind="stable")
        return by_group, np.searchsorted(self.group_of_column[by_group], np.arange(len(self.names)))
