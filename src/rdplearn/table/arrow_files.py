"""Arrow and Feather files: how large their blocks become is looked up before they are unpacked, and all is validated.

A block that is not compressed takes what the file takes. In a compressed one, each buffer begins with its size; where
the buffers lie is said by the head of the block, a FlatBuffer.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rdplearn.table.flatbuffers import field_at, table_at
from rdplearn.table.limits import Limits
from rdplearn.table.openers import Opener

if TYPE_CHECKING:
    import pyarrow as pa

MAGIC = b"ARROW1"
START_OF_BLOCKS = 8  # after the magic and its padding
# Places of the fields in Arrow's format/Message.fbs.
HEADER_KIND, HEADER = 1, 2
DICTIONARY, RECORDS = 2, 3
RECORDS_OF_DICTIONARY = 1
BUFFERS, COMPRESSION = 2, 3


def read_arrow(
    opener: Opener, name: str, limits: Limits
) -> tuple[Sequence[str], Callable[[], Iterator[pa.RecordBatch]]]:
    """Names and batches of an Arrow file or stream."""
    with opener() as file:
        for n_bytes in _unpacked_sizes(file):
            limits.require_block(n_bytes, "A block", name)

    def read() -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        with opener() as file:
            reader = _reader_of(file)
            batches = (
                iter(reader)
                if isinstance(reader, pa.ipc.RecordBatchStreamReader)
                else (reader.get_batch(place) for place in range(reader.num_record_batches))
            )
            for batch in batches:
                # A changed byte may point anywhere in memory; whoever uses such a batch crashes.
                batch.validate(full=True)
                yield batch

    with opener() as file:
        return _reader_of(file).schema.names, read


def _reader_of(file: pa.NativeFile) -> Any:
    import pyarrow as pa

    is_file = file.read(len(MAGIC)) == MAGIC
    file.seek(0)
    return pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)


def _unpacked_sizes(file: pa.NativeFile) -> Iterator[int]:
    """What each compressed block says that it becomes; where that cannot be read, the reader says what is wrong."""
    import pyarrow as pa

    file.seek(START_OF_BLOCKS if file.read(len(MAGIC)) == MAGIC else 0)
    try:
        for message in pa.ipc.MessageReader.open_stream(file):
            yield _unpacked_size(message.metadata, message.body)
    except (pa.ArrowException, OSError, struct.error, EOFError):
        return


def _unpacked_size(head: pa.Buffer, body: pa.Buffer | None) -> int:
    content = memoryview(head)
    message = struct.unpack_from("<I", content)[0]
    kind_at = field_at(content, message, HEADER_KIND)
    kind = content[kind_at] if kind_at else 0
    records = table_at(content, field_at(content, message, HEADER))
    if kind == DICTIONARY:
        records = table_at(content, field_at(content, records, RECORDS_OF_DICTIONARY))
    buffers = table_at(content, field_at(content, records, BUFFERS)) if kind in (DICTIONARY, RECORDS) else 0
    if body is None or not buffers or not field_at(content, records, COMPRESSION):
        return 0
    (n_buffers,) = struct.unpack_from("<I", content, buffers)
    packed, total = memoryview(body), 0
    for place in range(n_buffers):
        start, length = struct.unpack_from("<qq", content, buffers + 4 + 16 * place)
        if length >= 8:
            total += max(struct.unpack_from("<q", packed, start)[0], 0)
    return total
