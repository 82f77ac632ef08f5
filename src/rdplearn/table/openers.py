"""Files as Arrow opens them, from their start and as often as needed.

Arrow reads ahead in threads of its own. What they hold must not be a Python object: a thread that gives one back while
the process ends would wait for an interpreter that is gone, and abort.
"""

from __future__ import annotations

import codecs
import os
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from rdplearn._files.atomic import disk_faults_told

if TYPE_CHECKING:
    import pyarrow as pa

Opener: TypeAlias = "Callable[[], pa.NativeFile]"

BLOCK_BYTES = 1 << 22
OPEN_FILES = "/proc/self/fd"  # of Linux


@dataclass(frozen=True)
class PathOpener:
    """Opens a file on disk."""

    path: str

    def __call__(self) -> pa.NativeFile:
        import pyarrow as pa

        return pa.OSFile(os.fsencode(self.path), "rb")  # names need not be UTF-8


@dataclass(frozen=True)
class SpoolOpener:
    """Opens a temporary copy, which is gone with the last reference to it.

    Where the system lets an open file be opened again by its number, the copy has no name at all, so that not even a
    program that is killed leaves it behind.
    """

    copy: Any

    def __call__(self) -> pa.NativeFile:
        return PathOpener(self.copy.name if isinstance(self.copy.name, str) else f"{OPEN_FILES}/{self.copy.name}")()


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
    with disk_faults_told(tempfile.gettempdir(), remedy="Make room, or name another folder in TMPDIR."):
        make = tempfile.TemporaryFile if os.path.isdir(OPEN_FILES) else tempfile.NamedTemporaryFile
        copy = make(prefix="rdplearn-")  # lives as long as the opener
        try:
            copy.writelines(blocks)
            copy.flush()
        except BaseException:
            copy.close()
            raise
    opener = SpoolOpener(copy)
    weakref.finalize(opener, copy.close)
    return opener


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
