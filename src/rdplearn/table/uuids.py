"""UUIDs: 16 bytes in a database, a text in our tables, and 16 bytes again when they return as keys of results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

HEX = np.array([f"{octet:02x}".encode() for octet in range(256)])
DIGITS = [place for place in range(36) if place not in (8, 13, 18, 23)]
NOTHING = "00000000-0000-0000-0000-000000000000"


def is_uuid(kind: Any) -> bool:
    """Whether an Arrow type is that of UUIDs."""
    return getattr(kind, "extension_name", None) == "arrow.uuid"


def uuid_texts(octets: pa.Array) -> pa.Array:
    """UUIDs, 16 bytes each, as they are written.

    Examples
    --------
    >>> import pyarrow as pa
    >>> uuid_texts(pa.array([bytes(range(16)), None], pa.binary(16))).to_pylist()
    ['00010203-0405-0607-0809-0a0b0c0d0e0f', None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    known = octets.fill_null(bytes(16))
    values = np.frombuffer(known.buffers()[1], np.uint8)[16 * known.offset :][: 16 * len(known)]
    letters = np.full((len(known), 36), ord("-"), np.uint8)
    letters[:, DIGITS] = HEX[values].view(np.uint8).reshape(-1, 32)
    texts = pa.array(letters.view("S36").ravel()).cast(pa.string())
    return pc.if_else(octets.is_valid(), texts, None)


def uuids_of(texts: pa.Array) -> pa.Array:
    """UUIDs from what `uuid_texts` has written.

    Examples
    --------
    >>> import pyarrow as pa
    >>> uuids_of(pa.array(["00010203-0405-0607-0809-0a0b0c0d0e0f", None])).to_pylist()
    [UUID('00010203-0405-0607-0809-0a0b0c0d0e0f'), None]
    """
    import pyarrow as pa

    written = texts.fill_null(NOTHING).to_numpy(zero_copy_only=False).astype("S36")
    digits = written.view(np.uint8).reshape(-1, 36)[:, DIGITS]
    fours = np.where(digits >= ord("a"), digits - ord("a") + 10, digits - ord("0")).astype(np.uint8)
    octets = (fours[:, 0::2] << 4) | fours[:, 1::2]
    missing = texts.is_null().to_numpy(zero_copy_only=False)
    storage = pa.array(np.ascontiguousarray(octets).view("V16").ravel(), pa.binary(16), mask=missing)
    return pa.ExtensionArray.from_storage(pa.uuid(), storage)
