"""From result lines to arrays: what each entrant reached on each set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from experiments import datasets, results
from experiments.study import plan
from experiments.study.entrants import Entrant

METRICS = {"auc_roc": "AUC-ROC", "auc_pr": "AUC-PR"}
Line = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """What entrants reached, and what it took; nan where a set has no line yet.

    values : (n_entrants, n_sets, n_metrics), means over seeds; a run that did not finish counts as chance
    spread : (n_entrants, n_sets, n_metrics), standard deviation over seeds, see `deviation`; nan for one seed
    cpu_seconds : (n_entrants, n_sets), of fit and score, nan where a run did not finish
    n_unfinished : (n_entrants,), sets on which the first seed needed more than the time limit or the memory
    """

    labels: list[str]
    sets: list[str]
    values: np.ndarray
    spread: np.ndarray
    cpu_seconds: np.ndarray
    n_unfinished: np.ndarray

    def place(self, label: str) -> int:
        """Give the index of an entrant."""
        return self.labels.index(label)

    def of(self, label: str) -> np.ndarray:
        """Give the values of an entrant: (n_sets, n_metrics)."""
        return self.values[self.place(label)]

    def is_done(self, label: str) -> np.ndarray:
        """Mark the sets that an entrant has a value on."""
        return ~np.isnan(self.of(label)[:, 0])

    def where(self, mask: Iterable[bool]) -> Table:
        """The same for some of the sets."""
        kept = np.flatnonzero(list(mask))
        return Table(
            self.labels,
            [self.sets[place] for place in kept],
            self.values[:, kept],
            self.spread[:, kept],
            self.cpu_seconds[:, kept],
            self.n_unfinished,
        )


def table(
    entrants: Sequence[Entrant], records: Iterable[Line], sets: list[str], seeds: Sequence[int] | None = None
) -> Table:
    """Put together what entrants reached on sets, with the seeds that all sets of an entrant have.

    seeds : those to look at; by default all of an entrant's. A set of the gallery has one seed, its own.
    """
    by_key = {results.key_of(record): record for record in records}
    chance = {r["data"]: r["n_anomalies"] / r["n_rows"] for r in by_key.values() if r["status"] == "done"}
    values, spreads, seconds, unfinished = [], [], [], []
    for entrant in entrants:
        lines = [[by_key.get(key) for key in keys] for keys in _keys(entrant, sets, seeds)]
        lines = [row for place, row in enumerate(lines) if place == 0 or all(row)]
        metrics = np.array([[_metrics(line, chance) for line in row] for row in lines])
        values.append(metrics.mean(axis=0))
        spreads.append(deviation(metrics) if len(lines) > 1 else np.full(metrics.shape[1:], np.nan))
        seconds.append(np.mean([[_seconds(line) for line in row] for row in lines], axis=0))
        unfinished.append(sum(line is not None and line["status"] != "done" for line in lines[0]))
    labels = [entrant.label for entrant in entrants]
    return Table(labels, sets, np.array(values), np.array(spreads), np.array(seconds), np.array(unfinished))


def _keys(entrant: Entrant, sets: list[str], seeds: Sequence[int] | None) -> list[list[str]]:
    if all(plan.source_of(name) == "gallery" for name in sets):
        return [[run.key for run in plan.plan_gallery([entrant], sets)]]
    wanted = range(entrant.n_seeds) if seeds is None else seeds
    return [[plan.run_of(entrant, name, seed).key for name in sets] for seed in wanted]


def _metrics(line: Line | None, shares: dict[str, float]) -> list[float]:
    if line is None:
        return [np.nan for _ in METRICS]
    by_chance = {"auc_roc": 0.5, "auc_pr": shares.get(line["data"], np.nan)}
    return [{**by_chance, **line["metrics"]}[metric] for metric in METRICS]


def _seconds(line: Line | None) -> float:
    """Processor time; lines that do not name their machine are of another one, and their times of no use here."""
    return np.nan if line is None or "machine" not in line else line.get("work_cpu_seconds", np.nan)


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


NARROW, MIDDLE = 7, 40  # columns


def groups(sets: list[str]) -> dict[str, np.ndarray]:
    """Part sets by source, by columns and by rows; each group is a mask over the sets.

    Examples
    --------
    >>> [name for name, mask in groups(["secom", "lung"]).items() if mask.any()]
    ['all', "the paper's", 'over 40 columns', 'up to 1,000 rows', '1,001 to 4,999 rows']
    """
    source = np.array([plan.source_of(name) for name in sets])
    rows, columns = np.array([datasets.shape(name) for name in sets]).T
    middle = (columns > NARROW) & (columns <= MIDDLE)
    classical = np.isin(source, ["adbench", "paper"])
    return {
        "all": np.full(len(sets), True),
        "OddBench": source == "oddbench",
        "OvRBench": source == "ovrbench",
        "ADBench": source == "adbench",
        "the paper's": source == "paper",
        f"up to {NARROW} columns": columns <= NARROW,
        f"{NARROW + 1} to {MIDDLE} columns": middle,
        f"{NARROW + 1} to {MIDDLE} columns, ADBench and the paper's": middle & classical,
        f"over {MIDDLE} columns": columns > MIDDLE,
        "up to 1,000 rows": rows <= 1_000,
        "1,001 to 4,999 rows": (rows > 1_000) & (rows < 5_000),
        "5,000 rows, or that many drawn": rows >= 5_000,
    }
