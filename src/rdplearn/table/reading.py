"""Tables of any origin as one thing: a name, column names, and batches of rows that can be read again.

Texts stay texts here. What they mean is the encoder's business, which sees the whole column.
"""

from __future__ import annotations

import os
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rdplearn.errors import TableError, unknown_choice
from rdplearn.table.archives import ZIP, is_workbook, unpacked
from rdplearn.table.arrow_files import read_arrow
from rdplearn.table.arrow_streams import in_larger_batches, is_stream, stream_blocks
from rdplearn.table.csv_files import read_csv
from rdplearn.table.databases import Database, quoted
from rdplearn.table.frames import read_frame
from rdplearn.table.json_lines import read_json_lines
from rdplearn.table.limits import Limits
from rdplearn.table.openers import Decompressor, Opener, PathOpener, blocks_of, spool
from rdplearn.table.parquet_files import read_parquet
from rdplearn.table.query_rows import read_query
from rdplearn.table.several_files import files_of, one_after_the_other, require_same_columns
from rdplearn.table.wording import printable, shown
from rdplearn.table.workbooks import sheet_as_csv

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = ("csv", "parquet", "arrow", "jsonl")
MOST_ROWS = 65_536
FEWEST_ROWS = 256
CELLS_PER_BATCH = 2**21
NOT_TABLES = {
    b"\xd0\xcf\x11\xe0": "an old Excel workbook, or one with a password; save the sheet as .xlsx or CSV",
    b"FEA1": "a Feather file of version 1; write it again with a current pyarrow",
    b"%PDF": "a PDF",
    b"SQLite format 3": "an SQLite database; pass --sql sqlite:///FILE --table NAME",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"\x89HDF": "an HDF5 file; save the table as Parquet",
}
COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}


