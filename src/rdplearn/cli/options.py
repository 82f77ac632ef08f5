"""Options that several commands share: files, models, columns that go along, Dask. Others are beside this file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Annotated

import typer

TablePath = Annotated[
    str | None,
    typer.Argument(
        metavar="TABLE",
        help="The table: CSV, Excel, Parquet, Arrow or JSON Lines, or a 'pattern*' of files. - reads stdin.",
    ),
]
MoreTables = Annotated[
    list[str] | None,
    typer.Argument(metavar="TABLE...", help="More files with the same columns.", show_default=False),
]
ModelPath = Annotated[str, typer.Argument(metavar="MODEL", help="A model file that fit wrote.")]
OutputPath = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write all rows to this .csv, .parquet or .jsonl file. - writes to stdout, sql:TABLE to the database.",
    ),
]
TopCount = Annotated[int, typer.Option("--top", min=1, max=10_000, help="How many rows to print.")]
Carried = Annotated[
    list[str] | None,
    typer.Option("--id", metavar="COLUMN", help="Copy this column to the result. The model does not use it."),
]
TableOrModel = Annotated[
    str | None,
    typer.Argument(
        metavar="TABLE|MODEL",
        help="A table (CSV, Excel, Parquet, Arrow, JSON Lines; - reads stdin), or a model file that -m wrote.",
    ),
]
TableAfterModel = Annotated[
    str | None,
    typer.Argument(metavar="TABLE", help="The table, if a model comes first; else a further file.", show_default=False),
]
ReportPath = Annotated[
    str | None,
    typer.Option("--report", metavar="FILE", help="Write what was found as a page: one HTML file."),
]
Keep = Annotated[bool, typer.Option("--keep", help="Write all columns of the table, not the results alone.")]
KeptModel = Annotated[str | None, typer.Option("--model", "-m", metavar="FILE", help="Save the model to this file.")]


def _some_jobs(n_jobs: int) -> int:
    if n_jobs == 0:
        raise typer.BadParameter("must be 1 or more, or -1 for all cores. Got 0.")
    return n_jobs


Jobs = Annotated[
    int,
    typer.Option(
        "--jobs", callback=_some_jobs, help="How many threads to use. -1 uses all cores. The result is the same."
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, max=2**32 - 1, help="Seed of the random numbers. The same seed gives the same result.")
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue the output of a run that was stopped.")]
Classes = Annotated[
    str | None,
    typer.Option(
        "--label",
        metavar="COLUMN",
        help="Compare the result with the classes in this column. The model does not use it.",
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        "--label",
        metavar="COLUMN",
        help="Compare the scores with the 0/1 labels in this column. The model does not use it.",
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS|local:N",
        help="Use a Dask cluster, or N processes on this machine. TABLE is then a folder or 'pattern*' of Parquet "
        "files, and the output is a folder.",
    ),
]


class IfExists(StrEnum):
    """What becomes of a table that is there already."""

    FAIL = "fail"
    REPLACE = "replace"
    APPEND = "append"


IfExistsOption = Annotated[
    IfExists | None,
    typer.Option(
        "--if-exists",
        help="What to do if the table of -o sql:TABLE exists: stop with an error (fail), replace it, or append.",
    ),
]


@dataclass(frozen=True)
class FileOptions:
    """What is read and written by commands that take a table, or a model and then a table."""

    first: TableOrModel = None
    second: TableAfterModel = None
    more: MoreTables = None
    output: OutputPath = None
    if_exists: IfExistsOption = None
    kept_model: KeptModel = None

    @cached_property
    def model(self) -> str | None:
        """The model, if one was named: before a table, or alone, when a database has the table."""
        from rdplearn._storage.container import looks_like_model_file

        return self.first if self.first not in (None, "-") and looks_like_model_file(str(self.first)) else None

    @property
    def tables(self) -> list[str]:
        """The table as it was named, or its files; nothing if a database has it."""
        named = [self.first if self.model is None else None, self.second, *(self.more or ())]
        return [file for file in named if file is not None]


@dataclass(frozen=True)
class UnseenColumns:
    """Columns that the model never sees: carried into the result, or compared with it."""

    carried: Carried = None
    label: Label = None

    @property
    def ids(self) -> list[str]:
        """The columns that are carried along."""
        return self.carried or []

    def all(self) -> list[str]:
        return [*self.ids, *([self.label] if self.label else [])]


@dataclass(frozen=True)
class ScoredRowOptions(UnseenColumns):
    """What is told of rows with scores."""

    n_top: TopCount = 10


@dataclass(frozen=True)
class ClassedRowOptions(UnseenColumns):
    """What is compared with rows that get features or groups, and how they are gone through."""

    label: Classes = None
    resume: Resume = False
    dask: Dask = None
