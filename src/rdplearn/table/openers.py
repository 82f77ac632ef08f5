"""Files as Arrow opens them, from their start and as often as needed.

Arrow reads ahead in threads of its own. What they hold must not be a Python object: a thread that gives one back while
the process ends would wait for an interpreter that is gone, and abort.
"""

from __future__ import annotations

import codecs
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pyarrow as pa

Opener: TypeAlias = "Callable[[], pa.NativeFile]"

BLOCK_BYTES = 1 << 22


@dataclass(frozen=True)
class PathOpener:
    """Opens a file on disk."""

    path: str

    def __call__(self) -> pa.NativeFile:
        import pyarrow as pa

        return pa.OSFile(os.fsencode(self.path), "rb")  # names need not be UTF-8


@dataclass(frozen=True)
class SpoolOpener:
    """Opens a temporary copy, which is deleted with the last reference to it."""

    copy: Any

    def __call__(self) -> pa.NativeFile:
        return PathOpener(self.copy.name)()


@dataclass(frozen=True)
class Decompressor:
    """Opens what a compressed file holds."""

    opener: Opener
    compression: str

    def __call__(self) -> pa.NativeFile:
        import pyarrow as pa

        return pa.CompressedInputStream(self.opener(), self.compression)


def spool(blocks: Iterable[bytes]) -> SpoolOpener:
    """Copy what can be read once to disk, where it can be read again in bounded memory."""
    copy = tempfile.NamedTemporaryFile(prefix="rdplearn-")  # noqa: SIM115 - lives as long as the opener
    copy.writelines(blocks)
    copy.flush()
    return SpoolOpener(copy)


def blocks_of(stream: IO[bytes] | pa.NativeFile) -> Iterator[bytes]:
    """What is left of a stream, some megabytes at a time."""
    while block := stream.read(BLOCK_BYTES):
        yield block


def utf8_blocks(stream: IO[bytes] | pa.NativeFile, encoding: str) -> Iterator[bytes]:
    """The text of a stream in UTF-8, some megabytes at a time."""
    decoder = codecs.getincrementaldecoder(encoding)()
    for block in blocks_of(stream):
        yield decoder.decode(block).encode()
    yield decoder.decode(b"", final=True).encode()


def native_buffer(block: bytes) -> pa.Buffer:
    """A copy of bytes that Arrow owns."""
    import pyarrow as pa

    stream = pa.BufferOutputStream()
    stream.write(block)
    return stream.getvalue()
