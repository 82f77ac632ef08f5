"""From result lines to arrays: what each entrant reached on each set."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from experiments import results
from experiments.study import plan
from experiments.study.entrants import Entrant

METRICS = {"auc_roc": "AUC-ROC", "auc_pr": "AUC-PR"}
FIGURES = {"view_agreement": "agreement of views", "stability": "stability of the top"}


@dataclass(frozen=True)
class Table:
    """What entrants reached, and what it took.

    values : (n_entrants, n_sets, n_metrics), means over seeds; a run that did not finish counts as chance
    spread : (n_entrants, n_sets, n_metrics), standard deviation over seeds, see `deviation`; nan for one seed
    cpu_seconds : (n_entrants, n_sets), of fit and score, nan where a run did not finish
    trust : label-free figure -> (n_entrants, n_sets), nan where there is none
    """

    entrants: list[Entrant]
    sets: list[str]
    values: np.ndarray
    spread: np.ndarray
    cpu_seconds: np.ndarray
    trust: dict[str, np.ndarray]
    n_unfinished: np.ndarray

    def place(self, label: str) -> int:
        """Give the index of an entrant."""
        return [entrant.label for entrant in self.entrants].index(label)

    def of(self, label: str) -> np.ndarray:
        """Give the values of an entrant: (n_sets, n_metrics)."""
        return self.values[self.place(label)]

    def has(self, label: str) -> bool:
        """Tell whether an entrant has results."""
        return label in [entrant.label for entrant in self.entrants]

    def where(self, group: str | None) -> np.ndarray:
        """Mark the sets of a group; all of them for None."""
        return np.array([group is None or plan.group_of(name) == group for name in self.sets])


def table(entrants: Iterable[Entrant], records: Iterable[dict[str, Any]]) -> Table:
    """Put together the entrants that have a result on every set, with the seeds that all of their sets have."""
    by_key = {results.key_of(record): record for record in records}
    sets = plan.development_sets()
    shares = _anomaly_shares(by_key.values())
    complete, cells = [], []
    for entrant in entrants:
        rows = [[by_key.get(plan.run_of(entrant, name, seed).key) for name in sets] for seed in range(entrant.n_seeds)]
        whole = [row for row in rows if all(row)]
        if whole:
            complete.append(entrant)
            cells.append(whole)
    return Table(
        complete,
        sets,
        np.array([_mean(whole, sets, shares) for whole in cells]),
        np.array([_spread(whole, sets, shares) for whole in cells]),
        np.array([_means(whole, lambda record: record.get("work_cpu_seconds")) for whole in cells]),
        {figure: np.array([_means(whole, _trust_in(figure)) for whole in cells]) for figure in FIGURES},
        np.array([sum(record["status"] != "done" for record in whole[0]) for whole in cells]),
    )


def _anomaly_shares(records: Iterable[dict[str, Any]]) -> dict[str, float]:
    return {r["data"]: r["n_anomalies"] / r["n_rows"] for r in records if r["status"] == "done"}


def _metrics(whole: list[list[dict[str, Any]]], sets: list[str], shares: dict[str, float]) -> np.ndarray:
    """(n_seeds, n_sets, n_metrics)."""
    chance = {name: {"auc_roc": 0.5, "auc_pr": shares[name]} for name in sets}
    return np.array(
        [
            [
                [{**chance[name], **record["metrics"]}[m] for m in METRICS]
                for name, record in zip(sets, row, strict=True)
            ]
            for row in whole
        ]
    )


def _mean(whole: list[list[dict[str, Any]]], sets: list[str], shares: dict[str, float]) -> np.ndarray:
    return _metrics(whole, sets, shares).mean(axis=0)


def _spread(whole: list[list[dict[str, Any]]], sets: list[str], shares: dict[str, float]) -> np.ndarray:
    values = _metrics(whole, sets, shares)
    return deviation(values) if len(values) > 1 else np.full(values.shape[1:], np.nan)


def deviation(values: np.ndarray) -> np.ndarray:
    """Give the standard deviation over the first axis, so that few seeds and many can be compared.

    Of few normal numbers the usual estimate is too small on average, by a factor that is known.

    Examples
    --------
    >>> three_seeds = np.random.default_rng(0).normal(size=(3, 10_000))
    >>> bool(abs(deviation(three_seeds).mean() - 1) < 0.01)
    True
    """
    n = len(values)
    expected = np.sqrt(2 / (n - 1)) * np.exp(gammaln(n / 2) - gammaln((n - 1) / 2))
    return values.std(axis=0, ddof=1) / expected


def _trust_in(figure: str) -> Callable[[dict[str, Any]], float | None]:
    return lambda record: record.get("trust", {}).get(figure)


def _means(whole: list[list[dict[str, Any]]], value_of: Callable[[dict[str, Any]], float | None]) -> np.ndarray:
    """Mean over seeds, for each set; nan where a value is missing."""
    return np.array([[_number(value_of(record)) for record in row] for row in whole]).mean(axis=0)


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)
