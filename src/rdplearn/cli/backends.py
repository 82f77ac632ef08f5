"""Where a command does its work: on this machine, or on Dask over a folder of Parquet files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import typer

from rdplearn._results.resumable import GrowingFile
from rdplearn._results.sql_table import SqlTable
from rdplearn._to_dask import distributed
from rdplearn.cli.checks import check_paths, check_resume, identity_of, results_held
from rdplearn.cli.framework import TalkOptions
from rdplearn.cli.options import IfExists
from rdplearn.cli.printing import counted_rows, told_while_read
from rdplearn.cli.reading_options import ReadingOptions, sql_table_of
from rdplearn.cli.results import Pass, Written, write_here
from rdplearn.errors import TableError
from rdplearn.table import Table
from rdplearn.table_model import TableModel

SAMPLES_OF_A_PART = 16  # there may be thousands of parts
Inputs = Mapping[str, str | list[str] | None]  # what is read, by what it is
TASKS = {"scored": "rdp-score-part", "embedded": "rdp-embed-part", "grouped": "rdp-group-part"}


@contextmanager
def chosen_backend(
    dask: str | None, reading: ReadingOptions, talk: TalkOptions, if_exists: IfExists | None = None
) -> Iterator[Here | OnDask]:
    """Go to where the work is done."""
    if dask is None:
        here = Here(reading, talk, if_exists)
        with here.held:
            yield here
        return
    if (reading.sql, if_exists) != (None, None):
        raise typer.BadParameter("reads and writes only files. Leave out the options for SQL.", param_hint="--dask")
    distributed()  # or say what to install
    from rdplearn._distributed.client import connected

    with connected(dask) as client:
        there = OnDask(client, reading, talk)
        with there.held:
            yield there


class Here:
    """Our own machine: files of all formats and tables of databases, read and written in batches."""

    def __init__(self, reading: ReadingOptions, talk: TalkOptions, if_exists: IfExists | None = None) -> None:
        self.reading, self.talk, self.if_exists = reading, talk, if_exists
        self.sql_table: SqlTable | None = None  # to be written
        self.held = ExitStack()  # the names of its results, if they are several

    def check(
        self, inputs: Inputs, output: str | None, *others: str | None, resume: bool = False, label: str | None = None
    ) -> None:
        """See before the work that its results, which are the output and others, can be written."""
        self.reading.check(inputs["table"], output)
        check_resume(resume, inputs["table"], output, label)
        if self.reading.sql is not None:
            inputs = {**inputs, "database": self.reading.database.path}
        name = sql_table_of(output)
        check_paths(inputs, output if name is None else None, *others)
        if name is not None:
            if_exists = self.if_exists or IfExists.FAIL
            self.sql_table = SqlTable(self.reading.database, name, if_exists.value, read=self.reading.sql_table)
        elif self.if_exists is not None:
            raise typer.BadParameter("is about the table of -o sql:TABLE. Leave it out.", param_hint="--if-exists")
        self.held.enter_context(results_held(None if name else output, *others))

    def open(self, path: str | list[str] | None) -> Table:
        """The table."""
        return self.reading.open(path)

    def made_of(self, model: Any, table: str | list[str] | None, carried: Sequence[str]) -> Mapping[str, Any] | None:
        """What decides the content of the output; the model is the identity of its file. None for a database."""
        if table is None:
            return None
        return {
            "model": model,
            "table": identity_of(table),
            "--id": list(carried),
            "way of reading": self.reading.as_dict(),
        }

    def fit(self, model: TableModel, table: Any) -> TableModel:
        """Fit a model on the table."""
        return model.fit(told_while_read(table, self.talk.shows_progress))

    def write(self, task: Pass) -> Written:
        """Go through a table."""
        result: SqlTable | GrowingFile | None = None
        if sql_table_of(task.output) is not None:
            result = self.sql_table
        elif task.output not in (None, "-"):
            result = GrowingFile(str(task.output), task.made_of, resume=task.resume)
        return write_here(task, result, shows_progress=self.talk.shows_progress)


class OnDask:
    """Workers of Dask: Parquet files alone, a task for each, and a file of results for each."""

    def __init__(self, client: Any, reading: ReadingOptions, talk: TalkOptions) -> None:
        self.client, self.reading, self.talk = client, reading, talk
        self.held = ExitStack()  # the names of its results, if they are several

    def check(
        self, inputs: Inputs, output: str | None, *others: str | None, resume: bool = False, label: str | None = None
    ) -> None:
        """See before the work that its results, which are the output and others, can be written."""
        from rdplearn._distributed.parquet_parts import find_parts
        from rdplearn._distributed.result_folder import checked_folder

        self.reading.check(inputs["table"], output)
        table = str(inputs["table"])
        if self.reading.limit or any(value is not None for value in self.reading.as_dict().values()):
            raise typer.BadParameter(
                "reads Parquet files. Leave out the options for other formats.", param_hint="--dask"
            )
        if table == "-" or output == "-":
            raise typer.BadParameter("needs files to read and a folder to write.", param_hint="--dask")
        if output is not None:
            target = checked_folder(output)
            if Path(os.path.realpath(table)) in target.parents:
                raise TableError(f"'{output}' lies in the table itself. Pass a folder outside of '{table}'.")
        parts = {f"part '{part}' of the table": part for part in find_parts(table)[0]}
        check_paths({**inputs, **parts}, None, *others)
        if resume and (output is None or label):
            raise typer.BadParameter("needs a folder to write (-o) and no --label.", param_hint="--resume")
        self.held.enter_context(results_held(output, *others))

    def open(self, path: Any) -> Any:
        """The parts of the table."""
        from rdplearn._distributed.parquet_parts import open_dataset

        return open_dataset(str(path))

    def made_of(self, model: Any, table: str | list[str] | None, carried: Sequence[str]) -> Mapping[str, Any]:
        """What decides the content of all parts of the output; each adds its own file."""
        return {"model": model, "--id": list(carried)}

    def fit(self, model: TableModel, table: Any) -> TableModel:
        """Fit a model on the table; the detector itself shows how many of its members are done."""
        with self.client.as_current():
            return model.fit(table)

    def write(self, task: Pass) -> Written:
        """Go through all parts and write what comes of them to a folder of Parquet files, or nowhere."""
        from rdplearn._distributed.client import Tasks
        from rdplearn._distributed.dataset_results import write_results
        from rdplearn._distributed.result_folder import ResultFolder

        folder = nullcontext() if task.output is None else ResultFolder(task.output, task.made_of, resume=task.resume)
        shown = counted_rows(self.talk.shows_progress, 0, task.doing, total=task.table.n_rows)
        with folder as opened, shown as count:
            n_rows, tally, is_resumed = write_results(
                task.table,
                task.model,
                task.apply,
                Tasks(self.client),
                opened,
                name=TASKS[task.doing],
                carried=task.carried,
                watchers=task.watchers,
                identity_of=partial(identity_of, n_samples=SAMPLES_OF_A_PART),
                count=count,
            )
        return Written(n_rows, tally, is_resumed)
