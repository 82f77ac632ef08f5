"""Going through a table with a person, answer by answer, into a file that the next session continues."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rdplearn._feedback.answers_file import AnswerLine, AnswersFile, cell_texts, now, read_answers, same_cell
from rdplearn._feedback.tables import ReviewedTable
from rdplearn._types import Matrix
from rdplearn.errors import TableError, no_rows
from rdplearn.table import Table
from rdplearn.table.frames import read_frame
from rdplearn.table.wording import shown

if TYPE_CHECKING:
    import pyarrow as pa


def tell_answers(model: ReviewedTable, file: AnswersFile, matrix: Matrix) -> None:
    """Tell a model what a file says of rows; what the model was told about them before gives way to it.

    matrix : the rows of the file's latest answers, encoded
    """
    latest = file.latest()
    model.estimator.answers_.remove(matrix)
    model.estimator.tell(matrix, [line.answer for line in latest], names=[str(line.row) for line in latest])


def tell_file(model: ReviewedTable, path: str | os.PathLike[str]) -> AnswersFile:
    """Tell a model the answers of a file, which brings the rows along."""
    file = read_answers(path)
    if file.lines:
        rows = Table(f"'{os.fspath(path)}'", *read_frame(file.table()))
        tell_answers(model, file, model.encoder.transform(rows))
    return file


class ReviewSession:
    """A table, the model that learns, and the file of answers. The table is held in memory.

    Parameters
    ----------
    path : of the answers file; what is in it already is told to the model first
    """

    def __init__(self, model: ReviewedTable, table: Table, path: str, *, strategy: str = "top") -> None:
        import pyarrow as pa

        self.model, self.path, self.strategy = model, path, strategy
        self.rows = pa.Table.from_batches(list(table.batches()))
        if self.rows.num_rows == 0:
            raise no_rows(table.name)
        self.matrix = model.encoder.transform(table)
        self.file = AnswersFile(tuple(self.rows.column_names), [])
        self._kept = _content(path)
        if self._kept is not None:
            self.file = read_answers(path)
            self._check_same_table(table.name)
        if self.file.lines:
            places = [line.row - 1 for line in self.file.latest()]
            tell_answers(model, self.file, self.matrix[places])
        self._asking = model.estimator.asking(self.matrix)

    def next(self) -> int | None:
        """The place of the next row to ask about; None if all have been."""
        found = self._asking.next(1, strategy=self.strategy)
        return int(found[0]) if len(found) else None

    def row(self, place: int) -> pa.Table:
        """A row as a table."""
        return self.rows.slice(place, 1)

    def answer(self, place: int, answer: str) -> None:
        """Take an answer, and keep it in the file before anything else."""
        line = AnswerLine(place + 1, answer, now(), cell_texts(self.row(place))[0])
        self._keep([*self.file.lines, line])
        self._asking.tell([place], answer)

    def undo(self) -> int | None:
        """Take the last answer back; the place of its row, which may be asked about again. None if there is none."""
        if not self.file.lines:
            return None
        place = self.file.lines[-1].row - 1
        self._keep(self.file.lines[:-1])
        self._asking.take_back([place])
        others = [line for line in self.file.latest() if line.cells == cell_texts(self.row(place))[0]]
        for line in others:  # equal rows share what is told about them
            self._asking.tell([line.row - 1], line.answer)
        return place

    def _keep(self, lines: list[AnswerLine]) -> None:
        if _content(self.path) != self._kept:
            raise TableError(
                f"'{self.path}' was changed by another program during this review, and what it says now is kept. Only "
                "the last key is lost: run the same command again, and go on from the file."
            )
        file = AnswersFile(self.file.column_names, lines)
        file.write(self.path)
        self.file, self._kept = file, _content(self.path)

    def _check_same_table(self, name: str) -> None:
        """See that the answers are about rows of this table, whoever wrote its numbers and times."""
        path = f"'{self.path}'"
        if self.file.column_names != tuple(self.rows.column_names):
            raise TableError(
                f"The answers in {path} are about another table: its columns are not those of {name}. Pass another "
                "file with --answers."
            )
        for number, line in enumerate(self.file.lines):
            if line.row > self.rows.num_rows:
                raise TableError(
                    f"{path} has an answer about row {line.row:,}, and {name} has {self.rows.num_rows:,} rows. Pass "
                    "the table that was reviewed, or another file with --answers."
                )
            here = cell_texts(self.row(line.row - 1))[0]
            for column, cell, answered in zip(self.file.column_names, here, line.cells, strict=True):
                if same_cell(cell, answered):
                    continue
                raise TableError(
                    f"Row {line.row:,} of {name} is not the one that {path} has an answer about: in column '{column}' "
                    f"it has {shown(cell)}, there {shown(answered)}. Pass the table that was reviewed, or another file "
                    "with --answers."
                )
            self.file.lines[number] = replace(line, cells=here)  # as we write them


def _content(path: str) -> bytes | None:
    """What is in a file; None if there is none."""
    return Path(path).read_bytes() if os.path.exists(path) else None
