"""One run of one method on one data set, start to finish: what a result line says is measured here."""

from __future__ import annotations

import importlib.metadata
import platform
import resource
import sys
import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from experiments import datasets, methods
from experiments.baselines import Detector, Representation
from experiments.baselines.ensemble import sample_rows
from experiments.machine import describe_machine
from experiments.metrics import detection_metrics
from rdplearn.evaluation import classification_score, clustering_scores

_PACKAGES = {
    "rdplearn": "rdplearn", "numpy": "numpy", "scipy": "scipy", "sklearn": "scikit-learn", "numba": "numba",
    "torch": "torch", "pyod": "pyod", "gensim": "gensim", "umap": "umap-learn",
    "isotree": "isotree",
}  # fmt: skip
_REPEAT_SECONDS, _MOST_REPEATS = 2.0, 5  # what is timed is repeated until it took this long, or so often


def evaluate(task: str, method: str, config: dict[str, Any], data: str, seed: int) -> dict[str, Any]:
    """Fit, apply, compare with the labels. `config` holds the evaluation's own options under `evaluation`."""
    start = time.process_time()
    options = dict(config)
    settings = options.pop("evaluation", {})
    loaded = datasets.load(data)
    rows, labels = loaded.rows, loaded.labels
    if methods.METHODS[method].reads == "texts":
        rows = datasets.load_texts(data)
    elif max_rows := settings.get("max_rows"):
        rows, labels = _shortened(rows, labels, max_rows)
    if settings.get("scaling") == "standard":
        rows = StandardScaler(with_mean=not sp.issparse(rows)).fit_transform(rows)
    model = methods.make(method, seed=seed, **options)
    measure = {"detection": _detect, "clustering": _cluster, "classification": _classify, "runtime": _time}[task]
    measured = measure(model, rows, labels, seed, settings)
    return {
        "task": task,
        "method": method,
        "config": config,
        "data": data,
        "seed": seed,
        "data_sha256": loaded.sha256,
        "n_rows": len(labels),
        "status": "done",
        **measured,
        "cpu_seconds": round(time.process_time() - start, 3),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        "versions": versions(),
        "machine": describe_machine(),
    }


def versions() -> dict[str, str]:
    """Give the versions of Python and of the packages that took part."""
    used = {distribution for module, distribution in _PACKAGES.items() if module in sys.modules}
    found = {"python": platform.python_version()}
    for distribution in sorted(used):
        try:
            found[distribution] = importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            found[distribution] = getattr(sys.modules[distribution], "__version__", "not installed")
    return found


def _detect(model: Detector, rows: Any, labels: np.ndarray, _seed: int, _settings: dict[str, Any]) -> dict[str, Any]:
    start = time.process_time()
    _, fit_seconds = _timed(model.fit, rows)
    scores, apply_seconds = _timed(model.score, rows)
    work_cpu_seconds = round(time.process_time() - start, 3)
    chosen = {"chosen": model.chosen()} if hasattr(model, "chosen") else {}
    spread = {}
    for part in ("member", "round", "last_rounds"):
        if hasattr(model, f"{part}_scores"):
            every = [detection_metrics(labels, one) for one in getattr(model, f"{part}_scores")(rows)]
            spread[part] = {name: [round(metrics[name], 5) for metrics in every] for name in every[0]}
    return {
        "n_anomalies": int(labels.sum()),
        "metrics": detection_metrics(labels, scores),
        "spread": spread,
        **chosen,
        "fit_seconds": fit_seconds,
        "apply_seconds": apply_seconds,
        "work_cpu_seconds": work_cpu_seconds,
    }


def _learn(model: Representation, rows: Any) -> tuple[Any, dict[str, float]]:
    """Fit and transform, timed. Here the method's work ends, and with it its time limit: judging it has no limit."""
    _, fit_seconds = _timed(model.fit, rows)
    features, apply_seconds = _timed(model.transform, rows)
    _, hard_limit = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (hard_limit, hard_limit))
    return features, {"fit_seconds": fit_seconds, "apply_seconds": apply_seconds}


def _cluster(
    model: Representation, rows: Any, labels: np.ndarray, seed: int, settings: dict[str, Any]
) -> dict[str, Any]:
    features, seconds = _learn(model, rows)
    n_clusters = len(np.unique(labels))
    seeds = np.random.SeedSequence(seed).generate_state(settings.get("n_kmeans", 30))
    every = [
        clustering_scores(labels, KMeans(n_clusters, n_init=1, random_state=int(one)).fit(features).labels_)
        for one in seeds
    ]
    columns = {name: [metrics[name] for metrics in every] for name in every[0]}
    return {
        "metrics": {name: float(np.mean(values)) for name, values in columns.items()},
        "spread": {"kmeans": {name: [round(value, 5) for value in values] for name, values in columns.items()}},
        **seconds,
    }


def _classify(
    model: Representation, rows: Any, labels: np.ndarray, seed: int, settings: dict[str, Any]
) -> dict[str, Any]:
    """Classify features with a three-layer network (input, hidden, output)."""
    features, seconds = _learn(model, rows)
    score = classification_score(features, labels, test_share=settings["test_share"], random_state=seed)
    return {
        "metrics": {"f_score": score},
        "spread": {},
        **seconds,
    }


def _time(model: Any, rows: Any, _labels: np.ndarray, _seed: int, _settings: dict[str, Any]) -> dict[str, Any]:
    """Measure the processor time to apply a fitted method to all rows: the median of up to five repeats.

    A method that embeds only the rows that it was fitted to has its fit counted: there is nothing else to apply.
    """
    start = time.process_time()
    _, fit_seconds = _timed(model.fit, rows)
    taken = [time.process_time() - start]
    if not getattr(model, "embeds_while_fitted", False):
        apply, taken = model.score if hasattr(model, "score") else model.transform, []
        while not taken or (sum(taken) < _REPEAT_SECONDS and len(taken) < _MOST_REPEATS):
            start = time.process_time()
            apply(rows)
            taken.append(time.process_time() - start)
    return {
        "metrics": {"apply_cpu_seconds": float(np.median(taken))},
        "spread": {"repeat": {"apply_cpu_seconds": [round(value, 5) for value in taken]}},
        "fit_seconds": fit_seconds,
        "apply_seconds": round(sum(taken), 3),
    }


def _shortened(rows: Any, labels: np.ndarray, max_rows: int) -> tuple[Any, np.ndarray]:
    kept = sample_rows(np.arange(len(labels))[:, None], max_rows, seed=0)[:, 0]
    return rows[kept], labels[kept]


def _timed(function: Any, argument: Any) -> tuple[Any, float]:
    start = time.perf_counter()
    result = function(argument)
    return result, round(time.perf_counter() - start, 3)
