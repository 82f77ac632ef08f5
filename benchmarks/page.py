"""docs/speed.md, written from the result files."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.measuring import RESULTS

PAGE = Path(__file__).parent.parent / "docs" / "speed.md"
TITLES = {
    "default_cost": "The default, fit plus score on one thread, against IsolationForest with 100 trees (seconds of the "
    "processor)",
    "wide_cost": "The same on wide tables",
    "wide_memory": "Fit and score of a wide sparse table: peak memory, and the model file",
    "first_minute": "Import, fit and score 5,000 x 20 in a fresh process (seconds)",
    "training": "Training, one thread, against a step-by-step PyTorch autograd member (same steps, same sizes)",
    "torch": "Training with PyTorch, 30 members stacked in one computation on one CPU thread, against the step-by-step "
    "PyTorch member (same steps, same sizes)",
    "threads": "Two threads against one (seconds for the same fit)",
    "blas_share": "At 200 columns: the step's two matrix products alone, as a share of the step",
    "scoring": "Scoring 284,807 x 29 with 30 members, against IsolationForest with 100 trees (seconds)",
    "sparse_memory": "Training on 18,846 x 130,107 sparse rows, 0.12 % full: peak memory beyond the members' weights",
    "representation": "Features, the paper's setting on 7,674 x 17,387 text-like rows with 1,024 units, against dense "
    "PyTorch: two threads each",
    "representation_memory": "Features, the paper's setting on 18,846 x 130,107 sparse rows: peak memory",
    "transform": "Features of 18,846 x 130,107 sparse rows, against the product with 1,024 columns alone (seconds)",
    "answers": "An answer of an analyst, until the next row is proposed (seconds of one processor)",
    "explanation": "Explaining 1,000 rows, against scoring 1,000 rows for each column (seconds of one processor)",
    "one_row": "Explaining one row, by the default (seconds of one processor)",
    "dask_scoring": "Scoring a Parquet dataset on Dask, 10 columns, 30 members: rows per second",
    "dask_fitting": "Fitting 30 members on Dask",
    "dask_memory": "On Dask with two workers: most memory of any process",
    "report": "The report of a Parquet file of 100,000 x 30, against scoring it and placing rows on the map (one "
    "thread, seconds of the processor), and the weight of the page",
    "sql_scoring": "`rdplearn score` on ten columns in PostgreSQL, against the same rows in Parquet: default "
    "detector, two threads; the driver alone is the ceiling",
    "serving": "`rdplearn serve` on loopback, one row a request, 8 clients at once, against an empty FastAPI endpoint",
    "serving_batches": "`rdplearn serve` on loopback, 1,000 rows a request, against scoring them in memory",
    "growth": "Fit on 10 million rows against 100 thousand rows of the same 20 columns, in memory (seconds)",
}


def write() -> Path:
    """Put the figures of all result files on one page."""
    parts = [
        "# Speed and memory",
        "Written by `python -m benchmarks page` from `benchmarks/results`; measure anew with `make benchmark`. Figures "
        "are ratios within one run, in which the things compared take turns and the best turn of each counts: "
        "machines are shared, and an absolute time proves nothing.",
    ]
    for name, title in TITLES.items():
        path = RESULTS / f"{name}.json"
        if path.exists():
            result = json.loads(path.read_text())
            parts += [f"## {title}", markdown_table(result["rows"]), machine_line(result)]
    PAGE.write_text("\n\n".join(parts) + "\n")
    return PAGE


def markdown_table(rows: list[dict[str, object]]) -> str:
    """Rows of figures as Markdown."""
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])]
    lines += ["| " + " | ".join(number(value) for value in row.values()) + " |" for row in rows]
    return "\n".join(lines)


def number(value: object) -> str:
    """Three digits are enough for a measurement; counts stay whole."""
    if isinstance(value, float):
        return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def machine_line(result: dict[str, dict[str, object]]) -> str:
    """On what and when it was measured."""
    machine = result["machine"]
    return (
        f"Measured {result['measured']} on {machine['cores']} cores of {machine['cpu']} (load average "
        f"{machine['load']}, other work included), Python {machine['python']}, NumPy {machine['numpy']}, "
        f"Numba {machine['numba']}, PyTorch {machine['torch']}."
    )
