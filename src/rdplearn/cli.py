"""The command line: parse, call, print, exit code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="rdplearn",
    help="Find anomalies in tables, without labels, by predicting random distances.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def about() -> None:
    """Find anomalies in tables, without labels, by predicting random distances."""


@app.command()
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the scores, as CSV.")] = Path(
        "demo_scores.csv"
    ),
    n_top: Annotated[int, typer.Option("--top", min=1, help="How many rows to print.")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of all that is random.")] = 0,
    n_jobs: Annotated[int, typer.Option("--jobs", help="Threads; -1 for all cores.")] = -1,
) -> None:
    """Find tumours that are unlike the rest, in data that comes with scikit-learn.

    Example: rdplearn demo --top 5 -o scores.csv
    """
    from rdplearn import demo as story

    typer.echo(story.run(output, n_top=n_top, seed=seed, n_jobs=n_jobs))


def main() -> None:
    """Run the command line; bad input is one line on stderr and exit code 1."""
    try:
        app()
    except (OSError, ValueError) as problem:
        print(f"rdplearn: {problem}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
