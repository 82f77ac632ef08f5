"""Does `false_alarm_rate` keep its word? Fresh normal rows and anomalies, on twenty-one kinds of made-up tables.

The constants of the rule were chosen on the first six, whose anomalies are uniform. Six others, with anomalies that
form a group of their own or are odd in one column only, were looked at when it was done. Five were written down
afterwards, before any of them was run: values that few rows share, and a rare kind of normal row. The last four were
written down before the rule of rows that lie near each other was chosen, and run when it was done;
one of them then led to lumps of scores being kept.

`python -m experiments false-alarms` fits on tables with 0 to 10 % anomalies, several seeds each, and appends the shares
that `predict` reports to `experiments/results/false_alarms/lines.jsonl`, a line a fit. Labels only serve to count.
"""

from __future__ import annotations

import itertools
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from experiments import datasets, results, runs
from experiments.evaluation import versions
from rdplearn import RDPDetector

PATH = results.RESULTS / "false_alarms" / "lines.jsonl"
N_ROWS, N_FRESH, N_ANOMALIES, N_SEEDS = 3_000, 20_000, 2_000, 5
AUTO, AUTO_RATE = "auto", 0.01  # `contamination="auto"` promises about so many normal rows
RATES, SHARES = (0.001, 0.01, 0.05, AUTO), (0.0, 0.01, 0.03, 0.05, 0.1)
OURS = "rdplearn"
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

# a second look: others, and other anomalies
_OTHER = np.random.default_rng(6)
_MEETING, _OPINIONS = _OTHER.normal(size=(3, 8)), _OTHER.normal(size=(2, 12))
_RATES, _SHARES_OF_WORDS = _OTHER.uniform(0.5, 6.0, size=10), [_OTHER.dirichlet(np.ones(k)) for k in (2, 3, 4, 5, 6)]


def _mostly_zero(n: int, rng: np.random.Generator) -> np.ndarray:
    rows = np.exp(rng.normal(size=(n, 10)))
    rows[:, :5] *= rng.random((n, 5)) < np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    rows[:, 5:7] = np.round(rows[:, 5:7])
    return rows


def _unequal_clusters(n: int, rng: np.random.Generator) -> np.ndarray:
    which = rng.choice(3, p=(0.7, 0.25, 0.05), size=n)
    return 2.0 * _MEETING[which] + np.array([0.1, 0.6, 0.3])[which][:, None] * rng.normal(size=(n, 8))


def _words(n: int, rng: np.random.Generator) -> np.ndarray:
    first, blocks = rng.integers(0, 3, size=n), []
    for shares in _SHARES_OF_WORDS:
        drawn = rng.choice(len(shares), p=shares, size=n)
        blocks.append(np.eye(len(shares))[np.where(rng.random(n) < 0.6, first % len(shares), drawn)])
    return np.concatenate(blocks, axis=1)


OTHER_ROWS: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "skewed": lambda n, rng: rng.gamma(0.7, size=(n, 8)) * np.exp(0.5 * rng.normal(size=(n, 1))),
    "mostly zero": _mostly_zero,
    "opinions": lambda n, rng: np.clip(
        np.round(3 + 0.8 * rng.normal(size=(n, 2)) @ _OPINIONS + 0.7 * rng.normal(size=(n, 12))), 1, 5
    ),
    "counts": lambda n, rng: rng.poisson(_RATES * np.exp(0.4 * rng.normal(size=(n, 1)))).astype(float),
    "unequal clusters": _unequal_clusters,
    "one-hot": _words,
}


def _people(n: int, rng: np.random.Generator) -> np.ndarray:
    age = np.clip(np.round(rng.normal(42, 14, size=n)), 18, 90)
    income = np.exp(10 + 0.01 * age + 0.5 * rng.normal(size=n))
    children = rng.poisson(1.2, size=n)
    flags = rng.random((n, 3)) < np.array([0.03, 0.2, 0.5])
    return np.column_stack([age, income, children, np.round(income * rng.uniform(0.1, 0.4, size=n), -2), flags])


def _round_trip(n: int, rng: np.random.Generator) -> np.ndarray:
    turn = rng.uniform(0, 2 * np.pi, size=(n, 1))
    return np.sin(turn + np.arange(6)) + 0.1 * rng.normal(size=(n, 6))


