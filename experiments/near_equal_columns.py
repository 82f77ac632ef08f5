"""Two columns that say nearly the same: whether a reason names the right one, and the same one with other seeds.

`python -m experiments.near_equal_columns` makes tables of five pairs of columns that differ by a fiftieth of their
spread, moves both columns of a pair or one of them in a few rows, fits detectors with four seeds, and writes to
`experiments/results/near_equal_columns.json` how often the first reason is right and is the same with all seeds: by its
first column alone, and by all columns that it names ("a or b"). A table of it goes to `docs/explanations.md`. What was
moved is used only to count.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from experiments.planted_explanations import DETECTORS, PAGE
from experiments.results import RESULTS
from rdplearn import RDPDetector

FIGURES = RESULTS / "near_equal_columns.json"
MARK, END = "<!-- near_equal_columns -->", "<!-- end of near_equal_columns -->"
N_ROWS, N_PAIRS, N_PLANTED, N_TABLES, N_SEEDS = 2_000, 5, 40, 2, 4
UNLIKENESS, STRENGTH = 0.02, 6.0  # in spreads of a column
MOVED = {"both columns": 2, "one column": 1}


def planted_table(n_moved: int, seed: int) -> tuple[np.ndarray, dict[int, set[str]]]:
    """A table, and the columns that were moved in some of its rows. Columns 2k and 2k + 1 are a pair."""
    rng = np.random.default_rng([seed, n_moved])
    common = np.repeat(rng.normal(size=(N_ROWS, N_PAIRS)), 2, axis=1)
    rows = common + UNLIKENESS * rng.normal(size=common.shape)
    moved = {}
    for row in rng.choice(N_ROWS, N_PLANTED, replace=False).tolist():
        pair = 2 * int(rng.integers(N_PAIRS)) + rng.permutation(2)
        columns = pair[:n_moved]
        rows[row, columns] += rng.choice([-1.0, 1.0]) * STRENGTH
        moved[row] = {f"x{column}" for column in columns}
    return rows, moved


def named_by(detector: RDPDetector, rows: np.ndarray, places: list[int]) -> list[list[str]]:
    """For some rows all columns that the first reason names, the first of them in front."""
    explanation = detector.fit(rows).explain(rows[places])
    firsts = [explanation.columns_of(number)[0] for number in range(len(places))]
    return [[first["column"], *first["shared_with"]] for first in firsts]


def measure(which: str, name: str) -> dict[str, Any]:
    """One line of the results."""
    line = {"moved": which, "detector": name, "rows": 0, "first right": 0, "first same": 0}
    line |= {"named right": 0, "named same": 0, "columns named": 0}
    for table in range(N_TABLES):
        rows, moved = planted_table(MOVED[which], table)
        detectors = [RDPDetector(**DETECTORS[name], random_state=seed) for seed in range(N_SEEDS)]
        by_seeds = [named_by(detector, rows, list(moved)) for detector in detectors]
        for columns, *named in zip(moved.values(), *by_seeds, strict=True):
            line["rows"] += 1
            line["first same"] += len({names[0] for names in named}) == 1
            line["named same"] += len({frozenset(names) for names in named}) == 1
            line["first right"] += sum(names[0] in columns for names in named)
            line["named right"] += sum(columns <= set(names) for names in named)
            line["columns named"] += sum(map(len, named))
    return line


def with_figures(page: str, runs: list[dict[str, Any]]) -> str:
    """The page with the figures between its two marks."""
    before, _, rest = page.partition(MARK)
    lines = [
        "| moved | detector | first column: moved | the same with four seeds | all that are named: have all that moved "
        "| the same with four seeds | columns named |",
        "|---|---|---|---|---|---|---|",
    ]
    for run in runs:
        n_rows = run["rows"]
        shares = [
            f"{run['first right'] / (N_SEEDS * n_rows):.0%}",
            f"{run['first same'] / n_rows:.0%}",
            f"{run['named right'] / (N_SEEDS * n_rows):.0%}",
            f"{run['named same'] / n_rows:.0%}",
            f"{run['columns named'] / (N_SEEDS * n_rows):.1f}",
        ]
        lines.append(f"| {run['moved']} | {run['detector']} | {' | '.join(shares)} |")
    return f"{before}{MARK}\n" + "\n".join(lines) + f"\n{END}{rest.partition(END)[2]}"


def main() -> None:
    """Measure every combination and write all of them, or nothing."""
    runs = [measure(which, name) for name in DETECTORS for which in MOVED]
    temporary = FIGURES.with_name(f".{FIGURES.name}.{os.getpid()}")
    temporary.write_text("[\n" + ",\n".join(map(json.dumps, runs)) + "\n]\n")
    temporary.replace(FIGURES)
    PAGE.write_text(with_figures(PAGE.read_text(), runs))


if __name__ == "__main__":
    main()
