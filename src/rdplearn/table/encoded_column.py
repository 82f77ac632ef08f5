"""One column of a fitted encoder: its encoding, its missing-value indicator, and what is told about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rdplearn.errors import TableError
from rdplearn.table.assembly import OneHot, Piece
from rdplearn.table.cells import TextRules, clean_cells, is_text, words_of
from rdplearn.table.column_types import Decision, shown_value
from rdplearn.table.encodings import (
    Boolean,
    Category,
    Date,
    Encoding,
    LeftOut,
    Number,
    Text,
    Time,
    typical_values,
)
from rdplearn.table.findings import NEWLY_MISSING, Findings
from rdplearn.table.summary import ColumnSummary, Stray
from rdplearn.table.typical import Typical
from rdplearn.table.wording import as_option, rows_text, shown

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class EncodedColumn:
    """A source column and what becomes of it."""

    source: str
    encoding: Encoding
    indicator: bool
    n_missing: int
    n_distinct: int
    typical: Typical
    note: str

    @classmethod
    def learn(
        cls,
        column: ColumnSummary,
        decision: Decision,
        *,
        max_categories: int,
        rare_share: float,
        text_columns: int,
    ) -> EncodedColumn:
        """Build the encoding that was decided on; `text_columns=0` leaves free text out."""
        note = decision.note
        encoding: Encoding
        match decision.kind:
            case "number":
                encoding = Number.learn(column)
            case "boolean":
                encoding = Boolean.learn(column)
            case "category":
                encoding = Category.learn(column, max_categories, rare_share)
            case "date":
                encoding = Date.learn(column, decision.day_first)
            case "time":
                encoding = Time()
            case "text" if text_columns > 0:
                encoding = Text(text_columns)
            case "text":
                encoding, note = LeftOut("text"), "left out: free text"
            case "constant" if column.form in ("text", "category", "number"):
                encoding = LeftOut("constant", shown_value(column))
            case kind:
                encoding = LeftOut(kind)
        return cls(
            source=column.name,
            encoding=encoding,
            indicator=(column.n_missing > 0 or column.infinities.n_rows > 0) and decision.kind != "empty",
            n_missing=column.n_missing,
            n_distinct=min(column.n_distinct, column.n_present),
            typical=typical_values(column, encoding),
            note=note,
        )

    @property
    def kind(self) -> str:
        return self.encoding.kind

    @property
    def is_left_out(self) -> bool:
        return isinstance(self.encoding, LeftOut)

    def names(self) -> list[str]:
        """The names of its matrix columns."""
        names = [f"{self.source}{suffix}" for suffix in self.encoding.suffixes()]
        return [*names, f"{self.source} missing"] if self.indicator else names

    def encode(self, cells: pa.Array, rules: TextRules, findings: Findings) -> list[Piece]:
        """Turn the cells of one batch into pieces of the matrix; note in `findings` what is unusual."""
        array = clean_cells(cells, rules, self.source, findings.table)
        missing = np.asarray(array.is_null())
        pieces: list[Piece] = []
        if isinstance(self.encoding, LeftOut):
            self.encoding.look(array, rules, self.source, findings)
        elif isinstance(self.encoding, Category | Text):
            pieces.append(self.encoding.encode_words(words_of(array), self.source, findings))
        else:
            values = self.encoding.read(array, rules)
            self._refuse_unreadable(array, np.isnan(values) & ~missing, findings)
            pieces.append(self.encoding.encode(values, array, self.source, findings))
            missing = missing | np.isinf(values)
        if self.indicator:
            pieces.append(OneHot(np.where(missing, 0, -1), 1))
        elif not self.is_left_out:
            findings.note(self.source, NEWLY_MISSING, Stray.find(array, missing))
        return pieces

    def values(self, cells: pa.Array, rules: TextRules, table: str) -> list[Any]:
        """What the cells say, for people: numbers as numbers, None where they are missing, the rest as it stands."""
        array = clean_cells(cells, rules, self.source, table)
        by_number = isinstance(self.encoding, Number) or (isinstance(self.encoding, Boolean) and not is_text(array))
        if by_number and isinstance(self.encoding, Number | Boolean):
            return [None if np.isnan(value) else value for value in self.encoding.read(array, rules).tolist()]
        listed: list[Any] = (array if isinstance(self.encoding, Date | Time) else words_of(array)).to_pylist()
        return listed

    def expected_entries(self, column: ColumnSummary) -> float:
        """How many of its matrix columns a row fills with something other than zero, on average."""
        entries = column.n_missing / max(column.n_rows, 1) if self.indicator else 0.0
        if isinstance(self.encoding, Category):
            return entries + 1
        if isinstance(self.encoding, Number) and self.encoding.offset == 0:
            return entries + 1 - column.numbers.share_of_zeros()
        return entries + len(self.encoding.suffixes())

    def describe(self) -> dict[str, Any]:
        return {
            "column": self.source,
            "kind": self.kind,
            "becomes": self.names(),
            "missing": self.n_missing,
            "distinct": self.n_distinct,
            "typical": self.typical.words(),
            "note": self.note,
        }

    def _refuse_unreadable(self, array: pa.Array, unreadable: NDArray[np.bool_], findings: Findings) -> None:
        stray = Stray().then(Stray.find(array, unreadable), findings.rows_before)
        if stray.n_rows:
            raise TableError(
                f"Column {shown(self.source)} of {findings.table} was a {self.kind} at fit and is none in "
                f"{rows_text(stray.n_rows)} (first: row {stray.first_row}, {shown(stray.first_text)}). "
                f"Mend the column, or fit again with --missing {as_option(stray.first_text)}."
            )
