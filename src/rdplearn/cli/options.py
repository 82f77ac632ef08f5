"""Groups of options that several commands share, and what is built from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rdplearn.detector import RDPDetector
    from rdplearn.table import Table, TableEncoder
    from rdplearn.transformer import RDPTransformer

TablePath = Annotated[
    str,
    typer.Argument(
        metavar="TABLE", help="CSV, Excel, Parquet, Arrow or JSON Lines, or a 'pattern' of files; - is stdin."
    ),
]
MoreTables = Annotated[
    list[str] | None,
    typer.Argument(metavar="TABLE...", help="Further files with the same columns.", show_default=False),
]
ModelPath = Annotated[str, typer.Argument(metavar="MODEL", help="A model file, as written by fit.")]
OutputPath = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write all rows to .csv, .parquet or .jsonl; - is stdout."),
]
TopCount = Annotated[int, typer.Option("--top", min=1, max=10_000, help="How many rows to print.")]
Carried = Annotated[
    list[str] | None,
    typer.Option("--id", metavar="COLUMN", help="Carry this column into the result and leave it out of the model."),
]
TableOrModel = Annotated[
    str,
    typer.Argument(
        metavar="TABLE|MODEL", help="CSV, Parquet, Arrow or JSON Lines, - is stdin; or a model that -m has kept."
    ),
]
TableAfterModel = Annotated[str | None, typer.Argument(metavar="TABLE", help="The table, when a model comes first.")]
ReportPath = Annotated[
    str | None,
    typer.Option("--report", metavar="FILE", help="Write a page about what was found, one HTML file."),
]
Keep = Annotated[bool, typer.Option("--keep", help="Write all columns of the table, besides the results.")]
KeptModel = Annotated[str | None, typer.Option("--model", "-m", metavar="FILE", help="Keep the model in this file.")]
Jobs = Annotated[int, typer.Option("--jobs", help="Threads; -1 for all cores.")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of all that is random.")]
Resume = Annotated[bool, typer.Option("--resume", help="Continue what a stopped run has begun to write.")]
Classes = Annotated[
    str | None,
    typer.Option(
        "--label", metavar="COLUMN", help="Compare the result with this column's classes; the model never sees it."
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        "--label", metavar="COLUMN", help="Compare the scores with 0/1 labels; the model never sees this column."
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS|local:N",
        help="Work on a Dask cluster, or in N processes here: TABLE is then a folder or 'pattern' of Parquet files, "
        "and the output a folder.",
    ),
]


@dataclass(frozen=True)
class FileOptions:
    """What is read and written by commands that take a table, or a model and then a table."""

    first: TableOrModel
    second: TableAfterModel = None
    output: OutputPath = None
    kept_model: KeptModel = None

    @property
    def model(self) -> str | None:
        """The model, if one was named."""
        return None if self.second is None else self.first

    @property
    def table(self) -> str:
        return self.first if self.second is None else self.second


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
    """How to read a file; what is not said is guessed from its content."""

    separator: Annotated[str | None, typer.Option(help="Between the fields of CSV.")] = None
    encoding: Annotated[str | None, typer.Option(help="Of CSV and JSON Lines, such as latin-1.")] = None
    header: Annotated[bool | None, typer.Option("--header/--no-header", help="Whether CSV has a header.")] = None
    sheet: Annotated[str | None, typer.Option(metavar="NAME", help="Of an Excel workbook; by default the first.")] = (
        None
    )

    def open(self, path: str | list[str]) -> Table:
        from rdplearn.table import open_table

        separator = "\t" if self.separator in ("\\t", "tab") else self.separator
        return open_table(path, separator=separator, encoding=self.encoding, header=self.header, sheet=self.sheet)

    def as_dict(self) -> dict[str, Any]:
        return {"separator": self.separator, "encoding": self.encoding, "header": self.header, "sheet": self.sheet}


@dataclass(frozen=True)
class ColumnOptions:
    """What the columns mean, where the evidence would mislead."""

    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", metavar="COLUMN", help="Leave this column out of the model.")
    ] = None
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="COLUMN=KIND",
            help="What a column is: number, year, boolean, category, date, time, text or identifier.",
        ),
    ] = None
    missing: Annotated[
        list[str] | None, typer.Option("--missing", metavar="TEXT", help="A marker of missing values, such as n/a.")
    ] = None
    decimal: Annotated[str | None, typer.Option(metavar="MARK", help="The decimal mark: . or ,")] = None
    thousands: Annotated[str | None, typer.Option(metavar="MARK", help="Between groups of three digits.")] = None
    day_first: Annotated[
        bool | None, typer.Option("--day-first/--month-first", help="Whether 01/02/2024 is the first of February.")
    ] = None
    date_format: Annotated[
        str | None, typer.Option(metavar="FORMAT", help="How dates are written, such as '%d.%m.%y %H:%M'.")
    ] = None
    plain_numbers: Annotated[
        bool, typer.Option("--plain-numbers", help="Leave $2,700, 35.5% and 12 kg texts, not numbers.")
    ] = False
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Stop at a cell that does not fit its column, such as a word among numbers."),
    ] = False

    def encoder(self, also_ignored: list[str]) -> TableEncoder:
        from rdplearn.table import TableEncoder

        return TableEncoder(
            kinds=self.kinds(),
            ignore=[*(self.ignore or ()), *also_ignored],
            missing=self.missing or (),
            decimal=self.decimal,
            thousands=self.thousands,
            day_first=self.day_first,
            date_format=self.date_format,
            plain_numbers=self.plain_numbers,
            strict=self.strict,
        )

    def kinds(self) -> dict[str, str]:
        pairs = [entry.rpartition("=") for entry in self.kind or ()]
        for column, _, kind in pairs:
            if not column or not kind:
                raise typer.BadParameter(f"'{kind}' must be COLUMN=KIND, such as zip=category.", param_hint="--kind")
        return {column: kind for column, _, kind in pairs}


@dataclass(frozen=True)
class TrainingOptions(ColumnOptions):
    """What the columns mean, how the detector is trained on them, and where it draws the line."""

    contamination: Annotated[
        float | None, typer.Option(min=1e-9, max=0.5, help="Share of rows to report, such as 0.01.")
    ] = None
    false_alarm_rate: Annotated[
        float | None, typer.Option(min=1e-9, max=0.5, help="Share of the normal rows to report, at most.")
    ] = None
    paper: Annotated[
        bool, typer.Option("--paper", help="Train as the paper does: 30 members, 8 rounds, 6,000 steps; slow.")
    ] = False
    members: Annotated[int | None, typer.Option(min=1, help="Size of the ensemble.")] = None
    rounds: Annotated[int | None, typer.Option(min=1, help="Rounds of boosting.")] = None
    steps: Annotated[int | None, typer.Option(min=1, help="Steps of training in each round.")] = None
    seed: Seed = 0
    jobs: Jobs = -1

    def detector(self, *, verbose: bool) -> RDPDetector:
        from rdplearn.detector import RDPDetector

        if self.contamination is not None and self.false_alarm_rate is not None:
            raise typer.BadParameter(
                "set the same line as --contamination. Leave one out.", param_hint="--false-alarm-rate"
            )
        sizes: dict[str, Any] = {"n_members": self.members, "n_rounds": self.rounds, "n_steps": self.steps}
        make = RDPDetector.paper if self.paper else RDPDetector
        return make(
            **{name: size for name, size in sizes.items() if size is not None},
            contamination="auto" if self.contamination is None else self.contamination,
            false_alarm_rate=self.false_alarm_rate,
            n_jobs=self.jobs,
            random_state=self.seed,
            verbose=verbose,
        )


@dataclass(frozen=True)
class FeatureOptions(ColumnOptions):
    """What the columns mean, and how features are learned from them."""

    components: Annotated[
        int | None, typer.Option(min=1, help="Numbers in a row's features; by default 32 or 128, as the table needs.")
    ] = None
    steps: Annotated[int, typer.Option(min=1, help="Steps of training.")] = 600
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
