"""How the values of a column spread over all rows, in few numbers, and where the value of a row lies among them.

They are the small pictures beside the reasons of a row: a histogram of numbers and dates, bars of frequent values.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pyarrow as pa

from rdplearn._types import Doubles
from rdplearn.report.column_contents import ORDERED, column_contents, moment_words
from rdplearn.table import TableEncoder
from rdplearn.table.encoded_column import EncodedColumn
from rdplearn.table.typical import Seconds, value_words

MOST_BINS, MOST_VALUES = 24, 5
MIDDLE = (0.01, 0.99)  # of the numbers; the few beyond would squeeze all others into one bin


class ColumnSpreads:
    """The spreads of some columns of a table.

    Parameters
    ----------
    sample : rows that stand for the table
    encoder : knows what its columns are
    names : columns that are asked for; those without a spread, such as free text, are passed over
    """

    def __init__(self, sample: pa.Table, encoder: TableEncoder, names: Collection[str]) -> None:
        self.encoder = encoder
        self._columns = {
            column.source: column
            for column in encoder.columns_
            if column.source in names and not column.is_left_out and column.kind != "text"
        }
        self._contents = {name: column_contents(column, sample, encoder) for name, column in self._columns.items()}
        self._counts = {
            name: dict(zip(*np.unique(contents.astype(str), return_counts=True), strict=True))
            for name, contents in self._contents.items()
            if self._columns[name].kind not in ORDERED
        }

    def as_dict(self, names: Collection[str]) -> dict[str, dict[str, Any]]:
        """By column: ``low``, ``high``, their ``words`` and ``counts``; or ``values``, ``counts`` and ``n_values``."""
        spreads = {}
        for name, column in self._columns.items():
            if name not in names:
                continue
            spread = _histogram(self._contents[name], column) if column.kind in ORDERED else _bars(self._counts[name])
            if spread is not None:
                spreads[name] = spread
        return spreads

    def marks(self, rows: pa.Table) -> dict[str, list[dict[str, Any]]]:
        """By column and row, where a value lies: ``at`` on the axis, or the ``text`` and how many are the ``same``."""
        marks: dict[str, list[dict[str, Any]]] = {}
        for name, column in self._columns.items():
            contents = column_contents(column, rows, self.encoder)
            if column.kind in ORDERED:
                marks[name] = [{"at": float(value) if np.isfinite(value) else None} for value in contents]
            else:
                counts = self._counts[name]
                marks[name] = [{"text": str(text), "same": int(counts.get(str(text), 0))} for text in contents]
        return marks


def _histogram(values: Doubles, column: EncodedColumn) -> dict[str, Any] | None:
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return None
    low, high = (float(end) for end in np.quantile(known, MIDDLE))
    inside = known[(known >= low) & (known <= high)]
    if low == high or len(inside) == 0:  # all in the middle are the same, or there are only two
        low, high, inside = float(known.min()), float(known.max()), known
    n_bins = min(MOST_BINS, len(np.unique(inside)))
    counts, _ = np.histogram(inside, bins=n_bins, range=(low, high))
    ends = [Seconds(end) if getattr(column.encoding, "is_duration", False) else end for end in (low, high)]
    words = [moment_words(end, column.kind) if column.kind != "number" else value_words(end) for end in ends]
    return {"low": low, "high": high, "words": words, "counts": counts.tolist()}


def _bars(counts: dict[str, Any]) -> dict[str, Any]:
    most = sorted(counts, key=lambda value: (-counts[value], value))[:MOST_VALUES]
    return {
        "values": [str(value) for value in most],
        "counts": [int(counts[value]) for value in most],
        "n_values": len(counts),
    }
