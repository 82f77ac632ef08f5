"""One line of the study: a method on a table with one kind of planted error, or on the table as it is."""

from __future__ import annotations

import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.metrics import detection_metrics
from experiments.mixed import repair
from experiments.mixed.planting import Planting
from experiments.mixed.rivals import RIVALS
from rdplearn import RDPDetector, TableError, TableModel

OURS = "rdplearn"
METHODS = (OURS, *RIVALS)
TOP_NAMED, TOP_SHARED, N_REPAIRED, N_RANDOM = 0.02, 0.01, 20, 30
NEARLY = 0.9  # of the most that a repair can do
WORTH, WORTH_TOGETHER = 0.05, 0.2  # of a row's score: what a repair of one cell, or of two, must take off


class OurModel:
    """`rdplearn` on a table of texts, read from a file as a user's would be."""

    def __init__(self, frame: pd.DataFrame, seed: int) -> None:
        self._model = TableModel(RDPDetector(random_state=seed))
        self._read(self._model.fit, frame)

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Anomaly scores."""
        return -np.asarray(self._read(self._model.score_samples, frame))

    def reported(self, frame: pd.DataFrame) -> np.ndarray:
        """Whether each row is beyond the threshold."""
        return np.asarray(self._read(self._model.predict, frame)) == -1

    def first_reasons(self, frame: pd.DataFrame, rows: np.ndarray, n_first: int = 1) -> list[list[str]]:
        """For each of some rows, the columns that `explain` puts first."""
        explanation = self._read(lambda path: self._model.explain(path, rows=rows.tolist()), frame)
        places = np.argsort(-explanation.contributions, axis=1, kind="stable")[:, :n_first]
        return [[explanation.column_names[place] for place in first] for first in places]

    @staticmethod
    def _read(function: Any, frame: pd.DataFrame) -> Any:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what it says about a table is no part of the measurement
            path = Path(folder) / "table.csv"
            frame.to_csv(path, index=False)
            return function(str(path))


def measure_planted(method: str, planting: Planting, seed: int) -> dict[str, Any]:
    """How well the planted rows are found, and whether ours names the planted column."""
    start = time.process_time()
    labels = planting.is_planted.astype(int)
    if method != OURS:
        scores, named = RIVALS[method](planting.frame, seed), {}
    else:
        try:
            model = OurModel(planting.frame, seed)
        except TableError as problem:
            return {"status": "refused", "reason": str(problem)}
        scores = model.score(planting.frame)
        named = {"named": _named(model, planting, scores), "reported": _reported(model, planting)}
    seconds = round(time.process_time() - start, 3)
    return {"status": "done", "metrics": detection_metrics(labels, scores), **named, "cpu_seconds": seconds}


def _named(model: OurModel, planting: Planting, scores: np.ndarray) -> dict[str, int]:
    """Of the planted rows in the top 2 %, how many have the planted column as their first reason."""
    changed = dict(zip(np.flatnonzero(planting.is_planted).tolist(), planting.columns, strict=True))
    rows = np.array([row for row in top(scores, TOP_NAMED) if row in changed], dtype=int)
    reasons = model.first_reasons(planting.frame, rows) if len(rows) else []
    first = [reason in changed[row] for row, (reason,) in zip(rows.tolist(), reasons, strict=True)]
    return {"in_top": len(rows), "first": sum(first)}


def _reported(model: OurModel, planting: Planting) -> dict[str, float]:
    """What share of the planted rows is reported, and of all others."""
    is_reported = model.reported(planting.frame)
    parts = {"planted": planting.is_planted, "others": ~planting.is_planted}
    return {name: float(is_reported[rows].mean()) for name, rows in parts.items()}


def measure_as_it_is(method: str, frame: pd.DataFrame, seed: int) -> dict[str, Any]:
    """What two seeds agree on; for ours, what is reported, and whether `explain` agrees with brute-force repair."""
    start = time.process_time()
    if method != OURS:
        one, other = (RIVALS[method](frame, seed + more) for more in (0, 1))
        ours: dict[str, Any] = {}
    else:
        try:
            model = OurModel(frame, seed)
        except TableError as problem:
            return {"status": "refused", "reason": str(problem)}
        one, other = model.score(frame), OurModel(frame, seed + 1).score(frame)
        ours = {"reported": float(model.reported(frame).mean())}
        for name, n_random in {"repair": 0, "repair_by_more": N_RANDOM}.items():
            ours[name] = _against_repair(model, frame, one, n_random)
    seconds = round(time.process_time() - start, 3)
    return {"status": "done", "overlap": overlap(one, other), **ours, "cpu_seconds": seconds}


def _against_repair(model: OurModel, frame: pd.DataFrame, scores: np.ndarray, n_random: int) -> dict[str, int]:
    """Of the top rows, how many have as their first reason the column whose repair does most, or nearly that.

    "worth" counts the rows of which some repair takes off a twentieth. In the others the repair of two cells is tried:
    "pairs" counts those of which that takes off a fifth, and "pairs_first" those whose first two columns nearly do so.
    """
    rows = np.argsort(-scores, kind="stable")[:N_REPAIRED]
    lowered = repair.drops(frame, rows, model.score, n_random)
    reasons = model.first_reasons(frame, rows, 2)
    gains = np.array([lowered.at[row, first[0]] for row, first in zip(rows, reasons, strict=True)])
    most = lowered.max(axis=1).to_numpy()
    helps = most > 0.0  # where no repair of one cell lowers the score, there is nothing to agree on
    same, nearly = (int(np.sum(gains[helps] >= share * most[helps])) for share in (1.0, NEARLY))
    worth = most >= WORTH * scores[rows]
    counts = {"worth": int(worth.sum()), "worth_same": int(np.sum(gains[worth] >= most[worth]))}
    if n_random == 0:
        others = np.flatnonzero(~worth)
        counts |= _against_pairs(model, frame, scores, rows[others], [reasons[place] for place in others])
    return {"rows": int(helps.sum()), "same": same, "nearly": nearly, **counts}


def _against_pairs(
    model: OurModel, frame: pd.DataFrame, scores: np.ndarray, rows: np.ndarray, reasons: list[list[str]]
) -> dict[str, int]:
    """Of rows that no repair of one cell helps, how many the repair of two does, and explain's first two are those."""
    n_pairs = n_first = 0
    for row, first in zip(rows, reasons, strict=True):
        lowered = repair.pair_drops(frame, int(row), model.score)
        most = max(lowered.values())
        if most >= WORTH_TOGETHER * scores[row]:
            n_pairs += 1
            n_first += int(lowered[frozenset(first)] >= NEARLY * most)
    return {"pairs": n_pairs, "pairs_first": n_first}


def top(scores: np.ndarray, share: float) -> list[int]:
    """Give the places of the highest scores, the highest first."""
    return np.argsort(-scores, kind="stable")[: int(np.ceil(share * len(scores)))].tolist()


def overlap(one: np.ndarray, other: np.ndarray) -> float:
    """What share of the top 1 % two rankings have in common.

    Examples
    --------
    >>> overlap(np.arange(200.0), -np.arange(200.0))
    0.0
    """
    both = set(top(one, TOP_SHARED)) & set(top(other, TOP_SHARED))
    return len(both) / len(top(one, TOP_SHARED))
