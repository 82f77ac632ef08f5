"""Hashes of whole arrays at once: the same number for the same value, on every machine and in every batch.

Everything here is a pure function of bytes. No hash depends on Python's per-process seed, so that statistics
taken on many machines can be merged and a model file means the same thing tomorrow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def scramble(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Turn counters or bit patterns into uniform 64-bit numbers (the finaliser of SplitMix64).

    Examples
    --------
    >>> [hex(word) for word in scramble(np.array([0, 1], dtype=np.uint64))]
    ['0xe220a8397b1dcdaf', '0x910a2dec89025cc1']
    """
    mixed = words + GOLDEN
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    scrambled: NDArray[np.uint64] = mixed ^ (mixed >> np.uint64(31))
    return scrambled


PLACES = 64
WORDS = scramble(np.arange(PLACES * 256, dtype=np.uint64))


def hash_numbers(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Hash numbers by value; 0.0 and -0.0 are the same number."""
    return scramble((values + 0.0).view(np.uint64))


def text_bytes(texts: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Look at an Arrow text array without nulls as its bytes and the offsets between which each text lies.

    Shape
    -----
    (n_bytes,), (n_texts + 1,); the offsets start at 0.
    """
    import pyarrow as pa

    texts = texts.cast(pa.large_string())
    _, offset_buffer, byte_buffer = texts.buffers()
    if len(texts) == 0 or offset_buffer is None:
        return np.empty(0, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    offsets = np.frombuffer(offset_buffer, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    content = np.frombuffer(byte_buffer, dtype=np.uint8) if byte_buffer is not None else np.empty(0, np.uint8)
    return content[offsets[0] : offsets[-1]], offsets - offsets[0]


def hash_texts(texts: pa.Array) -> NDArray[np.uint64]:
    """Hash an Arrow text array without nulls: the sum of a random word for every (place, byte), scrambled.

    Examples
    --------
    >>> import pyarrow as pa
    >>> one, other, again = hash_texts(pa.array(["ab", "ba", "ab"]))
    >>> bool(one == again), bool(one == other)
    (True, False)
    """
    content, offsets = text_bytes(texts)
    lengths = np.diff(offsets)
    places = np.arange(len(content)) - np.repeat(offsets[:-1], lengths)
    words = WORDS[(places % PLACES) << 8 | content]
    if lengths.max(initial=0) > PLACES:
        # Odd factors let the same table serve places further on.
        words = words * (places // PLACES * 2 + 1).astype(np.uint64)
    sums = np.zeros(len(lengths), dtype=np.uint64)
    filled = lengths > 0
    if filled.any():
        sums[filled] = np.add.reduceat(words, offsets[:-1][filled])
    return scramble(sums ^ lengths.astype(np.uint64))


def trigram_shares(texts: pa.Array, n_buckets: int) -> NDArray[np.float32]:
    """Describe each text by the share of its three-byte runs that fall into each of `n_buckets` hash buckets.

    Parameters
    ----------
    texts : pyarrow.Array of strings without nulls
    n_buckets : int

    Returns
    -------
    shares : (n_texts, n_buckets)
        Rows sum to 1; the row of an empty text is zero.

    Examples
    --------
    >>> import pyarrow as pa
    >>> shares = trigram_shares(pa.array(["error 17", "error 18", ""]), 8)
    >>> shares.shape, [round(float(total), 3) for total in shares.sum(axis=1)]
    ((3, 8), [1.0, 1.0, 0.0])
    """
    import pyarrow.compute as pc

    # A blank on both sides lets a text of one letter have a run, and marks where words begin and end.
    padded = pc.binary_join_element_wise("", pc.utf8_lower(texts), "", " ")
    content, offsets = text_bytes(padded)
    n_runs = np.maximum(np.diff(offsets) - 2, 0)
    rows = np.repeat(np.arange(len(n_runs)), n_runs)
    starts = np.arange(len(rows)) - np.repeat(np.cumsum(n_runs) - n_runs, n_runs) + offsets[:-1][rows]
    letters = content.astype(np.uint64)
    runs = letters[starts] | letters[starts + 1] << np.uint64(8) | letters[starts + 2] << np.uint64(16)
    buckets = (scramble(runs) % np.uint64(n_buckets)).astype(np.int64)
    counts = np.bincount(rows * n_buckets + buckets, minlength=len(n_runs) * n_buckets)
    shares = counts.reshape(len(n_runs), n_buckets) / np.maximum(n_runs, 1)[:, None]
    rounded: NDArray[np.float32] = shares.astype(np.float32)
    return rounded
