"""CSV files of any size, every column as text."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import count, islice
from typing import TYPE_CHECKING

from rdplearn.errors import TableError, warn_user
from rdplearn.table.blanks import BLANK, TAB, with_tabs
from rdplearn.table.footnotes import Footnotes, misfit_words
from rdplearn.table.header_rows import group_row, in_groups, n_title_rows, n_unit_rows, names_separator
from rdplearn.table.openers import BLOCK_BYTES, Opener, spool, utf8_blocks
from rdplearn.table.quotation_marks import has_line_breaks, tell_open_marks
from rdplearn.table.sniffing import (
    first_rows,
    rows_of,
    sniff_encoding,
    sniff_header,
    sniff_separator,
    with_row_names,
)
from rdplearn.table.wording import shown

if TYPE_CHECKING:
    import pyarrow as pa

SAMPLE_BYTES = 1 << 20
MOST_SAMPLE_BYTES = 1 << 26
FEWEST_LINES = 3
BLOCK_BYTES_PER_COLUMN = 1 << 10
# Arrow has up to 32 blocks read before they are asked for. Smaller ones, joined again, take less memory for that; but a
# row must fit into one, so a table that has a longer row is read in whole blocks.
PARTS_OF_A_BLOCK = (4, 1)
LONG_ROW = "straddl"  # as Arrow says that a row does not fit into a block
WIDE_GAP = re.compile(r"\S {2,}\S")
MISFIT = re.compile(r"Row #(?P<row>\d+): Expected (?P<expected>\d+) columns, got (?P<got>\d+): (?P<text>.*)", re.DOTALL)


def read_csv(
    opener: Opener,
    name: str,
    separator: str | None,
    encoding: str | None,
    header: bool | None,
) -> tuple[list[str], Callable[[], Iterator[pa.RecordBatch]]]:
    """Names and batches of a CSV file; what is not told is guessed from its start."""
    start = _start_of(opener)
    encoding = sniff_encoding(start, name, encoding)
    text = _first_lines(start, encoding, name)
    if separator is None:
        separator = sniff_separator(text)
    elif len(separator) != 1 or separator in '"\r\n' or ord(separator) > 127:
        raise TableError(f"The separator must be one ASCII character. Got {shown(separator)} instead.")
    opener = _in_utf8(opener, encoding, name)
    if separator == BLANK:
        opener, separator = _with_tabs(opener, name), TAB
        text = b"".join(with_tabs(io.StringIO(text, newline=""))).decode()
    rows = first_rows(text, separator)
    if not rows or not any(cell.strip() for row in rows for cell in row):
        raise TableError(f"{name} is empty. Pass a table with a header and rows.")
    names, n_skipped, is_alone = _read_head(rows, text, separator, header, name)
    is_all = len(text) <= csv.field_size_limit() or "\n" not in text.strip()  # no cell was too long to look at
    is_header_alone = is_alone and len(start) < SAMPLE_BYTES and is_all
    marks_are_known = notes_are_known = False

    def read() -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        nonlocal marks_are_known, notes_are_known

        if is_header_alone:  # Arrow takes a line that does not end for one that is too long
            return
        rows_read = 0
        for n_parts in PARTS_OF_A_BLOCK:
            with opener() as file:
                notes = Footnotes(n_skipped, name)
                try:
                    parts = _open(file, len(names), separator, n_skipped, n_parts, notes)
                    for batch in _after(rows_read, _joined(parts, n_parts)):
                        if not marks_are_known and has_line_breaks(batch):
                            tell_open_marks(opener, name, separator)
                            marks_are_known = True
                        yield pa.RecordBatch.from_arrays(batch.columns, names=names)
                        rows_read += batch.num_rows
                        notes.require_end(rows_read)
                    notes.require_end(rows_read)
                    if notes.texts and not notes_are_known:
                        notes.tell()
                        notes_are_known = True
                    return
                except pa.ArrowInvalid as fault:
                    if n_parts == PARTS_OF_A_BLOCK[-1] or LONG_ROW not in str(fault):
                        tell_open_marks(opener, name, separator)  # which may well be the reason
                        raise TableError(_explain(str(fault), name, rows_read, n_skipped)) from None

    return names, read


def _read_head(
    rows: list[list[str]], text: str, separator: str, header: bool | None, name: str
) -> tuple[list[str], int, bool]:
    """The names of the columns, how many rows come before the data, and whether the header is all there is."""
    n_titles = n_title_rows(rows) if header is None else 0
    is_silent = names_separator(rows[0])
    groups = group_row(rows, n_titles)
    rows = rows[n_titles:]
    rows = rows if header is False else with_row_names(rows)
    has_header = sniff_header(rows, name) if header is None else header
    names = _column_names(rows[0] if groups is None else in_groups(rows[0], groups), has_header)
    names = _told_apart(names, name)
    if groups is not None:
        _tell_groups(names, groups, name)
    if n_titles > (groups is not None) and not is_silent:
        _tell_titles(n_titles - (groups is not None), names[0], name)
    if len(names) == 1 and WIDE_GAP.search(names[0]):
        warn_user(
            f"{name} is read as one column, {shown(names[0])}. Its columns seem to stand in fixed places, which is not "
            "read: save it as CSV, or pass --separator."
        )
    n_units = n_unit_rows(rows) if header is None and has_header else 0
    if n_units:
        _tell_units(rows[1 : 1 + n_units], name)
    n_skipped = _n_rows_up_to(n_titles + n_units, text, separator) if has_header else 0
    return names, n_skipped, has_header and len(rows) == 1


def _tell_groups(names: list[str], groups: list[str], name: str) -> None:
    joined = [column for column, group in zip(names, groups, strict=True) if group.strip() not in ("", column)]
    example = (joined or names)[0]
    warn_user(
        f"The header of {name} has two rows, read as one, such as {shown(example)}. Pass --header if the first row "
        "has the names of the columns, or --no-header if it is data."
    )


def _tell_titles(n_titles: int, first_name: str, name: str) -> None:
    above, is_are = ("row", "is") if n_titles == 1 else (f"{n_titles} rows", "are")
    warn_user(
        f"The first {above} of {name} above {shown(first_name)} {is_are} taken for a title, and left out. Pass "
        "--header if the first row has the names of the columns, or --no-header if it is data."
    )


def _tell_units(rows: list[list[str]], name: str) -> None:
    below, is_are = ("row", "is") if len(rows) == 1 else (f"{len(rows)} rows", "are")
    example = next(cell for cell in reversed(rows[-1]) if cell.strip())
    warn_user(
        f"The {below} below the header of {name}, with words such as {shown(example)} where the rows below have "
        f"numbers, {is_are} taken for units, and left out. Pass --header to read all rows below the header."
    )


def _start_of(opener: Opener) -> bytes:
    """The first megabyte, or as many more as it takes to have the header and a row."""
    with opener() as file:
        start = file.read(SAMPLE_BYTES)
        while start.count(b"\n") < FEWEST_LINES and len(start) < MOST_SAMPLE_BYTES:
            more = file.read(SAMPLE_BYTES)
            if not more:
                break
            start += more
    return bytes(start)


def _in_utf8(opener: Opener, encoding: str, name: str) -> Opener:
    """Opens the file in UTF-8, which is what Arrow reads: a temporary copy, if it is written in anything else."""
    if encoding in ("utf-8", "utf-8-sig"):
        return opener
    with opener() as file:
        try:
            return spool(utf8_blocks(file, encoding))
        except UnicodeError:
            raise _misread(name, encoding) from None


def _with_tabs(opener: Opener, name: str) -> Opener:
    """Opens a temporary copy with a tab in place of the blanks between columns."""
    with opener() as file, io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
        try:
            return spool(with_tabs(text))
        except (UnicodeError, csv.Error):
            raise _misread(name, "lines of fields with blanks between them") from None


def _first_lines(start: bytes, encoding: str, name: str) -> str:
    """The start of the file as text, without a last line that may be cut."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(start)
    except UnicodeError:
        raise _misread(name, encoding) from None
    if len(start) < SAMPLE_BYTES:
        return text
    return text[: text.rfind("\n") + 1] or text


