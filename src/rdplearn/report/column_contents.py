"""What stands in a column of some rows, as a report compares it: numbers for what has an order, texts for the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rdplearn.table import TableEncoder
from rdplearn.table.cells import clean_cells, words_of
from rdplearn.table.encoded_column import EncodedColumn
from rdplearn.table.typical import value_words

ORDERED = ("number", "year", "date", "time")
MISSING = "missing"


def column_contents(column: EncodedColumn, rows: pa.Table, encoder: TableEncoder) -> npt.NDArray[Any]:
    """Numbers, NaN where they are missing, of a column in order (dates in seconds since 1970); texts of any other."""
    cells = rows.column(column.source)
    cells = cells.combine_chunks() if hasattr(cells, "combine_chunks") else cells
    clean = clean_cells(cells, encoder.rules_, column.source, "the table")
    if column.kind in ORDERED:
        numbers: npt.NDArray[np.float64] = column.encoding.read(clean, encoder.rules_)  # type: ignore[union-attr]
        return numbers
    return np.array(words_of(clean).fill_null(MISSING).to_pylist(), dtype=object)


def moment_words(value: float, kind: str) -> str:
    """A number of a column in order as its cells are written: a year, a day, an hour, or a plain number.

    Examples
    --------
    >>> moment_words(1962.0, "year"), moment_words(86400.0, "date"), moment_words(3660.0, "time")
    ('1962', '1970-01-02', '01:01')
    """
    if kind == "year":
        return f"{value:.0f}"
    if kind == "date":
        return str(np.datetime64(0, "s") + np.timedelta64(round(value), "s"))[:10]
    if kind == "time":
        return f"{int(value) // 3600:02d}:{int(value) % 3600 // 60:02d}"
    return value_words(value)