_PRICES = np.round(np.exp(np.random.default_rng(7).normal(3, 1, size=40))) - 0.01


def _sales(n: int, rng: np.random.Generator) -> np.ndarray:
    price, items = rng.choice(_PRICES, size=n), 1 + rng.poisson(1.5, size=n)
    rebate = rng.choice([0.0, 0.1, 0.5], p=(0.8, 0.18, 0.02), size=n)
    return np.column_stack(
        [price, items, rebate, np.round(price * items * (1 - rebate), 2), rng.integers(1, 29, size=n)]
    )


def _two_kinds(n: int, rng: np.random.Generator) -> np.ndarray:
    is_rare = rng.random((n, 1)) < 0.02
    return np.where(is_rare, 4.0, 0.0) + np.where(is_rare, 0.5, 1.0) * rng.normal(size=(n, 8))


LATER_ROWS: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "rare binary": lambda n, rng: (rng.random((n, 12)) < np.linspace(0.01, 0.05, 12)).astype(float),
    "people": _people,
    "round trip": _round_trip,
    "sales": _sales,
    "two kinds": _two_kinds,
}
_LAST = np.random.default_rng(8)
_LOADS, _FACTORS = _LAST.uniform(0.5, 1.5, size=(2, 8)), _LAST.normal(size=(5, 30))
_RATES_OF_VISITS = _LAST.uniform(0.1, 3.0, size=10)


def _machine(n: int, rng: np.random.Generator) -> np.ndarray:
    loads = rng.uniform(0.5, 1.0, size=(n, 2)) * (rng.random((n, 1)) > 0.03)  # or at rest
    return loads @ _LOADS + 0.05 * rng.normal(size=(n, 8))


def _machine_that_fails(n: int, rng: np.random.Generator) -> np.ndarray:
    rows = _machine(n, rng)
    rows[:, :4] = rng.permutation(rows[:, :4]) * rng.uniform(0.5, 2.0, size=(n, 4))
    return rows


def _payments(n: int, rng: np.random.Generator) -> np.ndarray:
    what = rng.choice(5, p=(0.5, 0.3, 0.15, 0.04, 0.01), size=n)
    amount = np.exp(rng.normal(np.array([2.0, 3.0, 4.0, 6.0, 7.0])[what], 0.5))
    hour, is_new = np.clip(np.round(rng.normal(14, 3, size=n)), 0, 23), rng.random(n) < 0.05
    return np.column_stack([np.eye(5)[what], np.round(amount, 2), hour, is_new])


def _payments_at_night(n: int, rng: np.random.Generator) -> np.ndarray:
    rows = _payments(n, rng)
    rows[:, 5] *= rng.uniform(5.0, 50.0, size=n)
    rows[:, 6] = rng.integers(0, 6, size=n)
    return rows


def _visits(n: int, rng: np.random.Generator, times: float = 1.0) -> np.ndarray:
    return rng.poisson(times * _RATES_OF_VISITS * rng.gamma(1.5, 1 / 1.5, size=(n, 10))).astype(float)


def _thirty(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_t(5, size=(n, 5)) @ _FACTORS + rng.standard_t(5, size=(n, 30))


LAST_ROWS: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "machine": _machine,
    "payments": _payments,
    "visits": _visits,
    "thirty columns": _thirty,
}
LAST_ANOMALIES: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "machine": _machine_that_fails,
    "payments": _payments_at_night,
    "visits": lambda n, rng: _visits(n, rng, times=5.0),
    "thirty columns": lambda n, rng: 3.5 * rng.normal(size=(n, 30)),
}
ALL_ROWS = {**NORMAL_ROWS, **OTHER_ROWS, **LATER_ROWS, **LAST_ROWS}
IN_A_GROUP, OF_INTEGERS, OF_WORDS = ("mostly zero", "unequal clusters"), ("opinions", "counts"), "one-hot"
UNIFORM = (*NORMAL_ROWS, "round trip", "two kinds")
OF_BITS = "rare binary"

Setting = dict[str, Any]


