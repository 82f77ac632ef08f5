"""Guessing how a text file is written from its first megabyte: encoding, separator, header or none."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice, pairwise

from rdplearn.errors import TableError, warn_user
from rdplearn.table.blanks import BLANK, are_between_columns
from rdplearn.table.header_rows import empty_places, is_number, n_title_rows
from rdplearn.table.wording import shown

SEPARATORS = (",", "\t", ";", "|")
ROWS_LOOKED_AT = 100
STEP_ERROR = 0.01  # of a step, by rounding
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def sniff_encoding(start: bytes, name: str, told: str | None = None) -> str:
    """The encoding of a text file; anything but UTF-8 without a byte order mark is told aloud.

    Examples
    --------
    >>> sniff_encoding("age,città".encode(), "'x.csv'"), sniff_encoding("age".encode("utf-16"), "'x.csv'")
    ('utf-8', 'utf-16')
    """
    if told is not None:
        return _known_encoding(told)
    for mark, encoding in BYTE_ORDER_MARKS.items():
        if start.startswith(mark):
            return encoding
    zeros = start.count(0)
    if zeros > 0.3 * len(start):
        # Western text in UTF-16 has a zero in every second byte.
        for encoding, offset in (("utf-16-le", 1), ("utf-16-be", 0)):
            if start[offset::2].count(0) > 0.9 * zeros and zeros <= 0.51 * len(start):
                return encoding
        raise TableError(f"{name} is a binary file, not a table. Pass CSV, Parquet, Arrow or JSON Lines.")
    if _decodes(start, "utf-8"):
        return "utf-8"
    controls = sum(start.count(byte) for byte in range(32) if byte not in b"\t\n\r\x0b\x0c")
    if controls > 0.05 * len(start):
        raise TableError(f"{name} is a binary file, not a table. Pass CSV, Parquet, Arrow or JSON Lines.")
    fallback = "cp1252" if _decodes(start, "cp1252") else "latin-1"
    warn_user(f"{name} is not UTF-8 and was read as {fallback}. Pass --encoding to say what it is.")
    return fallback


def sniff_separator(text: str) -> str:
    r"""The separator that cuts the first rows into equally many fields; blanks, if no other does.

    Examples
    --------
    >>> sniff_separator("name;price\nnails;1,5\nscrews;2,5\n"), sniff_separator('a,"b;c"\n1,2\n')
    (';', ',')
    """
    best, best_quality = ",", (0.0, 0, 0)
    for separator in SEPARATORS:
        rows = first_rows(text, separator)
        n_titles = n_title_rows(rows)
        widths = [len(row) for row in rows[n_titles:]]
        # A separator that the first row does not hold is none: the header decides.
        if not widths or widths[0] < 2:
            continue
        quality = Counter(widths)[widths[0]] / len(widths), -n_titles, widths[0]  # a header may look like a title
        if quality > best_quality:
            best, best_quality = separator, quality
    return BLANK if not best_quality[2] and are_between_columns(text) else best


def sniff_header(rows: list[list[str]], name: str) -> bool:
    """Whether the first row holds names: no if it has numbers where the rows below have numbers as well.

    Examples
    --------
    >>> sniff_header([["age", "city"], ["31", "Oslo"]], "'x.csv'")
    True
    """
    first, below = rows[0], rows[1:]
    # Empty cells say nothing, and a nameless cell in a header is common (an index column).
    numeric_in_first = {place for place, cell in enumerate(first) if is_number(cell)}
    numeric_below = {
        place
        for place in range(len(first))
        if below and all(is_number(row[place]) for row in below if len(row) > place and row[place].strip())
    }
    if not numeric_in_first or (below and numeric_below - numeric_in_first - empty_places(first)):
        return True
    if _counts_on(first) and not any(_counts_on(row) for row in below):  # years that stand above their columns
        warn_user(
            f"The first row of {name} is taken for its header, as its numbers rise in equal steps, from "
            f"{shown(first[min(numeric_in_first)])} on. Pass --header or --no-header."
        )
        return True
    warn_user(
        f"{name} seems to have no header, as its first row holds the number "
        f"{shown(first[min(numeric_in_first)])}; columns are called "
        "column_1, column_2, ... Pass --header or --no-header."
    )
    return False


def with_row_names(rows: list[list[str]]) -> list[list[str]]:
    """The rows of a file whose header is one field short: a nameless column of row names stands before the others.

    If the last fields below it are all empty, each row ends with a separator, and the nameless column is the last.

    Examples
    --------
    >>> with_row_names([["age", "city"], ["1", "31", "Oslo"]])[0]
    ['', 'age', 'city']
    """
    header, below = rows[0], rows[1:]
    if not below or any(len(row) != len(header) + 1 for row in below):
        return rows
    ends_empty = not any(row[-1].strip() for row in below)
    return [[*header, ""] if ends_empty else ["", *header], *below]


def first_rows(text: str, separator: str) -> list[list[str]]:
    """The first rows of a CSV text, cut into fields; blank lines are passed over."""
    rows: list[list[str]] = []
    with suppress(csv.Error):  # a cell of more than 128 kB: a quotation mark left open, which reading will tell
        rows.extend(row for row in islice(rows_of(text, separator), ROWS_LOOKED_AT) if row)
    return rows


def rows_of(text: str, separator: str) -> Iterator[list[str]]:
    """The rows of a CSV text, cut into fields; blank lines have none."""
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator)


def _counts_on(row: list[str]) -> bool:
    """Whether a row has three numbers or more that rise in equal steps, such as 1990, 1991, 1992."""
    numbers = [float(cell.strip().replace(",", ".")) for cell in row if is_number(cell)]
    steps = [after - before for before, after in pairwise(numbers)]
    return len(steps) > 1 and steps[0] > 0 and all(abs(step - steps[0]) < STEP_ERROR * steps[0] for step in steps)


def _decodes(start: bytes, encoding: str) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(start)  # not final: the last character may be cut
    except UnicodeDecodeError:
        return False
    return True


def _known_encoding(told: str) -> str:
    try:
        "".encode(told)
        return codecs.lookup(told).name
    except (LookupError, ValueError, TypeError):
        raise TableError(
            f"The encoding {shown(told)} is not known. Pass one such as utf-8, latin-1 or utf-16."
        ) from None
