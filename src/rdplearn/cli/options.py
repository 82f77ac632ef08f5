"""Groups of options that several commands share, and what is built from them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from rdplearn.detector import RDPDetector
    from rdplearn.table import Table, TableEncoder
    from rdplearn.table.databases import Database
    from rdplearn.transformer import RDPTransformer

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


@dataclass(frozen=True)
class ReadingOptions:
    """Which query to read, or how to read a file; what is not said of a file is guessed from its content."""

    sql: Annotated[
        str | None,
        typer.Option(
            metavar="URI", help="Use a database: postgresql://USER@HOST/NAME, sqlite:///FILE or duckdb:///FILE."
        ),
    ] = None
    query: Annotated[
        str | None,
        typer.Option(metavar="SELECT", help="Read the rows of this query from the database, not from a file."),
    ] = None
    sql_table: Annotated[
        str | None, typer.Option("--table", metavar="NAME", help="Read this table of the database, not a file.")
    ] = None

    separator: Annotated[
        str | None, typer.Option(help="What separates the cells of a CSV file. Guessed if left out.")
    ] = None
    encoding: Annotated[str | None, typer.Option(help="Encoding of a CSV or JSON Lines file, such as latin-1.")] = None
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first line of a CSV file has the column names."),
    ] = None
    sheet: Annotated[
        str | None, typer.Option(metavar="NAME", help="Sheet of an Excel file. The first if left out.")
    ] = None
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit",
            metavar="NAME=NUMBER",
            help="Raise a limit for a table that is refused as too large: columns, cell (MB) or block (MB).",
        ),
    ] = None

    @cached_property
    def database(self) -> Database:
        """The database, open for reading and writing."""
        from rdplearn.table.databases import Database

        return Database(self.sql)

    def check(self, path: str | list[str] | None, output: str | None = None) -> None:
        """See that a table is named in one way, and that nothing is said in vain."""
        in_database = [option for option in (self.query, self.sql_table) if option is not None]
        about_files = any(value is not None for value in self.as_dict().values())
        if path is None and self.sql is None:
            raise typer.BadParameter("is missing. Name a file, or use --sql to read a database.", param_hint="TABLE")
        if (path is None and len(in_database) != 1) or (in_database and self.sql is None):
            raise typer.BadParameter("needs one of --query and --table, which say what to read.", param_hint="--sql")
        if in_database and (path is not None or about_files):
            raise typer.BadParameter(
                "reads a database, not a file. Leave out TABLE and the options for files.", param_hint="--sql"
            )
        if self.sql is not None and not in_database and sql_table_of(output) is None:
            raise typer.BadParameter("needs --query or --table to read, or -o sql:TABLE.", param_hint="--sql")
        if self.sql is None and sql_table_of(output) is not None:
            raise typer.BadParameter("needs --sql, the database of the table.", param_hint="--output")

    def open(self, path: str | list[str] | None) -> Table:
        """The table: of the database, if no file is named."""
        from rdplearn.table import open_table

        if path is None:
            return open_table(connection=self.database, query=self.query, table=self.sql_table)
        separator = "\t" if self.separator in ("\\t", "tab") else self.separator
        return open_table(path, **{**self.as_dict(), "separator": separator}, limits=self.limits())

    def limits(self) -> dict[str, int]:
        pairs = [entry.partition("=") for entry in self.limit or ()]
        for name, _, number in pairs:
            if not name or not (number.isascii() and number.isdecimal()):
                raise typer.BadParameter(
                    f"'{name}={number}' must be NAME=NUMBER, such as cell=64.", param_hint="--limit"
                )
        return {name: int(number) for name, _, number in pairs}

    def as_dict(self) -> dict[str, Any]:
        """How a file is read."""
        return {"separator": self.separator, "encoding": self.encoding, "header": self.header, "sheet": self.sheet}


def sql_table_of(output: str | None) -> str | None:
    """The table that an output names, if it goes to a database.

    Examples
    --------
    >>> sql_table_of("sql:scores"), sql_table_of("scores.csv")
    ('scores', None)
    """
    return output.removeprefix("sql:") if output is not None and output.startswith("sql:") else None


def pairs_of(entries: list[str] | None, option: str, what: str) -> dict[str, str]:
    """What an option says of columns, each entry one of `what`."""
    given: dict[str, str] = {}
    for column, _, value in (entry.rpartition("=") for entry in entries or ()):
        if not column or not value:
            raise typer.BadParameter(f"'{value}' must be {what}.", param_hint=option)
        if given.setdefault(column, value) != value:
            raise typer.BadParameter(f"'{column}' has {given[column]} and {value}: pass one.", param_hint=option)
    return given


@dataclass(frozen=True)
class ColumnOptions:
    """What the columns mean, where the evidence would mislead."""

    ignore: Annotated[list[str] | None, typer.Option("--ignore", metavar="COLUMN", help="Do not use this column.")] = (
        None
    )
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="COLUMN=KIND",
            help="Say what a column holds: number, year, boolean, category, date, time, text or identifier.",
        ),
    ] = None
    weight: Annotated[
        list[str] | None,
        typer.Option(
            "--weight", metavar="COLUMN=NUMBER", help="How much a column counts. The default is 1; 0 ignores it."
        ),
    ] = None
    missing: Annotated[
        list[str] | None, typer.Option("--missing", metavar="TEXT", help="A text that means missing, such as n/a.")
    ] = None
    decimal: Annotated[str | None, typer.Option(metavar="MARK", help="Decimal mark of numbers: . or ,")] = None
    thousands: Annotated[str | None, typer.Option(metavar="MARK", help="What separates groups of three digits.")] = None
    day_first: Annotated[
        bool | None, typer.Option("--day-first/--month-first", help="Whether 01/02/2024 is 1 February or 2 January.")
    ] = None
    date_format: Annotated[
        str | None, typer.Option(metavar="FORMAT", help="How dates are written, such as '%d.%m.%y %H:%M'.")
    ] = None
    plain_numbers: Annotated[
        bool, typer.Option("--plain-numbers", help="Read $2,700, 35.5%, 12 kg and 3h 20m as text, not as numbers.")
    ] = False
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Stop at a cell that does not fit its column, such as a word among numbers."),
    ] = False

    def encoder(self, also_ignored: list[str]) -> TableEncoder:
        from rdplearn.table import TableEncoder
        from rdplearn.table.cells import TextRules

        rules = {field.name: getattr(self, field.name) for field in fields(TextRules)} | {"missing": self.missing or ()}
        ignored = [*(self.ignore or ()), *also_ignored]
        return TableEncoder(kinds=self.kinds(), ignore=ignored, weights=self.weights(), **rules)

    def kinds(self) -> dict[str, str]:
        """What columns are."""
        return pairs_of(self.kind, "--kind", "COLUMN=KIND, such as zip=category")

    def weights(self) -> dict[str, float]:
        """How much columns count."""
        what, numbers = "COLUMN=NUMBER, such as amount=3", {}
        for column, text in pairs_of(self.weight, "--weight", what).items():
            try:
                numbers[column] = float(text)
            except ValueError:
                raise typer.BadParameter(f"'{column}={text}' must be {what}.", param_hint="--weight") from None
        return numbers


@dataclass(frozen=True)
class TrainingOptions(ColumnOptions):
    """What the columns mean, how the detector is trained on them, and where it draws the line."""

    contamination: Annotated[
        float | None, typer.Option(min=1e-9, max=0.5, help="Report this share of the rows, such as 0.01.")
    ] = None
    false_alarm_rate: Annotated[
        float | None,
        typer.Option(
            min=1e-9, max=0.5, help="Report about this share of the normal rows, and all rows that are stranger."
        ),
    ] = None
    clean: Annotated[
        bool, typer.Option("--clean", help="The table is known to have no anomalies: learn from every row.")
    ] = False
    paper: Annotated[
        bool, typer.Option("--paper", help="Train as in the paper: 30 members, 8 rounds, 6,000 steps. Slow.")
    ] = False
    members: Annotated[int | None, typer.Option(min=1, help="How many members to train.")] = None
    rounds: Annotated[int | None, typer.Option(min=1, help="How many rounds each member trains.")] = None
    steps: Annotated[int | None, typer.Option(min=1, help="How many training steps a round has.")] = None
    seed: Seed = 0
    jobs: Jobs = -1

    def share_reported(self) -> float | Literal["auto", "none"]:
        """The detector's `contamination`."""
        if self.clean and self.contamination is not None:
            raise typer.BadParameter(
                "says that no row is an anomaly, and --contamination says that some are. Leave one out.",
                param_hint="--clean",
            )
        return "none" if self.clean else "auto" if self.contamination is None else self.contamination

    def detector(self, *, verbose: bool) -> RDPDetector:
        from rdplearn.detector import RDPDetector

        if self.contamination is not None and self.false_alarm_rate is not None:
            raise typer.BadParameter(
                "sets the same line as --contamination. Leave one out.", param_hint="--false-alarm-rate"
            )
        sizes: dict[str, Any] = {"n_members": self.members, "n_rounds": self.rounds, "n_steps": self.steps}
        make = RDPDetector.paper if self.paper else RDPDetector
        return make(
            **{name: size for name, size in sizes.items() if size is not None},
            contamination=self.share_reported(),
            false_alarm_rate=self.false_alarm_rate,
            n_jobs=self.jobs,
            random_state=self.seed,
            verbose=verbose,
        )


@dataclass(frozen=True)
class FeatureOptions(ColumnOptions):
    """What the columns mean, and how features are learned from them."""

    components: Annotated[
        int | None,
        typer.Option(min=1, help="How many features each row gets. The default is 32 or 128, by the table."),
    ] = None
    steps: Annotated[int, typer.Option(min=1, help="How many training steps.")] = 600
    seed: Seed = 0
    jobs: Jobs = -1

    def transformer(self, *, verbose: bool) -> RDPTransformer:
        from rdplearn.transformer import RDPTransformer

        return RDPTransformer(
            n_components=self.components,
            n_steps=self.steps,
            n_jobs=self.jobs,
            random_state=self.seed,
            verbose=verbose,
        )
