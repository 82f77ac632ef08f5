"""Rows with their learned features, batch by batch: as they are written, and how well they tell labels apart.

Labels are looked at after the features are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rdplearn._results.batches import RowsWithResults, numbered_results
from rdplearn._results.labels import ClassCodes
from rdplearn.errors import TableError
from rdplearn.table import RowSampler, Table
from rdplearn.table.reading import CELLS_PER_BATCH, FEWEST_ROWS
from rdplearn.table_model import TableModel

ROWS_TO_JUDGE = 10_000


@dataclass(frozen=True)
class EmbeddedRows(RowsWithResults):
    """Rows with their features, (n_rows, n_components)."""

    features: npt.NDArray[np.float32]

    def columns(self) -> Mapping[str, npt.NDArray[Any]]:
        """A column for each feature."""
        return dict(zip(feature_columns(self.features.shape[1]), self.features.T, strict=True))


def feature_columns(n_components: int) -> list[str]:
    """Names of the columns that hold features.

    Examples
    --------
    >>> feature_columns(2)
    ['feature_1', 'feature_2']
    """
    return [f"feature_{number}" for number in range(1, n_components + 1)]


def embedded_rows(model: TableModel, table: Table, *, skip_rows: int = 0) -> Iterator[EmbeddedRows]:
    """Give each row of a table of any size its features; batches are the same on every pass.

    Features may be many more than the columns that they come from, so batches are as large as the features allow.
    """
    most_rows = max(FEWEST_ROWS, CELLS_PER_BATCH // model.estimator.n_components_)
    batches = table.in_batches_of(most_rows)
    for rows, first_row, features in numbered_results(model, batches, model.estimator.transform, skip_rows):
        yield EmbeddedRows(rows, first_row, features)


class FeatureJudge:
    """Compares features with a column of classes, empty where unknown, on a random sample of 10,000 rows."""

    def __init__(self, label: str, table: str) -> None:
        self.label, self.table = label, table
        self._classes = ClassCodes(label, table)
        self._sampler = RowSampler(ROWS_TO_JUDGE, seed=0)

    def add(self, embedded: EmbeddedRows) -> None:
        """Take in the next rows."""
        codes, known = self._classes.read(embedded.rows)
        features = embedded.features[known]
        names = [str(number) for number in range(features.shape[1])]
        self._sampler.add(pa.record_batch([*features.T, codes[known]], names=[*names, "class"]))

    def figures(self) -> Mapping[str, float]:
        """Macro F-score of a small network that learns the classes from half of the rows, judged on the others."""
        from rdplearn.evaluation import classification_score

        self._classes.require_two()
        rows = self._sampler.sample().rows
        codes = rows.column("class").to_numpy()
        features = np.column_stack([column.to_numpy() for column in rows.columns[:-1]])
        counts = np.bincount(codes)
        kept = counts[codes] > 1  # a class of one row cannot be learned and judged
        n_classes = int(np.sum(counts > 1))
        if n_classes < 2 or kept.sum() < 2 * n_classes + 2:
            raise TableError(
                f"Column '{self.label}' of {self.table} must have at least two classes of several rows each to compare "
                f"with. Got {int(kept.sum())} such rows in {n_classes} classes."
            )
        score = classification_score(features[kept], codes[kept])
        return {"n_labelled": int(kept.sum()), "n_classes": n_classes, "f_score": score}
