"""Rows with their scores, batch by batch: as they are written, the highest of them, and how they agree with labels.

Labels are looked at here and nowhere else, after the scores are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rdplearn.errors import TableError
from rdplearn.frame_scores import REPORTED, SCORE
from rdplearn.result_formats import as_json_rows, as_simple_column
from rdplearn.table import Table, TextRules
from rdplearn.table.cells import FALSE_WORDS, TRUE_WORDS, clean_cells, words_of
from rdplearn.table.wording import shown
from rdplearn.table_model import TableModel

if TYPE_CHECKING:
    import pyarrow as pa

ROW = "row"


@dataclass(frozen=True)
class ScoredRows:
    """A batch of rows, the number of the first (from 1), and for each its score and whether it is reported."""

    rows: pa.RecordBatch
    first_row: int
    scores: npt.NDArray[np.float64]
    reported: npt.NDArray[np.bool_]

    def result(self, carried: Sequence[str]) -> pa.RecordBatch:
        """The rows as they are written: number, carried columns, score, whether reported."""
        import pyarrow as pa

        numbers = np.arange(self.first_row, self.first_row + len(self.scores), dtype=np.int64)
        columns = {name: as_simple_column(self.rows.column(name)) for name in carried}
        return pa.record_batch({ROW: numbers, **columns, SCORE: self.scores, REPORTED: self.reported})


def scored_rows(model: TableModel, table: Table, *, skip_rows: int = 0) -> Iterator[ScoredRows]:
    """Score a table of any size with a detector; batches are the same on every pass."""
    first_row = skip_rows + 1
    for rows, normality in model.apply_batches(table, model.estimator.score_samples, skip_rows=skip_rows):
        yield ScoredRows(rows, first_row, -normality, normality < model.estimator.offset_)
        first_row += rows.num_rows


def check_carried(carried: Sequence[str]) -> None:
    """See that the columns to be carried along do not bear the names of ours."""
    taken = sorted({ROW, SCORE, REPORTED} & set(carried))
    if taken:
        raise TableError(f"Column {taken[0]!r} cannot be carried along: the result has one of that name. Rename it.")


class TopRows:
    """Keeps the rows with the highest scores; of equal ones the first.

    Examples
    --------
    >>> import pyarrow as pa
    >>> top = TopRows(1, ["age"])
    >>> scores = np.array([0.1, 0.9])
    >>> top.add(ScoredRows(pa.record_batch({"age": [31, 257]}), 1, scores, scores > 0.5))
    >>> top.as_dicts()
    [{'row': 2, 'age': 257, 'anomaly_score': 0.9, 'anomalous': True}]
    """

    def __init__(self, n_rows: int, columns: Sequence[str]) -> None:
        self.n_rows = n_rows
        self.columns = [name for name in columns if name not in (ROW, SCORE, REPORTED)]
        self._best: pa.Table | None = None

    def add(self, scored: ScoredRows) -> None:
        """Take in the next rows."""
        import pyarrow as pa

        highest = np.sort(np.argsort(-scored.scores, kind="stable")[: self.n_rows])
        few = ScoredRows(
            scored.rows.take(pa.array(highest)), scored.first_row, scored.scores[highest], scored.reported[highest]
        ).result(self.columns)
        few = pa.Table.from_batches([few]).set_column(0, ROW, pa.array(scored.first_row + highest))
        joined = few if self._best is None else pa.concat_tables([self._best, few])
        order = np.argsort(-joined.column(SCORE).to_numpy(), kind="stable")[: self.n_rows]
        self._best = joined.take(pa.array(np.sort(order)))

    def as_dicts(self) -> list[dict[str, Any]]:
        """The rows, the highest score first."""
        rows = [] if self._best is None else as_json_rows(self._best)
        return sorted(rows, key=lambda row: -row[SCORE])


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


def read_labels(
    cells: pa.Array, label: str, table: str, first_row: int = 1
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which rows are labelled anomalous, and which are labelled at all.

    Examples
    --------
    >>> import pyarrow as pa
    >>> labels, known = read_labels(pa.array(["0", "yes", ""]), "fraud", "'sales.csv'")
    >>> labels.tolist(), known.tolist()
    ([False, True, False], [True, True, False])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    words = pc.utf8_lower(words_of(clean_cells(cells, TextRules(), label, table)).cast(pa.string()))
    known = np.asarray(words.is_valid())
    anomalous = np.asarray(pc.is_in(words, value_set=pa.array([*TRUE_WORDS, "1", "1.0"])))
    normal = np.asarray(pc.is_in(words, value_set=pa.array([*FALSE_WORDS, "0", "0.0"])))
    wrong = np.flatnonzero(known & ~anomalous & ~normal)
    if len(wrong):
        raise TableError(
            f"Column {shown(label)} of {table} must hold 1 for anomalies and 0 for the rest (or yes and no, true and "
            f"false). Got {shown(words[int(wrong[0])].as_py())} in row {first_row + int(wrong[0])}."
        )
    return anomalous, known
