"""Do explanations name the columns that were changed? Planted anomalies in seven kinds of made-up tables.

`python -m experiments.planted_explanations` changes one, two or three columns of a few rows of each table, fits a
detector on all of it, explains the changed rows and writes to `experiments/results/planted_explanations.json` how often
the changed columns come first, and a table of it to `docs/explanations.md`. What was changed is used only to count.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from experiments.datasets import REPOSITORY
from experiments.results import RESULTS
from rdplearn import RDPDetector, TableModel
from rdplearn.defaults import DETECTOR_PAPER

FIGURES = RESULTS / "planted_explanations.json"
PAGE, MARK, END = REPOSITORY / "docs" / "explanations.md", "<!-- planted_explanations -->", "<!-- end -->"
N_ROWS, N_PLANTED, N_SEEDS = 3_000, 24, 3
TOP_SHARE = 0.01
STRENGTHS = (4.0, 6.0)  # in standard deviations of a column, on average
DETECTORS: dict[str, dict[str, Any]] = {
    "default": {},
    "the paper's, 5 members, 3 rounds of 500 steps": {**DETECTOR_PAPER, "n_members": 5, "n_rounds": 3, "n_steps": 500},
}
_SHAPE = np.random.default_rng(5)
_FEW_FACTORS, _MANY_FACTORS = _SHAPE.normal(size=(3, 12)), _SHAPE.normal(size=(8, 50))
_CENTRES = 1.5 * _SHAPE.normal(size=(4, 12))
_LEVELS = (3, 5, 8, 12)

Rng = np.random.Generator


def mixed(n: int, rng: Rng) -> np.ndarray:
    """Six numbers and four categories, the last value of each of which is rare."""
    levels = [rng.choice(k, size=n, p=[0.998 / (k - 1)] * (k - 1) + [0.002]) for k in _LEVELS]
    return np.column_stack([rng.normal(size=(n, 6)), *levels])


NORMAL_ROWS: dict[str, Callable[[int, Rng], np.ndarray]] = {
    "independent": lambda n, rng: rng.normal(size=(n, 12)),
    "correlated": lambda n, rng: rng.normal(size=(n, 3)) @ _FEW_FACTORS + 0.2 * rng.normal(size=(n, 12)),
    "wide": lambda n, rng: rng.normal(size=(n, 8)) @ _MANY_FACTORS + 0.3 * rng.normal(size=(n, 50)),
    "clustered": lambda n, rng: _CENTRES[rng.integers(4, size=n)] + 0.4 * rng.normal(size=(n, 12)),
    "skewed": lambda n, rng: np.exp(rng.normal(size=(n, 12))),
    "sparse": lambda n, rng: (rng.random((n, 60)) < np.linspace(0.02, 0.3, 60)) * rng.exponential(size=(n, 60)),
    "mixed": mixed,
}


def planted_table(kind: str, strength: float, seed: int) -> tuple[np.ndarray, dict[int, set[int]]]:
    """A table, and the columns that were changed in some of its rows."""
    rng = np.random.default_rng([seed, N_ROWS])
    rows = NORMAL_ROWS[kind](N_ROWS, rng)
    typical, spread = np.median(rows, axis=0), rows.std(axis=0)
    changed = {}
    # A row that is odd already would rightly be explained by what was not planted.
    low, high = np.quantile(rows, [0.01, 0.99], axis=0)
    usual = np.flatnonzero(((rows >= low) & (rows <= high)).all(axis=1))
    for number, row in enumerate(rng.choice(usual, N_PLANTED, replace=False)):
        columns = rng.choice(rows.shape[1], 1 + number % 3, replace=False)
        for column in columns:
            size = strength * rng.uniform(0.8, 1.2)
            if kind == "mixed" and column >= 6:
                rows[row, column] = _LEVELS[column - 6] - 1
            elif kind == "skewed":
                rows[row, column] = np.exp(size * 0.8)
            elif kind == "sparse":
                rows[row, column] = size * 1.5  # of values with mean 1
            else:
                rows[row, column] = typical[column] + rng.choice([-1.0, 1.0]) * size * spread[column]
        changed[int(row)] = set(columns.tolist())
    return rows, changed


def explained(kind: str, rows: np.ndarray, planted: list[int], detector: RDPDetector) -> tuple[np.ndarray, np.ndarray]:
    """Anomaly scores of all rows, and contributions of the columns to those of the planted ones."""
    if kind == "mixed":
        names = [f"c{column}" for column in range(rows.shape[1])]
        cells = [rows[:, c] if c < 6 else [f"v{value:.0f}" for value in rows[:, c]] for c in range(rows.shape[1])]
        table = pa.table(dict(zip(names, cells, strict=True)))
        model = TableModel(detector).fit(table)
        explanation = model.explain(table.take(planted))
        order = [explanation.column_names.index(name) for name in names]
        return -model.score_samples(table), explanation.contributions[:, order]
    matrix = sp.csr_array(rows) if kind == "sparse" else rows
    detector.fit(matrix)
    contributions = detector.explain(matrix[planted]).contributions
    return -detector.score_samples(matrix), contributions.toarray() if kind == "sparse" else contributions


def judged(kind: str, strength: float, seed: int, name: str) -> Iterator[dict[str, object]]:
    """For each planted row: whether it scores high, and whether the changed columns are named."""
    rows, changed = planted_table(kind, strength, seed)
    detector = RDPDetector(**DETECTORS[name], random_state=seed)
    scores, contributions = explained(kind, rows, list(changed), detector)
    line = np.quantile(scores, 1.0 - TOP_SHARE)
    for (row, columns), of_row in zip(changed.items(), contributions, strict=True):
        order = np.argsort(-of_row, kind="stable")
        named = order[: 1 if len(columns) == 1 else 3].tolist()
        yield {"is_single": len(columns) == 1, "is_top": bool(scores[row] >= line), "is_named": columns <= set(named)}


def measure(kind: str, name: str) -> dict[str, object]:
    """One line of the results: shares of planted rows whose changed columns are named."""
    plants = [
        plant for strength in STRENGTHS for seed in range(N_SEEDS) for plant in judged(kind, strength, seed, name)
    ]
    line: dict[str, object] = {"table": kind, "detector": name}
    for which, is_single in {"one column": True, "two or three": False}.items():
        of_kind = [plant for plant in plants if plant["is_single"] == is_single]
        top = [plant for plant in of_kind if plant["is_top"]]
        line[which] = {
            "planted": len(of_kind),
            "in the top 1 %": len(top),
            "of these named": sum(bool(plant["is_named"]) for plant in top),
            "of all named": sum(bool(plant["is_named"]) for plant in of_kind),
        }
    return line


def main() -> None:
    """Measure every combination and write all of them, or nothing."""
    runs = []
    for name in DETECTORS:
        for kind in NORMAL_ROWS:
            runs.append(measure(kind, name))
            print(json.dumps(runs[-1]), flush=True)
    temporary = FIGURES.with_name(f".{FIGURES.name}.{os.getpid()}")
    temporary.write_text("[\n" + ",\n".join(map(json.dumps, runs)) + "\n]\n")
    temporary.replace(FIGURES)
    PAGE.write_text(with_figures(PAGE.read_text(), runs))


def with_figures(page: str, runs: list[dict[str, Any]]) -> str:
    """The page with the figures between its two marks."""
    before, _, rest = page.partition(MARK)
    lines = ["| table | detector | one column | two or three |", "|---|---|---|---|"]
    for name in DETECTORS:
        of_detector = [run for run in runs if run["detector"] == name]
        lines += [_line(run["table"], name, [run]) for run in of_detector] + [_line("**all**", name, of_detector)]
    return f"{before}{MARK}\n" + "\n".join(lines) + f"\n{END}{rest.partition(END)[2]}"


def _line(table: str, name: str, runs: list[dict[str, Any]]) -> str:
    cells = [table, name]
    for which in ("one column", "two or three"):
        named, top = (sum(run[which][count] for run in runs) for count in ("of these named", "in the top 1 %"))
        cells.append(f"{named} of {top}" + (f" ({named / top:.0%})" if top else ""))
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
