"""Sketches of a column in bounded memory that merge exactly.

Both sketches depend on the values alone: not on their order, nor on how they were cut into batches or
partitions. So a file read in one go, in blocks, or by a thousand workers gives the same encoding, bit for
bit. (Sums and means are avoided for that reason: adding floats in another order gives another result.)

- `DistinctSample` keeps the values with the smallest hashes and counts each *exactly*: a value among the
  smallest of the whole is among the smallest of every part that holds it, so no occurrence is ever lost. Up
  to `capacity` distinct values it is the exact table of counts; beyond that, a uniform sample of the distinct
  values (KMV; Bar-Yossef et al. 2002, "Counting distinct elements in a data stream").
- `Spread` keeps extremes and a histogram whose bins grow by a fixed factor (DDSketch; Masson et al. 2019),
  with a `DistinctSample` to see inside a bin, and answers quantiles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rdplearn.table.hashing import hash_numbers

BIN_GROWTH = 1.02
HASH_RANGE = 2.0**64
MANY = 4096


def _no_counts() -> NDArray[np.int64]:
    return np.empty(0, dtype=np.int64)


@dataclass
class DistinctSample:
    """The distinct values of smallest hash, each with its exact number of occurrences.

    Examples
    --------
    >>> sample = DistinctSample(capacity=100)
    >>> values = np.array([7.0, 3.0])
    >>> sample.add(values, hash_numbers(values), np.array([2, 5]))
    >>> sorted(zip(sample.values.tolist(), sample.counts.tolist())), sample.n_distinct
    ([(3.0, 5), (7.0, 2)], 2)
    """

    capacity: int
    values: NDArray[Any] = field(default_factory=lambda: np.empty(0, dtype=object))
    hashes: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    counts: NDArray[np.int64] = field(default_factory=_no_counts)
    overflowed: bool = False

    def may_enter(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which hashes are small enough to be kept; lets a caller skip the work for all others."""
        if not self.overflowed:
            return np.ones(len(hashes), dtype=bool)
        small: NDArray[np.bool_] = hashes <= self.hashes[-1]
        return small

    def add(self, values: NDArray[Any], hashes: NDArray[np.uint64], counts: NDArray[np.int64]) -> None:
        """Count `counts[i]` more occurrences of `values[i]`."""
        entering = self.may_enter(hashes)
        if not entering.any():
            return
        hashes = np.concatenate([self.hashes, hashes[entering]])
        values = np.concatenate([self.values, values[entering]]) if len(self.values) else values[entering]
        counts = np.concatenate([self.counts, counts[entering]])
        unique, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        totals = np.zeros(len(unique), dtype=np.int64)
        np.add.at(totals, inverse, counts)
        kept = slice(0, self.capacity)
        self.overflowed = self.overflowed or len(unique) > self.capacity
        self.hashes, self.values, self.counts = unique[kept], values[first][kept], totals[kept]

    def merge(self, other: DistinctSample) -> None:
        self.add(other.values, other.hashes, other.counts)
        self.overflowed = self.overflowed or other.overflowed

    @property
    def n_distinct(self) -> int:
        """The number of distinct values: exact up to `capacity`, estimated from the hashes beyond."""
        if not self.overflowed:
            return len(self.hashes)
        return round((len(self.hashes) - 1) / (float(self.hashes[-1]) / HASH_RANGE))

    @property
    def all_different(self) -> bool:
        return len(self.counts) > 0 and int(self.counts.max()) == 1


