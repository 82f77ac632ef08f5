"""The first reasons of rows as columns of a table: which column, what stands there, what is usual."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rdplearn._types import Ints
from rdplearn.table.typical import Seconds

if TYPE_CHECKING:
    from rdplearn._explain.explanation import Explanation

N_REASONS = 3
PARTS = {"reason": "column", "value": "value", "typical": "typical"}
REASON_COLUMNS = tuple(f"{part}_{number}" for number in range(1, N_REASONS + 1) for part in PARTS)
MOST_EXPLAINED = 500  # reported rows, the highest first: what that costs does not grow with the table

Texts = npt.NDArray[np.object_]


def reason_columns(explanation: Explanation) -> dict[str, Texts]:
    """Columns ``reason_1``, ``value_1``, ``typical_1`` and so on of explained rows; None where there are fewer.

    Examples
    --------
    >>> from rdplearn._explain.explanation import Explanation
    >>> from rdplearn.table.typical import Typical
    >>> explanation = Explanation(
    ...     column_names=["fare", "tip"],
    ...     contributions=np.array([[0.8, -0.1]]),
    ...     anomaly_scores=np.array([0.7]),
    ...     baseline=0.0,
    ...     values=np.array([[950.5, 2.0]]),
    ...     typical=[Typical(low=5.0, high=80.0), Typical(low=0.0, high=9.0)],
    ... )
    >>> [texts.item() for texts in reason_columns(explanation).values()][:4]
    ['fare', '950.5', '5 to 80', None]
    """
    columns = {name: np.full(len(explanation), None, dtype=object) for name in REASON_COLUMNS}
    for row in range(len(explanation)):
        raising = [told for told in explanation.columns_of(row, n_columns=N_REASONS) if told["contribution"] > 0]
        for number, told in enumerate(raising, 1):
            for part, key in PARTS.items():
                columns[f"{part}_{number}"][row] = cell_text(told[key])
    return columns


def in_their_places(columns: Mapping[str, Texts], places: Ints, n_rows: int) -> dict[str, Texts]:
    """The columns of some rows among all rows of a table; None for the others.

    Examples
    --------
    >>> in_their_places({"reason_1": np.array(["fare"], dtype=object)}, np.array([1]), 3)["reason_1"].tolist()
    [None, 'fare', None]
    """
    spread = {name: np.full(n_rows, None, dtype=object) for name in columns}
    for name, texts in columns.items():
        spread[name][places] = texts
    return spread


def cell_text(value: Any) -> str | None:
    """A plain value as text that a program can read back, a duration as 1:02:33; None where it is missing.

    Examples
    --------
    >>> cell_text(9800.0), cell_text(0.1), cell_text("Rome"), cell_text(None)
    ('9800', '0.1', 'Rome', None)
    """
    if value is None:
        return None
    if isinstance(value, float) and not isinstance(value, Seconds) and value.is_integer() and abs(value) < 1e15:
        return f"{value:.0f}"
    return str(value)


def ranks(scores: npt.NDArray[np.float64], among: npt.NDArray[np.float64]) -> Ints:
    """The place of each score among all, 1 for the highest; equal scores share the first of their places.

    among : all scores, the lowest first

    Examples
    --------
    >>> ranks(np.array([0.5, 0.9, 0.5]), among=np.array([0.1, 0.5, 0.5, 0.9])).tolist()
    [2, 1, 2]
    """
    return np.asarray(len(among) - np.searchsorted(among, scores, side="right") + 1, dtype=np.int64)
