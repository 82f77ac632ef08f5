"""Tables that are already in memory: Arrow tables, arrays, and the data frames that narwhals knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rdplearn.errors import TableError

if TYPE_CHECKING:
    import pyarrow as pa


def read_frame(frame: Any) -> tuple[tuple[str, ...], Callable[[], Iterator[pa.RecordBatch]]]:
    """Column names and batches of a table in memory; most columns are not copied."""
    import pyarrow as pa

    if isinstance(frame, pa.RecordBatch):
        names, columns = frame.schema.names, frame.columns
    elif isinstance(frame, pa.Table):
        names, columns = frame.column_names, frame.columns
    elif isinstance(frame, np.ndarray):
        names, columns = _array_columns(frame)
    else:
        names, columns = _frame_columns(frame)
    n_rows = len(frame)

    def read() -> Iterator[pa.RecordBatch]:
        # Batches are made by hand: Arrow's own would end where the chunks of any column end.
        step = max(256, min(65_536, 2**21 // max(len(columns), 1)))
        for start in range(0, n_rows, step):
            parts = [_one_chunk(column.slice(start, step)) for column in columns]
            yield pa.RecordBatch.from_arrays(parts, names=names)

    return tuple(names), read


def _one_chunk(column: Any) -> pa.Array:
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    joined = column.combine_chunks()
    return joined.chunk(0) if isinstance(joined, pa.ChunkedArray) else joined


def _array_columns(array: np.ndarray[Any, Any]) -> tuple[list[str], list[pa.Array]]:
    import pyarrow as pa

    if array.ndim != 2:
        raise TableError(f"A table has rows and columns. Got an array with {array.ndim} dimensions; pass one with 2.")
    columns = [_written_out(column) if array.dtype == object else pa.array(column) for column in array.T]
    return [f"column_{place + 1}" for place in range(array.shape[1])], columns


def _frame_columns(frame: Any) -> tuple[list[str], Sequence[Any]]:
    import narwhals as nw

    lazy = hasattr(frame, "collect") or hasattr(frame, "compute")
    # narwhals refuses repeated names in words of its own; ours are told when the Table is made.
    names = [] if lazy else [str(name) for name in getattr(frame, "columns", ())]
    if len(set(names)) < len(names):
        return names, []
    try:
        wide = nw.from_native(frame, eager_only=True)
    except TypeError:
        remedy = "It is lazy: collect it first." if lazy else "Pass a path, a data frame, or a 2-D array."
        if len(getattr(frame, "shape", (0, 0))) == 1:
            remedy = "Pass a data frame, such as frame.iloc[[0]] for one row."
        kind = f"{type(frame).__module__}.{type(frame).__name__}"
        raise TableError(f"Cannot read a table from {kind}. {remedy}") from None
    return names, [_series_array(series) for series in wide.iter_columns()]


def _series_array(series: Any) -> Any:
    """A column as Arrow; a pandas column of mixed Python objects as text."""
    import pyarrow as pa

    try:
        return series.to_arrow()
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return _written_out(series.to_list())


def _written_out(values: Any) -> pa.Array:
    import pyarrow as pa

    # NaN and NaT differ from themselves; pandas' NA has no truth value, but says so in its name.
    empty = [value is None or type(value).__name__ in ("NAType", "NaTType") or value != value for value in values]
    texts = [None if is_empty else str(value) for value, is_empty in zip(values, empty, strict=True)]
    return pa.array(texts, pa.string())
