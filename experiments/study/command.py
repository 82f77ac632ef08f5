"""`python -m experiments study`: do the runs, write the page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from experiments import datasets, results, runs
from experiments.study import figures, page, plan, values
from experiments.study.entrants import DEFAULT, FOREST, GROUPS, in_short

app = typer.Typer(help="The study behind the default detector.", no_args_is_help=True, add_completion=False)


@app.command("run")
def run(
    group: Annotated[str, typer.Argument(help=f"all, or one of: {', '.join(GROUPS)}")] = "all",
    data: Annotated[str | None, typer.Option(help="comma-separated sets; default: all")] = None,
    n_seeds: Annotated[int | None, typer.Option("--seeds", min=1, help="at most so many seeds an entrant")] = None,
    n_jobs: Annotated[int, typer.Option("--jobs", min=1, help="runs at a time, one thread each")] = 1,
) -> None:
    """Do the runs that no line records yet; safe to stop and start again."""
    if group != "all" and group not in GROUPS:
        raise typer.BadParameter(f"The group must be all or one of {', '.join(GROUPS)}. Got {group!r} instead.")
    failed = 0
    for name in GROUPS if group == "all" else (group,):
        planned = plan.plan(GROUPS[name], data.split(",") if data else None, n_seeds)
        path = plan.FOLDER / f"{name}.jsonl"
        failed += runs.work_aloud(name, planned, path, n_jobs=n_jobs, together=True)
    raise typer.Exit(1 if failed else 0)


@app.command("report")
def report(
    output: Annotated[Path, typer.Option(help="the page to write")] = datasets.REPOSITORY / "docs" / "default.md",
) -> None:
    """Write docs/default.md and its figures from the result lines."""
    records = list(results.read(plan.FOLDER))
    found = values.table(in_short(), records)
    for label in (DEFAULT, FOREST):
        if not found.has(label):
            raise typer.BadParameter(
                f"The page compares with {label}, which has not been run on all sets with the present parameters. "
                "Do so first: python -m experiments study run candidates, and run peers."
            )
    for path in figures.draw(found, page.rivals(found), output.parent / "figures"):
        typer.echo(path)
    output.write_text(page.page(found, *(_of_group(name, records) for name in ("full_size", "as_if_narrow"))))
    typer.echo(output)


def _of_group(name: str, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    wanted = {run.key for run in plan.plan(GROUPS[name])}
    return [record for record in records if results.key_of(record) in wanted and record["status"] == "done"]
