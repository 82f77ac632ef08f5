"""Tables known to be normal: fitted on half of the normal rows of a set, judged on the other half and the anomalies.

`python -m experiments clean-tables` does the runs that no line records yet and prints the means; it may be stopped.
Labels serve to choose the rows of the fit, as a user would who knows them to be normal, and to compare.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from experiments import datasets, results, runs
from experiments.evaluation import versions
from experiments.machine import describe_machine
from experiments.metrics import detection_metrics
from rdplearn import RDPDetector

PATH = results.RESULTS / "clean_tables" / "lines.jsonl"
MOST_ROWS, FEWEST_NORMAL = 6_000, 100

Scores = Callable[[np.ndarray, np.ndarray, int], np.ndarray]  # rows of the fit, rows to judge, seed


def nearest_neighbours(normal: np.ndarray, rows: np.ndarray, seed: int) -> np.ndarray:
    """Mean distance to the five nearest rows, in standardised columns."""
    scale = StandardScaler().fit(normal)
    distances, _ = NearestNeighbors(n_neighbors=5).fit(scale.transform(normal)).kneighbors(scale.transform(rows))
    return distances.mean(axis=1)


def local_outlier_factor(normal: np.ndarray, rows: np.ndarray, seed: int) -> np.ndarray:
    """LOF as scikit-learn has it for new rows, in standardised columns."""
    scale = StandardScaler().fit(normal)
    return -LocalOutlierFactor(novelty=True).fit(scale.transform(normal)).score_samples(scale.transform(rows))


METHODS: dict[str, Scores] = {
    "RDP, clean": lambda normal, rows, seed: (
        -RDPDetector(contamination="none", random_state=seed).fit(normal).score_samples(rows)
    ),
    "RDP default": lambda normal, rows, seed: -RDPDetector(random_state=seed).fit(normal).score_samples(rows),
    "IsolationForest": lambda normal, rows, seed: -IsolationForest(random_state=seed).fit(normal).score_samples(rows),
    "kNN": nearest_neighbours,
    "LOF": local_outlier_factor,
}


def run(
    every: Annotated[int, typer.Option(min=1, help="take every so-manieth development set")] = 3,
    path: Annotated[Path, typer.Option("--results", help="the result file")] = PATH,
) -> None:
    """Fit on rows known to be normal, judge others; print the means over sets."""
    names = [name for group in ("adbench", "oddbench", "ovrbench") for name in datasets.names(group)][::every]
    done = {_key(record) for record in results.read_file(path)} if path.exists() else set()
    commit = runs.commit_of(datasets.REPOSITORY)
    for name in names:
        wanted = [method for method in METHODS if _key({"data": name, "method": method, "seed": 0}) not in done]
        loaded = datasets.load(name)
        parts = split(loaded.rows, loaded.labels, seed=0) if wanted else None
        for method in wanted if parts else ():
            normal, rows, labels = parts
            with threadpool_limits(1):
                scores = METHODS[method](normal, rows, 0)
            metrics = detection_metrics(labels, scores)
            facts = {"data": name, "method": method, "seed": 0, "commit": commit, "n_fitted": len(normal)}
            results.append(path, {**facts, "metrics": metrics, "versions": versions(), "machine": describe_machine()})
            runs.to_stderr(f"{method} on {name}: {metrics}")
    found, n_sets = means(list(results.read_file(path)))
    for method, (auc_roc, auc_pr) in found.items():
        typer.echo(f"{method:16} {auc_roc:.3f} / {auc_pr:.3f} on {n_sets} sets")


def split(rows: Any, labels: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Half of the normal rows to fit on, the others with the anomalies to judge; None where there are too few."""
    rng = np.random.default_rng(seed)
    rows, labels = np.asarray(rows, dtype=np.float64), np.asarray(labels)
    if len(rows) > MOST_ROWS:
        drawn = rng.choice(len(rows), MOST_ROWS, replace=False)
        rows, labels = rows[drawn], labels[drawn]
    normal, odd = rng.permutation(np.flatnonzero(labels == 0)), np.flatnonzero(labels == 1)
    if len(normal) < FEWEST_NORMAL or not len(odd):
        return None
    fitted, judged = normal[: len(normal) // 2], np.concatenate([normal[len(normal) // 2 :], odd])
    return rows[fitted], rows[judged], labels[judged]


def means(records: list[dict[str, Any]]) -> tuple[dict[str, tuple[float, float]], int]:
    """Mean AUC-ROC and AUC-PR of each method over the sets that all of them finished, and how many these are."""
    by_method = {m: {r["data"]: r["metrics"] for r in records if r["method"] == m} for m in METHODS}
    common = sorted(set.intersection(*(set(found) for found in by_method.values())))
    if not common:
        return {}, 0
    return {
        method: tuple(float(np.mean([found[data][metric] for data in common])) for metric in ("auc_roc", "auc_pr"))
        for method, found in by_method.items()
    }, len(common)


def _key(record: dict[str, Any]) -> str:
    return json.dumps([record["data"], record["method"], record["seed"]])
