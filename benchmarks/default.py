"""What the default detector costs beside scikit-learn's IsolationForest, and what a new user waits for."""

from __future__ import annotations

import subprocess
import sys
import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks.measuring import best_times
from rdplearn import RDPDetector

START = """
import time; start = time.perf_counter()
import numpy as np
{made}
table = np.random.default_rng(0).normal(size=(5000, 20))
model.fit(table).score_samples(table)
print(time.perf_counter() - start)
"""
MADE = {
    "ours": "import rdplearn; model = rdplearn.RDPDetector(random_state=0)",
    "forest": "from sklearn.ensemble import IsolationForest; model = IsolationForest(random_state=0)",
}


def default_cost() -> list[dict[str, object]]:
    """Fit plus score by the default, processor seconds on one thread, against IsolationForest with 100 trees."""
    from sklearn.ensemble import IsolationForest

    results: list[dict[str, object]] = []
    for n_rows, n_columns, at_most in ((5_000, 20, 1.0), (20_000, 20, 2.0), (284_807, 29, 2.0)):
        rows = np.random.default_rng(0).normal(size=(n_rows, n_columns)).astype(np.float32)
        models = {"ours": RDPDetector(random_state=0), "forest": IsolationForest(random_state=0)}
        jobs = {name: partial(_fit_and_score, model, rows) for name, model in models.items()}
        seconds = best_times(jobs, clock=time.process_time)
        ratio = seconds["ours"] / seconds["forest"]
        results.append({"rows": n_rows, "columns": n_columns, **seconds, "times as long": ratio, "at most": at_most})
    return results


def _fit_and_score(model: Any, rows: np.ndarray) -> None:
    model.fit(rows).score_samples(rows)


def first_minute() -> list[dict[str, object]]:
    """Import, fit and score 5,000 x 20 in a fresh process, by the clock on the wall."""
    seconds: dict[str, list[float]] = {name: [] for name in MADE}
    for _ in range(5):
        for name, made in MADE.items():
            command = [sys.executable, "-c", START.format(made=made)]
            seconds[name].append(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    return [{**{f"{name} seconds": min(turns) for name, turns in seconds.items()}, "at most": 3.0}]


ALL = {"default_cost": default_cost, "first_minute": first_minute}
