"""`python -m experiments theory`: measure what the paper states without an experiment, draw it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from threadpoolctl import threadpool_limits

from experiments import datasets, plots, results, runs, theory
from experiments.evaluation import versions
from experiments.machine import describe_machine

FOLDER = results.RESULTS / "theory"
FIGURES = datasets.REPOSITORY / "docs" / "figures"
app = typer.Typer(help="What the paper states without an experiment.", no_args_is_help=True, add_completion=False)
Name = Annotated[str, typer.Argument(help=f"all, or one of: {', '.join(theory.NAMES)}")]


@app.command()
def run(
    name: Name = "all",
    quick: Annotated[bool, typer.Option("--quick", help="small data, seconds")] = False,
    folder: Annotated[Path, typer.Option("--results", help="folder of the result files")] = FOLDER,
) -> None:
    """Make the measurements that no line records yet; safe to stop and start again."""
    for one in _names(name):
        work(one, folder, quick=quick)


@app.command()
def draw(
    name: Name = "all",
    folder: Annotated[Path, typer.Option("--results", help="folder of the result files")] = FOLDER,
    output: Annotated[Path, typer.Option(help="folder for figures")] = FIGURES,
) -> None:
    """Draw what was measured."""
    for one in _names(name):
        for path in draw_all(one, folder, output):
            typer.echo(path)


def work(name: str, folder: Path, *, quick: bool) -> int:
    """Measure what is missing of a statement; give the number of lines written."""
    statement, path = theory.statement(name), folder / f"{name}.jsonl"
    done = {json.dumps(record["setting"], sort_keys=True) for record in read(name, folder)}
    commit, written = runs.commit_of(datasets.REPOSITORY), 0
    for setting in statement.settings(quick):
        if json.dumps(setting, sort_keys=True) in done:
            continue
        if not datasets.is_here(setting["data"]):
            runs.to_stderr(f"no data here: {setting['data']}")
            continue
        start = time.process_time()
        with threadpool_limits(1):
            measured = statement.measure(setting)
            line = {
                "statement": name, "setting": setting, "measured": measured,
                "cpu_seconds": round(time.process_time() - start, 3), "versions": versions(),
                "machine": describe_machine(), "commit": commit,
            }  # fmt: skip
        results.append(path, line)
        written += 1
        runs.to_stderr(f"{name} {setting}: {line['cpu_seconds']:.1f} s")
    return written


def read(name: str, folder: Path = FOLDER) -> Iterator[dict[str, Any]]:
    """Read the lines of a statement."""
    path = folder / f"{name}.jsonl"
    return results.read_file(path) if path.exists() else iter(())


def draw_all(name: str, folder: Path, output: Path) -> list[Path]:
    """Draw the figure of a statement, if it has lines and there is matplotlib."""
    records = list(read(name, folder))
    if not records or not plots.can_draw():
        return []
    path = output / f"theory_{name}.svg"
    theory.statement(name).draw(records, path)
    return [path]


def _names(name: str) -> tuple[str, ...]:
    if name != "all" and name not in theory.NAMES:
        raise typer.BadParameter(
            f"The statement must be all or one of {', '.join(theory.NAMES)}. Got {name!r} instead."
        )
    return theory.NAMES if name == "all" else (name,)
