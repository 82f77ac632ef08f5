"""What all commands do that go through a table of any size: read, apply a model, write, batch by batch, side by side.

The rows are read and encoded on one thread, the model works on the caller's (and on threads of its own), and results
are written on another, so that none waits for the others.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Protocol

from rdplearn._files.read_ahead import done_behind
from rdplearn._results.batches import RowsWithResults
from rdplearn._results.formats import CsvRows
from rdplearn._results.resumable import GrowingFile, added_up
from rdplearn._results.sql_table import SqlTable
from rdplearn.cli.printing import counted_rows
from rdplearn.errors import no_rows
from rdplearn.table import Table
from rdplearn.table_model import TableModel


class Watcher(Protocol):
    """Is shown every batch."""

    def add(self, batch: Any, /) -> None: ...


class Apply(Protocol):
    """Such as `scored_rows`."""

    def __call__(self, model: TableModel, table: Table, *, skip_rows: int = 0) -> Iterator[Any]: ...


@dataclass(frozen=True)
class Pass:
    """Once through a table: a model is applied to all rows, and each is sent where it belongs.

    apply : gives the batches with results after so many rows
    doing : what is done to rows, for those who watch: "scored"
    output : a file or a folder, - for standard output, None for nowhere
    watchers : are shown each batch once it is written
    made_of, resume : of `GrowingFile`
    """

    apply: Apply
    model: TableModel
    table: Any
    doing: str
    output: str | None
    carried: list[str]
    watchers: Sequence[Watcher] = ()
    made_of: Mapping[str, Any] | None = None
    resume: bool = False


@dataclass
class Written:
    """What has come of a pass so far.

    tally : what was counted over the rows
    is_resumed : an earlier run has written some of them
    """

    n_rows: int = 0
    tally: list[int] = field(default_factory=list)
    is_resumed: bool = False


def write_here(task: Pass, result: GrowingFile | SqlTable | None, *, shows_progress: bool) -> Written:
    """Go through a table on this machine; the rows go to a result, unless it is standard output or nowhere."""
    with ExitStack() as stack:
        written = Written()
        if result is not None:
            stack.enter_context(result)
            written = Written(result.n_rows, result.tally, result.n_rows > 0)
        count = stack.enter_context(counted_rows(shows_progress, written.n_rows, task.doing))

        def take(batch: RowsWithResults) -> None:
            rows, tally = batch.result(task.carried), batch.tally()
            if result is not None:
                result.add(rows, tally=tally)
            elif task.output == "-":
                csv = CsvRows()
                sys.stdout.buffer.write((csv.start(rows.schema) if written.n_rows == 0 else b"") + csv.rows(rows))
            written.n_rows += rows.num_rows
            written.tally = added_up(written.tally, tally)
            for watcher in task.watchers:
                watcher.add(batch)
            count(rows.num_rows)

        with done_behind(take) as hand_over:
            for batch in task.apply(task.model, task.table, skip_rows=written.n_rows):
                hand_over(batch)
        sys.stdout.flush()
        if written.n_rows == 0:
            raise no_rows(task.table.name)
    return written
