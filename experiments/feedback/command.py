"""`python -m experiments feedback`: do the runs, write the page."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated, Any

import typer

from experiments import datasets, results, runs
from experiments.feedback import answering, page
from experiments.feedback.entrants import ENTRANTS

app = typer.Typer(help="What answers are worth.", no_args_is_help=True, add_completion=False)
CHOSEN_ON_EACH = 2  # every second set is one that numbers were chosen on
GROUPS = ("adbench", "oddbench", "ovrbench")
PATH = results.RESULTS / "feedback" / "answers.jsonl"
# What a new default, or a new way of learning, asks for: method, share of wrong answers, answers, every so many-th set.
RENEWED = (
    ("RDP", 0.0, 200, 1),
    ("RDP, answered", 0.0, 200, 6),
    ("RDP, answered", 0.0, 60, 1),
    ("RDP, answered", 0.1, 60, 1),
    ("RDP, answered", 0.2, 60, 6),
    ("XGBoost", 0.0, 60, 6),  # it begins in the order of RDP
)
PAGE = datasets.REPOSITORY / "docs" / "answers_study.md"
OUTPUT = Annotated[Path, typer.Option(help="the page to write")]
EACH = Annotated[int, typer.Option("--each", min=1, help="only every so many-th set")]


def suitable_sets() -> list[str]:
    """The development sets with at least 10 and at most 15 % anomalies, among the 2,000 rows that are looked at."""
    found = [
        f"{group}/{path.stem}" for group in GROUPS for path in sorted((datasets.data_folder() / group).glob("*.npz"))
    ]
    return [name for name in found if answering.is_fit(answering.load(name)[1])]


@app.command("run")
def run(
    methods: Annotated[str, typer.Option(help="separated by semicolons, or all")] = "all",
    wrong: Annotated[float, typer.Option(min=0, max=0.5, help="share of wrong answers")] = 0.0,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    n_answers: Annotated[int, typer.Option("--answers", min=60, max=200, help="how many are given")] = 200,
    each: EACH = 1,
    path: Annotated[Path, typer.Option("--results", help="file of the result lines")] = PATH,
) -> None:
    """Do the runs that no line records yet; safe to stop and start again."""
    wanted = list(ENTRANTS) if methods == "all" else [name.strip() for name in methods.split(";")]
    for name in wanted:
        if name not in ENTRANTS:
            raise typer.BadParameter(f"The methods are {'; '.join(ENTRANTS)}. Got {name!r} instead.")
    done = {key_of(line) for line in _lines(path) if answering.n_answers_of(line) >= n_answers}
    commit = runs.commit_of(datasets.REPOSITORY)
    for data in suitable_sets()[::each]:
        for method in wanted:
            if (method, data, wrong, seed) not in done:
                line = answering.measure(method, data, wrong, seed, n_answers)
                results.append(path, {**line, "commit": commit})
                runs.to_stderr(f"{method} on {data}, {wrong:.0%} wrong: {line['found_60']} found in 60 answers")


def key_of(line: dict[str, object]) -> tuple[object, ...]:
    """What a line is about."""
    return tuple(line[name] for name in ("method", "data", "wrong", "seed"))


@app.command("renew")
def renew(
    seed: Annotated[int, typer.Option(min=0)] = 0,
    path: Annotated[Path, typer.Option("--results", help="file of the result lines")] = PATH,
    output: OUTPUT = PAGE,
) -> None:
    """Run all that depends on RDP anew, and write the page. Safe to stop and start.

    A line takes the place of one of another commit.
    """
    commit, sets = runs.commit_of(datasets.REPOSITORY), suitable_sets()
    for method, wrong, n_answers, each in RENEWED:
        if method == "XGBoost" and importlib.util.find_spec("xgboost") is None:
            runs.to_stderr("XGBoost is not installed: its lines stay as they are. Run: pip install xgboost")
            continue
        fresh = {key_of(line) for line in _lines(path) if line["commit"] == commit}
        for data in sets[::each]:
            key = (method, data, wrong, seed)
            if key not in fresh:
                line = {**answering.measure(method, data, wrong, seed, n_answers), "commit": commit}
                results.replace(path, line, lambda other, key=key: key_of(other) == key)
                runs.to_stderr(f"{method} on {data}, {wrong:.0%} wrong: {line['found_60']} found in 60 answers")
    report(output, path)


def _lines(path: Path) -> list[dict[str, Any]]:
    return list(results.read_file(path)) if path.exists() else []


@app.command("report")
def report(
    output: OUTPUT = PAGE,
    path: Annotated[Path, typer.Option("--results", help="file of the result lines")] = PATH,
) -> None:
    """Write docs/answers_study.md from the result lines."""
    sets = suitable_sets()
    if not sets:  # without them, which half a set is in is unknown
        raise typer.BadParameter(
            "The folder that RDPLEARN_DATA names has none of the sets. Name the one that has them."
        )
    output.write_text(page.page(list(results.read_file(path)), set(sets[::CHOSEN_ON_EACH])))
    typer.echo(output)
