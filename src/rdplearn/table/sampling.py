"""A uniform sample of the rows of a table of unknown length, in one pass and bounded memory.

Every row gets a random key from the seed and its number; the rows with the smallest keys are the sample. So
the same seed draws the same rows however the table is cut into batches, and samples of parts can be joined.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rdplearn.errors import TableError
from rdplearn.table.hashing import scramble

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class RowSample:
    """Sampled rows in the order of the table, and where they stood in it (from 0)."""

    rows: pa.Table
    places: NDArray[np.int64]
    n_rows_seen: int


def row_keys(seed: int, places: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The random keys of the rows at these places, made of the seed and the place alone."""
    start = scramble(np.array([seed % 2**64], dtype=np.uint64))
    return scramble(scramble(places.astype(np.uint64)) ^ start)


def largest_key_needed(n_rows: int, n_rows_in_all: int) -> np.uint64:
    """A key that at least `n_rows` of so many rows are below, but not many more.

    Keys are uniform, so that the number below is known to within its square root; eight of these are to spare.
    """
    share = (n_rows + 8 * np.sqrt(n_rows)) / max(n_rows_in_all, 1)
    return np.uint64(2**64 - 1) if share >= 1 else np.uint64(int(share * 2**64))


class RowSampler:
    """Draws up to `n_rows` rows without replacement, each with the same chance, from batches as they come.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": list(range(1000))})
    >>> def draw(batch_size):
    ...     sampler = RowSampler(5, seed=0)
    ...     for batch in table.to_batches(max_chunksize=batch_size):
    ...         sampler.add(batch)
    ...     return sampler.sample().places.tolist()
    >>> draw(10) == draw(999), len(draw(10))
    (True, 5)

    Parts of a table can be sampled apart: give each sampler the rows that come before its part and those there are in
    all, and join what they have with `join_samples`.
    """

    def __init__(self, n_rows: int, *, seed: int, first_row: int = 0, n_rows_in_all: int | None = None) -> None:
        if n_rows < 1:
            raise TableError(f"The 'n_rows' parameter of RowSampler must be at least 1. Got {n_rows!r} instead.")
        self.n_rows = n_rows
        self.seed = seed
        self.first_row = first_row
        self.n_rows_seen = 0
        self._largest_key = largest_key_needed(n_rows, n_rows if n_rows_in_all is None else n_rows_in_all)
        self._kept: list[pa.Table] = []
        self._keys: list[NDArray[np.uint64]] = []
        self._places: list[NDArray[np.int64]] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in the next rows."""
        import pyarrow as pa

        places = self.first_row + self.n_rows_seen + np.arange(batch.num_rows)
        keys = row_keys(self.seed, places)
        chosen = np.flatnonzero(keys <= self._largest_key)
        if len(chosen) > self.n_rows:
            chosen = np.sort(chosen[np.argsort(keys[chosen], kind="stable")[: self.n_rows]])
        if len(chosen):
            self._kept.append(pa.Table.from_batches([batch.take(pa.array(chosen))]))
            self._keys.append(keys[chosen])
            self._places.append(places[chosen])
        self.n_rows_seen += batch.num_rows
        if sum(map(len, self._keys)) > 2 * self.n_rows:
            self._drop_surplus()

    @property
    def is_empty(self) -> bool:
        """Whether no row has been kept."""
        return not self._kept

    def sample(self) -> RowSample:
        """The sample of all rows seen so far."""
        if self.is_empty:
            raise TableError("There are no rows to sample from. Pass a table with at least one row.")
        self._drop_surplus()
        return RowSample(self._kept[0], self._places[0], self.n_rows_seen)

    def _drop_surplus(self) -> None:
        import pyarrow as pa

        keys, places = np.concatenate(self._keys), np.concatenate(self._places)
        rows = pa.concat_tables(self._kept)
        smallest = np.sort(np.argsort(keys, kind="stable")[: self.n_rows])
        if len(smallest) < len(keys):
            rows, keys, places = rows.take(pa.array(smallest)), keys[smallest], places[smallest]
        if len(keys) == self.n_rows:
            self._largest_key = keys.max()
        self._kept, self._keys, self._places = [rows.combine_chunks()], [keys], [places]


def join_samples(samples: Sequence[RowSample], n_rows: int, *, seed: int) -> RowSample:
    """The sample of a table from those of its parts, which were drawn with the same seed, in the order of the table.

    Examples
    --------
    >>> import pyarrow as pa
    >>> def draw(ages, first_row):
    ...     sampler = RowSampler(2, seed=0, first_row=first_row, n_rows_in_all=6)
    ...     sampler.add(pa.record_batch({"age": ages}))
    ...     return sampler.sample()
    >>> parts = [draw([31, 57, 12], 0), draw([44, 8, 71], 3)]
    >>> whole = sample_rows(pa.table({"age": [31, 57, 12, 44, 8, 71]}).to_batches(), 2, seed=0)
    >>> join_samples(parts, 2, seed=0).rows.equals(whole.rows)
    True
    """
    import pyarrow as pa

    names = samples[0].rows.column_names
    rows = pa.concat_tables([sample.rows.select(names) for sample in samples], promote_options="permissive")
    places = np.concatenate([sample.places for sample in samples])
    smallest = np.sort(np.argsort(row_keys(seed, places), kind="stable")[:n_rows])
    n_rows_seen = sum(sample.n_rows_seen for sample in samples)
    return RowSample(rows.take(pa.array(smallest)).combine_chunks(), places[smallest], n_rows_seen)


def sample_rows(batches: Iterable[pa.RecordBatch], n_rows: int, *, seed: int) -> RowSample:
    """Draw up to `n_rows` rows from batches, uniformly and reproducibly.

    Examples
    --------
    >>> import pyarrow as pa
    >>> sample = sample_rows(pa.table({"age": [31, 57, 12]}).to_batches(), 10, seed=0)
    >>> sample.rows["age"].to_pylist(), sample.n_rows_seen
    ([31, 57, 12], 3)
    """
    sampler = RowSampler(n_rows, seed=seed)
    for batch in batches:
        sampler.add(batch)
    return sampler.sample()