def _misread(name: str, encoding: str) -> TableError:
    return TableError(f"{name} is not written in {encoding}. Pass another --encoding, or leave it out.")


def _column_names(first_row: list[str], has_header: bool) -> list[str]:
    stripped = [cell.strip().lstrip("\ufeff") if has_header else "" for cell in first_row]
    return [cell or f"column_{place + 1}" for place, cell in enumerate(stripped)]


def _told_apart(names: list[str], name: str) -> list[str]:
    """The names of columns, of which the later ones of each name get a number: "amount", "amount (2)"."""
    taken, counts = set(names), Counter[str]()
    apart: list[str] = []
    for column in names:
        counts[column] += 1
        if counts[column] > 1:
            numbered = (f"{column} ({number})" for number in count(counts[column]))
            column = next(new for new in numbered if new not in taken)
            taken.add(column)
        apart.append(column)
    repeated = [column for column in counts if counts[column] > 1]
    if repeated:
        first, second = [place for place, column in enumerate(names) if column == repeated[0]][:2]
        more = f", and so for {len(repeated) - 1} more" if len(repeated) > 1 else ""
        warn_user(
            f"Column name {shown(repeated[0])} occurs {counts[repeated[0]]} times in {name} (columns {first + 1} and "
            f"{second + 1}); the second is called {shown(apart[second])} here{more}. To choose the names, give each "
            "column its own."
        )
    return apart