def anomalies_of(kind: str, rows: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw anomalies: uniform; of other kinds in a group, odd in one column, of words that do not go along, or bits."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    if kind in LAST_ANOMALIES:
        return LAST_ANOMALIES[kind](n, rng)
    if kind in UNIFORM:
        return rng.uniform(low, high, size=(n, rows.shape[1]))
    if kind in IN_A_GROUP:
        return rng.uniform(low, high) + 0.05 * (high - low) * rng.normal(size=(n, rows.shape[1]))
    if kind == OF_BITS:
        return rng.integers(2, size=(n, rows.shape[1])).astype(float)
    if kind == OF_WORDS:
        return (rng.random((n, rows.shape[1])) < rows.mean(axis=0)).astype(float)
    found, column = ALL_ROWS[kind](n, rng), rng.integers(rows.shape[1], size=n)
    found[np.arange(n), column] = low[column] + (high - low)[column] * rng.uniform(1.2, 3.0, size=n)
    return np.round(found) if kind in OF_INTEGERS else found


def settings() -> list[Setting]:
    """List what is measured, first seeds first."""
    return [
        {"table": kind, "anomalies": share, "asked": rate, "seed": seed}
        for seed, kind, share, rate in itertools.product(range(N_SEEDS), ALL_ROWS, SHARES, RATES)
    ]


def measure(setting: Setting) -> dict[str, float]:
    """Fit on a table with a share of anomalies; count what is reported among fresh rows."""
    rng = np.random.default_rng([setting["seed"], N_ROWS])
    kind = ALL_ROWS[setting["table"]]
    rows, fresh = kind(N_ROWS, rng), kind(N_FRESH, rng)
    n_anomalies = int(setting["anomalies"] * N_ROWS)
    anomalies = anomalies_of(setting["table"], rows, N_ANOMALIES, rng)
    rows[:n_anomalies] = anomalies[:n_anomalies]
    rate = None if setting["asked"] == AUTO else setting["asked"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a rate that has too few rows to be read off is part of the question
        detector = RDPDetector(false_alarm_rate=rate, random_state=setting["seed"]).fit(rows)
    unseen = anomalies[n_anomalies:]
    return {
        "normal_reported": float(np.mean(detector.predict(fresh) == -1)),
        "anomalies_reported": float(np.mean(detector.predict(unseen) == -1)),
    }


def work(label: str, path: Path, wanted: list[Setting]) -> int:
    """Measure what no line records yet under this label; give the number of lines written."""
    done = {_key(line) for line in _lines(path) if line["label"] == label}
    commit, written = runs.commit_of(datasets.REPOSITORY), 0
    for setting in wanted:
        if _key(setting) in done:
            continue
        start = time.process_time()
        measured = measure(setting)
        facts = {"label": label, "commit": commit, "versions": versions()}
        facts |= {"cpu_seconds": round(time.process_time() - start, 3)}
        results.append(path, {**setting, **measured, **facts})
        written += 1
        runs.to_stderr(f"[{written + len(done)}/{len(wanted)}] {setting}: {measured['normal_reported']:.4f}")
    return written


def times_asked(lines: list[dict[str, Any]]) -> dict[tuple[str, float, float | str], float]:
    """Table, share of anomalies and rate asked for -> how many times that rate is reported, the median over seeds.

    Examples
    --------
    >>> line = {"table": "binary", "anomalies": 0.0, "asked": 0.01}
    >>> times_asked([{**line, "normal_reported": share} for share in (0.01, 0.02, 0.5)])
    {('binary', 0.0, 0.01): 2.0}
    """
    cases: dict[tuple[str, float, float | str], list[float]] = {}
    for line in lines:
        rate = AUTO_RATE if line["asked"] == AUTO else line["asked"]
        cases.setdefault((line["table"], line["anomalies"], line["asked"]), []).append(line["normal_reported"] / rate)
    return {case: float(np.median(values)) for case, values in cases.items()}


def run(
    label: Annotated[str, typer.Option("--as", help="what its lines are called")] = OURS,
    path: Annotated[Path, typer.Option("--results", help="the file of lines")] = PATH,
) -> None:
    """Measure whether `false_alarm_rate` keeps its word, what no line records yet; safe to stop and start again."""
    runs.to_stderr(f"{label}: {work(label, path, settings())} lines written")


def _lines(path: Path) -> list[dict[str, Any]]:
    return list(results.read_file(path)) if path.exists() else []


def _key(record: dict[str, Any]) -> str:
    return json.dumps([record[name] for name in ("table", "anomalies", "asked", "seed")])
