"""What is random in a step of training: rows, partners, dropout, columns.

Random numbers depend only on a key and a position, never on who asks first.

Training needs random batches, partners and dropout masks. If they came from a generator with a hidden state, the
result would depend on the order of execution, and the NumPy and the Numba engine could not be compared. Here every
number is a hash of (key, position): any engine, on any thread, in any chunk of the work, finds the same one.

`scramble` is the finaliser of MurmurHash3 on 32-bit words. It is written so that the same source runs on NumPy arrays
and, compiled, on scalars (`dense_kernels.py`), which is why every product is wrapped back to 32 bits by hand. `words`
does the same to many words in place, which is faster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from rdplearn._types import Ints

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


class Draw(NamedTuple):
    """What is random in one step, for all members of a stack.

    number : of the step, counted from 0
    places : (n_members, batch_size), of rows among those of all members, one after the other
    shifts : (n_members,), how far on in the batch each row's partner is; drop_keys : (n_members,), for dropout
    column_key : for sampled reconstruction, and for what is random in the user's own code
    """

    number: int
    places: Ints
    shifts: Ints
    drop_keys: UInts
    column_key: UInts


class OnePartner:
    """Batches of a stack of members, drawn with replacement, in which every row has one partner.

    rows_of_members : how many rows each member has; kept : the rows that each may draw; seeds : of each member
    """

    def __init__(self, rows_of_members: list[int], kept: list[Ints], seeds: list[int], batch_size: int) -> None:
        self.seeds, self.batch_size = seeds, batch_size
        first_rows = np.cumsum([0, *rows_of_members[:-1]])
        self.kept = np.concatenate([first + of_member for first, of_member in zip(first_rows, kept, strict=True)])
        self.n_kept = np.array([len(of_member) for of_member in kept])
        self.first_kept = np.cumsum(self.n_kept) - self.n_kept

    def draws(self, first_step: int, n_steps: int) -> Iterator[Draw]:
        """Draw what is random in some steps."""
        keys = all_step_keys(self.seeds, first_step, n_steps)
        row_keys, partner_keys, drop_keys = keys[:, :, 0:1], keys[:, :, 1], keys[:, :, 2]
        chosen = below(words(row_keys, self.batch_size), self.n_kept[:, None])
        chosen += self.first_kept[:, None]
        shifts = 1 + below(words(partner_keys[:, :, None], 1)[:, :, 0], self.batch_size - 1)
        column_keys = step_keys(self.seeds[0], first_step, n_steps, COLUMNS)
        numbers = range(first_step, first_step + n_steps)
        return map(Draw, numbers, self.kept[chosen], shifts, drop_keys, column_keys)


class AllPairs:
    """Batches of distinct rows, in shuffled passes over each member's; every row is paired with every other.

    The generators have a state: what was drawn before is drawn again where training goes on from a checkpoint.

    rows_of_members : how many rows each member has; shuffling : a generator of each
    """

    def __init__(self, rows_of_members: list[int], batch_size: int, shuffling: list[np.random.Generator]) -> None:
        self.decks = [Deck(n_rows, batch_size, rng) for n_rows, rng in zip(rows_of_members, shuffling, strict=True)]
        self.first_rows = np.cumsum([0, *rows_of_members[:-1]])
        self.n_drawn = 0

    def draws(self, first_step: int, n_steps: int) -> Iterator[Draw]:
        """Draw what is random in some steps, which follow those that were drawn before."""
        while self.n_drawn < first_step:
            self._next_batches()
        keys = step_keys(0, first_step + 1, n_steps, PARTNER)  # nobody but the user's own losses asks for a partner
        shifts = 1 + below(words(keys[:, None], 1), max(1, self.decks[0].size - 1))
        for number, key, shift in zip(range(first_step, first_step + n_steps), keys, shifts, strict=True):
            yield Draw(number, self._next_batches(), shift, np.full(len(self.decks), key), np.uint32(number + 1))

    def _next_batches(self) -> Ints:
        self.n_drawn += 1
        return np.stack([first + deck.deal() for first, deck in zip(self.first_rows, self.decks, strict=True)])


class Deck:
    """The rows of one member, dealt out in batches from one shuffled pass after another."""

    def __init__(self, n_rows: int, batch_size: int, rng: np.random.Generator) -> None:
        self.n_rows, self.size, self.rng = n_rows, min(batch_size, n_rows), rng
        self.left = np.empty(0, dtype=np.int64)

    def deal(self) -> Ints:
        """The next batch."""
        if len(self.left) < self.size:  # what is left over is not carried on: a row might come twice in a batch
            self.left = self.rng.permutation(self.n_rows)
        batch, self.left = self.left[: self.size], self.left[self.size :]
        return np.sort(batch)
