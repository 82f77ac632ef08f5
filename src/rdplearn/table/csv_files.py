"""CSV files of any size, every column as text."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any

from rdplearn.errors import TableError
from rdplearn.table.sniffing import first_rows, sniff_encoding, sniff_header, sniff_separator
from rdplearn.table.wording import shown

if TYPE_CHECKING:
    import pyarrow as pa

SAMPLE_BYTES = 1 << 20
BLOCK_BYTES = 1 << 22
BLOCK_BYTES_PER_COLUMN = 1 << 10


def read_csv(
    opener: Callable[[], IO[bytes]],
    name: str,
    separator: str | None,
    encoding: str | None,
    header: bool | None,
) -> tuple[list[str], Callable[[], Iterator[pa.RecordBatch]]]:
    """Names and batches of a CSV file; what is not told is guessed from its start."""
    with opener() as file:
        start = file.read(SAMPLE_BYTES)
    encoding = sniff_encoding(start, name, encoding)
    text = _first_lines(start, encoding, name)
    if separator is None:
        separator = sniff_separator(text)
    elif len(separator) != 1 or separator in '"\r\n' or ord(separator) > 127:
        raise TableError(f"The separator must be one ASCII character. Got {shown(separator)} instead.")
    rows = first_rows(text, separator)
    if not rows or not any(cell.strip() for row in rows for cell in row):
        raise TableError(f"{name} is empty. Pass a table with a header and rows.")
    has_header = sniff_header(rows, name) if header is None else header
    names = _column_names(rows[0], has_header)

    def read() -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        rows_read = 0
        with opener() as file:
            misfits: list[Any] = []
            try:
                for batch in _open(file, len(names), separator, encoding, has_header, misfits):
                    yield pa.RecordBatch.from_arrays(batch.columns, names=names)
                    rows_read += batch.num_rows
            except (pa.ArrowInvalid, UnicodeError) as fault:
                raise TableError(_explain(fault, misfits, name, len(names), rows_read, has_header)) from None

    return names, read


def _first_lines(start: bytes, encoding: str, name: str) -> str:
    """The start of the file as text, without a last line that may be cut."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(start)
    except UnicodeError as fault:
        raise TableError(f"{name} is not written in {encoding}: {fault.__class__.__name__}. Pass --encoding.") from None
    if len(start) < SAMPLE_BYTES:
        return text
    return text[: text.rfind("\n") + 1] or text


def _column_names(first_row: list[str], has_header: bool) -> list[str]:
    stripped = [cell.strip().lstrip("\ufeff") if has_header else "" for cell in first_row]
    return [cell or f"column_{place + 1}" for place, cell in enumerate(stripped)]


def _open(
    file: IO[bytes], n_columns: int, separator: str, encoding: str, has_header: bool, misfits: list[Any]
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    import pyarrow.csv as pc

    def refuse(row: Any) -> str:
        misfits.append(row)
        return "error"

    places = [f"{place}" for place in range(n_columns)]
    reader = pc.open_csv(
        file,
        read_options=pc.ReadOptions(
            # One thread, because only then are faulty rows told by number.
            use_threads=False,
            block_size=max(BLOCK_BYTES, n_columns * BLOCK_BYTES_PER_COLUMN),
            column_names=places,
            skip_rows_after_names=int(has_header),
            encoding="utf-8" if encoding == "utf-8-sig" else encoding,
        ),
        parse_options=pc.ParseOptions(delimiter=separator, newlines_in_values=True, invalid_row_handler=refuse),
        convert_options=pc.ConvertOptions(
            column_types=dict.fromkeys(places, pa.string()), strings_can_be_null=True, null_values=[""]
        ),
    )
    yield from reader


def _explain(fault: Exception, misfits: list[Any], name: str, n_columns: int, rows_read: int, has_header: bool) -> str:
    if misfits:
        row = misfits[0]
        place = row.number - int(has_header) if row.number is not None else f"after {rows_read}"
        return (
            f"Row {place} of {name} has {row.actual_columns} fields where the first row has {n_columns}: "
            f"{shown(row.text)}. Mend the row, or pass --separator."
        )
    told = str(fault)
    if "straddl" in told or "quote" in told.lower():
        return f"{name} has a row of several megabytes after row {rows_read}: is a quotation mark left open?"
    if isinstance(fault, UnicodeError) or "UTF8" in told:
        return f"{name} has bytes after row {rows_read} that its encoding has not. Pass --encoding."
    return f"Cannot read {name} after row {rows_read}: {' '.join(told.split())[:200]}."
