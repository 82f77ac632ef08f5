"""`python -m experiments mixed`: do the runs, write the page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from threadpoolctl import threadpool_limits

from experiments import datasets, false_alarms, results, runs
from experiments.downloads import file_sha256
from experiments.evaluation import versions
from experiments.machine import describe_machine
from experiments.mixed import loading, page
from experiments.mixed.measuring import METHODS, OURS, measure_as_it_is, measure_planted
from experiments.mixed.page import AS_IT_IS
from experiments.mixed.planting import DIRTY, KINDS, plant

FOLDER = results.RESULTS / "mixed"
app = typer.Typer(help="Errors planted in real mixed tables.", no_args_is_help=True, add_completion=False)


@app.command("run")
def run(
    method: Annotated[str, typer.Argument(help=f"all, or one of: {', '.join(METHODS)}")] = "all",
    label: Annotated[str | None, typer.Option("--as", help="what its lines are called; default: the method")] = None,
    data: Annotated[str | None, typer.Option(help="comma-separated tables; default: all")] = None,
    n_seeds: Annotated[int, typer.Option("--seeds", min=1, help="plantings of each kind")] = 1,
    folder: Annotated[Path, typer.Option("--results", help="folder of the result files")] = FOLDER,
) -> None:
    """Do the runs that no line records yet; safe to stop and start again."""
    if method != "all" and method not in METHODS:
        raise typer.BadParameter(f"The method must be all or one of {', '.join(METHODS)}. Got {method!r} instead.")
    if label and method == "all":
        raise typer.BadParameter("Lines of all methods cannot have one name. Name a method, or leave out --as.")
    for one in METHODS if method == "all" else (method,):
        n_written = work(one, label or one, data.split(",") if data else loading.names(), n_seeds, folder)
        runs.to_stderr(f"{label or one}: {n_written} lines written")


@app.command("report")
def report(
    output: Annotated[Path, typer.Option(help="the page to write")] = datasets.REPOSITORY / "docs" / "mixed.md",
    folder: Annotated[Path, typer.Option("--results", help="folder of the result files")] = FOLDER,
    alarms: Annotated[Path, typer.Option(help="the lines of false-alarms")] = false_alarms.PATH,
) -> None:
    """Write docs/mixed.md from the result lines."""
    output.write_text(page.page(list(results.read(folder)), list(results.read_file(alarms))))
    typer.echo(output)


def work(method: str, label: str, names: list[str], n_seeds: int, folder: Path) -> int:
    """Measure what is missing of a method; give the number of lines written."""
    path = folder / f"{re.sub(r'[^a-z0-9]+', '_', label.lower())}.jsonl"
    done = {_key(record) for record in results.read_file(path)} if path.exists() else set()
    commit, written = runs.commit_of(datasets.REPOSITORY), 0
    for setting in _settings(method, names, n_seeds):
        if _key(setting) in done:
            continue
        frame = loading.read(loading.path_of(setting["data"]))
        with threadpool_limits(1):
            measured = _measure(method, frame, setting)
            facts = {"method": method, "label": label, "commit": commit, "n_rows": len(frame)}
            facts |= {"data_sha256": file_sha256(loading.path_of(setting["data"]))}
            results.append(
                path, {**setting, **facts, **measured, "versions": versions(), "machine": describe_machine()}
            )
        written += 1
        runs.to_stderr(f"{label} on {setting['data']}, {setting['kind']}: {_outcome(measured)}")
    return written


def _settings(method: str, names: list[str], n_seeds: int) -> Iterator[dict[str, Any]]:
    # dirty tables are about the line, which rivals do not draw
    kinds = [kind for kind in KINDS if method == OURS or kind != DIRTY]
    for seed in range(n_seeds):
        for name in names:
            for kind in (*kinds, AS_IT_IS):
                yield {"data": name, "kind": kind, "seed": seed}


def _measure(method: str, frame: Any, setting: dict[str, Any]) -> dict[str, Any]:
    if setting["kind"] == AS_IT_IS:
        return measure_as_it_is(method, frame, setting["seed"])
    planting = plant(frame, setting["kind"], setting["seed"])
    if planting is None:
        return {"status": "no column fits"}
    counted = {"n_planted": int(planting.is_planted.sum())}
    return {**counted, **measure_planted(method, planting, setting["seed"])}


def _key(record: dict[str, Any]) -> str:
    return json.dumps([record["data"], record["kind"], record["seed"]])


def _outcome(measured: dict[str, Any]) -> str:
    parts = ("status", "metrics", "named", "overlap", "reported", "repair", "cpu_seconds")
    return ", ".join(f"{part} {measured[part]}" for part in parts if part in measured)
