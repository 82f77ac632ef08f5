"""Columns of a matrix that are explained as one, such as those of a one-hot encoding: names, values and ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rdplearn._explain.typical_rows import TypicalRows
from rdplearn._types import Ints, Matrix, dense
from rdplearn.table.typical import Typical


def column_groups(groups: Mapping[str, Sequence[int]] | None, names: list[str]) -> tuple[list[str], Ints]:
    """The names of the groups, and the number of its group for each column; without groups, one for each column.

    Examples
    --------
    >>> column_groups({"age": [0], "city": [1, 2]}, ["age", "city=Oslo", "city=Rome"])
    (['age', 'city'], array([0, 1, 1]))
    """
    if groups is None:
        return names, np.arange(len(names))
    group_of_column = np.full(len(names), -1, dtype=np.int64)
    for number, (name, columns) in enumerate(groups.items()):
        for column in columns:
            if not 0 <= column < len(names) or group_of_column[column] >= 0:
                wrong = (
                    "that the table does not have"
                    if not 0 <= column < len(names)
                    else "that is in another group already"
                )
                raise ValueError(f"The 'groups' parameter names column {column} in group {name!r}, {wrong}.")
            group_of_column[column] = number
        if not len(columns):
            raise ValueError(f"The 'groups' parameter must give each group a column. Got none for {name!r}.")
    left = np.flatnonzero(group_of_column < 0)
    if len(left):
        raise ValueError(
            f"The 'groups' parameter must put every column into a group. Got none for column {left[0]} "
            f"({names[left[0]]!r}): give it a group of its own."
        )
    return list(groups), group_of_column


def grouped_values(matrix: Matrix, group_of_column: Ints) -> Any:
    """What stands in each row and group: a number, or a tuple of them for a group of several columns."""
    sizes = np.bincount(group_of_column)
    if (sizes == 1).all():
        return matrix if len(sizes) < 2 else matrix[:, np.argsort(group_of_column, kind="stable")]
    rows = dense(matrix)
    values = np.empty((rows.shape[0], len(sizes)), dtype=object)
    for group, size in enumerate(sizes):
        columns = np.flatnonzero(group_of_column == group)
        cells = rows[:, columns].tolist()
        values[:, group] = [row[0] for row in cells] if size == 1 else _as_objects([tuple(row) for row in cells])
    return values


def grouped_typical_rows(typical_rows: TypicalRows, group_of_column: Ints) -> Any:
    """The typical rows by groups, (n_typical, n_groups): NaN for groups of several columns."""
    sizes = np.bincount(group_of_column)
    if (sizes == 1).all():
        return typical_rows.rows[:, np.argsort(group_of_column, kind="stable")]
    values = np.full((typical_rows.rows.shape[0], len(sizes)), np.nan)
    single = np.flatnonzero(sizes[group_of_column] == 1)
    values[:, group_of_column[single]] = dense(typical_rows.rows[:, single])
    return values


def typical_ranges(typical_rows: TypicalRows, group_of_column: Ints) -> list[Typical]:
    """For each group of one column the range of its typical values; nothing for the others."""
    sizes = np.bincount(group_of_column)
    typical = [Typical()] * len(sizes)
    for column, group in enumerate(group_of_column):
        if sizes[group] == 1:
            typical[group] = Typical(low=float(typical_rows.low[column]), high=float(typical_rows.high[column]))
    return typical


def _as_objects(values: list[Any]) -> npt.NDArray[Any]:
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made
