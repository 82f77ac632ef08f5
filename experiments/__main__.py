"""The command line: parse, call, print, exit code."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from experiments import (
    clean_tables,
    datasets,
    false_alarms,
    framework_figure,
    plots,
    report,
    reproduction,
    rereading,
    results,
    runs,
    show,
    tables,
)
from experiments.feedback.command import app as feedback
from experiments.front_page.command import front_page
from experiments.mixed.command import app as mixed
from experiments.study.command import app as study
from experiments.theory import NAMES as STATEMENTS
from experiments.theory.command import app as theory
from experiments.theory.command import work as work_on_theory

_HELP = """Run the experiments of the paper "Unsupervised Representation Learning by Predicting Random Distances", and
print its tables and figures with our numbers beside the paper's.

Start with: python -m experiments run all --budget quick (minutes, small data), then show all --budget quick.
"""
app = typer.Typer(help=_HELP, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.add_typer(mixed, name="mixed")
app.command("false-alarms")(false_alarms.run)
app.command("front-page")(front_page)
app.command("clean-tables")(clean_tables.run)
app.add_typer(study, name="study")
app.add_typer(feedback, name="feedback")
app.add_typer(theory, name="theory")


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
            one, n_runs=n_runs, quick=quick, data=_known_data(one, _split(data)),
            labels=_known_labels(one, _split(methods)), n_members=n_members, time_limit=time_limit,
        )  # fmt: skip
        path = _folder(folder, quick) / f"{one.name}.jsonl"
        failed += runs.work_aloud(one.name, planned, path, n_jobs=n_jobs)
    raise typer.Exit(1 if failed else 0)


@app.command()
def reread(
    table: TableName,
    score_rounds: Annotated[int, typer.Option("--rounds", min=1, help="how many of the last rounds score a row")],
    folder: ResultsOption = None,
) -> None:
    """Write a line by another number of last rounds for each fit that is done; its line stays as it is."""
    for one in _tables(table):
        path = _folder(folder, quick=False) / f"{one.name}.jsonl"
        if path.exists():
            count = rereading.reread_file(path, score_rounds, runs.commit_of(datasets.REPOSITORY))
            runs.to_stderr(f"{one.name}: {count} lines read off fits that are done")


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


class Scale(enum.StrEnum):
    """Quick is for a look; paper is all of it."""

    quick = "quick"
    paper = "paper"


@app.command()
def reproduce(
    budget: Annotated[
        Scale, typer.Option(help="quick: small data, two minutes; paper: all, a day a run")
    ] = Scale.paper,
    n_runs: Annotated[
        int | None, typer.Option("--runs", min=1, help="runs of each cell; default: 1 quick, 10 as the paper")
    ] = None,
    n_jobs: Annotated[int, typer.Option("--jobs", min=1, help="runs at a time, one thread each")] = 1,
    dry: Annotated[bool, typer.Option("--estimate", help="only tell how long it will take")] = False,
    folder: ResultsOption = None,
    output: Annotated[Path | None, typer.Option(help="the page to write")] = None,
) -> None:
    """Do everything that is missing, and write the pages: resumable, with an estimate first and progress on stderr.

    First runs of every table come before second ones, and cheap runs before dear ones.
    """
    quick = budget is Scale.quick
    place = _folder(folder, quick)
    stages = reproduction.stages(place, quick=quick, n_runs=n_runs or (1 if quick else reproduction.PAPER_RUNS))
    records = list(results.read(place)) or list(results.read(results.RESULTS))
    runs.to_stderr(str(reproduction.estimate(stages, records)))
    if dry:
        return
    failed = 0
    turns = reproduction.in_turns(stages, reproduction.Costs(records))
    for place_in_list, stage in enumerate(turns, start=1):
        runs.to_stderr(f"[{place_in_list}/{len(turns)}] {stage.name}")
        failed += runs.work_aloud(stage.name, stage.planned, stage.path, n_jobs=n_jobs)
    for name in STATEMENTS:
        work_on_theory(name, place / "theory", quick=quick)
    page = output or (place / "results.md" if quick else datasets.REPOSITORY / "docs" / "results.md")
    report.write(page, place, quick=quick)
    typer.echo(page)
    raise typer.Exit(1 if failed else 0)


@app.command()
def figure(
    folder: Annotated[Path, typer.Option(help="folder to draw into")] = datasets.REPOSITORY / "docs" / "figures",
    *,
    digits: Annotated[bool, typer.Option(help="whether to draw the maps of digits, which takes minutes")] = True,
) -> None:
    """Draw Figure 1 (the framework, t-SNE maps of digits by three spaces) and the figures of docs/how_it_works.md."""
    for draw, name in (
        (framework_figure.draw_framework, framework_figure.FRAMEWORK),
        (framework_figure.draw_members, framework_figure.MEMBERS),
        (framework_figure.draw_voices, framework_figure.VOICES),
    ):
        draw(folder / name)
        typer.echo(folder / name)
    if not digits:
        return
    for name, share in framework_figure.draw_digits(folder / framework_figure.DIGITS).items():
        runs.to_stderr(f"{name}: {100 * share:.1f} % of the digits lie beside their like")
    typer.echo(folder / framework_figure.DIGITS)


@app.command("results")
def write_results(
    folder: ResultsOption = None,
    output: Annotated[Path, typer.Option(help="the page to write")] = datasets.REPOSITORY / "docs" / "results.md",
) -> None:
    """Write docs/results.md, the page of tables and their figures from the result files."""
    report.write(output, _folder(folder, quick=False))
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


def _known_data(table: tables.Table, names: list[str] | None) -> list[str] | None:
    for name in names or []:
        if name not in table.data + table.quick_data and not datasets.is_known(name):
            known = ", ".join(dict.fromkeys(table.data + table.quick_data))
            raise typer.BadParameter(f"The data sets of {table.name} are {known}. Got {name!r} instead.")
    return names


def _folder(folder: Path | None, quick: bool) -> Path:
    return folder or (results.RESULTS / "quick" if quick else results.RESULTS)


def _split(names: str | None) -> list[str] | None:
    return names.split(",") if names else None


if __name__ == "__main__":
    app(prog_name="python -m experiments")
