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
from rdplearn.cli.printing import counted_rows
from rdplearn.errors import TableError
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


def write_here(task: Pass, *, shows_progress: bool) -> Written:
    """Go through a table on this machine."""
    with ExitStack() as stack:
        file, written = None, Written()
        if task.output not in (None, "-"):
            file = stack.enter_context(GrowingFile(str(task.output), task.made_of, resume=task.resume))
            written = Written(file.n_rows, file.tally, file.n_rows > 0)
        count = stack.enter_context(counted_rows(shows_progress, written.n_rows, task.doing))

        def take(batch: RowsWithResults) -> None:
            result, tally = batch.result(task.carried), batch.tally()
            if file is not None:
                file.add(result, tally=tally)
            elif task.output == "-":
                rows = CsvRows()
                sys.stdout.buffer.write((rows.start(result.schema) if written.n_rows == 0 else b"") + rows.rows(result))
            written.n_rows += result.num_rows
            written.tally = added_up(written.tally, tally)
            for watcher in task.watchers:
                watcher.add(batch)
            count(result.num_rows)

        with done_behind(take) as hand_over:
            for batch in task.apply(task.model, task.table, skip_rows=written.n_rows):
                hand_over(batch)
        sys.stdout.flush()
        if written.n_rows == 0:
            raise TableError(f"There are no rows in {task.table.name}. Pass a table with at least one row.")
    return written
