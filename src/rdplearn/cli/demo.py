"""`rdplearn demo`: what `detect` does, on a table that comes with rdplearn."""

from __future__ import annotations

from typing import Annotated

import typer

from rdplearn.cli.detect import detect
from rdplearn.cli.framework import TalkOptions
from rdplearn.cli.options import Jobs, ReportPath, ScoredRowOptions, Seed, TopCount
from rdplearn.cli.reading_options import ReadingOptions
from rdplearn.cli.training_options import TrainingOptions

_INTRODUCTION = """344 penguins of three species, measured in Antarctica (public domain, CC0).
Which of them are unusual, and why? The first 4 in 100 are reported."""
_SHARE = 0.04


def demo(
    *,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Write all rows with scores and reasons to this file.")
    ] = "demo_scores.csv",
    report_path: ReportPath = None,
    n_top: TopCount = 14,
    seed: Seed = 0,
    n_jobs: Jobs = -1,
    talk: TalkOptions,
) -> None:
    """Find the unusual penguins in a table that comes with rdplearn.

    The same as: rdplearn detect penguins.csv --contamination 0.04 --top 14 --keep -o demo_scores.csv

    Example: rdplearn demo --top 5 -o scores.csv --report report.html
    """
    from rdplearn.cli.checks import check_page, check_paths
    from rdplearn.table import example_table

    check_page(report_path)
    check_paths({}, output, report_path)
    if not talk.as_json and output != "-":
        typer.echo(_INTRODUCTION)
    detect(
        table=str(example_table()),
        output=output,
        report_path=report_path,
        wanted=ScoredRowOptions(n_top=n_top),
        keep=True,
        talk=talk,
        reading=ReadingOptions(),
        training=TrainingOptions(contamination=_SHARE, seed=seed, jobs=n_jobs),
    )
