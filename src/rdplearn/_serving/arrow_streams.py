"""Rows as an Arrow IPC stream, from anybody.

A stream of a few bytes can stand for more than memory holds: with compressed buffers, or where many rows point at one
long text. So compression is refused, and texts are counted as they would be written out.
"""

from __future__ import annotations

import struct
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from rdplearn._serving.limits import Limits
from rdplearn._serving.problems import bad_request, too_large, unusable_rows
from rdplearn.table.arrow_files import COMPRESSION, HEADER, RECORDS_OF_DICTIONARY
from rdplearn.table.flatbuffers import field_at, table_at
from rdplearn.table.wording import shown

ARROW_STREAM = "application/vnd.apache.arrow.stream"


def read_arrow(body: bytes, limits: Limits) -> pa.RecordBatch:
    """The rows of a stream as one batch.

    Examples
    --------
    >>> batch = pa.record_batch({"age": [31, 57]})
    >>> read_arrow(write_arrow(batch), Limits()).num_rows
    2
    """
    try:
        _refuse_compression(body)
        batches = []
        with pa.ipc.open_stream(body) as reader:
            for batch in reader:
                batch.validate(full=True)  # a changed byte may point anywhere in memory
                batches.append(batch)
                limits.check_rows(sum(each.num_rows for each in batches), limits.n_rows)
                for name, column in zip(batch.schema.names, batch.columns, strict=True):
                    _refuse_copies(name, column, limits)
        if not sum(batch.num_rows for batch in batches):
            raise unusable_rows("There are no rows in the request. Send at least one.")
        return batches[0] if len(batches) == 1 else pa.concat_batches(batches)
    except (pa.ArrowException, OSError, ValueError, KeyError, MemoryError, struct.error) as fault:
        told = " ".join(str(fault).split())[:200]
        raise bad_request(f"The body cannot be read as an Arrow IPC stream: {told}.") from None


def write_arrow(batch: pa.RecordBatch) -> bytes:
    """Rows as a stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def _refuse_compression(body: bytes) -> None:
    for message in pa.ipc.MessageReader.open_stream(body):
        if message.type in ("record batch", "dictionary") and is_compressed(message):
            raise bad_request("The Arrow stream is compressed. Write it without compression, as is the default.")


def is_compressed(message: Any) -> bool:
    """Whether a message with rows names a codec. pyarrow does not tell, so its flatbuffer is read here.

    Examples
    --------
    >>> messages = pa.ipc.MessageReader.open_stream(write_arrow(pa.record_batch({"age": [31]})))
    >>> [is_compressed(message) for message in messages if message.type == "record batch"]
    [False]
    """
    buffer = message.metadata.to_pybytes()
    message_at = struct.unpack_from("<I", buffer, 0)[0]
    header = table_at(buffer, field_at(buffer, message_at, HEADER))
    if header and message.type == "dictionary":
        header = table_at(buffer, field_at(buffer, header, RECORDS_OF_DICTIONARY))
    return bool(header and field_at(buffer, header, COMPRESSION))


def _refuse_copies(name: str, column: pa.Array, limits: Limits) -> None:
    kind = column.type
    if types.is_run_end_encoded(kind) or types.is_binary_view(kind) or types.is_string_view(kind):
        raise unusable_rows(f"Column {shown(name)} has Arrow type {str(kind)[:60]}. Cast it to a plain type first.")
    if not types.is_dictionary(kind):
        return
    if types.is_nested(kind.value_type) or types.is_dictionary(kind.value_type):
        raise unusable_rows(f"Column {shown(name)} is a dictionary of {str(kind.value_type)[:60]}. Send texts.")
    if types.is_string(kind.value_type) or types.is_large_string(kind.value_type):
        written_out = pc.sum(pc.take(pc.binary_length(column.dictionary), column.indices)).as_py() or 0
        if written_out > limits.n_bytes:
            raise too_large(
                f"Column {shown(name)} written out has {written_out:,} bytes, and {limits.n_bytes:,} are "
                "taken. Send fewer rows at a time."
            )
