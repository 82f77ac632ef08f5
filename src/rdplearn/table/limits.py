"""How large what is read may become, so that a small file cannot fill the memory or the day.

A few kilobytes can hold a cell of a gigabyte, or a million rows that all point at one long text. Limits stop such files
with an error that names the limit; whoever means it raises that limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rdplearn.errors import TableError, unknown_choice
from rdplearn.table.wording import as_option, shown

if TYPE_CHECKING:
    import pyarrow as pa

MEGABYTE = 2**20
BYTES_OF_AN_OFFSET = 4
PIECE_BYTES = 8 * MEGABYTE  # texts that are worked on at a time


@dataclass(frozen=True)
class Limits:
    """The most that a table may ask for.

    Parameters
    ----------
    columns : int, default=65,536
        Columns of the table.
    cell : int, default=16
        Megabytes in one cell.
    block : int, default=256
        Megabytes that must be unpacked in one go: a page of Parquet, a block of Arrow, the text of a batch of rows
        that is stored once and pointed at by many.

    Examples
    --------
    >>> Limits().raised({"cell": 64}).cell
    64
    """

    columns: int = 65_536
    cell: int = 16
    block: int = 256

    def raised(self, changes: Mapping[str, int] | None) -> Limits:
        """The same limits but for those that are named."""
        known = [field.name for field in fields(self)]
        for name, value in (changes or {}).items():
            if name not in known:
                raise TableError(unknown_choice("limits", "open_table", name, known))
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise TableError(f"The limit {name!r} must be a whole number of at least 1. Got {value!r} instead.")
        return replace(self, **(changes or {}))

    def require_columns(self, n_columns: int, name: str) -> None:
        """Stop at a table that has too many columns."""
        if n_columns > self.columns:
            raise TableError(
                f"{name} has {n_columns:,} columns, more than the limit of {self.columns:,}. "
                f"If you mean it, raise the limit: --limit columns={n_columns}."
            )

    def require_cell(self, n_bytes: int, column: str, name: str) -> None:
        """Stop at a cell that is too long."""
        if n_bytes > self.cell * MEGABYTE:
            needed = in_megabytes(n_bytes)
            raise TableError(
                f"Column {shown(column)} of {name} has a cell of {needed:,} MB, more than the limit of {self.cell} MB. "
                f"Pass --ignore {as_option(column)} if the table is read without it, "
                f"or raise the limit: --limit cell={needed}."
            )

    def require_block(self, n_bytes: int, what: str, name: str) -> None:
        """Stop at something that is too large to be unpacked."""
        if n_bytes > self.block * MEGABYTE:
            needed = in_megabytes(n_bytes)
            raise TableError(
                f"{what} of {name} unpacks to {needed:,} MB, more than the limit of {self.block} MB. "
                f"If you trust it, raise the limit: --limit block={needed}."
            )

    def pieces(self, batch: pa.RecordBatch, most_rows: int, name: str) -> Iterator[pa.RecordBatch]:
        """The batch in pieces of at most so many rows, and of few megabytes of text."""
        for start in range(0, batch.num_rows, most_rows):
            piece = batch.slice(start, most_rows)
            begin = 0
            for end in self._ends(piece, name):
                yield piece.slice(begin, end - begin)
                begin = end

    def _ends(self, batch: pa.RecordBatch, name: str) -> list[int]:
        """Where to cut a batch, so that the texts between two cuts are few megabytes; the last is its end."""
        bounds = [most_text(column) for column in batch.columns]
        if sum(bounds) <= PIECE_BYTES:  # almost always
            return [batch.num_rows]
        self.require_texts(batch, name)
        per_row = np.zeros(batch.num_rows, dtype=np.int64)
        for column, title, bound in zip(batch.columns, batch.schema.names, bounds, strict=True):
            if bound:
                lengths = text_lengths(column)
                self.require_cell(int(lengths.max(initial=0)), title, name)
                per_row += lengths
        ends, start = [], 0
        total = np.concatenate([[0], np.cumsum(per_row)])
        while start < batch.num_rows:
            fitting = int(np.searchsorted(total, total[start] + PIECE_BYTES, side="right")) - 1
            start = max(start + 1, fitting)
            ends.append(start)
        return ends

    def require_texts(self, batch: pa.RecordBatch, name: str) -> None:
        """Stop at rows that point at long texts again and again, and come to far more than is stored."""
        import pyarrow.types as types

        shared = [column for column in batch.columns if types.is_dictionary(column.type) and most_text(column)]
        n_bytes = sum(int(text_lengths(column).sum()) for column in shared)
        self.require_block(n_bytes, f"The text in {batch.num_rows:,} rows", name)


def in_megabytes(n_bytes: int) -> int:
    """Megabytes that hold so many bytes, rounded up."""
    return -(-n_bytes // MEGABYTE)


def most_text(array: pa.Array) -> int:
    """At most how many bytes of text the cells hold once each has its own; 0 for other cells."""
    import pyarrow.types as types

    if types.is_dictionary(array.type):
        longest = int(text_lengths(array.dictionary).max(initial=0)) if has_texts(array.type.value_type) else 0
        return len(array) * longest
    if not has_texts(array.type) or array.null_count == len(array):
        return 0
    return max(int(array.nbytes) - BYTES_OF_AN_OFFSET * len(array), 0)


def text_lengths(array: pa.Array) -> NDArray[np.int64]:
    """The bytes of each cell: (n_rows,), 0 where it is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    if types.is_dictionary(array.type):
        return np.append(text_lengths(array.dictionary), 0)[pc.fill_null(array.indices.cast(pa.int64()), -1).to_numpy()]
    if types.is_string_view(array.type) or types.is_binary_view(array.type):
        array = array.cast(pa.large_binary())
    lengths: NDArray[np.int64] = pc.fill_null(pc.binary_length(array), 0).cast(pa.int64()).to_numpy()
    return lengths


def has_texts(kind: pa.DataType) -> bool:
    """Whether cells of this type are texts or bytes of any length."""
    import pyarrow.types as types

    return any(
        test(kind)
        for test in (
            *(types.is_string, types.is_large_string, types.is_string_view),
            *(types.is_binary, types.is_large_binary, types.is_binary_view),
        )
    )
