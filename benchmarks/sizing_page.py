"""docs/sizing.md: what a table of any size takes on a cluster of any size, drawn from measured points."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import RESULTS
from benchmarks.page import machine_line

PAGE = Path(__file__).parent.parent / "docs" / "sizing.md"
ROWS = (10**6, 10**8, 10**10, 10**12)
WORKERS = (1, 10, 100, 1000)
ROWS_A_PART = 10**7
SECONDS_A_TASK = 1e-3  # of the scheduler, which hands tasks out one after the other
UNITS = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (1.0, "s"))

TITLE = """# How long, on how many workers

Estimate how long scoring and fitting take with [Dask](distributed.md), for up to a trillion rows.
Written by `python -m benchmarks page` from `benchmarks/results/dask_sizing.json`."""
MODEL = """## Scoring

Each part of the dataset is a task of its own:

    seconds = start + rows * cost / workers + tasks * 0.001

The cost of a row grows with members x components x columns, once there are more than about ten columns. Four members
cost a seventh of thirty. The last term is the scheduler, which needs about a millisecond for each task. With parts of
ten million rows or more, it does not matter."""
NOT_MEASURED = "Start and cost have not been measured on this machine yet: `python -m benchmarks dask` does it."
FITTING = """## Fitting

Each member trains on a few thousand rows of its own. So the time of a fit is one pass over the table (reading its
Parquet files, shared by all workers) plus

    seconds = ceil(members / workers) * seconds of a member

More workers than members do not help. The time of a member grows with rounds x steps x columns, not with the table."""
MEMORY = """## Memory

A worker holds one batch of rows (at most 65,536, or 2 million cells), their results, and the model. This does not
depend on the size of a part or of the table. The scheduler needs some kilobytes for each task: a gigabyte for a hundred
thousand parts. So use larger parts for larger tables. A fit reads every part once (Parquet) or three times (Dask
collections: count, look, draw). It keeps the drawn rows: thousands for each member, and 100,000 for the threshold."""


def write() -> Path:
    """Put the model of time on a page, with the points that it was fitted to once they have been measured."""
    points, members = RESULTS / "dask_sizing.json", RESULTS / "dask_fitting.json"
    measured = points_and_forecast(json.loads(points.read_text())) if points.exists() else [NOT_MEASURED]
    fitting = [FITTING, cost_of_a_member(json.loads(members.read_text()))] if members.exists() else [FITTING]
    PAGE.write_text("\n\n".join([TITLE, MODEL, *measured, *fitting, MEMORY]) + "\n")
    return PAGE


def points_and_forecast(result: dict[str, Any]) -> list[str]:
    """The measured points beside what the model says of them, and what it says of much larger tables."""
    points = result["rows"]
    start, per_row = fit_points(points)
    checked = "\n".join(
        f"| {point['rows']:,} | {point['workers']} | {point['seconds']:.3g} | "
        f"{predicted(start, per_row, point['rows'], point['workers']):.3g} |"
        for point in points
    )
    titles = "".join(f" {n:,} worker{'s' if n > 1 else ''} |" for n in WORKERS)
    forecast = "\n".join(
        f"| {rows:,} |" + "".join(f" {in_words(predicted(start, per_row, rows, n))} |" for n in WORKERS)
        for rows in ROWS
    )
    return [
        f"Fitted to the points below: start {start:.2g} s, cost {per_row * 1e6:.3g} microseconds for a row of "
        f"{points[0]['columns']} columns and 30 members of 50 components each, one thread per worker.",
        f"| rows | workers | measured, s | model, s |\n|---|---|---|---|\n{checked}",
        machine_line(result),
        "## What to expect",
        f"| rows |{titles}\n|---|{'---|' * len(WORKERS)}\n{forecast}",
    ]


def cost_of_a_member(result: dict[str, Any]) -> str:
    """What a member takes, of the fit that was measured."""
    row = result["rows"][0]
    return (
        f"Measured: {row['seconds a member, one worker']:.2g} s per member of {row['rounds']} rounds of "
        f"{row['steps a round']:,} steps at {row['columns']} columns, the draw of its rows included; {row['members']} "
        f"members are {row['times']:.2f} times as fast with two workers as with one."
    )


def fit_points(points: list[dict[str, float]]) -> tuple[float, float]:
    """Start and cost of a row, by least squares on relative errors."""
    work = np.array([[1.0, point["rows"] / point["workers"]] for point in points])
    seconds = np.array([point["seconds"] for point in points])
    start, per_row = np.linalg.lstsq(work / seconds[:, None], np.ones(len(points)), rcond=None)[0]
    return max(float(start), 0.0), float(per_row)


def predicted(start: float, per_row: float, rows: float, workers: int) -> float:
    """Seconds by the model."""
    return start + rows * per_row / workers + SECONDS_A_TASK * max(1.0, rows / ROWS_A_PART)


def in_words(seconds: float) -> str:
    """A time in the largest unit that it fills."""
    size, unit = next(((size, unit) for size, unit in UNITS if seconds >= size), UNITS[-1])
    return f"{seconds / size:.2g} {unit}"
