"""docs/speed.md, written from the result files."""

from __future__ import annotations

import json
import re
from pathlib import Path

from benchmarks.measuring import RESULTS

PAGE = Path(__file__).parent.parent / "docs" / "speed.md"
TITLES = {  # of each result file its heading, and what was measured
    "default_cost": (
        "The default, fit plus score",
        "One thread, against IsolationForest with 100 trees. Seconds of the processor.",
    ),
    "wide_cost": ("The default on wide tables", "As above, with more columns. Seconds of the processor."),
    "wide_memory": ("A wide sparse table", "Fit and score: peak memory, and the size of the model file."),
    "first_minute": ("A first result", "Import, fit and score 5,000 rows of 20 columns in a fresh process. Seconds."),
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
        "How much of a step goes into matrix products",
        "At 200 columns: the time of the two products in a step, as a share of the step.",
    ),
    "scoring": (
        "Scoring",
        "284,807 rows of 29 columns with 30 members, against IsolationForest with 100 trees. Seconds.",
    ),
    "sparse_memory": (
        "Memory of a fit on sparse rows",
        "18,846 rows of 130,107 columns, 0.12% of the cells filled: peak memory beyond the weights of the members.",
    ),
    "representation": (
        "Features",
        "The paper's setting with 1,024 components, on 7,674 rows of 17,387 columns, like word counts of texts. "
        "Against dense PyTorch, two threads each.",
    ),
    "representation_memory": ("Memory of features", "The paper's setting on 18,846 sparse rows of 130,107 columns."),
    "transform": (
        "Features of new rows",
        "18,846 sparse rows of 130,107 columns, against the matrix product with 1,024 columns alone. Seconds.",
    ),
    "answers": ("An answer", "From an answer until the next row is proposed. Seconds of one processor."),
    "explanation": (
        "Reasons",
        "Explaining 1,000 rows, against scoring 1,000 rows for each column. Seconds of one processor.",
    ),
    "one_row": ("The reasons of one row", "Explaining one row with the default. Seconds of one processor."),
    "dask_scoring": ("Scoring on Dask", "A Parquet dataset of 10 columns, 30 members. Rows per second."),
    "dask_fitting": ("Fitting on Dask", "A fit of 30 members, on two workers and on one."),
    "dask_memory": ("Memory on Dask", "Two workers: the most memory that any process takes."),
    "report": (
        "The report",
        "For a Parquet file of 100,000 rows and 30 columns, against scoring it and placing rows on the map. One "
        "thread, seconds of the processor. The last columns are about the size of the page.",
    ),
    "sql_scoring": (
        "Scoring rows of PostgreSQL",
        "`rdplearn score` on ten columns, against the same rows in Parquet. Default detector, two threads. The driver "
        "alone, without scoring, is the most that could be reached.",
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
        "the machine. Within one run, the programs that are compared take turns, and the best turn of each counts. "
        "*At most*, *at least* and *wanted* are limits that we set ourselves; some are missed.",
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
    header = [re.sub(r"\bus\b", "µs", name) for name in rows[0]]
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(number(value) for value in row.values()) + " |" for row in rows]
    return "\n".join(lines)


def number(value: object) -> str:
    """Three digits are enough for a measurement; counts stay whole."""
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def machine_line(result: dict[str, dict[str, object]]) -> str:
    """On what and when it was measured."""
    machine = result["machine"]
    return (
        f"*Measured {result['measured']} on {machine['cores']} cores of {machine['cpu']}, load average "
        f"{machine['load']} with other work; Python {machine['python']}, NumPy {machine['numpy']}, "
        f"Numba {machine['numba']}, PyTorch {machine['torch']}.*"
    )
