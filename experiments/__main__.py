"""The command line: parse, call, print, exit code."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from experiments import datasets, plots, report, results, runs, show, tables
from experiments.study.command import app as study

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.add_typer(study, name="study")


class Budget(enum.StrEnum):
    """Quick runs small data in minutes; full is the paper's protocol."""

    quick = "quick"
    full = "full"


class Format(enum.StrEnum):
    """How a table is printed."""

    text = "text"
    markdown = "markdown"
    latex = "latex"
    plots = "plots"


TableName = Annotated[str, typer.Argument(help=f"all, or one of: {', '.join(tables.NAMES)}")]
BudgetOption = Annotated[Budget, typer.Option(help="quick: small data, minutes; full: the paper's protocol")]
ResultsOption = Annotated[Path | None, typer.Option("--results", help="folder of the result files")]


@app.command()
def run(
    table: TableName,
    data: Annotated[str | None, typer.Option(help="comma-separated data sets; default: those of the table")] = None,
    methods: Annotated[str | None, typer.Option(help="comma-separated columns; default: all of the table")] = None,
    n_runs: Annotated[int, typer.Option("--runs", min=1, help="runs of each cell, seeds 0, 1, ...")] = 1,
    budget: BudgetOption = Budget.full,
    n_jobs: Annotated[int, typer.Option("--jobs", min=1, help="runs at a time, one thread each")] = 1,
    n_members: Annotated[int | None, typer.Option("--members", min=1, help="size of the ensembles")] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="processor seconds for a run; default: the method's own")
    ] = None,
    folder: ResultsOption = None,
) -> None:
    """Do the runs of a table that are not recorded yet; safe to stop and start again."""
    quick = budget is Budget.quick
    failed = 0
    for one in _tables(table):
        planned = runs.plan(
            one, n_runs=n_runs, quick=quick, data=_split(data), labels=_known_labels(one, _split(methods)),
            n_members=n_members, time_limit=time_limit,
        )  # fmt: skip
        path = _folder(folder, quick) / f"{one.name}.jsonl"
        failed += runs.work_aloud(one.name, planned, path, n_jobs=n_jobs)
    raise typer.Exit(1 if failed else 0)


@app.command("show")
def show_table(
    table: TableName,
    form: Annotated[Format, typer.Option("--format")] = Format.text,
    budget: BudgetOption = Budget.full,
    folder: ResultsOption = None,
    output: Annotated[Path, typer.Option(help="folder for plots")] = Path("plots"),
) -> None:
    """Print a table with our numbers beside the paper's."""
    quick = budget is Budget.quick
    records = list(results.read(_folder(folder, quick)))
    for one in _tables(table):
        no_data = report.missing_data(one.quick_data if quick else one.data)
        if form is Format.plots:
            for path in plots.draw(one, records, output, quick=quick, no_data=no_data):
                typer.echo(path)
            continue
        for sheet in show.sheets(one, records, quick=quick, no_data=no_data):
            typer.echo(show.FORMATS[form](sheet))


@app.command("results")
def write_results(
    folder: ResultsOption = None,
    output: Annotated[Path, typer.Option(help="the page to write")] = datasets.REPOSITORY / "docs" / "results.md",
) -> None:
    """Write docs/results.md and its figures from the result files."""
    output.parent.mkdir(parents=True, exist_ok=True)
    figures = output.parent / "figures" if plots.can_draw() else None
    if figures is None:
        runs.to_stderr("matplotlib is not installed: the page has no figures")
    output.write_text(report.page(results.read(_folder(folder, quick=False)), figures))
    typer.echo(output)


def _tables(name: str) -> list[tables.Table]:
    try:
        return [tables.table(one) for one in (tables.NAMES if name == "all" else (name,))]
    except KeyError as problem:
        raise typer.BadParameter(problem.args[0]) from None


def _known_labels(table: tables.Table, labels: list[str] | None) -> list[str] | None:
    known = [column.label for column in table.columns]
    for label in labels or []:
        if label not in known:
            raise typer.BadParameter(f"The columns of {table.name} are {', '.join(known)}. Got {label!r} instead.")
    return labels


def _folder(folder: Path | None, quick: bool) -> Path:
    return folder or (results.RESULTS / "quick" if quick else results.RESULTS)


def _split(names: str | None) -> list[str] | None:
    return names.split(",") if names else None


if __name__ == "__main__":
    app(prog_name="python -m experiments")
