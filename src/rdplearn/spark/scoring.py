"""Scores of Spark data frames: Spark hands Arrow batches to a model, on whichever machine they are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import TYPE_CHECKING

import pyarrow as pa

from rdplearn._feedback.reviewed import Reviewed
from rdplearn._results.scored import scored_rows
from rdplearn._storage.models import load
from rdplearn.detector import RDPDetector
from rdplearn.errors import ModelFileError, TableError
from rdplearn.table import Table
from rdplearn.table.arrow_streams import in_larger_batches
from rdplearn.table.reading import rows_in_a_batch
from rdplearn.table_model import REPORTED, SCORE, TableModel

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def score(frame: DataFrame, model: TableModel | str | os.PathLike[str]) -> DataFrame:
    """Score the rows of a Spark data frame where they are.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
    model : TableModel with an RDPDetector, or the path of its file
        A file is read here, once; the model travels to the executors with the task, so they need not see the file.
        They need rdplearn of the same version.

    Returns
    -------
    pyspark.sql.DataFrame
        All columns of the frame and two more: ``anomaly_score``, the higher the less normal, and ``anomalous``, whether
        the row is beyond the threshold. The scores are the same, to the bit, as those of `TableModel.score_samples` on
        this machine, however the frame is cut into partitions.

    Examples
    --------
    ::

        from rdplearn.spark import score

        scored = score(spark.read.parquet("sales"), "model.safetensors")
        scored.filter("anomalous").write.parquet("alarms")
    """
    if not isinstance(model, TableModel):
        loaded = load(model)
        if not isinstance(loaded, TableModel):
            raise ModelFileError(
                f"'{os.fspath(model)}' holds a model without a table encoder. Make one with TableModel."
            )
        model = loaded
    if not isinstance(model.estimator, RDPDetector | Reviewed):
        raise TableError(
            f"Scores come from an RDPDetector. Got a TableModel of {type(model.estimator).__name__} instead."
        )
    taken = sorted({SCORE, REPORTED} & set(frame.columns))
    if taken:
        raise TableError(f"Column {taken[0]!r} is in the frame already. Rename or drop it before it is scored.")
    from pyspark.sql.types import BooleanType, DoubleType, StructField, StructType

    added = [StructField(SCORE, DoubleType(), False), StructField(REPORTED, BooleanType(), False)]
    return frame.mapInArrow(_Scoring(model), StructType([*frame.schema.fields, *added]))


class _Scoring:
    """What executors do with the batches of a partition."""

    def __init__(self, model: TableModel) -> None:
        self.model = deepcopy(model)
        self.model.estimator.set_params(n_jobs=1)  # Spark has a task for each core already

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        waiting = iter(batches)
        first = next(waiting, None)
        if first is None:
            return
        names = first.schema.names

        def read() -> Iterator[pa.RecordBatch]:
            yield first
            yield from waiting

        joined = in_larger_batches(read(), rows_in_a_batch(len(names)))
        for scored in scored_rows(self.model, Table("the partition", tuple(names), lambda: joined)):
            columns = [*scored.rows.columns, pa.array(scored.scores), pa.array(scored.reported)]
            yield pa.RecordBatch.from_arrays(columns, names=[*names, SCORE, REPORTED])
