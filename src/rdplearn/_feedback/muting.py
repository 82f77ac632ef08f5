"""Muting: rows of a certain kind are not reported, though their score says so. They are counted, never lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rdplearn._types import Matrix, dense


@dataclass(frozen=True)
class MutingRule:
    """Rows with this first reason that have these values in some columns are fine.

    name : by which it is listed and removed
    reason : the column that raises the score most
    words : what the rule says of further columns, such as {"city": "Oslo"}
    places, values : (n_places,), columns of the matrix and what stands in them, in single precision
    """

    name: str
    reason: str
    words: Mapping[str, str]
    places: tuple[int, ...]
    values: tuple[float, ...]

    def __str__(self) -> str:
        where = "".join(f" and {column} is {value}" for column, value in self.words.items())
        return f"{self.name}: rows whose first reason is {self.reason}{where}"

    def fits_values(self, matrix: Matrix) -> npt.NDArray[np.bool_]:
        """Which rows have the rule's values, whatever the reason of their score. Shape (n_rows,)."""
        cells = dense(matrix[:, list(self.places)])
        return np.all(cells.astype(np.float32) == np.asarray(self.values, dtype=np.float32), axis=1)


def rule_of_row(
    row: Matrix,
    reason: str,
    same: Sequence[str],
    *,
    name: str | None,
    groups: Mapping[str, Sequence[int]],
    words: Mapping[str, str],
) -> MutingRule:
    """The rule that rows like this one are fine: the same first reason, the same values in the columns `same`."""
    if name is not None and not name.isprintable():
        raise ValueError(f"The 'name' parameter of mute must be one line of printable letters. Got {name!r} instead.")
    for column in same:
        if column not in groups:
            raise ValueError(
                f"The 'same' parameter of mute must name columns of the model, such as {next(iter(groups))!r}. Got "
                f"{column!r} instead."
            )
    places = [place for column in same for place in groups[column]]
    cells = dense(row[[0]])[0]
    told = {column: words[column] for column in same}
    usual_name = ", ".join([reason, *(f"{column} {value}" for column, value in told.items())])
    return MutingRule(name or usual_name, reason, told, tuple(places), tuple(float(cells[place]) for place in places))