@dataclass(frozen=True)
class Table:
    """A table that can be read as often as needed, a batch at a time.

    Parameters
    ----------
    name : str
        How messages call it, such as ``'sales.csv'`` with its quotes.
    column_names : tuple of str
        All different.
    read : callable
        Starts a new pass over the rows.
    limits : Limits
        How large its cells may be.
    """

    name: str
    column_names: tuple[str, ...]
    read: Callable[[], Iterator[pa.RecordBatch]]
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        repeated = [name for name, count in Counter(self.column_names).items() if count > 1]
        if repeated:
            places = [place + 1 for place, name in enumerate(self.column_names) if name == repeated[0]]
            raise TableError(
                f"Column name {shown(repeated[0])} occurs {len(places)} times in {self.name} "
                f"(columns {places[0]} and {places[1]}). Give each column a name of its own."
            )
        if not self.column_names:
            raise TableError(f"There are no columns in {self.name}. Pass a table with at least one column.")

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Read the rows from the start, in batches of at most 65,536 rows, fewer for wide tables and long texts."""
        most = rows_in_a_batch(len(self.column_names))
        for batch in self.read():
            yield from self.limits.pieces(batch, most, self.name)

    def in_batches_of(self, most_rows: int) -> Table:
        """The same table, read in batches of at most so many rows."""

        def read() -> Iterator[pa.RecordBatch]:
            for batch in self.batches():
                for start in range(0, batch.num_rows, most_rows):
                    yield batch.slice(start, most_rows)

        return Table(self.name, self.column_names, read, self.limits)


def rows_in_a_batch(n_columns: int) -> int:
    """How many rows are read at once: fewer of wide tables."""
    return max(FEWEST_ROWS, min(MOST_ROWS, CELLS_PER_BATCH // max(n_columns, 1)))


def open_table(
    source: Any = None,
    *,
    connection: Any = None,
    query: str | None = None,
    table: str | None = None,
    format: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
    limits: Mapping[str, int] | None = None,
) -> Table:
    """Open a table: a file, standard input (``"-"``), a data frame, an array, a stream of Arrow batches, or a query.

    Parameters
    ----------
    source : path, "-", pandas, polars or Arrow table, 2-D array, Arrow stream, or Table
        Or several files with the same columns: a pattern such as ``"part-*.csv"``, or a list of paths.
        A stream is a `pyarrow.RecordBatchReader` or anything else with ``__arrow_c_stream__``; it is copied to a
        temporary file, so that it can be read twice.
    connection : str, Database, or connection of ADBC or DuckDB, optional
        In place of `source`: a database, such as ``"postgresql://host/shop"``, ``"sqlite:///shop.db"`` or
        ``"duckdb:///shop.duckdb"``, and with it `query` or `table`.
    query, table : str, optional
        What is read from it: the rows of a query, or a whole table, whose schema may stand before a dot.
    format : {"csv", "parquet", "arrow", "jsonl"}, optional
        By default the content decides, not the name.
    separator : str, optional
        Of CSV; by default the one of ``, ; | tab`` that cuts the first rows into equally many fields, or
        blanks, of which several count as one.
    encoding : str, optional
        Of CSV and JSON Lines; by default UTF-8, or what a byte order mark says.
    header : bool, optional
        Whether the first row of CSV, or of an Excel sheet, holds the names; by default its cells decide.
    sheet : str, optional
        Of an Excel workbook; by default the first.
    limits : mapping from name to number, optional
        Limits to raise, or to lower: "columns" (of a file, by default 65,536), "cell" (megabytes in one, 16),
        "block" (megabytes that are unpacked in one go, 256). A small file that asks for more is an error.

    Raises
    ------
    TableError
        When it cannot be read; the message names the file and what to do.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = open_table(pa.table({"age": [31, 57]}))
    >>> table.column_names, sum(batch.num_rows for batch in table.batches())
    (('age',), 2)
    """
    if connection is not None:
        return _open_query(source, connection, query, table)
    if query is not None or table is not None or source is None:
        raise TableError("open_table needs a source, or a connection with a query or a table. One of them is missing.")
    if isinstance(source, Table):
        return source
    if format is not None and format not in FORMATS:
        raise TableError(unknown_choice("format", "open_table", format, FORMATS))
    allowed = Limits().raised(limits)
    files = files_of(source)
    if files is not None:
        ways = {"format": format, "separator": separator, "encoding": encoding, "header": header, "sheet": sheet}
        return _joined([open_table(file, limits=limits, **ways) for file in files])  # type: ignore[arg-type]
    if not isinstance(source, str | os.PathLike):
        if is_stream(source):
            return _open_stream(source, allowed)
        return Table("the table", *read_frame(source), allowed)
    path = os.fspath(source)
    if path == "-":
        spooled = spool(blocks_of(sys.stdin.buffer))
        return _open_file(spooled, "standard input", format, separator, encoding, header, sheet, allowed)
    name = repr(path)
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise TableError(f"{name} is a directory. Pass a file in it, or a pattern such as '{path}/*.csv'.")
        if stat.S_ISFIFO(mode):
            with open(path, "rb") as pipe:
                return _open_file(spool(blocks_of(pipe)), name, format, separator, encoding, header, sheet, allowed)
        if not stat.S_ISREG(mode):
            raise TableError(f"{name} is not a regular file. Pass a file, or - for standard input.")
        unchanged = _Unchanged(path, name)
        opened = _open_file(PathOpener(path), name, format, separator, encoding, header, sheet, allowed)
        return Table(name, opened.column_names, lambda: unchanged.while_read(opened.read), allowed)
    except FileNotFoundError:
        if os.path.islink(path):
            raise TableError(f"{name} is a link to {shown(os.readlink(path))}, which is not there.") from None
        near = get_close_matches(Path(path).name, _neighbours(path), n=1)
        hint = f" Did you mean {str(Path(path).with_name(near[0]))!r}?" if near else ""
        raise TableError(f"There is no file {name}.{hint}") from None
    except (OSError, ValueError) as fault:
        if isinstance(fault, TableError):
            raise
        raise TableError(f"Cannot read {name}: {_reason(fault)}.") from None


def _open_query(source: Any, connection: Any, query: str | None, table: str | None) -> Table:
    if source is not None or (query is None) == (table is None):
        raise TableError("With a connection, open_table needs either a query or a table, and no source.")
    database = connection if isinstance(connection, Database) else Database(connection)
    name = "the query" if table is None else repr(table)
    names, read = read_query(database, query or f"SELECT * FROM {quoted(str(table))}", name)
    return Table(name, tuple(names), lambda: in_larger_batches(read(), rows_in_a_batch(len(names))))


def _open_stream(source: Any, limits: Limits) -> Table:
    name = "the stream"
    with _as_table_error(name):
        copy = _open_file(spool(stream_blocks(source)), name, "arrow", None, None, None, None, limits)
    most = rows_in_a_batch(len(copy.column_names))
    return Table(name, copy.column_names, lambda: in_larger_batches(copy.read(), most), limits)


def _joined(tables: Sequence[Table]) -> Table:
    """Several files as one table; a single one stays as it is."""
    first, *others = tables
    if not others:
        return first
    for other in others:
        require_same_columns(first.name, first.column_names, other.name, other.column_names)
    reads, files = [table.batches for table in tables], [table.name for table in tables]
    name = f"{first.name} and {len(others):,} more file{'s' if len(others) > 1 else ''}"
    return Table(name, first.column_names, lambda: one_after_the_other(reads, files, first.column_names), first.limits)


def _open_file(
    opener: Opener,
    name: str,
    format: str | None,
    separator: str | None,
    encoding: str | None,
    header: bool | None,
    sheet: str | None,
    limits: Limits,
) -> Table:
    with opener() as file:
        start = file.read(64)
    for magic, what in NOT_TABLES.items():
        if start.startswith(magic):
            raise TableError(f"{name} is {what}.")
    if start[8:9] == b"{" and start[4:8] == b"\0\0\0\0":  # as safetensors begin: a length, then JSON
        raise TableError(f"{name} is a model, not a table. Where a command takes both, the model comes first.")
    if start.startswith(ZIP):
        content, is_sheet = _unpacked(opener, name, sheet)
        if not is_sheet:
            return _open_file(content, name, format, separator, encoding, header, sheet, limits)
        if (separator, encoding) != (None, None):
            raise TableError(f"{name} is an Excel workbook: leave out --separator and --encoding.")
        return _open_file(content, name, "csv", ",", "utf-8", header, None, limits)
    if sheet is not None:
        raise TableError(f"The sheet {shown(sheet)} is named, and {name} is not an Excel workbook. Leave out --sheet.")
    if not start:
        raise TableError(f"{name} is empty. Pass a table with a header and rows.")
    compression = next((kind for magic, kind in COMPRESSIONS.items() if start.startswith(magic)), None)
    if compression is not None:
        opener = Decompressor(opener, compression)
        with _as_table_error(name), opener() as file:
            start = file.read(64)
    found = format or _format_of(start)
    readers: dict[str, Callable[[], tuple[Sequence[str], Callable[[], Iterator[pa.RecordBatch]]]]] = {
        "parquet": lambda: read_parquet(opener, name, limits, rows_in_a_batch),
        "arrow": lambda: read_arrow(opener, name, limits),
        "jsonl": lambda: read_json_lines(opener, name, encoding, limits),
        "csv": lambda: read_csv(opener, name, separator, encoding, header),
    }
    with _as_table_error(name):
        names, read = readers[found]()
    limits.require_columns(len(names), name)
    return Table(name, tuple(names), lambda: _read_safely(read, name), limits)


def _unpacked(opener: Opener, name: str, sheet: str | None) -> tuple[Opener, bool]:
    """A temporary copy of what is in a ZIP archive or an Excel workbook, and whether it is a sheet, as CSV."""
    with _as_table_error(name):
        if is_workbook(opener, name):
            return spool(sheet_as_csv(opener, name, sheet)), True
        content = spool(unpacked(opener, name))
        with content() as file:
            is_packed = file.read(len(ZIP)) == ZIP
        if is_packed and not is_workbook(content, name):
            raise TableError(f"{name} is an archive that holds an archive. Unpack it, and pass the table.")
        return content, False


class _as_table_error:  # noqa: N801 - reads as a phrase: with _as_table_error(name)
    """Turn what pyarrow and the operating system raise into one line about the file."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, fault: BaseException | None, trace: Any) -> None:
        if isinstance(fault, MemoryError):
            raise TableError(f"{self.name} takes more memory to read than there is. Is it damaged?") from None
        if isinstance(fault, OSError | ValueError | NotImplementedError | KeyError) and not isinstance(
            fault, TableError
        ):
            raise TableError(f"Cannot read {self.name}: {_reason(fault)}.") from None