@dataclass
class Spread:
    """Where the numbers of a column lie.

    Examples
    --------
    >>> spread = Spread(capacity=100)
    >>> spread.add(np.array([1.0, 2.0, 2.0, 40.0]), np.array([1, 1, 1, 1]))
    >>> spread.minimum, spread.quantile(0.5), spread.maximum
    (1.0, 2.0, 40.0)
    """

    capacity: int
    count: int = 0
    n_infinite: int = 0
    n_fractions: int = 0
    minimum: float = np.inf
    maximum: float = -np.inf
    bins: NDArray[np.int64] = field(default_factory=_no_counts)
    bin_counts: NDArray[np.int64] = field(default_factory=_no_counts)
    sample: DistinctSample = field(init=False)

    def __post_init__(self) -> None:
        self.sample = DistinctSample(self.capacity, values=np.empty(0))

    def add(self, values: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
        """Count `counts[i]` more occurrences of `values[i]`; infinities are only tallied."""
        finite = np.isfinite(values)
        self.n_infinite += int(counts[~finite].sum())
        values, counts = values[finite] + 0.0, counts[finite]
        if len(values) == 0:
            return
        self.count += int(counts.sum())
        self.n_fractions += int(counts[values != np.floor(values)].sum())
        self.minimum = min(self.minimum, float(values.min()))
        self.maximum = max(self.maximum, float(values.max()))
        self._add_bins(bin_numbers(values), counts)
        hashes = hash_numbers(values)
        entering = self.sample.may_enter(hashes)
        self.sample.add(values[entering], hashes[entering], counts[entering])

    def merge(self, other: Spread) -> None:
        self.count += other.count
        self.n_infinite += other.n_infinite
        self.n_fractions += other.n_fractions
        self.minimum = min(self.minimum, other.minimum)
        self.maximum = max(self.maximum, other.maximum)
        self._add_bins(other.bins, other.bin_counts)
        self.sample.merge(other.sample)

    def share_of_zeros(self) -> float:
        return float(self.bin_counts[self.bins == 0].sum()) / self.count if self.count else 0.0

    def quantile(self, share: float) -> float:
        """The value below which `share` of the numbers lie: exact if few are distinct, else within 2 %."""
        if self.count == 0:
            return 0.0
        if not self.sample.overflowed:
            return _weighted_quantile(self.sample.values, self.sample.counts, share)
        target = _rank(share, self.count)
        below = np.cumsum(self.bin_counts)
        place = int(np.searchsorted(below, target, side="right"))
        share_in_bin = (target - (below[place] - self.bin_counts[place])) / self.bin_counts[place]
        inside = bin_numbers(self.sample.values) == self.bins[place]
        if inside.any():
            return _weighted_quantile(self.sample.values[inside], self.sample.counts[inside], share_in_bin)
        return float(np.clip(bin_centre(int(self.bins[place])), self.minimum, self.maximum))

    def _add_bins(self, bins: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        if len(bins) > MANY:
            # Counting by place is faster than sorting, once it is worth a pass over all bins there can be.
            lowest = int(bins.min())
            tally = np.bincount(bins - lowest, weights=counts)
            bins = np.flatnonzero(tally) + lowest
            counts = tally[bins - lowest].astype(np.int64)
        self.bins, inverse = np.unique(np.concatenate([self.bins, bins]), return_inverse=True)
        totals = np.zeros(len(self.bins), dtype=np.int64)
        np.add.at(totals, inverse, np.concatenate([self.bin_counts, counts]))
        self.bin_counts = totals


def bin_numbers(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """The histogram bin of each number: 0 for zero, else signed and in the order of the numbers."""
    with np.errstate(divide="ignore"):
        magnitude = np.ceil(np.log(np.abs(values)) / np.log(BIN_GROWTH))
    # Doubles reach down to 5e-324, whose bin is -37,600: the shift keeps bins of positive numbers above zero.
    shifted = np.where(values == 0, 0.0, magnitude + 40_000)
    return (np.sign(values) * shifted).astype(np.int64)


def bin_centre(bin_number: int) -> float:
    if bin_number == 0:
        return 0.0
    return float(np.sign(bin_number) * BIN_GROWTH ** (abs(bin_number) - 40_000.5))


def _weighted_quantile(values: NDArray[np.float64], counts: NDArray[np.int64], share: float) -> float:
    order = np.argsort(values)
    below = np.cumsum(counts[order])
    place = int(np.searchsorted(below, _rank(share, int(below[-1])), side="right"))
    return float(values[order][place])


def _rank(share: float, count: int) -> int:
    """The place, from 0, of the value at `share` of `count` sorted ones: the nearest, of two the lower."""
    return max(0, math.ceil(share * (count - 1) - 0.5))
