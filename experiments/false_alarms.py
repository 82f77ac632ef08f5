"""Does `false_alarm_rate` keep its word? Fresh normal rows and anomalies, on six kinds of made-up tables.

`python -m experiments.false_alarms` fits on tables with 0, 2 and 10 % anomalies, several seeds each, and writes the
shares that `predict` reports to `experiments/results/false_alarms.json`. Labels are looked at only to count.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import numpy as np

from experiments.results import RESULTS
from rdplearn import RDPDetector

N_ROWS, N_FRESH, N_SEEDS = 3_000, 20_000, 3
RATES, SHARES = (0.01, 0.05), (0.0, 0.02, 0.1)
_SHAPE = np.random.default_rng(5)
_DIRECTIONS, _CENTRES = _SHAPE.normal(size=(3, 10)), _SHAPE.normal(size=(4, 10))

NORMAL_ROWS: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "gaussian": lambda n, rng: rng.normal(size=(n, 10)),
    "correlated": lambda n, rng: rng.normal(size=(n, 3)) @ _DIRECTIONS + 0.1 * rng.normal(size=(n, 10)),
    "log-normal": lambda n, rng: np.exp(rng.normal(size=(n, 10))),
    "clustered": lambda n, rng: _CENTRES[rng.integers(4, size=n)] + 0.3 * rng.normal(size=(n, 10)),
    "binary": lambda n, rng: (rng.random((n, 20)) < np.linspace(0.02, 0.5, 20)).astype(float),
    "heavy-tailed": lambda n, rng: rng.standard_t(3, size=(n, 10)),
}


def measure(kind: str, share: float, rate: float, seed: int) -> dict[str, object]:
    """Fit on a table with a share of uniform anomalies; count what is reported among fresh rows."""
    rng = np.random.default_rng([seed, N_ROWS])
    rows, fresh = NORMAL_ROWS[kind](N_ROWS, rng), NORMAL_ROWS[kind](N_FRESH, rng)
    n_anomalies = int(share * N_ROWS)
    anomalies = rng.uniform(rows.min(axis=0), rows.max(axis=0), size=(N_FRESH, rows.shape[1]))
    rows[:n_anomalies] = anomalies[:n_anomalies]
    detector = RDPDetector(false_alarm_rate=rate, random_state=seed).fit(rows)
    return {
        "table": kind,
        "share of anomalies": share,
        "rate asked for": rate,
        "seed": seed,
        "normal rows reported": float(np.mean(detector.predict(fresh) == -1)),
        "anomalies reported": float(np.mean(detector.predict(anomalies) == -1)),
    }


def main() -> None:
    """Measure every combination and write all of them, or nothing."""
    runs = [
        measure(kind, share, rate, seed)
        for kind in NORMAL_ROWS
        for share in SHARES
        for rate in RATES
        for seed in range(N_SEEDS)
    ]
    path = RESULTS / "false_alarms.json"
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text("[\n" + ",\n".join(map(json.dumps, runs)) + "\n]\n")
    temporary.replace(path)
    for rate in RATES:
        reported = [run["normal rows reported"] for run in runs if run["rate asked for"] == rate]
        print(f"asked for {rate:.0%}: {np.mean(reported):.2%} of normal rows on average, {max(reported):.2%} at most")


if __name__ == "__main__":
    main()
