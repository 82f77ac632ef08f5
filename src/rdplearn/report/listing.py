"""The rows that a report lists: their values, where they lie on the map, and why they scored as they did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rdplearn._explain.explanation import Explanation, plain
from rdplearn._results.formats import as_simple_column
from rdplearn.table import TableEncoder
from rdplearn.table.cells import clean_cells
from rdplearn.table.encodings import Number

if TYPE_CHECKING:
    import pyarrow as pa

MOST_SHOWN_COLUMNS = 40
MOST_REASONS = 12
LONGEST_TEXT = 200


def shown_columns(
    column_names: Sequence[str], ids: Sequence[str], label: str | None, drivers: Sequence[str]
) -> list[str]:
    """The columns whose values are listed: identifiers first, then all; of very many, those that matter most.

    Examples
    --------
    >>> shown_columns(["amount", "order", "fraud"], ids=["order"], label="fraud", drivers=["amount"])
    ['order', 'amount']
    """
    others = [name for name in column_names if name != label and name not in ids]
    if len(others) > MOST_SHOWN_COLUMNS:
        first = [*(name for name in drivers if name in others), *(name for name in others if name not in drivers)]
        chosen = set(first[:MOST_SHOWN_COLUMNS])
        others = [name for name in others if name in chosen]
    return [*ids, *others]


def cell_values(cells: pa.ChunkedArray, name: str, encoder: TableEncoder | None = None) -> list[Any]:
    """Cells as plain values for JSON: numbers where the encoder found numbers, otherwise texts, shortened."""
    import pyarrow as pa

    column = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    encodings = {column.source: column.encoding for column in encoder.columns_} if encoder is not None else {}
    encoding = encodings.get(name)
    if encoder is not None and isinstance(encoding, Number) and encoding.kind == "number":
        numbers = encoding.read(clean_cells(column, encoder.rules_, name, "the table"), encoder.rules_)
        return [shortened(plain(value)) for value in numbers.tolist()]
    return [shortened(plain(value)) for value in as_simple_column(column).to_pylist()]


def list_rows(
    rows: pa.Table,
    places: npt.NDArray[np.int64],
    scores: npt.NDArray[np.float64],
    points: npt.NDArray[np.float64],
    rarity: npt.NDArray[np.float64],
    explanation: Explanation,
    columns: Sequence[str],
    encoder: TableEncoder,
) -> list[dict[str, Any]]:
    """All rows as plain values; the first ones, as many as the explanation has, with their reasons."""
    values = [cell_values(rows.column(name), name, encoder) for name in columns]
    return [
        {
            "row": int(places[number]) + 1,
            "score": float(scores[number]),
            "rarity": shortened(float(rarity[number])),
            "x": shortened(float(points[number, 0])),
            "y": shortened(float(points[number, 1])),
            "values": [of_column[number] for of_column in values],
            "reasons": reasons(explanation, number) if number < len(explanation) else None,
        }
        for number in range(len(places))
    ]


def reasons(explanation: Explanation, row: int) -> dict[str, Any]:
    """Why a row scored as it did: the columns that count, the rest of them together, and what a typical row scores."""
    columns = explanation.columns_of(row)
    by_size = sorted(columns, key=lambda column: -abs(column["contribution"]))[:MOST_REASONS]
    named = [column | {"value": shortened(column["value"])} for column in columns if column in by_size]
    rest = sum(column["contribution"] for column in columns) - sum(column["contribution"] for column in named)
    return {
        "baseline": explanation.baseline,
        "columns": named,
        "n_others": len(explanation.column_names) - len(named),
        "others": rest if len(named) < len(columns) else 0.0,
    }


def shortened(value: Any) -> Any:
    """Texts of at most 200 letters, numbers of 8 digits: no page shows more, and it would weigh twice as much.

    Examples
    --------
    >>> shortened(0.12345678901234), shortened(1234567890123), len(shortened("x" * 5000))
    (0.12345679, 1234567890123, 200)
    """
    if isinstance(value, float):
        return float(f"{value:.8g}")
    return f"{value[: LONGEST_TEXT - 1]}…" if isinstance(value, str) and len(value) > LONGEST_TEXT else value
