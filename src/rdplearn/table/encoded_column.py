"""One column of a fitted encoder: its encoding, its missing-value indicator, and what is told about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rdplearn.errors import TableError
from rdplearn.table.assembly import OneHot, Piece
from rdplearn.table.cells import TextRules, clean_cells, is_text, usual_markers, words_of
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
    Year,
    moment_text,
    spread_of_numbers,
    typical_values,
)
from rdplearn.table.findings import NEWLY_MISSING, NOT_FITTING, Findings
from rdplearn.table.summary import ColumnSummary, Stray, form_of
from rdplearn.table.typical import Seconds, Typical
from rdplearn.table.wording import rows_text, shown

if TYPE_CHECKING:
    import pyarrow as pa

FEW = 10  # cells that do not fit are no reason to stop, however few rows there are


@dataclass(frozen=True)
class EncodedColumn:
    """A source column and what becomes of it.

    indicator : one more matrix column says where it is missing
    marks_misfits : another says where a cell cannot be read, such as a word among numbers
    n_distinct : about, if `is_estimate`
    """

    source: str
    encoding: Encoding
    indicator: bool
    n_missing: int
    n_distinct: int
    typical: Typical
    note: str
    marks_misfits: bool = False
    is_estimate: bool = False

    @classmethod
    def learn(
        cls,
        column: ColumnSummary,
        decision: Decision,
        rules: TextRules,
        *,
        max_categories: int,
        rare_share: float,
        text_columns: int,
    ) -> EncodedColumn:
        """Build the encoding that was decided on; `text_columns=0` leaves free text out."""
        note = decision.note
        encoding: Encoding
        match decision.kind:
            case "number" | "year":
                numbers = spread_of_numbers(column, rules, decision.decimal, decision.dress)
                encoding = (Year if decision.kind == "year" else Number).learn(numbers, decision)
            case "boolean":
                encoding = Boolean.learn(column)
            case "category":
                encoding = Category.learn(column, max_categories, rare_share)
            case "date":
                encoding = Date.learn(column, decision)
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
        markers = column.markers if isinstance(encoding, Number | Boolean | Date | Time) else {}
        n_missing = column.n_missing + sum(markers.values())
        has_infinite = isinstance(encoding, Number) and column.infinities.n_rows > 0  # "12e999" is a word elsewhere
        has_holes = n_missing > 0 or has_infinite or decision.has_misfits
        sample = column.texts if column.form in ("text", "category") else column.numbers.sample
        sample = column.moments[False].sample if column.form == "moment" else sample
        # an estimate is no better than this where all that is remembered is different
        seems_different = sample.overflowed and sample.all_different
        n_distinct = column.n_present if seems_different else min(column.n_distinct - len(markers), column.n_present)
        return cls(
            source=column.name,
            encoding=encoding,
            indicator=has_holes and decision.kind not in ("empty", "unreadable"),
            n_missing=n_missing,
            n_distinct=n_distinct,
            typical=typical_values(column, encoding, rules),
            note=note,
            marks_misfits=decision.has_misfits,
            is_estimate=sample.overflowed,
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
        marks = [f"{self.source} missing"] if self.indicator else []
        return [*names, *marks, *([f"{self.source} not a {self.kind}"] if self.marks_misfits else [])]

    def marks(self) -> list[bool]:
        """For each of its matrix columns, whether it only says that a cell is missing or cannot be read."""
        n_values = len(self.encoding.suffixes())
        return [False] * n_values + [True] * (len(self.names()) - n_values)

    def rests(self) -> list[bool]:
        """For each of its matrix columns, whether it stands for all rare values together."""
        words = self.encoding if isinstance(self.encoding, Category) else None
        rest = len(words.categories) if words is not None and words.has_rare else None
        return [place == rest for place in range(len(self.names()))]

    def encode(self, cells: pa.Array, rules: TextRules, findings: Findings) -> list[Piece]:
        """Turn the cells of one batch into pieces of the matrix; note in `findings` what is unusual."""
        if self.kind == "unreadable":
            return []
        array = clean_cells(cells, rules, self.source, findings.table)
        missing = np.asarray(array.is_null())
        misfits = np.zeros(len(array), dtype=bool)
        pieces: list[Piece] = []
        if isinstance(self.encoding, LeftOut):
            self.encoding.look(array, rules, self.source, findings)
        elif isinstance(self.encoding, Category | Text):
            pieces.append(self.encoding.encode_words(words_of(array), self.source, findings))
        else:
            values = self.encoding.read(array, rules)
            misfits = self._misfits(array, np.isnan(values) & ~missing, rules, findings)
            pieces.append(self.encoding.encode(values, array, self.source, findings))
            missing = np.isnan(values) | np.isinf(values)
        if self.indicator:
            pieces.append(OneHot(np.where(missing, 0, -1), 1))
        elif not self.is_left_out:
            findings.note(self.source, NEWLY_MISSING, Stray.find(array, missing & ~misfits))
        if self.marks_misfits:
            pieces.append(OneHot(np.where(misfits, 0, -1), 1))
        return pieces

    def values(self, cells: pa.Array, rules: TextRules, table: str) -> list[Any]:
        """What the cells say, for people: numbers and dates as read, the rest as it stands, None for missing ones."""
        array = clean_cells(cells, rules, self.source, table)
        has_words = is_text(array) or form_of(array) == "boolean"
        by_number = isinstance(self.encoding, Number) or (isinstance(self.encoding, Boolean) and not has_words)
        if by_number and isinstance(self.encoding, Number | Boolean):
            values = self.encoding.read(array, rules).tolist()
            if isinstance(self.encoding, Year):
                values = [value if not np.isfinite(value) else f"{value:.15g}" for value in values]
            if isinstance(self.encoding, Number) and self.encoding.is_duration:
                values = [Seconds(value) for value in values]
            as_they_stand = [None] * len(array) if not self.marks_misfits else words_of(array).to_pylist()
            pairs = zip(values, as_they_stand, strict=True)
            return [text if isinstance(value, float) and np.isnan(value) else value for value, text in pairs]
        listed: list[Any] = (array if isinstance(self.encoding, Date | Time) else words_of(array)).to_pylist()
        if isinstance(self.encoding, Date) and not is_text(array):
            listed = [cell.date() if is_midnight(cell) else cell for cell in listed]
        if isinstance(self.encoding, Date) and is_text(array):
            moments = self.encoding.read(array, rules)
            for row in np.flatnonzero(~np.isnan(moments)):
                listed[row] = as_written_or_read(listed[row], moment_text(moments[row]))
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
            "distinct_is_estimate": self.is_estimate,
            "typical": self.typical.words(),
            "note": self.note,
        }

    def _misfits(
        self, array: pa.Array, unread: NDArray[np.bool_], rules: TextRules, findings: Findings
    ) -> NDArray[np.bool_]:
        """Which of the cells that cannot be read do not fit; the others are usual markers of missing values."""
        if not unread.any():
            return unread
        if not rules.strict:
            unread = unread & ~usual_markers(words_of(array))
        stray = Stray().then(Stray.find(array, unread), findings.rows_before)
        n_present = len(array) - array.null_count
        if stray.n_rows and (rules.strict or stray.n_rows > max(n_present / 2, FEW)):
            remedy = "" if rules.strict else ", or fit again"
            raise TableError(
                f"Column {shown(self.source)} of {findings.table} was a {self.kind} at fit, and is not in "
                f"{rows_text(stray.n_rows)} (first: row {stray.first_row}, {shown(stray.first_text)}). "
                f"Correct the column{remedy or ', or fit again without --strict'}."
            )
        if not self.marks_misfits:
            findings.note(self.source, NOT_FITTING, Stray.find(array, unread))
        return unread


def is_midnight(cell: Any) -> bool:
    """Whether a moment is the start of a day, so that the day says it all."""
    return isinstance(cell, datetime) and cell.tzinfo is None and cell.time() == time()


def as_written_or_read(text: str, moment: str) -> str:
    """A date as it was read, so that it can be held against others; as it stands if it says the same without midnight.

    Examples
    --------
    >>> as_written_or_read("2024-01-31T10:00", "2024-01-31 10:00:00"), as_written_or_read("1/31/24", "2024-01-31")
    ('2024-01-31T10:00', '2024-01-31')
    >>> as_written_or_read("2024-01-31 00:00:00", "2024-01-31")
    '2024-01-31'
    """
    return text if text.startswith(moment[:10]) and not text.endswith("00:00:00") else moment
