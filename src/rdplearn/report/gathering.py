"""What a report keeps of a table while its rows are scored, batch by batch: all scores, and few of the rows.

Kept are the rows with the highest scores, some of which are listed, and a uniform sample of all, by which the ranking
is judged and some of which show on the map what is ordinary. Memory holds these rows, and 8 bytes for each row scored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rdplearn._explain.reasons import MOST_EXPLAINED
from rdplearn._results.scored import AllScores, Evaluation, ScoredRows, TopRows
from rdplearn._types import Doubles, Ints
from rdplearn.errors import no_rows
from rdplearn.table import RowSample, RowSampler, Table

N_TOP, N_SAMPLED, N_ORDINARY = 300, 10_000, 1_500
SEED = 0  # of the sample: the same table gives the same page


@dataclass(frozen=True)
class ListedRows:
    """Rows of a table, where they stood in it (from 0), and how many of them, the first, have the highest scores."""

    rows: pa.Table
    places: Ints
    n_top: int


class GatheredRows:
    """Takes in scored rows, and keeps what a report needs.

    Parameters
    ----------
    table : the table that is being scored
    label : column of labels to compare with, if any
    n_top : how many of the highest rows are listed; 500 are kept, or as many as are listed
    """

    def __init__(self, table: Table, *, label: str | None = None, n_top: int = N_TOP) -> None:
        self.table, self.label, self.n_top = table, label, n_top
        self.n_kept = max(n_top, MOST_EXPLAINED)
        self.n_rows = 0
        self.evaluation = Evaluation(label, table.name) if label is not None else None
        self._scores, self._top = AllScores(), TopRows(self.n_kept, table.column_names)
        self._sampler = RowSampler(N_SAMPLED, seed=SEED)

    def add(self, scored: ScoredRows) -> None:
        """Take in the next rows."""
        self._scores.add(scored)
        self._top.add(scored)
        self._sampler.add(scored.rows)
        if self.evaluation is not None:
            self.evaluation.add(scored)
        self.n_rows += len(scored.scores)

    def scores(self) -> Doubles:
        """The scores of all rows, in the order of the table."""
        return self._scores.scores()

    def sample(self) -> RowSample:
        """The sampled rows."""
        return self._sampler.sample()

    def highest(self, n_rows: int) -> pa.Table:
        """The rows with the highest scores, the highest first: so many of those that were kept."""
        if self._top.rows is None:
            raise no_rows(self.table.name)
        return self._top.rows.slice(0, n_rows)

    def listed(self) -> ListedRows:
        """The highest rows, the highest first, and then some of the sample that are not among them."""
        sample, top, places = self.sample(), self.highest(self.n_top), self._top.numbers[: self.n_top] - 1
        others = evenly(np.flatnonzero(~np.isin(sample.places, places)), N_ORDINARY)
        rows = pa.concat_tables([top, sample.rows.take(pa.array(others))])
        return ListedRows(rows, np.concatenate([places, sample.places[others]]), len(places))


def evenly(numbers: npt.NDArray[Any], most: int) -> npt.NDArray[Any]:
    """At most so many of the numbers, at equal distances.

    Examples
    --------
    >>> evenly(np.arange(10), 4).tolist()
    [0, 3, 6, 9]
    """
    if len(numbers) <= most:
        return numbers
    return numbers[np.linspace(0, len(numbers) - 1, most).round().astype(np.int64)]
