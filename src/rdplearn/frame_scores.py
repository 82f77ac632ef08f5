"""`detect`: the anomaly score of every row, beside the rows it belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy.typing as npt

from rdplearn.detector import RDPDetector
from rdplearn.errors import TableError
from rdplearn.table import Table, TableEncoder, open_table
from rdplearn.table_model import TableModel

SCORE, REPORTED = "anomaly_score", "anomalous"


def detect(
    table: Any,
    *,
    ignore: Iterable[str] = (),
    kinds: Mapping[str, str] | None = None,
    **parameters: Any,
) -> Any:
    """Find the rows of a table that are unlike the rest: fit and score in one go.

    Parameters
    ----------
    table : path, pandas, polars or Arrow table, or 2-D array
    ignore : columns that are kept in the result and not looked at, such as identifiers and labels
    kinds : what columns are, where the evidence would mislead; see `rdplearn.table.TableEncoder`
    parameters : of `RDPDetector`, such as ``contamination``, ``random_state`` and ``n_jobs``

    Returns
    -------
    frame of the type that came in, an Arrow table for paths and arrays
        All columns and the index of the table, and two more: ``anomaly_score``, the higher the less normal, and
        ``anomalous``, whether the row is beyond the threshold. For a table that does not fit into memory, use
        `TableModel`.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rdplearn
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame({"age": rng.integers(20, 70, 300), "city": rng.choice(["Oslo", "Rome"], 300)})
    >>> people.loc[17, "age"] = 250
    >>> found = rdplearn.detect(people, n_members=3, n_rounds=2, n_steps=100, random_state=0)
    >>> int(found["anomaly_score"].idxmax()), found.columns.tolist()
    (17, ['age', 'city', 'anomaly_score', 'anomalous'])
    """
    opened = open_table(table)
    taken = sorted({SCORE, REPORTED} & set(opened.column_names))
    if taken:
        raise TableError(
            f"Column {taken[0]!r} is in the table already. Rename or drop it before 'detect' adds its own."
        )
    detector = RDPDetector(**parameters)
    model = TableModel(detector, TableEncoder(ignore=ignore, kinds=kinds)).fit(opened)
    scores = -model.score_samples(opened)
    return beside(table, opened, {SCORE: scores, REPORTED: scores > -detector.offset_})


def beside(table: Any, opened: Table, columns: Mapping[str, npt.NDArray[Any]]) -> Any:
    """The table with further columns, as the type of frame that it is."""
    import pyarrow as pa

    if nw.dependencies.is_into_dataframe(table):
        frame = nw.from_native(table, eager_only=True)
        series = [nw.new_series(name, values, backend=frame.implementation) for name, values in columns.items()]
        return frame.with_columns(*series).to_native()
    whole = pa.Table.from_batches(list(opened.batches()))
    for name, values in columns.items():
        whole = whole.append_column(name, pa.array(values))
    return whole
