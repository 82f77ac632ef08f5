"""What a report keeps of a table while its rows are scored, batch by batch: all scores, and few of the rows.

Kept are the rows with the highest scores, some of which are listed, and a uniform sample of all, by which the ranking
is judged and some of which show on the map what is ordinary. Memory holds these rows, and 8 bytes for each row scored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rdplearn._explain.reasons import MOST_EXPLAINED
from rdplearn._results.scored import Evaluation, ScoredRows
from rdplearn._types import Doubles, Ints
from rdplearn.errors import TableError
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
    n_top : how many of the highest rows are listed; up to 1,000 are kept, or more are listed
    """

    def __init__(self, table: Table, *, label: str | None = None, n_top: int = N_TOP) -> None:
        self.table, self.label, self.n_top = table, label, n_top
        self.n_kept = max(n_top, MOST_EXPLAINED)
        self.n_rows = 0
        self.evaluation = Evaluation(label, table.name) if label is not None else None
        self._scores: list[Doubles] = []
        self._sampler = RowSampler(N_SAMPLED, seed=SEED)
        self._top: pa.Table | None = None
        self._top_places = np.empty(0, dtype=np.int64)
        self._top_scores = np.empty(0)

    def add(self, scored: ScoredRows) -> None:
        """Take in the next rows."""
        self._scores.append(scored.scores)
        self._sampler.add(scored.rows)
        self._keep_highest(scored)
        if self.evaluation is not None:
            self.evaluation.add(scored)
        self.n_rows += len(scored.scores)

    def scores(self) -> Doubles:
        """The scores of all rows, in the order of the table."""
        return np.concatenate(self._scores)

    def sample(self) -> RowSample:
        """The sampled rows."""
        return self._sampler.sample()

    def highest(self, n_rows: int) -> pa.Table:
        """The rows with the highest scores, the highest first: so many of those that were kept."""
        if self._top is None:
            raise TableError(f"There are no rows in {self.table.name}. Pass a table with at least one row.")
        return self._top.slice(0, n_rows)

    def listed(self) -> ListedRows:
        """The highest rows, the highest first, and then some of the sample that are not among them."""
        sample, top, places = self.sample(), self.highest(self.n_top), self._top_places[: self.n_top]
        others = evenly(np.flatnonzero(~np.isin(sample.places, places)), N_ORDINARY)
        rows = pa.concat_tables([top, sample.rows.take(pa.array(others))])
        return ListedRows(rows, np.concatenate([places, sample.places[others]]), len(places))

    def _keep_highest(self, scored: ScoredRows) -> None:
        highest = np.argsort(-scored.scores, kind="stable")[: self.n_kept]
        few = pa.Table.from_batches([scored.rows.take(pa.array(highest))])
        rows = few if self._top is None else pa.concat_tables([self._top, few])
        places = np.concatenate([self._top_places, scored.first_row - 1 + highest])
        scores = np.concatenate([self._top_scores, scored.scores[highest]])
        order = np.argsort(-scores, kind="stable")[: self.n_kept]
        self._top, self._top_places, self._top_scores = rows.take(pa.array(order)), places[order], scores[order]


def evenly(numbers: Ints, most: int) -> Ints:
    """At most so many of the numbers, at equal distances.

    Examples
    --------
    >>> evenly(np.arange(10), 4).tolist()
    [0, 3, 6, 9]
    """
    if len(numbers) <= most:
        return numbers
    return numbers[np.linspace(0, len(numbers) - 1, most).round().astype(np.int64)]