def _n_rows_up_to(n_titles: int, text: str, separator: str) -> int:
    """How many rows there are up to the header, which comes after so many; Arrow counts blank lines, too."""
    places = (place for place, row in enumerate(rows_of(text.removeprefix("\ufeff"), separator), 1) if row)
    return next(islice(places, n_titles, None))


def _joined(batches: Iterable[pa.RecordBatch], n_joined: int) -> Iterator[pa.RecordBatch]:
    """The same rows, so many batches at a time as one."""
    import pyarrow as pa

    left = iter(batches)
    while some := list(islice(left, n_joined)):
        yield pa.concat_batches(some)


def _after(n_rows: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows that come after the first ones."""
    for batch in batches:
        if n_rows < batch.num_rows:
            yield batch.slice(n_rows)
        n_rows = max(0, n_rows - batch.num_rows)


def _open(
    file: pa.NativeFile, n_columns: int, separator: str, n_skipped: int, n_parts: int, notes: Footnotes
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    import pyarrow.csv as pc

    places = [f"{place}" for place in range(n_columns)]
    return pc.open_csv(
        file,
        read_options=pc.ReadOptions(
            # One thread, because only then are faulty rows told by number.
            use_threads=False,
            block_size=max(BLOCK_BYTES, n_columns * BLOCK_BYTES_PER_COLUMN) // n_parts,
            column_names=places,
            skip_rows_after_names=n_skipped,
        ),
        parse_options=pc.ParseOptions(
            delimiter=separator, newlines_in_values=True, invalid_row_handler=notes.skip_or_error
        ),
        convert_options=pc.ConvertOptions(
            column_types=dict.fromkeys(places, pa.string()), strings_can_be_null=True, null_values=[""]
        ),
    )


def _explain(fault: str, name: str, rows_read: int, n_skipped: int) -> str:
    if misfit := MISFIT.search(fault):
        return misfit_words(
            int(misfit["row"]) - n_skipped, name, int(misfit["got"]), int(misfit["expected"]), misfit["text"]
        )
    if LONG_ROW in fault or "quote" in fault.lower():
        return f"{name} has a row of several megabytes after row {rows_read}: is a quotation mark left open?"
    if "UTF8" in fault:
        return f"{name} has bytes after row {rows_read} that are not valid in its encoding. Pass --encoding."
    return f"Cannot read {name} after row {rows_read}: {' '.join(fault.split())[:200]}."
