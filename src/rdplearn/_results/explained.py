"""What a detection finds: the highest rows with their reasons, kinds of anomalies, ranks, trust.

Reasons cost far more than scores. They are given to the reported rows, the 500 highest of them, and to the rows that
are listed, whatever the size of the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from rdplearn._explain.explanation import Explanation, plain
from rdplearn._explain.kinds import Kind
from rdplearn._explain.reasons import MOST_EXPLAINED, N_REASONS, in_their_places, ranks, reason_columns
from rdplearn._explain.reliability import RankingStability
from rdplearn._results.formats import ROW, as_simple_column
from rdplearn._results.scored import ScoredRows, TopRows
from rdplearn._types import Doubles
from rdplearn.errors import told_already
from rdplearn.table import Table, TableEncoder
from rdplearn.table.cells import clean_cells, is_text, words_of
from rdplearn.table.encodings import Number
from rdplearn.table_model import RANK, REPORTED, SCORE, TableModel

KEPT_CELLS = 2**21
REASONS, WHY = "reasons", "why"


def rows_to_explain(n_listed: int, table: Table) -> TopRows:
    """Keeps the rows that may have to be explained: fewer of very wide ones, but always those that are listed."""
    return TopRows(max(n_listed, min(MOST_EXPLAINED, KEPT_CELLS // len(table.column_names))), table.column_names)


@dataclass(frozen=True)
class ExplainedRows:
    """The highest rows of a table with their reasons.

    rows : of the table, the highest score first; numbers, from 1, scores and reported go with them
    stability : None of a single member
    """

    rows: pa.Table
    numbers: Any
    scores: Doubles
    reported: Any
    explanation: Explanation
    encoder: TableEncoder
    stability: RankingStability | None

    @classmethod
    def of(cls, model: TableModel, top: TopRows, *, n_listed: int, n_rows: int) -> ExplainedRows:
        """Explain the rows that are reported or listed, and judge the ranking by all that were kept.

        n_rows : of the table
        """
        assert top.rows is not None  # a table without rows is an error before
        few = slice(0, max(n_listed, int(top.reported.sum())))
        rows = top.rows.slice(0, few.stop)
        with told_already():
            explanation = model.explain(rows)
            matrix = model.encoder.transform(top.rows)
        stability = model.estimator.stability_of_top(matrix, n_rows=n_rows)
        columns = top.numbers[few], top.scores[few], top.reported[few]
        return cls(rows, *columns, explanation, model.encoder, stability)

    def kinds(self) -> list[Kind]:
        """The reported rows, those with the same reason as one kind; places are those of `numbers`."""
        return self.explanation.of_rows(np.flatnonzero(self.reported)).kinds()

    def as_dicts(self, n_rows: int) -> list[dict[str, Any]]:
        """The first rows for JSON: all columns, numbers as numbers, with rank and reasons.

        A column of the table that bears the name of one of ours is left out.
        """
        names = [name for name in self.rows.column_names if name not in (ROW, RANK, SCORE, REPORTED, REASONS, WHY)]
        few = self.rows.slice(0, n_rows)
        cells = {name: plain_cells(few.column(name), name, self.encoder) for name in names}
        places = ranks(self.scores, np.sort(self.scores))  # all rows that are higher are among these
        return [
            {
                ROW: int(self.numbers[place]),
                RANK: int(places[place]),
                **{name: column[place] for name, column in cells.items()},
                SCORE: float(self.scores[place]),
                REPORTED: bool(self.reported[place]),
                REASONS: self._reasons(place),
                WHY: self.explanation.in_short(place),
            }
            for place in range(few.num_rows)
        ]

    def _reasons(self, place: int) -> list[dict[str, Any]]:
        first = self.explanation.columns_of(place, n_columns=N_REASONS)
        return [told for told in first if told["contribution"] > 0]


def plain_cells(cells: pa.ChunkedArray, name: str, encoder: TableEncoder) -> list[Any]:
    """Cells as plain values for JSON: texts that the encoder reads as numbers are numbers, the rest is as it stands."""
    column = cells.combine_chunks()
    encodings = {encoded.source: encoded.encoding for encoded in encoder.columns_}
    encoding = encodings.get(name)
    if not (isinstance(encoding, Number) and is_text(column)):
        return [plain(value) for value in as_simple_column(column).to_pylist()]
    texts = clean_cells(column, encoder.rules_, name, "the table")
    numbers = encoding.read(texts, encoder.rules_).tolist()
    pairs = zip(numbers, words_of(texts).to_pylist(), strict=True)
    return [text if np.isnan(number) else plain_number(number) for number, text in pairs]


def plain_number(number: float) -> int | float | None:
    """A number as JSON has it: whole ones without a decimal point.

    Examples
    --------
    >>> plain_number(9800.0), plain_number(0.5), plain_number(np.inf)
    (9800, 0.5, None)
    """
    whole_or_not: int | float | None = int(number) if number.is_integer() else plain(number)
    return whole_or_not


@dataclass(frozen=True)
class RankedRows(ScoredRows):
    """Rows with scores, and what is known once all are scored: ranks and reasons, column by column."""

    further: Mapping[str, Any]

    def columns(self) -> Mapping[str, Any]:
        """Score, rank, whether reported, and the first reasons."""
        reasons = {name: values for name, values in self.further.items() if name != RANK}
        return {SCORE: self.scores, RANK: self.further[RANK], REPORTED: self.reported, **reasons}


class RankRows:
    """Goes through a table whose rows are scored already, and adds ranks and reasons to the scores."""

    def __init__(self, scores: Doubles, explained: ExplainedRows) -> None:
        self.scores, self.in_order = scores, np.sort(scores)
        by_number = np.argsort(explained.numbers)
        self.explained = explained.numbers[by_number] - 1
        self.reasons = {name: texts[by_number] for name, texts in reason_columns(explained.explanation).items()}

    def __call__(self, model: TableModel, table: Table, *, skip_rows: int = 0) -> Iterator[RankedRows]:
        """The batches of the table; it has no rows to skip, for nothing of it is written earlier."""
        first = skip_rows
        for rows in table.batches():
            scores = self.scores[first : first + rows.num_rows]
            further = {RANK: ranks(scores, self.in_order), **self._reasons_between(first, first + rows.num_rows)}
            yield RankedRows(rows, first + 1, scores, scores > -model.estimator.offset_, further)
            first += rows.num_rows

    def _reasons_between(self, start: int, end: int) -> dict[str, Any]:
        here = slice(*np.searchsorted(self.explained, [start, end]))
        columns = {name: texts[here] for name, texts in self.reasons.items()}
        spread = in_their_places(columns, self.explained[here] - start, end - start)
        return {name: pa.array(texts, pa.string()) for name, texts in spread.items()}
