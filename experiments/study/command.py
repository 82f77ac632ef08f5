"""`python -m experiments study`: do the runs, write the page."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments import runs
from experiments.study import plan
from experiments.study.entrants import GROUPS

app = typer.Typer(help="The study behind the default detector.", no_args_is_help=True, add_completion=False)


@app.command("run")
def run(
    group: Annotated[str, typer.Argument(help=f"all, or one of: {', '.join(GROUPS)}")] = "all",
    data: Annotated[str | None, typer.Option(help="comma-separated sets; default: all 132")] = None,
    n_seeds: Annotated[int | None, typer.Option("--seeds", min=1, help="at most so many seeds an entrant")] = None,
    n_jobs: Annotated[int, typer.Option("--jobs", min=1, help="runs at a time, one thread each")] = 1,
) -> None:
    """Do the runs that no line records yet; safe to stop and start again."""
    if group != "all" and group not in GROUPS:
        raise typer.BadParameter(f"The group must be all or one of {', '.join(GROUPS)}. Got {group!r} instead.")
    failed = 0
    for name in GROUPS if group == "all" else (group,):
        planned = plan.plan(GROUPS[name], data.split(",") if data else plan.development_sets(), n_seeds)
        runs.to_stderr(f"{name}: {len(planned)} runs planned")
        summary = runs.work(planned, plan.FOLDER / f"{name}.jsonl", n_jobs=n_jobs, together=True, say=runs.to_stderr)
        runs.to_stderr(
            f"{name}: {summary.finished} finished, {summary.already_there} already there, {summary.failed} failed"
        )
        failed += summary.failed
    raise typer.Exit(1 if failed else 0)
