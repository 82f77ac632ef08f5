"""Text files whose columns are separated by blanks, one or several, as many programs of science print tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice

from rdplearn.table.header_rows import is_number, n_title_rows

BLANK, TAB = " ", "\t"
LINES_LOOKED_AT = 100
FEWEST_ROWS = 2
LINES_AT_ONCE = 1 << 14


def are_between_columns(text: str) -> bool:
    r"""Whether blanks cut all rows into equally many fields, of which half or more are numbers.

    Examples
    --------
    >>> are_between_columns("site  temp\nOslo  -3.5\nRome  12.0\n"), are_between_columns("name\nAnna Li\nBo Ek\n")
    (True, False)
    """
    rows: list[list[str]] = []
    with suppress(csv.Error):  # a cell of more than 128 kB
        rows.extend(islice((row for row in fields_of(io.StringIO(text, newline="")) if row), LINES_LOOKED_AT))
    header, *below = rows[n_title_rows(rows) :] or [[]]
    width = len(below[0]) if below else 0
    if len(below) < FEWEST_ROWS or width < 2 or any(len(row) != width for row in below):
        return False
    n_numbers = sum(all(is_number(row[place]) for row in below) for place in range(width))
    has_names = len(header) == width or len(header) == width - 1 > 1  # the names of rows often have none
    return has_names and 2 * n_numbers >= width


def with_tabs(lines: Iterable[str]) -> Iterator[bytes]:
    r"""The same table with a tab between columns, in UTF-8.

    Examples
    --------
    >>> b"".join(with_tabs(["  a   b\n", '"x y"  1\n']))
    b'a\tb\nx y\t1\n'
    """
    rows = fields_of(lines)
    while block := list(islice(rows, LINES_AT_ONCE)):
        text = io.StringIO()
        csv.writer(text, delimiter=TAB, lineterminator="\n").writerows(block)
        yield text.getvalue().encode()


def fields_of(lines: Iterable[str]) -> Iterator[list[str]]:
    """The fields of lines that blanks separate; what stands between quotation marks is one."""
    return csv.reader((line.strip(" \t\r\n") for line in lines), delimiter=BLANK, skipinitialspace=True)
