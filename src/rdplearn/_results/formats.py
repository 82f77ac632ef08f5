"""Rows of results as bytes that can be appended to a file: CSV, JSON Lines, Parquet.

Each format knows the bytes that a file starts with, those of further rows, and how a complete file comes of them. The
same rows in the same batches give the same bytes. Parquet has its index at the end and cannot be appended to, so its
rows gather as an Arrow stream, from which the file is written at the end, a row group for each batch.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from rdplearn._files.atomic import publish, written_whole
from rdplearn.errors import TableError

ROW = "row"


class ResultFormat(Protocol):
    """How rows become bytes."""

    def start(self, schema: pa.Schema) -> bytes: ...
    def rows(self, batch: pa.RecordBatch) -> bytes: ...
    def finish(self, grown: Path, target: Path) -> None: ...


class CsvRows:
    """Comma-separated values with a header."""

    def start(self, schema: pa.Schema) -> bytes:
        return self._written(schema.empty_table(), header=True)

    def rows(self, batch: pa.RecordBatch) -> bytes:
        return self._written(pa.Table.from_batches([batch]), header=False)

    def finish(self, grown: Path, target: Path) -> None:
        publish(grown, target)

    def _written(self, table: pa.Table, *, header: bool) -> bytes:
        from pyarrow import csv

        content = io.BytesIO()
        csv.write_csv(table, content, csv.WriteOptions(include_header=header))
        return content.getvalue()


class JsonRows:
    """One JSON object per line."""

    def start(self, schema: pa.Schema) -> bytes:
        return b""

    def rows(self, batch: pa.RecordBatch) -> bytes:
        return "".join(f"{json.dumps(row, default=str)}\n" for row in as_json_rows(batch)).encode()

    def finish(self, grown: Path, target: Path) -> None:
        publish(grown, target)


class ParquetRows:
    """Parquet, by way of an Arrow stream."""

    def start(self, schema: pa.Schema) -> bytes:
        return schema.serialize().to_pybytes()

    def rows(self, batch: pa.RecordBatch) -> bytes:
        return batch.serialize().to_pybytes()

    def finish(self, grown: Path, target: Path) -> None:
        import pyarrow.parquet as pq

        with (
            open(grown, "rb") as stream,
            pa.ipc.open_stream(stream) as reader,
            written_whole(target) as temporary,
            pq.ParquetWriter(temporary, reader.schema, **self.encodings(reader.schema)) as writer,
        ):
            for batch in reader:
                writer.write_batch(batch)
        grown.unlink()

    def encodings(self, schema: pa.Schema) -> dict[str, Any]:
        """Dictionaries for texts alone, since results hardly repeat; of row numbers the differences, all of them 1."""
        texts = [field.name for field in schema if types.is_string(field.type) or types.is_large_string(field.type)]
        numbered = {ROW: "DELTA_BINARY_PACKED"} if ROW in schema.names else None
        return {"use_dictionary": texts or False, "column_encoding": numbered}


FORMATS: dict[str, type[CsvRows | JsonRows | ParquetRows]] = {
    ".csv": CsvRows,
    ".jsonl": JsonRows,
    ".ndjson": JsonRows,
    ".parquet": ParquetRows,
    ".pq": ParquetRows,
}


def format_of(path: Path) -> ResultFormat:
    """The format that a file's ending asks for.

    Examples
    --------
    >>> type(format_of(Path("scores.parquet"))).__name__
    'ParquetRows'
    >>> format_of(Path("a.xlsx"))
    Traceback (most recent call last):
    rdplearn.errors.TableError: 'a.xlsx' must end in .csv, .jsonl, .ndjson, .parquet, .pq: the ending is the format.
    """
    made = FORMATS.get(path.suffix.lower())
    if made is None:
        raise TableError(f"'{path}' must end in {', '.join(FORMATS)}: the ending is the format.")
    return made()


def as_json_rows(rows: pa.RecordBatch | pa.Table) -> list[dict[str, Any]]:
    """Rows as JSON can have them: it knows neither NaN nor infinity, so they become null.

    Examples
    --------
    >>> as_json_rows(pa.table({"x": [1.5, float("nan")]}))
    [{'x': 1.5}, {'x': None}]
    """
    columns = {
        field.name: pc.if_else(pc.is_finite(cells), cells, pa.scalar(None, field.type))
        if types.is_floating(field.type)
        else cells
        for field, cells in zip(rows.schema, rows.columns, strict=True)
    }
    listed: list[dict[str, Any]] = pa.table(columns).to_pylist()
    return listed


def as_simple_column(cells: Any) -> Any:
    """A column that every format can write: nested cells as JSON, categories and bytes as texts."""
    if types.is_dictionary(cells.type):
        return as_simple_column(cells.dictionary_decode())
    if types.is_nested(cells.type) or types.is_binary(cells.type) or types.is_large_binary(cells.type):
        texts = [None if value is None else json.dumps(value, default=str) for value in cells.to_pylist()]
        return pa.array(texts, pa.string())
    return cells


def numbered_rows(
    rows: pa.RecordBatch, first_row: int, carried: Sequence[str], own: Mapping[str, npt.NDArray[Any]]
) -> pa.RecordBatch:
    """Rows as they are written: their number, the columns carried along, and columns of our own.

    Examples
    --------
    >>> rows = pa.record_batch({"order": ["A1", "A2"]})
    >>> numbered_rows(rows, 5, ["order"], {"cluster": np.array([0, 1])}).to_pylist()
    [{'row': 5, 'order': 'A1', 'cluster': 0}, {'row': 6, 'order': 'A2', 'cluster': 1}]
    """
    numbers = np.arange(first_row, first_row + rows.num_rows, dtype=np.int64)
    columns = {name: as_simple_column(rows.column(name)) for name in carried}
    return pa.record_batch({ROW: numbers, **columns, **own})


def check_carried(carried: Sequence[str], own: Sequence[str]) -> None:
    """See that the columns to be carried along do not bear the names of ours."""
    taken = sorted({ROW, *own} & set(carried))
    if taken:
        raise TableError(f"Column {taken[0]!r} cannot be carried along: the result has one of that name. Rename it.")
