"""Where a command does its work: on this machine, or on a Dask cluster over a folder of Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import Any

import typer

from rdplearn._files.atomic import checked_target
from rdplearn._to_dask import distributed
from rdplearn.cli.checks import check_paths, check_resume, identity_of
from rdplearn.cli.commands import TalkOptions
from rdplearn.cli.options import ReadingOptions
from rdplearn.cli.printing import counted_rows, told_while_read
from rdplearn.cli.results import Apply, Results
from rdplearn.table import Table
from rdplearn.table_model import TableModel

TASKS = {"scored": "rdp-score-part", "embedded": "rdp-embed-part", "grouped": "rdp-group-part"}


@contextmanager
def work_place(dask: str | None, reading: ReadingOptions, talk: TalkOptions) -> Iterator[Here | OnCluster]:
    """Go to where the work is done."""
    if dask is None:
        yield Here(reading, talk)
        return
    distributed()  # or say what to install
    with import_module("rdplearn._distributed.client").connected(dask) as client:
        yield OnCluster(client, reading, talk)


class Here:
    """Our own machine: files of all formats, read and written in batches."""

    def __init__(self, reading: ReadingOptions, talk: TalkOptions) -> None:
        self.reading, self.talk = reading, talk

    def check(
        self, table: str, output: str | None, model: str | None, *, resume: bool = False, label: str | None = None
    ) -> None:
        """See before the work that its results can be written."""
        check_paths(table, output, model)
        check_resume(resume, table, output, label)

    def open(self, path: str) -> Table:
        """The table."""
        return self.reading.open(path)

    def made_of(self, model: str, table: str, carried: Sequence[str]) -> Mapping[str, Any]:
        """What decides the content of the output."""
        return {
            "model": identity_of(model),
            "table": identity_of(table),
            "--id": list(carried),
            "way of reading": self.reading.as_dict(),
        }

    def fit(self, model: TableModel, table: Any) -> TableModel:
        """Fit a model on the table."""
        return model.fit(told_while_read(table, self.talk.shows_progress))

    def results(self, table: Any, output: str | None, carried: list[str]) -> Results:
        """Where results go."""
        return Results(table, self.talk, output=output, carried=carried)


class OnCluster:
    """A Dask cluster: Parquet files alone, a task for each, and a file of results for each."""

    def __init__(self, client: Any, reading: ReadingOptions, talk: TalkOptions) -> None:
        self.client, self.reading, self.talk = client, reading, talk

    def check(
        self, table: str, output: str | None, model: str | None, *, resume: bool = False, label: str | None = None
    ) -> None:
        """See before the work that its results can be written."""
        if any(value is not None for value in self.reading.as_dict().values()):
            raise typer.BadParameter("reads Parquet files, which leave nothing to say.", param_hint="--dask")
        if table == "-" or output == "-":
            raise typer.BadParameter("needs files to read and a folder to write.", param_hint="--dask")
        if output is not None:
            import_module("rdplearn._distributed.result_folder").checked_folder(output)
        if model is not None:
            checked_target(model)
        if resume and (output is None or label):
            raise typer.BadParameter("needs a folder to write (-o) and no --label.", param_hint="--resume")

    def open(self, path: str) -> Any:
        """The parts of the table."""
        return import_module("rdplearn._distributed.parquet_parts").open_dataset(path)

    def made_of(self, model: str, table: str, carried: Sequence[str]) -> Mapping[str, Any]:
        """What decides the content of all parts of the output; each adds its own file."""
        return {"model": identity_of(model), "--id": list(carried)}

    def fit(self, model: TableModel, table: Any) -> TableModel:
        """Fit a model on the table; the detector itself shows how many of its members are done."""
        with self.client.as_current():
            return model.fit(table)

    def results(self, table: Any, output: str | None, carried: list[str]) -> ClusterResults:
        """Where results go."""
        return ClusterResults(self.client, table, self.talk, output=output, carried=carried)


class ClusterResults:
    """Where results go on a cluster: a folder of Parquet files, or nowhere. The attributes are those of `Results`."""

    def __init__(self, client: Any, table: Any, talk: TalkOptions, *, output: str | None, carried: list[str]) -> None:
        self.client, self.table, self.talk, self.output, self.carried = client, table, talk, output, carried
        self.n_rows = 0
        self.tally: list[int] = []
        self.is_resumed = False

    def write(
        self,
        apply: Apply,
        model: TableModel,
        *,
        doing: str,
        watchers: Sequence[Any] = (),
        made_of: Mapping[str, Any] | None = None,
        resume: bool = False,
    ) -> None:
        """Apply a model to all parts and write what comes of them; the arguments are those of `Results.write`."""
        cluster = import_module("rdplearn._distributed.client")
        folders = import_module("rdplearn._distributed.result_folder")
        results = import_module("rdplearn._distributed.dataset_results")
        folder = nullcontext() if self.output is None else folders.ResultFolder(self.output, made_of, resume=resume)
        with folder as opened, counted_rows(self.talk.shows_progress, 0, doing, total=self.table.n_rows) as count:
            self.n_rows, self.tally, self.is_resumed = results.write_results(
                self.table,
                model,
                apply,
                cluster.Tasks(self.client),
                opened,
                name=TASKS[doing],
                carried=self.carried,
                watchers=watchers,
                identity_of=identity_of,
                count=count,
            )
