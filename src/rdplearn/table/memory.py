"""What a model remembers of the table that it was fitted on, to tell later whether the world has changed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rdplearn._files.checked_values import as_mapping, make, require
from rdplearn.errors import ModelFileError
from rdplearn.table.encoder import TableEncoder
from rdplearn.table.profiles import (
    OWNER,
    ColumnProfile,
    Histogram,
    count_again,
    histogram_from_dict,
    learn_profile,
    places_for,
)

if TYPE_CHECKING:
    import pyarrow as pa

REMEMBERED_ROWS = 10_000


@dataclass(frozen=True)
class ScoreMemory:
    """How rows of the same kind, which the model was not trained on, score.

    n_beyond : of these rows, as many as lie beyond the threshold
    """

    histogram: Histogram
    n_rows: int
    n_beyond: int


@dataclass(frozen=True)
class TableMemory:
    """The profiles of all columns, and of the scores if these were remembered."""

    columns: list[ColumnProfile]
    scores: ScoreMemory | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "columns": [column.to_dict() for column in self.columns],
            "scores": None if self.scores is None else asdict(self.scores),
        }

    @classmethod
    def from_dict(cls, state: Any) -> TableMemory:
        """Rebuild a memory; raises `ModelFileError` for what `to_dict` does not write."""
        values = as_mapping(state, "a memory", OWNER)
        require("columns", values.get("columns"), list, OWNER)
        columns = [ColumnProfile.from_dict(column) for column in values["columns"]]
        if values.get("scores") is None:
            return cls(columns)
        scores = dict(as_mapping(values["scores"], "scores", OWNER))
        histogram = histogram_from_dict(scores.pop("histogram", None))
        made = make(ScoreMemory, scores, OWNER, histogram=histogram)
        if not made.n_beyond <= made.n_rows or histogram.low is None:
            raise ModelFileError(f"{OWNER} has an impossible 'n_beyond': {made.n_beyond}.")
        return cls(columns, made)


def learn_memory(rows: pa.Table, encoder: TableEncoder) -> TableMemory:
    """Remember how the columns of a table are spread, by some of its rows if there are many.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [31.0, 57.0, 44.0], "city": ["Oslo", "Rome", "Rome"]})
    >>> memory = learn_memory(table, TableEncoder().fit(table))
    >>> [profile.column for profile in memory.columns], memory.columns[1].histograms[0].words
    (['age', 'city'], ['Rome'])
    """
    few = thinned(rows, REMEMBERED_ROWS)
    n_places = places_for(len(encoder.columns_))
    return TableMemory(
        [
            learn_profile(column, few.column(column.source).combine_chunks(), encoder.rules_, n_places)
            for column in encoder.columns_
        ]
    )


def count_memory(memory: TableMemory, rows: pa.Table, encoder: TableEncoder) -> list[ColumnProfile]:
    """Count other rows in the places of a memory; columns that they lack are left out."""
    columns = {column.source: column for column in encoder.columns_}
    return [
        count_again(profile, columns[profile.column], rows.column(profile.column).combine_chunks(), encoder.rules_)
        for profile in memory.columns
        if profile.column in rows.column_names and profile.column in columns
    ]


def faded(memory: TableMemory, share: float, rows: pa.Table, encoder: TableEncoder) -> TableMemory:
    """The memory of a table that this share is left of, joined with that of further rows; without scores."""
    counted = {profile.column: profile for profile in count_memory(memory, thinned(rows, REMEMBERED_ROWS), encoder)}
    return TableMemory(
        [
            profile.fade(share).join(counted[profile.column]) if profile.column in counted else profile
            for profile in memory.columns
        ]
    )


def with_scores(memory: TableMemory, scores: ScoreMemory) -> TableMemory:
    """The memory with that of scores."""
    return replace(memory, scores=scores)


def thinned(rows: pa.Table, most: int) -> pa.Table:
    """At most so many of the rows, at equal distances."""
    import pyarrow as pa

    if rows.num_rows <= most:
        return rows
    return rows.take(pa.array(np.linspace(0, rows.num_rows - 1, most).round().astype(np.int64)))
