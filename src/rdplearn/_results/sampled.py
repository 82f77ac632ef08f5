"""A uniform sample of the rows that pass by with their results; samples of parts of a table can be joined."""

from __future__ import annotations

from rdplearn._results.batches import RowsWithResults
from rdplearn.table import RowSample, RowSampler
from rdplearn.table.sampling import join_samples


class SampledRows:
    """Keeps up to so many rows, each with the same chance; the same ones whether the table comes whole or in parts.

    Parameters
    ----------
    n_rows : of the sample
    n_rows_in_all : of the table, if that is known: a part then keeps no more than its share

    Examples
    --------
    >>> import pyarrow as pa
    >>> whole, first, second = (SampledRows(2) for _ in range(3))
    >>> whole.add(RowsWithResults(pa.record_batch({"age": [31, 57, 12, 44]}), 1))
    >>> first.add(RowsWithResults(pa.record_batch({"age": [31, 57]}), 1))
    >>> second.add(RowsWithResults(pa.record_batch({"age": [12, 44]}), 3))
    >>> first.merge(second)
    >>> first.sample().rows.equals(whole.sample().rows)
    True
    """

    SEED = 0  # the same table gives the same sample

    def __init__(self, n_rows: int, n_rows_in_all: int | None = None) -> None:
        self.n_rows, self.n_rows_in_all = n_rows, n_rows_in_all
        self._sampler: RowSampler | None = None
        self._earlier: RowSample | None = None

    def add(self, batch: RowsWithResults) -> None:
        """Take in the next rows."""
        if self._sampler is None:
            first_row = batch.first_row - 1
            self._sampler = RowSampler(
                self.n_rows, seed=self.SEED, first_row=first_row, n_rows_in_all=self.n_rows_in_all
            )
        self._sampler.add(batch.rows)

    def merge(self, later: SampledRows) -> None:
        """Take in what was kept of rows that follow."""
        samples = [one.sample() for one in (self, later) if not one.is_empty]
        if samples:
            self._sampler, self._earlier = None, join_samples(samples, self.n_rows, seed=self.SEED)

    @property
    def is_empty(self) -> bool:
        """Whether no row has been kept."""
        return self._earlier is None and (self._sampler is None or self._sampler.is_empty)

    def sample(self) -> RowSample:
        """The sample of all rows seen so far."""
        if self._earlier is not None:
            return self._earlier
        return (self._sampler or RowSampler(self.n_rows, seed=self.SEED)).sample()
