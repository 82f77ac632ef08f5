"""The answers file: plain CSV that people may read, keep and send, and that `rdplearn tell` takes.

A header ``row,answer,when`` and the columns of the table; then a line for each answer, with the row as it stands:

    row,answer,when,age,city
    18,anomalous,2026-11-18T03:51:07Z,250,Oslo

The first three columns are ours by their places, so a table may have columns of these names. Of several lines about one
row the last counts. The file is written whole or not at all, and nothing in it is executed.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rdplearn._feedback.answers import ANSWERS
from rdplearn._files.atomic import checked_target, written_whole
from rdplearn.errors import TableError
from rdplearn.table.cells import in_seconds

if TYPE_CHECKING:
    import pyarrow as pa

OURS = ("row", "answer", "when")
LONGEST_CELL = 2**27


@dataclass(frozen=True)
class AnswerLine:
    """One answer: the number of a row, from 1, what was said, when, and the cells of the row."""

    row: int
    answer: str
    when: str
    cells: tuple[str, ...]


@dataclass
class AnswersFile:
    """The columns of the table, and the answers about its rows, in the order in which they were given."""

    column_names: tuple[str, ...]
    lines: list[AnswerLine]

    def latest(self) -> list[AnswerLine]:
        """The last line about each row."""
        return list({line.row: line for line in self.lines}.values())

    def table(self) -> pa.Table:
        """The rows of the latest answers, as texts."""
        import pyarrow as pa

        columns = [[line.cells[place] for line in self.latest()] for place in range(len(self.column_names))]
        texts = [pa.array([cell or None for cell in column], pa.string()) for column in columns]
        return pa.table(texts, names=list(self.column_names))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file whole or not at all."""
        content = io.StringIO()
        writer = csv.writer(content, lineterminator="\n")
        writer.writerow([*OURS, *self.column_names])
        writer.writerows([line.row, line.answer, line.when, *line.cells] for line in self.lines)
        with written_whole(checked_target(path)) as temporary:
            Path(temporary).write_text(content.getvalue(), encoding="utf-8", newline="")


def read_answers(path: str | os.PathLike[str]) -> AnswersFile:
    """Read an answers file; whatever is wrong with it is an error that names the line and what to do."""
    name = f"'{os.fspath(path)}'"
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise TableError(f"There is no file {name}. Pass one that review or a report wrote.") from None
    except IsADirectoryError:
        raise TableError(f"{name} is a folder. Pass a file of answers that review or a report wrote.") from None
    except UnicodeDecodeError:
        raise TableError(f"{name} is not an answers file: it is not UTF-8. Save it as CSV in UTF-8.") from None
    header, *lines = _fields(text, name) or [[]]
    if tuple(header[:3]) != OURS or len(header) < 4:
        raise TableError(
            f"{name} is not an answers file: its first line must be {','.join(OURS)} and the columns of the table. Got "
            f"{','.join(header)[:80]!r} instead."
        )
    if not text.endswith("\n"):
        raise TableError(
            f"{name} does not end with a line break, so it was cut off, or edited. Check that its last line is "
            "complete, and add a line break."
        )
    read = [_read_line(fields, len(header), f"Line {number} of {name}") for number, fields in lines]
    return AnswersFile(tuple(header[3:]), read)


def _fields(text: str, name: str) -> list[Any]:
    """The header, and every further line with its number; empty lines are left out."""
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    found: list[Any] = []
    try:
        for fields in reader:
            if fields:
                found.append(fields if not found else (reader.line_num, fields))
    except csv.Error as fault:
        raise TableError(
            f"Line {reader.line_num} of {name} is not CSV ({fault}): the file was cut off, or edited. Correct the "
            "line, or remove it."
        ) from None
    return found


def _read_line(fields: Sequence[str], n_fields: int, owner: str) -> AnswerLine:
    if len(fields) != n_fields:
        raise TableError(
            f"{owner} has {len(fields)} fields, and the first line has {n_fields}: the file was cut off, or edited. "
            "Correct the line, or remove it."
        )
    row, answer, when, *cells = fields
    if not row.isdecimal() or int(row) < 1:
        raise TableError(f"{owner} must begin with the number of a row, from 1. Got {row[:40]!r} instead.")
    if answer not in ANSWERS:
        raise TableError(f"{owner} must say {', '.join(ANSWERS[:-1])} or {ANSWERS[-1]}. Got {answer[:40]!r} instead.")
    try:
        datetime.fromisoformat(when)
    except ValueError:
        raise TableError(f"{owner} must say when, such as 2026-11-18T03:51:07Z. Got {when[:40]!r} instead.") from None
    return AnswerLine(int(row), answer, when, tuple(cells))


def now() -> str:
    """The time as answers have it.

    Examples
    --------
    >>> len(now()), now()[-1]
    (20, 'Z')
    """
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def cell_texts(rows: pa.Table) -> list[tuple[str, ...]]:
    """The cells of some rows as texts, missing ones empty.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cell_texts(pa.table({"age": [31.5, None], "city": ["Oslo", "Rome"]}))
    [('31.5', 'Oslo'), ('', 'Rome')]
    """
    import pyarrow as pa

    columns = []
    for column in rows.columns:
        if pa.types.is_duration(column.type):
            column = in_seconds(column)
        try:
            texts = column.cast(pa.string()).to_pylist()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            texts = [None if cell is None else str(cell) for cell in column.to_pylist()]
        columns.append([text or "" for text in texts])
    return list(zip(*columns, strict=True))


def same_cell(one: str, other: str) -> bool:
    """Whether two texts are the same cell: a report and a spreadsheet write numbers and times in ways of their own.

    Examples
    --------
    >>> same_cell("120.0", "120"), same_cell("2019-03-30 23:59:14.000000", "2019-03-30 23:59:14"), same_cell("a", "b")
    (True, True, False)
    """
    readers: tuple[Callable[[str], object], ...] = (float, datetime.fromisoformat, time.fromisoformat)
    for read in readers:
        try:
            if read(one) == read(other):
                return True
        except ValueError:
            continue
    return one == other
