"""A batch of rows with what a model says of them: what `scored`, `clustered` and `embedded` have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rdplearn._results.formats import numbered_rows
from rdplearn.table import Table
from rdplearn.table_model import TableModel


@dataclass(frozen=True)
class RowsWithResults:
    """A batch of rows and the number of the first, from 1; each kind adds its results."""

    rows: pa.RecordBatch
    first_row: int

    def columns(self) -> Mapping[str, npt.NDArray[Any]]:
        """The results, as they are written."""
        raise NotImplementedError

    def tally(self) -> list[int]:
        """What is counted over all rows; the counts of batches are added up."""
        return []

    def result(self, carried: Sequence[str]) -> pa.RecordBatch:
        """The rows as they are written: number, carried columns, results."""
        return numbered_rows(self.rows, self.first_row, carried, self.columns())


def numbered_results(
    model: TableModel, table: Table, function: Callable[[Any], Any], skip_rows: int
) -> Iterator[tuple[pa.RecordBatch, int, Any]]:
    """Rows, the number of the first, and results, batch by batch; batches are the same on every pass."""
    first_row = skip_rows + 1
    for rows, results in model.apply_batches(table, function, skip_rows=skip_rows):
        yield rows, first_row, np.asarray(results)  # a model may be set to make frames
        first_row += rows.num_rows
