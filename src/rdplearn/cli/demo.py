"""`rdplearn demo`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rdplearn.cli.commands import TalkOptions
from rdplearn.cli.options import Jobs, TopCount


def demo(
    talk: TalkOptions,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the scores, as CSV.")] = Path(
        "demo_scores.csv"
    ),
    n_top: TopCount = 10,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of all that is random.")] = 0,
    n_jobs: Jobs = -1,
) -> None:
    """Find tumours that are unlike the rest, in data that comes with scikit-learn.

    Example: rdplearn demo --top 5 -o scores.csv
    """
    from rdplearn.cli import demo_story as story

    if str(output) == "-":
        raise typer.BadParameter("must name a file: the demo prints what it has found.", param_hint="--output")
    facts = story.run(output, n_top=n_top, seed=seed, n_jobs=n_jobs, verbose=talk.shows_progress)
    typer.echo(json.dumps(facts) if talk.as_json else story.as_text(facts))
