"""`python -m experiments study`: do the runs, try a change of the default, write the page."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from experiments import clean_tables, datasets, results, runs
from experiments.study import figures, page, plan, trial
from experiments.study.entrants import BEFORE, BESIDE, CHOSEN, DEFAULT, FOREST, PEERS, TRIED, forest_beside, trial_of
from experiments.study.values import table

app = typer.Typer(help="The study behind the default detector.", no_args_is_help=True, add_completion=False)
SEEDS = 3
PARTS = ("peers", "gallery", "default", "whole")
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="runs at a time, one thread each")]


@app.command("run")
def run(
    part: Annotated[str, typer.Argument(help=f"one of: {', '.join(PARTS)}")],
    data: Annotated[str | None, typer.Option(help="comma-separated sets; default: all")] = None,
    methods: Annotated[str | None, typer.Option(help="comma-separated peers; default: all")] = None,
    n_seeds: Annotated[int, typer.Option("--seeds", min=1, help="at most so many seeds an entrant")] = SEEDS,
    n_jobs: Jobs = 1,
) -> None:
    """Do the runs that no line records yet; safe to stop and start again."""
    if part not in PARTS:
        raise typer.BadParameter(f"The part must be one of {', '.join(PARTS)}. Got {part!r} instead.")
    peers = [peer for peer in PEERS if methods is None or peer.label in methods.split(",")]
    sets = data.split(",") if data else None
    default, own_file = trial_of(CHOSEN, SEEDS), plan.TRIALS / f"{CHOSEN}.jsonl"
    planned, path = {
        "peers": lambda: (plan.plan(peers, sets or plan.development_sets(), n_seeds), plan.FOLDER / "peers.jsonl"),
        "gallery": lambda: (plan.plan_gallery(peers, sets), plan.FOLDER / "gallery.jsonl"),
        "default": lambda: (
            [
                *plan.plan([default, forest_beside(CHOSEN)], sets or plan.development_sets(), n_seeds),
                *plan.plan_gallery([default]),
            ],
            own_file,
        ),
        "whole": lambda: (plan.plan([default], sets or plan.paper_sets(), n_seeds, whole=True), own_file),
    }[part]()
    raise typer.Exit(1 if runs.work_aloud(part, planned, path, n_jobs=n_jobs, together=True) else 0)


@app.command("trial")
def try_out(
    name: Annotated[str, typer.Argument(help="a new name for this state of the default: letters, digits, - and _")],
    seed: Annotated[int, typer.Option(min=0)] = 0,
    every: Annotated[int, typer.Option(min=1, help="take every so-manieth development set")] = 1,
    against: Annotated[str, typer.Option(help="the trial to compare with")] = BEFORE,
    n_jobs: Jobs = 1,
) -> None:
    """Run RDPDetector() as it is in the working tree and say how it does; lines go to results/study/trials."""
    if not re.fullmatch(r"[\w-]+", name):
        raise typer.BadParameter(f"The name of a trial must have letters, digits, - and _ alone. Got {name!r} instead.")
    failed = trial.work(name, [seed], every, n_jobs)
    for line in trial.said(name, against, [seed], every):
        typer.echo(line)
    raise typer.Exit(1 if failed else 0)


@app.command("report")
def report(
    output: Annotated[Path, typer.Option(help="the page to write")] = datasets.REPOSITORY / "docs" / "default.md",
) -> None:
    """Write docs/default.md, docs/default_tables.md beside it, and their figures from the result lines."""
    records = trial.all_lines()
    default = replace(trial_of(CHOSEN, SEEDS), label=DEFAULT)
    others = [trial_of(name) for name in TRIED if name != CHOSEN]
    found = table([default, *PEERS, *others, forest_beside(CHOSEN)], records, plan.development_sets())
    for label in (DEFAULT, FOREST, BESIDE):
        if not found.is_done(label).all():
            raise typer.BadParameter(
                f"The page compares with {label}, which has not been run on all sets. "
                "Do so first: python -m experiments study run default, and run peers."
            )
    for path in figures.draw(found, page.rivals(found), output.parent / "figures"):
        typer.echo(path)
    shapes = table([default, *PEERS], records, datasets.names("gallery"))
    keys = {run.key for run in plan.plan([default], plan.paper_sets(), whole=True)}
    whole = [record for record in records if results.key_of(record) in keys and record["status"] == "done"]
    clean = list(results.read(clean_tables.PATH.parent))
    for path, written in ((output, page.page), (output.with_name(f"{output.stem}_tables.md"), page.tables_page)):
        path.write_text(written(found, shapes, whole, clean))
        typer.echo(path)
