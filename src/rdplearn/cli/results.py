"""What all commands do that go through a table of any size: read, apply a model, write, batch by batch, side by side.

The rows are read and encoded on one thread, the model works on the caller's (and on threads of its own), and results
are written on another, so that none waits for the others.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Protocol

from rdplearn._files.read_ahead import done_behind
from rdplearn._results.formats import CsvRows
from rdplearn._results.resumable import GrowingFile, added_up
from rdplearn.cli.commands import TalkOptions
from rdplearn.cli.printing import counted_rows
from rdplearn.errors import TableError
from rdplearn.table import Table
from rdplearn.table_model import TableModel

if TYPE_CHECKING:
    import pyarrow as pa


class RowsWithResults(Protocol):
    """A batch of rows and what a model says of them."""

    def result(self, carried: Sequence[str]) -> pa.RecordBatch: ...
    def tally(self) -> list[int]: ...


class Watcher(Protocol):
    """Is shown every batch."""

    def add(self, batch: Any, /) -> None: ...


class Apply(Protocol):
    """Such as `scored_rows`."""

    def __call__(self, model: TableModel, table: Table, *, skip_rows: int = 0) -> Iterator[Any]: ...


class Results:
    """Where results go: a file, standard output, or nowhere.

    Attributes
    ----------
    n_rows : rows so far
    tally : what was counted over them
    is_resumed : an earlier run has written some of them
    """

    def __init__(self, table: Table, talk: TalkOptions, *, output: str | None, carried: list[str]) -> None:
        self.table, self.talk, self.output, self.carried = table, talk, output, carried
        self.n_rows = 0
        self.tally: list[int] = []
        self.is_resumed = False

    def write(
        self,
        apply: Apply,
        model: TableModel,
        *,
        doing: str,
        watchers: Sequence[Watcher] = (),
        made_of: Mapping[str, Any] | None = None,
        resume: bool = False,
    ) -> None:
        """Apply a model to all rows and send them where they belong.

        Parameters
        ----------
        apply : gives the batches with results after so many rows
        doing : what is done to rows, for those who watch: "scored"
        watchers : are shown each batch once it is written
        made_of, resume : of `GrowingFile`
        """
        with ExitStack() as stack:
            file = None
            if self.output not in (None, "-"):
                file = stack.enter_context(GrowingFile(str(self.output), made_of, resume=resume))
                self.n_rows, self.tally = file.n_rows, file.tally
                self.is_resumed = file.n_rows > 0
            count = stack.enter_context(counted_rows(self.talk.shows_progress, self.n_rows, doing))

            def take(batch: Any) -> None:
                n_rows = self._write(batch, file)
                for watcher in watchers:
                    watcher.add(batch)
                count(n_rows)

            n_before = self.n_rows
            with done_behind(take) as hand_over:
                for batch in apply(model, self.table, skip_rows=n_before):
                    hand_over(batch)
            sys.stdout.flush()
            if self.n_rows == 0:
                raise TableError(f"There are no rows in {self.table.name}. Pass a table with at least one row.")

    def _write(self, batch: RowsWithResults, file: GrowingFile | None) -> int:
        result, tally = batch.result(self.carried), batch.tally()
        if file is not None:
            file.add(result, tally=tally)
        elif self.output == "-":
            rows = CsvRows()
            sys.stdout.buffer.write((rows.start(result.schema) if self.n_rows == 0 else b"") + rows.rows(result))
        self.n_rows += result.num_rows
        self.tally = added_up(self.tally, tally)
        return int(result.num_rows)
