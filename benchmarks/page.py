"""docs/speed.md, written from the result files."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.measuring import RESULTS

PAGE = Path(__file__).parent.parent / "docs" / "speed.md"
TITLES = {  # of each result file its heading, and what was measured
    "default_cost": (
        "The default, fit plus score",
        "One thread, against IsolationForest with 100 trees. Seconds of the processor.",
    ),
    "wide_cost": ("The default on wide tables", "The same as above. Seconds of the processor."),
    "wide_memory": ("A wide sparse table", "Fit and score: peak memory, and the size of the model file."),
    "first_minute": ("A first result", "Import, fit and score 5,000 x 20 in a fresh process. Seconds."),
    "training": (
        "Training",
        "One thread, against a member in PyTorch that is trained step by step with autograd. Same steps, same sizes.",
    ),
    "torch": (
        "Training with PyTorch",
        "30 members in one computation on one CPU thread, against the step-by-step member in PyTorch. Same steps, same "
        "sizes.",
    ),
    "threads": ("Two threads against one", "Seconds for the same fit."),
    "blas_share": (
        "How much of a step is matrix products",
        "At 200 columns: the two products of a step alone, as a share of the step.",
    ),
    "scoring": ("Scoring", "284,807 x 29 with 30 members, against IsolationForest with 100 trees. Seconds."),
    "sparse_memory": (
        "Memory of a fit on sparse rows",
        "18,846 x 130,107, 0.12% full: peak memory beyond the weights of the members.",
    ),
    "representation": (
        "Features",
        "The paper's setting on 7,674 x 17,387 rows like texts with 1,024 components, against dense PyTorch. Two "
        "threads each.",
    ),
    "representation_memory": ("Memory of features", "The paper's setting on 18,846 x 130,107 sparse rows."),
    "transform": (
        "Features of new rows",
        "18,846 x 130,107 sparse rows, against the product with 1,024 columns alone. Seconds.",
    ),
    "answers": ("An answer", "From an answer until the next row is proposed. Seconds of one processor."),
    "explanation": (
        "Reasons",
        "Explaining 1,000 rows, against scoring 1,000 rows for each column. Seconds of one processor.",
    ),
    "one_row": ("The reasons of one row", "By the default. Seconds of one processor."),
    "dask_scoring": ("Scoring on Dask", "A Parquet dataset of 10 columns, 30 members. Rows per second."),
    "dask_fitting": ("Fitting on Dask", "30 members."),
    "dask_memory": ("Memory on Dask", "Two workers: the most memory that any process takes."),
    "report": (
        "The report",
        "Of a Parquet file of 100,000 x 30, against scoring it and placing rows on the map. One thread, seconds of the "
        "processor. And the size of the page.",
    ),
    "sql_scoring": (
        "Scoring rows of PostgreSQL",
        "`rdplearn score` on ten columns, against the same rows in Parquet. Default detector, two threads. The driver "
        "alone is the ceiling.",
    ),
    "serving": (
        "Serving single rows",
        "`rdplearn serve` on loopback, one row per request, 8 clients at once, against an empty FastAPI endpoint.",
    ),
    "serving_batches": (
        "Serving many rows",
        "`rdplearn serve` on loopback, 1,000 rows per request, against scoring them in memory.",
    ),
    "growth": (
        "A hundred times as many rows",
        "Fit on 10 million rows, against 100 thousand rows of the same 20 columns, in memory. Seconds.",
    ),
}


def write() -> Path:
    """Put the figures of all result files on one page."""
    parts = [
        "# Speed and memory",
        "How long things take, and how much memory they need. Compare the ratios, not the seconds: other work ran on "
        "the machine. Within one run, the programs that are compared take turns, and the best turn of each counts.",
        "Written by `python -m benchmarks page` from `benchmarks/results`. To measure again, run `make benchmark`.",
    ]
    for name, (title, what) in TITLES.items():
        path = RESULTS / f"{name}.json"
        if path.exists():
            result = json.loads(path.read_text())
            parts += [f"## {title}", what, markdown_table(result["rows"]), machine_line(result)]
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
