"""The rows that a report lists: their values, where they lie on the map, and why they scored as they did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.types as types

from rdplearn._explain.explanation import Explanation, plain
from rdplearn._results.formats import as_simple_column
from rdplearn._types import Doubles
from rdplearn.report.charts import rarity
from rdplearn.report.gathering import ListedRows
from rdplearn.report.spreads import ColumnSpreads
from rdplearn.table import TableEncoder
from rdplearn.table.cells import in_seconds, is_text, words_of
from rdplearn.table.typical import Seconds

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


def cell_values(cells: pa.ChunkedArray, name: str, encoder: TableEncoder) -> list[Any]:
    """Cells as plain values for JSON: numbers where the encoder found numbers, otherwise texts, shortened."""
    column = _whole(cells)
    used = {column.source: column for column in encoder.columns_ if not column.is_left_out}
    if name in used:
        return [shortened(plain(value)) for value in used[name].values(column, encoder.rules_, "the table")]
    return [shortened(text) if text else None for text in _texts(column)]  # identifiers are no quantities


def own_texts(rows: pa.Table) -> list[list[str]]:
    """All cells of rows as texts, as the table has them; empty where they are missing: (n_rows, n_columns).

    Examples
    --------
    >>> own_texts(pa.table({"price": ["$2,700", None], "weight": [1.0, 0.25]}))
    [['$2,700', '1'], ['', '0.25']]
    """
    columns = [_texts(_whole(rows.column(name))) for name in rows.column_names]
    return [list(row) for row in zip(*columns, strict=True)]


def list_rows(
    listed: ListedRows,
    scores: Doubles,
    points: Doubles,
    explanation: Explanation,
    columns: Sequence[str],
    spreads: ColumnSpreads,
) -> list[dict[str, Any]]:
    """All rows as plain values; the first ones, as many as the explanation has, with their reasons and all cells.

    scores : of the whole table; points : where the listed rows lie on the map
    """
    places, n_top = listed.places, listed.n_top
    values = [cell_values(listed.rows.column(name), name, spreads.encoder) for name in columns]
    top = listed.rows.slice(0, n_top)
    cells, marks = own_texts(top), spreads.marks(top)
    rare = rarity(scores)[places]
    rows = []
    for number in range(len(places)):
        row: dict[str, Any] = {
            "row": int(places[number]) + 1,
            "score": float(scores[places[number]]),
            "rarity": shortened(float(rare[number])),
            "x": shortened(float(points[number, 0])),
            "y": shortened(float(points[number, 1])),
            "values": [of_column[number] for of_column in values],
            "reasons": None,
        }
        if number < n_top:
            here = {name: of_column[number] for name, of_column in marks.items()}
            row |= {"reasons": reasons(explanation, number, here), "cells": cells[number]}
        rows.append(row)
    return rows


def reasons(explanation: Explanation, row: int, marks: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Why a row scored as it did: the columns that count, the rest of them together, and what a typical row scores.

    marks : by column, where the row's value lies among all
    """
    columns = explanation.columns_of(row)
    by_size = sorted(columns, key=lambda column: -abs(column["contribution"]))[:MOST_REASONS]
    named = [
        {name: shortened(part) for name, part in column.items()} | marks.get(column["column"], {})
        for column in columns
        if column in by_size
    ]
    rest = sum(column["contribution"] for column in columns) - sum(column["contribution"] for column in named)
    return {
        "baseline": explanation.baseline,
        "columns": named,
        "n_others": len(explanation.column_names) - len(named),
        "others": rest if len(named) < len(columns) else 0.0,
    }


def shortened(value: Any) -> Any:
    """Texts of at most 200 letters, fractions of 8 digits: no page shows more, and it would weigh twice as much.

    Examples
    --------
    >>> shortened(0.12345678901234), shortened(2783918982.0), len(shortened("x" * 5000))
    (0.12345679, 2783918982.0, 200)
    """
    if isinstance(value, Seconds):
        return str(value)
    if isinstance(value, float):
        return value if value.is_integer() else float(f"{value:.{8 if abs(value) < 1e8 else 15}g}")
    return f"{value[: LONGEST_TEXT - 1]}…" if isinstance(value, str) and len(value) > LONGEST_TEXT else value


def _whole(cells: Any) -> Any:
    return cells.combine_chunks() if hasattr(cells, "combine_chunks") else cells


def _texts(column: Any) -> list[str]:
    cells = as_simple_column(column)
    if types.is_duration(cells.type):
        cells = in_seconds(cells)
    if types.is_floating(cells.type):
        return ["" if text in (None, "nan") else text for text in words_of(cells).to_pylist()]
    if is_text(cells) or types.is_integer(cells.type) or types.is_boolean(cells.type):
        cells = words_of(cells)
    return ["" if value is None else str(value) for value in cells.to_pylist()]
