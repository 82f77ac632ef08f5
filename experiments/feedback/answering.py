"""The game: the highest row that was not asked about is asked about, answered, rightly or not, and so on."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from experiments import datasets
from experiments.feedback.entrants import ENTRANTS, Entrant

MOST_ROWS, N_ANSWERS = 2_000, 200
COUNTED_AT, JUDGED_AT = (20, 60, 200), 60
FEWEST_ANOMALIES, LARGEST_SHARE = 10, 0.15


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The rows and labels of a set; of a larger one 2,000 rows, drawn once, without looking at labels."""
    with np.load(datasets.data_folder() / f"{name}.npz") as archive:
        rows, labels = archive["X"].astype(np.float64), archive["y"].astype(bool)
    if len(rows) > MOST_ROWS:
        kept = np.sort(np.random.default_rng(0).choice(len(rows), MOST_ROWS, replace=False))
        rows, labels = rows[kept], labels[kept]
    return rows, labels


def n_answers_of(line: dict[str, Any]) -> int:
    """How many answers a line is of; the first lines, of 200, do not say."""
    return int(line.get("n_answers", N_ANSWERS))


def is_fit(labels: np.ndarray) -> bool:
    """Whether a set has enough anomalies to be found, and few enough to be anomalies."""
    return bool(labels.sum() >= FEWEST_ANOMALIES and labels.mean() <= LARGEST_SHARE)


def play(
    entrant: Entrant, labels: np.ndarray, *, wrong: float, seed: int, n_answers: int = N_ANSWERS
) -> dict[str, Any]:
    """Ask, answer, count. wrong : the share of rows about which the answer is wrong, whenever it is asked."""
    is_wrong = np.random.default_rng([seed, 77]).random(len(labels)) < wrong
    is_open = np.ones(len(labels), dtype=bool)
    first = scores = np.asarray(entrant.scores(), dtype=float)
    found: list[int] = []
    judged: dict[str, float | None] = {}
    for _ in range(min(n_answers, len(labels))):
        place = int(np.argmax(np.where(is_open, scores, -np.inf)))
        is_open[place] = False
        found.append(int(labels[place]))
        entrant.tell(place, is_anomalous=bool(labels[place] ^ is_wrong[place]))
        scores = np.asarray(entrant.scores(), dtype=float)
        if len(found) == JUDGED_AT:
            judged = agreement(labels[is_open], scores[is_open], "") | agreement(
                labels[is_open], first[is_open], "_unanswered"
            )
    curve = np.cumsum(found)
    best = np.minimum(np.arange(1, len(curve) + 1), labels.sum())
    counts = {f"found_{count}": int(curve[min(count, len(curve)) - 1]) for count in COUNTED_AT if count <= n_answers}
    area = {"area": float(np.mean(curve / best))} if n_answers == N_ANSWERS else {}
    return {**counts, **area, **judged}


def agreement(labels: np.ndarray, scores: np.ndarray, name: str) -> dict[str, float | None]:
    """AUC-ROC and AUC-PR on rows that were not asked about; None if no anomaly is left."""
    if not labels.any() or labels.all():
        return {f"auc_roc{name}": None, f"auc_pr{name}": None}
    return {
        f"auc_roc{name}": float(roc_auc_score(labels, scores)),
        f"auc_pr{name}": float(average_precision_score(labels, scores)),
    }


def measure(method: str, data: str, wrong: float, seed: int, n_answers: int = N_ANSWERS) -> dict[str, Any]:
    """The result line of one method on one set."""
    rows, labels = load(data)
    started = time.process_time()
    figures = play(ENTRANTS[method](rows, seed), labels, wrong=wrong, seed=seed, n_answers=n_answers)
    return {
        "method": method,
        "data": data,
        "wrong": wrong,
        "seed": seed,
        "n_answers": n_answers,
        "n_rows": len(labels),
        "n_anomalies": int(labels.sum()),
        "cpu_seconds": round(time.process_time() - started, 3),
        **{name: figure if figure is None else round(figure, 5) for name, figure in figures.items()},
    }
