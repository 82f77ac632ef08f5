"""FlatBuffers, in which Arrow writes the heads of its blocks; only reading, and only what these heads need.

https://flatbuffers.dev/internals
"""

from __future__ import annotations

import struct


def field_at(content: bytes | memoryview, table: int, number: int) -> int:
    """Where a field of a FlatBuffer's table is; 0 if it is not there."""
    lookup = table - struct.unpack_from("<i", content, table)[0]
    place = 4 + 2 * number
    if place >= struct.unpack_from("<H", content, lookup)[0]:
        return 0
    (offset,) = struct.unpack_from("<H", content, lookup + place)
    return table + offset if offset else 0


def table_at(content: bytes | memoryview, place: int) -> int:
    """Where the table or list is that a field points at."""
    return place + struct.unpack_from("<I", content, place)[0] if place else 0
