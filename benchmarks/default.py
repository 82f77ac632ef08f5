"""What the default detector costs beside scikit-learn's IsolationForest, and what a new user waits for."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.measuring import best_times, in_own_process, peak_memory
from rdplearn import RDPDetector, save

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
    for n_rows, n_columns in ((1_000, 10), (5_000, 20), (20_000, 20), (100_000, 10), (284_807, 29)):
        rows = np.random.default_rng(0).normal(size=(n_rows, n_columns)).astype(np.float32)
        models = {"ours": RDPDetector(random_state=0), "forest": IsolationForest(random_state=0)}
        jobs = {name: partial(_fit_and_score, model, rows) for name, model in models.items()}
        seconds = best_times(jobs, clock=time.process_time)
        ratio = seconds["ours"] / seconds["forest"]
        results.append({"rows": n_rows, "columns": n_columns, **seconds, "times as long": ratio, "at most": 1})
    return results


def wide_cost() -> list[dict[str, object]]:
    """The same for wide tables, dense and sparse."""
    from sklearn.ensemble import IsolationForest

    results: list[dict[str, object]] = []
    for name, rows in wide_tables().items():
        models = {"ours": RDPDetector(random_state=0), "forest": IsolationForest(random_state=0)}
        jobs = {name: partial(_fit_and_score, model, rows) for name, model in models.items()}
        seconds = best_times(jobs, clock=time.process_time)
        shape = {"table": name, "rows": rows.shape[0], "columns": rows.shape[1]}
        results.append({**shape, **seconds, "times as long": seconds["ours"] / seconds["forest"], "at most": 3})
    return results


def wide_tables() -> dict[str, Any]:
    """Dense ones with more and with fewer rows than a member needs, and a sparse one, 1 % full."""
    rng = np.random.default_rng(0)
    dense = {"dense": (2_000, 1_000), "dense, short": (500, 3_000)}
    made = {name: rng.normal(size=shape).astype(np.float32) for name, shape in dense.items()}
    return {**made, "sparse": sparse_table()}


def sparse_table() -> sp.csr_array:
    """4,000 x 9,000, 1 % full."""
    return sp.random_array((4_000, 9_000), density=0.01, rng=np.random.default_rng(0), format="csr", dtype=np.float32)


def wide_memory() -> list[dict[str, object]]:
    """Peak memory of a process that fits and scores the sparse table, and the size of its model file."""
    return [in_own_process(_measure_memory)]


def _measure_memory() -> dict[str, object]:
    rows = sparse_table()
    detector = RDPDetector(random_state=0)
    _fit_and_score(detector, rows)
    with tempfile.TemporaryDirectory() as folder:
        save(detector, Path(folder) / "wide.rdp")
        file_mb = (Path(folder) / "wide.rdp").stat().st_size / 1e6
    limits: dict[str, object] = {"rows": rows.shape[0], "columns": rows.shape[1], "table MB": rows.nnz * 8 / 1e6}
    return {**limits, "file MB": file_mb, "file at most": 100, "peak MB": peak_memory() / 1e6, "peak at most": 800}


def _fit_and_score(model: Any, rows: Any) -> None:
    model.fit(rows).score_samples(rows)


def first_minute() -> list[dict[str, object]]:
    """Import, fit and score 5,000 x 20 in a fresh process, by the clock on the wall."""
    seconds: dict[str, list[float]] = {name: [] for name in MADE}
    for _ in range(5):
        for name, made in MADE.items():
            command = [sys.executable, "-c", START.format(made=made)]
            seconds[name].append(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    return [{**{f"{name} seconds": min(turns) for name, turns in seconds.items()}, "at most": 3.0}]


ALL = {
    "default_cost": default_cost,
    "wide_cost": wide_cost,
    "wide_memory": wide_memory,
    "first_minute": first_minute,
}
