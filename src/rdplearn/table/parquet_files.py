"""Parquet files, looked at before they are unpacked: the heads of the pages say how large they become."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rdplearn.errors import TableError
from rdplearn.table.limits import MEGABYTE, Limits, most_text
from rdplearn.table.openers import Opener
from rdplearn.table.thrift import ThriftError, read_struct
from rdplearn.table.wording import shown

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_BYTES = 128 * MEGABYTE  # that a batch may come to when it is read
BYTES_OF_A_VALUE = 16  # of any cell, besides its text
HEAD_BYTES = 1 << 10
LONGEST_HEAD = 1 << 20  # statistics of long texts stand in it
DICTIONARY_PAGE = 2
TEXTS = "BYTE_ARRAY"


def read_parquet(
    opener: Opener, name: str, limits: Limits, rows_of_batch: Callable[[int], int]
) -> tuple[Sequence[str], Callable[[], Iterator[pa.RecordBatch]]]:
    """Names and batches of a Parquet file; `rows_of_batch` says how many rows a table so wide is read in."""
    import pyarrow.parquet as pq

    with opener() as file:
        names = pq.ParquetFile(file).schema_arrow.names
    limits.require_columns(len(names), name)

    def read() -> Iterator[pa.RecordBatch]:
        with opener() as file:
            # Without pre-buffering, memory holds pages of the columns rather than whole row groups.
            parquet = pq.ParquetFile(file, buffer_size=1 << 18, pre_buffer=False)
            most = rows_of_batch(max(len(names), 1))
            with opener() as heads:
                bytes_of_a_row = _largest_rows(parquet.metadata, heads, name, limits, most)
            n_rows = max(1, min(most, BATCH_BYTES // max(bytes_of_a_row, 1)))
            for batch in parquet.iter_batches(batch_size=n_rows):
                batch.validate(full=True)  # a changed byte makes a text that is none
                yield batch

    return names, read


@dataclass(frozen=True)
class _Chunk:
    """The pages of one column in a group of rows, as their heads tell it.

    bytes_of_a_value : in the page whose values are longest, on average; dictionary : bytes of its entries, unpacked
    """

    bytes_of_a_value: int
    dictionary: int


def _largest_rows(metadata: Any, heads: pa.NativeFile, name: str, limits: Limits, most_rows: int) -> int:
    """At most how many bytes a row takes on average, in a run of rows that are read together."""
    largest = 0
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        chunks = [row_group.column(place) for place in range(row_group.num_columns)]
        looked_at = [_look_at(chunk, heads, name, limits) for chunk in chunks]
        bytes_of_a_row = 0
        shared: list[str] = []
        for chunk, seen in zip(chunks, looked_at, strict=True):
            values_per_row = max(1.0, chunk.num_values / max(row_group.num_rows, 1))
            bytes_of_a_row += int(values_per_row * (seen.bytes_of_a_value + BYTES_OF_A_VALUE))
            if chunk.physical_type == TEXTS and seen.dictionary * most_rows > BATCH_BYTES:
                shared.append(chunk.path_in_schema)
        if shared:
            _look_at_entries(heads, group, shared, name, limits, most_rows)
        largest = max(largest, bytes_of_a_row)
    return largest


def _look_at(chunk: Any, heads: pa.NativeFile, name: str, limits: Limits) -> _Chunk:
    """Go from head to head of a chunk's pages, which say their sizes; nothing is unpacked."""
    place = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < (chunk.dictionary_page_offset or 0) < place:
        place = chunk.dictionary_page_offset
    end = place + chunk.total_compressed_size
    n_values, bytes_of_a_value, dictionary = 0, 0, 0
    while place < end and n_values < chunk.num_values:
        head, n_bytes = _head_at(heads, place, chunk.path_in_schema, name)
        unpacked, packed = head.get(2, -1), head.get(3, -1)
        if not (isinstance(unpacked, int) and isinstance(packed, int) and unpacked >= 0 and packed >= 0):
            raise _damaged(chunk.path_in_schema, name)
        limits.require_block(unpacked, f"A page of column {shown(chunk.path_in_schema)}", name)
        if head.get(1) == DICTIONARY_PAGE:
            dictionary = max(dictionary, unpacked)
        else:
            values_in_page = _values_in(head)
            n_values += values_in_page
            bytes_of_a_value = max(bytes_of_a_value, unpacked // max(values_in_page, 1))
        place += n_bytes + packed
    return _Chunk(bytes_of_a_value, dictionary)


def _values_in(head: dict[int, Any]) -> int:
    details = head.get(5) or head.get(8)
    n_values = details.get(1, 0) if isinstance(details, dict) else 0
    return n_values if isinstance(n_values, int) and n_values > 0 else 0


def _head_at(heads: pa.NativeFile, place: int, column: str, name: str) -> tuple[dict[int, Any], int]:
    n_bytes = HEAD_BYTES
    while True:
        try:
            heads.seek(place)
            return read_struct(heads.read(n_bytes))
        except (ThriftError, OSError, ValueError):
            n_bytes *= 8
            if n_bytes > LONGEST_HEAD:
                raise _damaged(column, name) from None


def _damaged(column: str, name: str) -> TableError:
    return TableError(f"{name} is damaged: the pages of column {shown(column)} cannot be found. Write the file again.")


def _look_at_entries(
    heads: pa.NativeFile, group: int, columns: list[str], name: str, limits: Limits, most_rows: int
) -> None:
    """Stop if rows point at long entries of dictionaries so often that a batch of them fills the memory.

    One row shows the entries. Only if they are long enough to matter are all rows gone through, as numbers of entries.
    """
    import pyarrow.parquet as pq

    heads.seek(0)
    parquet = pq.ParquetFile(heads, read_dictionary=columns, pre_buffer=False)
    for batch in parquet.iter_batches(batch_size=1, row_groups=[group], columns=columns):
        if sum(map(most_text, batch.columns)) * most_rows <= limits.block * MEGABYTE:
            return
        break
    for batch in parquet.iter_batches(batch_size=most_rows, row_groups=[group], columns=columns):
        limits.require_texts(batch, name)
