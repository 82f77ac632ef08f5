"""What the columns of a table mean, and how a detector or features are trained on them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rdplearn.cli.options import Jobs, Seed

if TYPE_CHECKING:
    from rdplearn.detector import RDPDetector
    from rdplearn.table import TableEncoder
    from rdplearn.transformer import RDPTransformer


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
