"""The rows of a query: plain columns, the same rows on every pass.

A database need not give the rows of a query in the same order twice, and they may have changed in between. Each pass
keeps a checksum of every column, and one that differs from the first is an error: places of rows, and rows that were
fitted and rows that are scored, would be mixed up.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from rdplearn.errors import TableError
from rdplearn.table.databases import Database
from rdplearn.table.uuids import is_uuid, uuid_texts

if TYPE_CHECKING:
    import pyarrow as pa

CHANGED = (
    "{name} gave other rows than before, or the same rows in another order. Add ORDER BY with a key "
    "to the query, and run again when nobody writes to its tables."
)


def read_query(database: Database, query: str, name: str) -> tuple[list[str], Callable[[], Iterator[pa.RecordBatch]]]:
    """Column names and batches of a query."""
    first: list[tuple[int, ...]] = []

    def read() -> Iterator[pa.RecordBatch]:
        seen = RowChecksum()
        for batch in database.read(query, name):
            plain = plain_columns(batch)
            seen.add(plain)
            yield plain
        first.append(seen.digest())
        if first[0] != first[-1]:
            raise TableError(CHANGED.format(name=name[:1].upper() + name[1:]))

    return database.column_names(query, name), read


def plain_columns(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows without types of a database's own: numerics and JSON are texts, and so are UUIDs."""
    import pyarrow as pa

    columns = [_plain(column) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _plain(column: Any) -> Any:
    import pyarrow as pa

    if not isinstance(column.type, pa.BaseExtensionType):
        return column
    return uuid_texts(column.storage) if is_uuid(column.type) else column.storage


class RowChecksum:
    """A checksum of all cells in their order, however they are cut into batches.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = pa.record_batch({"age": [31, None, 57], "city": ["Oslo", "Rome", ""]})
    >>> whole, parts, other = RowChecksum(), RowChecksum(), RowChecksum()
    >>> whole.add(rows), parts.add(rows[:1]), parts.add(rows[1:]), other.add(rows.take([0, 2, 1]))
    (None, None, None, None)
    >>> whole.digest() == parts.digest(), whole.digest() == other.digest()
    (True, False)
    """

    def __init__(self) -> None:
        self._sums: dict[tuple[int, int], int] = {}
        self._n_rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in the next rows."""
        self._n_rows += batch.num_rows
        for place, column in enumerate(batch.columns):
            for part, content in enumerate(_contents(column)):
                self._sums[place, part] = zlib.crc32(content, self._sums.get((place, part), 0))

    def digest(self) -> tuple[int, ...]:
        """The same for the same rows in the same order."""
        return self._n_rows, *self._sums.values()


def _contents(column: pa.Array) -> Iterator[Any]:
    """The bytes of a column, in streams that go on from batch to batch, without what lies under missing cells."""
    import pyarrow as pa
    import pyarrow.types as types

    yield column.is_valid().cast(pa.uint8()).to_numpy().tobytes()
    cells, kind = column.drop_null(), column.type
    if types.is_dictionary(kind):
        cells, kind = cells.dictionary_decode(), kind.value_type
    if types.is_boolean(kind) or types.is_large_string(kind):
        kind = pa.uint8() if types.is_boolean(kind) else pa.string()
        cells = cells.cast(kind)
    content = cells.buffers()
    if types.is_string(kind) or types.is_binary(kind):
        offsets = np.frombuffer(content[1] or bytes(4), np.int32)[cells.offset :][: len(cells) + 1]
        yield np.diff(offsets).tobytes()
        yield memoryview(content[2] or b"")[offsets[0] : offsets[-1]]
    elif types.is_primitive(kind) or types.is_decimal(kind):
        width = kind.bit_width // 8
        yield memoryview(content[1] or b"")[width * cells.offset :][: width * len(cells)]
    else:
        yield "".join(f"{cell!r};" for cell in cells.to_pylist()).encode()  # lists and the like