class _Unchanged:
    """Sees to it that a file stays the one that was opened: rows of two versions must not be mixed."""

    def __init__(self, path: str, name: str) -> None:
        self.path, self.name = path, name
        self._opened = self._version()

    def while_read(self, read: Callable[[], Iterator[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
        """The same batches, and an error if the file was changed since it was opened."""
        self._require()
        try:
            yield from read()
        except TableError:
            self._require()  # which may well be the reason
            raise
        self._require()

    def _require(self) -> None:
        if self._version() != self._opened:
            raise TableError(f"{self.name} was changed while it was read. Run again when nobody writes to it.")

    def _version(self) -> tuple[int, ...] | None:
        try:
            status = os.stat(self.path)
        except OSError:
            return None
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _read_safely(read: Callable[[], Iterator[pa.RecordBatch]], name: str) -> Iterator[pa.RecordBatch]:
    with _as_table_error(name):
        yield from read()


def _format_of(start: bytes) -> str:
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    text = start.replace(b"\x00", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
    return "jsonl" if text.startswith((b'{"', b"{}", b"{ ", b"[{")) else "csv"


def _neighbours(path: str) -> list[str]:
    try:
        return os.listdir(Path(path).parent)
    except OSError:
        return []


def _reason(fault: BaseException) -> str:
    told = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
    return printable(" ".join(told.split()).rstrip(".")[:200])
