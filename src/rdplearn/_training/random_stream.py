"""Random numbers that depend only on a key and a position, never on who asks first.

Training needs random batches, partners and dropout masks. If they came from a generator with a hidden state, the
result would depend on the order of execution, and the NumPy and the Numba engine could not be compared. Here every
number is a hash of (key, position): any engine, on any thread, in any chunk of the work, finds the same one.

`scramble` is the finaliser of MurmurHash3 on 32-bit words. It is written so that the same source runs on NumPy arrays
and, compiled, on scalars (`dense_kernels.py`), which is why every product is wrapped back to 32 bits by hand. `words` does
the same to many words in place, which is faster.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

UInts: TypeAlias = Any  # an array of np.uint32, or one of them

GOLDEN = np.uint32(0x9E3779B9)
# What a number is drawn for. Each purpose has its own stream, so that changing one leaves the others as they were.
ROWS, PARTNER, DROPOUT, COLUMNS = np.uint32(1), np.uint32(2), np.uint32(3), np.uint32(4)


def scramble(word: UInts) -> UInts:
    """Spread every bit of a 32-bit word over all others, bijectively."""
    word = np.uint32(word ^ (word >> np.uint32(16)))
    word = np.uint32(word * np.uint32(0x85EBCA6B))
    word = np.uint32(word ^ (word >> np.uint32(13)))
    word = np.uint32(word * np.uint32(0xC2B2AE35))
    return np.uint32(word ^ (word >> np.uint32(16)))


def step_keys(seed: int, first_step: int, n_steps: int, purpose: UInts) -> UInts:
    """Key of every step in `first_step, ..., first_step + n_steps - 1` for a purpose."""
    return _keys([seed], first_step, n_steps, np.array([purpose]))[:, 0, 0]


def all_step_keys(seeds: list[int], first_step: int, n_steps: int) -> UInts:
    """Keys of every step and seed for rows, partner and dropout: (n_steps, n_seeds, 3)."""
    return _keys(seeds, first_step, n_steps, np.array([ROWS, PARTNER, DROPOUT]))


def _keys(seeds: list[int], first_step: int, n_steps: int, purposes: UInts) -> UInts:
    steps = np.arange(first_step, first_step + n_steps, dtype=np.uint32)
    low = np.array([seed & 0xFFFFFFFF for seed in seeds], dtype=np.uint32)
    high = np.array([seed >> 32 for seed in seeds], dtype=np.uint32)
    of_steps = scramble((steps * GOLDEN)[:, None] + low)
    of_purposes = scramble(scramble(high)[:, None] + purposes)
    return scramble(of_steps[:, :, None] + of_purposes)


def words(key: UInts, n_words: int) -> UInts:
    """The first `n_words` uniform 32-bit words of a stream; of many streams if `key` is a column of keys."""
    word = np.arange(n_words, dtype=np.uint32)
    word *= GOLDEN
    word = word + key
    word ^= word >> np.uint32(16)
    word *= np.uint32(0x85EBCA6B)
    word ^= word >> np.uint32(13)
    word *= np.uint32(0xC2B2AE35)
    word ^= word >> np.uint32(16)
    return word


def below(uniform: UInts, bound: int | npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Turn uniform words into integers in `[0, bound)` by multiplying and shifting, without division."""
    return ((uniform.astype(np.uint64) * np.uint64(bound)) >> np.uint64(32)).astype(np.int64)


def drop_limit(dropout: float) -> int:
    """The word below which a unit is dropped."""
    return int(dropout * 2.0**32)
