"""Streams of Arrow batches: whatever can be read once, and hands its batches over by Arrow's C interface."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def is_stream(source: Any) -> bool:
    """Whether a table comes as a stream, and not as a data frame that narwhals knows or an Arrow table.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [31, 57]})
    >>> is_stream(table.to_reader()), is_stream(table)
    (True, False)
    """
    import narwhals as nw
    import pyarrow as pa

    if isinstance(source, pa.Table | pa.RecordBatch) or not hasattr(source, "__arrow_c_stream__"):
        return False
    return not (nw.dependencies.is_into_dataframe(source) or nw.dependencies.is_into_series(source))


def stream_blocks(source: Any) -> Iterator[bytes]:
    """A stream as the bytes of an Arrow file, some megabytes at a time."""
    import pyarrow as pa

    with pa.RecordBatchReader.from_stream(source) as reader:
        grown = io.BytesIO()
        with pa.ipc.new_stream(grown, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
                yield grown.getvalue()
                grown.seek(0)
                grown.truncate()
        yield grown.getvalue()


def in_larger_batches(batches: Iterable[pa.RecordBatch], n_rows: int) -> Iterator[pa.RecordBatch]:
    """The same rows, small batches joined until they have so many rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = pa.table({"age": [31, 57, 44]}).to_batches(max_chunksize=1)
    >>> [batch.num_rows for batch in in_larger_batches(rows, 2)]
    [2, 1]
    """
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        if waiting and sum(part.num_rows for part in waiting) + batch.num_rows > n_rows:
            yield _joined(waiting)
            waiting = []
        waiting.append(batch)
    if waiting:
        yield _joined(waiting)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    import pyarrow as pa

    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)
