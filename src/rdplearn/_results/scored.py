"""Rows with their scores, batch by batch: as they are written, the highest of them, and how they agree with labels.

Labels are looked at here and nowhere else, after the scores are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rdplearn._results.batches import RowsWithResults, numbered_results
from rdplearn._results.formats import ROW, as_json_rows, as_simple_column
from rdplearn._results.labels import read_labels
from rdplearn._types import Doubles, Ints
from rdplearn.errors import TableError
from rdplearn.table import Table
from rdplearn.table.wording import shown
from rdplearn.table_model import REPORTED, SCORE, TableModel, anomaly_scores_of


@dataclass(frozen=True)
class ScoredRows(RowsWithResults):
    """Rows with their scores, and whether each is reported."""

    scores: npt.NDArray[np.float64]
    reported: npt.NDArray[np.bool_]

    def columns(self) -> Mapping[str, npt.NDArray[Any]]:
        """Score, and whether reported."""
        return {SCORE: self.scores, REPORTED: self.reported}

    def tally(self) -> list[int]:
        """How many rows are reported."""
        return [int(self.reported.sum())]


def scored_rows(model: TableModel, table: Table, *, skip_rows: int = 0) -> Iterator[ScoredRows]:
    """Score a table of any size with a detector; batches are the same on every pass."""
    for rows, first_row, normality in numbered_results(model, table, model.estimator.score_samples, skip_rows):
        yield ScoredRows(rows, first_row, anomaly_scores_of(normality), normality < model.estimator.offset_)


class TopRows:
    """Keeps the rows with the highest scores; of equal ones the first.

    Parameters
    ----------
    columns : which are kept of the rows

    Attributes
    ----------
    rows : Arrow table, the highest score first; None as long as there are no rows
    numbers, scores, reported : of the same rows; numbers are counted from 1

    Examples
    --------
    >>> top = TopRows(1, ["age"])
    >>> scores = np.array([0.1, 0.9])
    >>> top.add(ScoredRows(pa.record_batch({"age": [31, 257]}), 1, scores, scores > 0.5))
    >>> top.as_dicts()
    [{'row': 2, 'age': 257, 'anomaly_score': 0.9, 'anomalous': True}]
    """

    def __init__(self, n_rows: int, columns: Sequence[str]) -> None:
        self.n_rows, self.columns = n_rows, list(columns)
        self.rows: pa.Table | None = None
        self.numbers = np.empty(0, dtype=np.int64)
        self.scores, self.reported = np.empty(0), np.empty(0, dtype=bool)

    def add(self, scored: ScoredRows) -> None:
        """Take in the next rows."""
        # once there are enough, only higher scores matter
        beaten_at = self.scores[-1] if len(self.scores) == self.n_rows else -np.inf
        candidates = np.flatnonzero(scored.scores > beaten_at)
        highest = candidates[np.argsort(-scored.scores[candidates], kind="stable")[: self.n_rows]]
        if len(highest):
            few = pa.Table.from_batches([scored.rows.select(self.columns).take(pa.array(highest))])
            self._take_in(few, scored.first_row + highest, scored.scores[highest], scored.reported[highest])

    def merge(self, later: TopRows) -> None:
        """Take in what was kept of rows that follow."""
        if later.rows is not None:
            self._take_in(later.rows, later.numbers, later.scores, later.reported)

    def _take_in(self, rows: pa.Table, numbers: Ints, scores: Doubles, reported: npt.NDArray[np.bool_]) -> None:
        joined = rows if self.rows is None else pa.concat_tables([self.rows, rows], promote_options="permissive")
        scores = np.concatenate([self.scores, scores])
        order = np.argsort(-scores, kind="stable")[: self.n_rows]
        self.rows, self.scores = joined.take(pa.array(order)), scores[order]
        self.numbers = np.concatenate([self.numbers, numbers])[order]
        self.reported = np.concatenate([self.reported, reported])[order]

    def as_dicts(self) -> list[dict[str, Any]]:
        """The rows, the highest score first; a column that bears the name of one of ours is left out."""
        if self.rows is None:
            return []
        columns = {
            name: as_simple_column(self.rows.column(name).combine_chunks())
            for name in self.columns
            if name not in (ROW, SCORE, REPORTED)
        }
        return as_json_rows(pa.table({ROW: self.numbers, **columns, SCORE: self.scores, REPORTED: self.reported}))


class AllScores:
    """Keeps the scores of all rows, 8 bytes for each, so that ranks can be told."""

    def __init__(self) -> None:
        self._scores: list[Doubles] = []

    def add(self, scored: ScoredRows) -> None:
        """Take in the next rows."""
        self._scores.append(scored.scores)

    def scores(self) -> Doubles:
        """In the order of the table."""
        return np.concatenate([np.empty(0), *self._scores])


class MutedRows:
    """Counts the rows that muting rules have put down to the threshold: no other row has exactly this score."""

    def __init__(self, threshold: float) -> None:
        self.threshold, self.n_rows = threshold, 0

    def add(self, scored: ScoredRows) -> None:
        """Take in the next rows."""
        self.n_rows += int(np.sum(scored.scores == self.threshold))

    def merge(self, later: MutedRows) -> None:
        """Take in what was counted of rows that follow."""
        self.n_rows += later.n_rows


class Evaluation:
    """Compares scores with a column of labels: 1, yes or true for an anomaly; 0, no or false; empty where unknown.

    Exact figures need all scores: 9 bytes of memory for each labelled row.
    """

    def __init__(self, label: str, table: str) -> None:
        self.label, self.table = label, table
        self._scores: list[npt.NDArray[np.float64]] = []
        self._labels: list[npt.NDArray[np.bool_]] = []

    def add(self, scored: ScoredRows) -> None:
        """Take in the next rows."""
        labels, known = read_labels(scored.rows.column(self.label), self.label, self.table, scored.first_row)
        self._scores.append(scored.scores[known])
        self._labels.append(labels[known])

    def merge(self, later: Evaluation) -> None:
        """Take in what was seen of rows that follow."""
        self._scores += later._scores
        self._labels += later._labels

    def labelled(self) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
        """The labels and the scores of all rows that have a label."""
        return np.concatenate([np.empty(0, bool), *self._labels]), np.concatenate([np.empty(0), *self._scores])

    def figures(self) -> dict[str, float]:
        """AUC-ROC and AUC-PR (average precision), with the numbers of rows that they rest on."""
        from sklearn.metrics import average_precision_score, roc_auc_score

        labels, scores = self.labelled()
        if len(labels) == 0 or labels.all() or not labels.any():
            raise TableError(
                f"Column {shown(self.label)} of {self.table} must have both anomalies (1, yes, true) and normal rows "
                f"(0, no, false) to compare with. Got {int(labels.sum())} and {int((~labels).sum())}."
            )
        return {
            "n_labelled": len(labels),
            "n_anomalies": int(labels.sum()),
            "auc_roc": float(roc_auc_score(labels, scores)),
            "auc_pr": float(average_precision_score(labels, scores)),
        }
