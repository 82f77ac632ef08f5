"""JSON Lines: one object per line, read in blocks of whole lines.

Every value is handed on as text, as in CSV, so that a key may hold a number here and a word there. A key that
some objects lack is missing there; a first pass over the file finds all keys.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from rdplearn.errors import TableError
from rdplearn.table.cells import TextRules, clean_cells, number_words, words_of
from rdplearn.table.limits import Limits
from rdplearn.table.openers import Opener, native_buffer, utf8_blocks
from rdplearn.table.sniffing import sniff_encoding
from rdplearn.table.wording import shown

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST_LINE = 1 << 26
DEEPEST = 200
CELLS_OF_A_PIECE = 2**23  # if every line had keys of its own
CELLS_OF_A_BATCH = 2**21


def read_json_lines(
    opener: Opener, name: str, encoding: str | None, limits: Limits
) -> tuple[list[str], Callable[[], Iterator[pa.RecordBatch]]]:
    """Keys and batches of a file of JSON objects."""
    with opener() as file:
        encoding = sniff_encoding(file.read(1 << 20), name, encoding)

    def tables() -> Iterator[pa.Table]:
        with opener() as file:
            rows_before = 0
            for block in _blocks(file, encoding, name):
                for piece in _pieces(block):
                    table = _parse(piece, name, rows_before)
                    rows_before += table.num_rows
                    yield table

    keys: dict[str, None] = {}
    for table in tables():
        keys.update(dict.fromkeys(table.column_names))
        limits.require_columns(len(keys), name)
    names = list(keys)

    def read() -> Iterator[pa.RecordBatch]:
        for pieces in _gathered(tables(), len(names)):
            yield _joined(pieces, names, name)

    return names, read


def _pieces(block: bytes) -> Iterator[bytes]:
    """Runs of lines that are parsed in one go: a table of them has a cell for each line and each key of any line."""
    letters = np.frombuffer(block, dtype=np.uint8)
    ends = np.append(np.flatnonzero(letters[:-1] == ord("\n")) + 1, len(block))
    # Colons within texts count as well: it is a bound.
    keys_before = np.searchsorted(np.flatnonzero(letters == ord(":")), np.append(0, ends))
    first, start = 0, 0
    while first < len(ends):
        n_cells = (keys_before[first + 1 :] - keys_before[first]) * np.arange(1, len(ends) - first + 1)
        first += max(1, int(np.searchsorted(n_cells, CELLS_OF_A_PIECE, side="right")))
        yield block[start : ends[first - 1]]
        start = ends[first - 1]


def _gathered(tables: Iterator[pa.Table], n_columns: int) -> Iterator[list[pa.Table]]:
    """Pieces that make a batch."""
    pieces: list[pa.Table] = []
    n_rows = 0
    for table in tables:
        if pieces and (n_rows + table.num_rows) * n_columns > CELLS_OF_A_BATCH:
            yield pieces
            pieces, n_rows = [], 0
        pieces.append(table)
        n_rows += table.num_rows
    if pieces:
        yield pieces


def _joined(pieces: list[pa.Table], names: list[str], name: str) -> pa.RecordBatch:
    """Pieces with different keys as one batch with all of them, every cell a text."""
    import pyarrow as pa

    present = [set(piece.column_names) for piece in pieces]
    columns = []
    for key in names:
        if not any(key in keys for keys in present):
            columns.append(pa.nulls(sum(piece.num_rows for piece in pieces), pa.string()))
            continue
        parts = [
            _as_texts(piece.column(key).combine_chunks(), key, name)
            if key in keys
            else pa.nulls(piece.num_rows, pa.string())
            for piece, keys in zip(pieces, present, strict=True)
        ]
        columns.append(pa.concat_arrays(parts))
    return pa.RecordBatch.from_arrays(columns, names=names)


def _blocks(file: pa.NativeFile, encoding: str, name: str) -> Iterator[bytes]:
    """Blocks of whole lines in UTF-8."""
    rest = b""
    for more in utf8_blocks(file, encoding):
        block = rest + more
        end = block.rfind(b"\n") + 1
        if end:
            yield block[:end]
        rest = block[end:]
        if len(rest) > LONGEST_LINE:
            raise TableError(f"{name} has a line of more than {LONGEST_LINE >> 20} MB. Write one object per line.")
    if rest.strip():
        yield rest


def _parse(block: bytes, name: str, rows_before: int) -> pa.Table:
    import pyarrow as pa
    import pyarrow.json as pj

    if _deepest_nesting(block) > DEEPEST:
        return _parse_line_by_line(block, name, rows_before)  # Arrow's parser would overflow the stack
    try:
        whole = pj.ReadOptions(use_threads=False, block_size=len(block) + 1)
        return pj.read_json(pa.BufferReader(native_buffer(block)), read_options=whole)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, KeyError):
        return _parse_line_by_line(block, name, rows_before)


def _deepest_nesting(block: bytes) -> int:
    """At least the depth of the most deeply nested line: brackets inside of texts count as well."""
    letters = np.frombuffer(block, dtype=np.uint8)
    opening = (letters == ord("[")) | (letters == ord("{"))
    closing = (letters == ord("]")) | (letters == ord("}"))
    depth = np.cumsum(opening.astype(np.int32) - closing)
    starts = np.concatenate([[0], np.flatnonzero(letters[:-1] == ord("\n")) + 1])
    before = np.concatenate([[0], depth])[starts]
    return int((np.maximum.reduceat(depth, starts) - before).max())


def _parse_line_by_line(block: bytes, name: str, rows_before: int) -> pa.Table:
    """The slow way, for keys of mixed types and for saying which line is at fault."""
    import pyarrow as pa

    rows: list[dict[str, str | None]] = []
    for line in block.split(b"\n"):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            place = rows_before + len(rows) + 1
            raise TableError(
                f"Row {place} of {name} is not a JSON object: {shown(line.decode(errors='replace'))}. "
                "Write one object per line."
            )
        rows.append({key: written(value) for key, value in row.items()})
    names = list(dict.fromkeys(key for row in rows for key in row))
    return pa.table({key: pa.array([row.get(key) for row in rows], pa.string()) for key in names})


def written(value: Any) -> str | None:
    """A JSON value as the text of a cell."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return number_words(np.array([value]))[0]
    return json.dumps(value)


def _as_texts(column: pa.Array, key: str, name: str) -> pa.Array:
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_nested(column.type):
        return pa.array([None if value is None else json.dumps(value, default=str) for value in column.to_pylist()])
    return words_of(clean_cells(column, TextRules(), key, name)).cast(pa.string())
