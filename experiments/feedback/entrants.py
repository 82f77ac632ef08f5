"""Who is asked: methods that rank the rows of a table, and change the ranking, or not, after each answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

import rdplearn


class Entrant(Protocol):
    """A method that has seen the rows of a table, without labels."""

    def scores(self) -> np.ndarray:
        """How anomalous each row is, given the answers so far."""

    def tell(self, place: int, *, is_anomalous: bool) -> None:
        """Take an answer about a row."""


class Unmoved:
    """Scores that no answer changes."""

    def __init__(self, scores: np.ndarray) -> None:
        self._scores = scores

    def scores(self) -> np.ndarray:
        return self._scores

    def tell(self, place: int, *, is_anomalous: bool) -> None:
        """No answer reaches it."""


class Answered:
    """`rdplearn.review`."""

    def __init__(self, rows: np.ndarray, seed: int) -> None:
        self._asking = rdplearn.review(_detector(rows, seed)).asking(rows)

    def scores(self) -> np.ndarray:
        return self._asking.scores()

    def tell(self, place: int, *, is_anomalous: bool) -> None:
        self._asking.tell([place], "anomalous" if is_anomalous else "normal")


class Forest:
    """A forest of coniferest, which is weighted or pruned anew after each answer."""

    def __init__(self, forest: Any, rows: np.ndarray) -> None:
        self._forest, self._rows = forest, np.ascontiguousarray(rows)
        self._places: list[int] = []
        self._labels: list[int] = []
        self._forest.fit(self._rows)

    def scores(self) -> np.ndarray:
        return -self._forest.score_samples(self._rows)

    def tell(self, place: int, *, is_anomalous: bool) -> None:
        self._places.append(place)
        self._labels.append(-1 if is_anomalous else 1)
        self._forest.fit_known(self._rows, self._rows[self._places], np.array(self._labels))


class Boosted:
    """XGBoost on the answers alone; until there are answers of both kinds, RDP's order."""

    EACH = 5  # after the first 60 answers it is trained on every fifth

    def __init__(self, rows: np.ndarray, seed: int) -> None:
        self._rows, self._seed = rows, seed
        self._scores = _unmoved_scores(rows, seed)
        self._places: list[int] = []
        self._labels: list[int] = []

    def scores(self) -> np.ndarray:
        return self._scores

    def tell(self, place: int, *, is_anomalous: bool) -> None:
        self._places.append(place)
        self._labels.append(int(is_anomalous))
        n_answers = len(self._labels)
        if len(set(self._labels)) == 2 and (n_answers <= 60 or n_answers % self.EACH == 0):
            from xgboost import XGBClassifier

            boosted = XGBClassifier(n_estimators=50, max_depth=4, random_state=self._seed, n_jobs=1)
            boosted.fit(self._rows[self._places], np.array(self._labels))
            self._scores = boosted.predict_proba(self._rows)[:, 1]


def aad_forest(rows: np.ndarray, seed: int) -> Entrant:
    """Active anomaly discovery: leaves are weighted by the answers."""
    from coniferest.aadforest import AADForest

    return Forest(AADForest(random_seed=seed, n_jobs=1), rows)


def pine_forest(rows: np.ndarray, seed: int) -> Entrant:
    """Trees that contradict the answers are dropped."""
    from coniferest.pineforest import PineForest

    return Forest(PineForest(random_seed=seed, n_jobs=1), rows)


def isolation_forest(rows: np.ndarray, seed: int) -> Entrant:
    """scikit-learn's, without feedback."""
    from sklearn.ensemble import IsolationForest

    return Unmoved(-IsolationForest(random_state=seed).fit(rows).score_samples(rows))


def rdp(rows: np.ndarray, seed: int) -> Entrant:
    """Our default, without feedback."""
    return Unmoved(_unmoved_scores(rows, seed))


def _unmoved_scores(rows: np.ndarray, seed: int) -> np.ndarray:
    return -_detector(rows, seed).score_samples(rows)


def _detector(rows: np.ndarray, seed: int) -> rdplearn.RDPDetector:
    return rdplearn.RDPDetector(random_state=seed, n_jobs=1).fit(rows)


ENTRANTS: dict[str, Callable[[np.ndarray, int], Entrant]] = {
    "RDP": rdp,
    "RDP, answered": Answered,
    "IsolationForest": isolation_forest,
    "AADForest": aad_forest,
    "PineForest": pine_forest,
    "XGBoost": Boosted,
}
