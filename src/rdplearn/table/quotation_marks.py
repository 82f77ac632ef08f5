"""Quotation marks that were left open: all up to the next one is one cell then, and rows are gone.

Arrow says nothing of it. So if a cell goes over several lines, as one with an open mark does, all lines are looked at.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rdplearn.errors import TableError, warn_user

if TYPE_CHECKING:
    import pyarrow as pa

    from rdplearn.table.openers import Opener

REST_OF_A_QUOTED_CELL = re.compile(r'(?:[^"]|"")*+("?)')  # a mark that is doubled belongs to the text
LONGEST_LINE = 1 << 24  # a longer one is looked at in parts
REMEDY = "Close it, or double it if it belongs to the text."


def has_line_breaks(batch: pa.RecordBatch) -> bool:
    """Whether a cell goes over several lines."""
    texts = (buffer.to_pybytes() for column in batch.columns if (buffer := column.buffers()[-1]) is not None)
    return any(mark in text for text in texts for mark in (b"\n", b"\r"))


def tell_open_marks(opener: Opener, name: str, separator: str) -> None:
    """Refuse a CSV file with a quotation mark that is never closed, and warn of one that is closed in another cell."""
    with opener() as file:
        text = io.TextIOWrapper(file, "utf-8", "replace", newline="")
        opened, closed = open_mark(iter(lambda: text.readline(LONGEST_LINE), ""), separator)
    if opened and not closed:
        raise TableError(f"Line {opened:,} of {name} opens a quotation mark that is never closed. {REMEDY}")
    if opened:
        warn_user(
            f"Line {opened:,} of {name} opens a quotation mark that line {closed:,} closes inside of a cell, so that "
            f"all between is one cell. {REMEDY}"
        )


def open_mark(lines: Iterable[str], separator: str) -> tuple[int, int]:
    r"""The first quotation mark that was left open: its line, and the line that closes it, 0 for none.

    A mark opens a cell at its start alone. What closes it is suspicious on a later line if the cell does not end there.

    Examples
    --------
    >>> open_mark(['a,b\n', '1,"x\n', '2,"y"\n'], ","), open_mark(['1,"x\n', 'y"\n', '2,5" pipe\n'], ",")
    ((2, 3), (0, 0))
    >>> open_mark(['1,"x\n', '2,y\n'], ",")
    (1, 0)
    """
    start_of_a_quoted_cell = re.compile(rf'(?:^|{re.escape(separator)})"')
    opened = 0
    for number, line in enumerate(lines, 1):
        place = 0
        while opened or '"' in line[place:]:
            if not opened:
                start = start_of_a_quoted_cell.search(line, place)
                if start is None:
                    break
                opened, place = number, start.end()
            rest = REST_OF_A_QUOTED_CELL.match(line, place)
            if rest is None or not rest[1]:
                break
            place = rest.end()
            if opened < number and line[place : place + 1] not in (separator, "\r", "\n", ""):
                return opened, number
            opened = 0
    return opened, 0
