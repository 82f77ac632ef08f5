"""How each kind of column becomes numbers: one small class per kind, built from a summary, applied to cells.

Each class holds only plain values (numbers, texts, lists of them), so that a model file can store it as JSON,
and has

- `suffixes()`: how its matrix columns are called, after the name of the source column;
- `read(array, rules)`: cells as numbers, NaN where a cell cannot be read (absent where every text is fine);
- `encode(...)`: the piece of the matrix; missing cells get a neutral value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rdplearn.table.assembly import Block, OneHot, Piece
from rdplearn.table.cells import (
    TextRules,
    as_floats,
    is_text,
    number_words,
    read_booleans,
    read_numbers,
    words_of,
)
from rdplearn.table.column_types import FEWEST_ROWS_TO_JUDGE, Decision, compact_spread
from rdplearn.table.dresses import written_spread
from rdplearn.table.findings import INFINITE, NO_LONGER_CONSTANT, NO_LONGER_EMPTY, TOO_LARGE, UNSEEN, Findings
from rdplearn.table.hashing import trigram_shares
from rdplearn.table.moments import SECONDS_PER_DAY, compact_dates, read_moments, read_times_of_day
from rdplearn.table.sketches import Spread
from rdplearn.table.summary import ColumnSummary, Stray
from rdplearn.table.typical import MISSING_WORD, TYPICAL_SHARES, Seconds, Typical
from rdplearn.table.written_numbers import DURATION, read_written

if TYPE_CHECKING:
    import pyarrow as pa

RARE = "(rare)"
LARGEST_NUMBER = 1e37  # float32 ends at 3.4e38, and differences of two such numbers must fit as well
FAR_FROM_ZERO = 1000.0  # in spans of the column
PERIODS = ("hour", "weekday", "yearday")
N_TYPICAL = 3  # values of a category that are told


@dataclass(frozen=True)
class Number:
    """The number itself; counted from `offset` if too far from zero for float32 to tell values apart.

    `decimal` and `dress` are those of numbers such as "$2,700"; None for plain numbers.
    """

    kind: ClassVar[str] = "number"
    fill: float
    offset: float = 0.0
    decimal: str | None = None
    dress: str | None = None

    @classmethod
    def learn(cls, numbers: Spread, decision: Decision) -> Self:
        span, farthest = numbers.maximum - numbers.minimum, max(abs(numbers.minimum), abs(numbers.maximum))
        median = numbers.quantile(0.5)
        offset = median if 0 < FAR_FROM_ZERO * span < farthest else 0.0
        return cls(median, offset, decision.decimal, decision.dress)

    def suffixes(self) -> list[str]:
        return [""]

    @property
    def is_duration(self) -> bool:
        """Whether it is in seconds, and told as hours, minutes and seconds."""
        return self.dress == DURATION

    def typical(self, low: float, high: float) -> Typical:
        """The range of its typical values."""
        return Typical(low=Seconds(low), high=Seconds(high)) if self.is_duration else Typical(low=low, high=high)

    def read(self, array: pa.Array, rules: TextRules) -> NDArray[np.float64]:
        if self.decimal is None or not (is_text(array) or hasattr(array, "dictionary")):
            return read_numbers(array, rules)
        return read_written(words_of(array), rules, self.decimal, self.dress)[0]

    def encode(self, values: NDArray[np.float64], array: pa.Array, source: str, findings: Findings) -> Piece:
        infinite = np.isinf(values)
        findings.note(source, INFINITE, Stray.find(array, infinite))
        values = np.where(np.isnan(values) | infinite, self.fill, values) - self.offset
        findings.note(source, TOO_LARGE, Stray.find(array, np.abs(values) > LARGEST_NUMBER))
        return Block(np.clip(values, -LARGEST_NUMBER, LARGEST_NUMBER)[:, None].astype(np.float32))


@dataclass(frozen=True)
class Year(Number):
    """A number that is told without a comma."""

    kind: ClassVar[str] = "year"


@dataclass(frozen=True)
class Boolean:
    """0 or 1; the more frequent of the two where it is missing."""

    kind: ClassVar[str] = "boolean"
    fill: float

    @classmethod
    def learn(cls, column: ColumnSummary) -> Boolean:
        if column.form != "text" or column.numbers.count:
            return cls(column.numbers.quantile(0.5))
        import pyarrow as pa

        values = read_booleans(pa.array(column.texts.values.tolist(), pa.string()), TextRules())
        return cls(float(np.nansum(values * column.texts.counts) * 2 > column.n_present))

    def suffixes(self) -> list[str]:
        return [""]

    def read(self, array: pa.Array, rules: TextRules) -> NDArray[np.float64]:
        return read_booleans(array, rules)

    def encode(self, values: NDArray[np.float64], array: pa.Array, source: str, findings: Findings) -> Piece:
        return Block(np.where(np.isnan(values), self.fill, values)[:, None].astype(np.float32))


@dataclass(frozen=True)
class Category:
    """One column of 0 and 1 per frequent value, and one for all rare values if the fit met any.

    A value that the fit had not seen counts as rare; without rare values at fit, its row has no 1 at all.
    `all_known` is false when there were more distinct values than a summary remembers.
    """

    kind: ClassVar[str] = "category"
    categories: list[str]
    rare: list[str]
    all_known: bool

    @classmethod
    def learn(cls, column: ColumnSummary, max_categories: int, rare_share: float) -> Category:
        counts = category_counts(column)
        fewest = max(2.0, rare_share * column.n_rows) if column.n_rows >= FEWEST_ROWS_TO_JUDGE else 1.0
        ranked = sorted(counts, key=lambda word: (-counts[word], word))
        n_frequent = sum(count >= fewest for count in counts.values())
        n_kept = min(n_frequent, max_categories)
        return cls(ranked[:n_kept], sorted(ranked[n_kept:]), not column.texts.overflowed)

    @property
    def has_rare(self) -> bool:
        return bool(self.rare) or not self.all_known

    def suffixes(self) -> list[str]:
        return [f"={category}" for category in [*self.categories, *([RARE] if self.has_rare else [])]]

    def encode_words(self, words: pa.Array, source: str, findings: Findings) -> Piece:
        import pyarrow as pa
        import pyarrow.compute as pc

        places = np.nan_to_num(as_floats(pc.index_in(words, value_set=pa.array(self.categories, words.type))), nan=-1)
        other = (places < 0) & np.asarray(words.is_valid())
        if other.any():
            if self.all_known:
                rare = np.asarray(pc.is_in(words, value_set=pa.array(self.rare, words.type)))
                findings.note(source, UNSEEN, Stray.find(words, other & ~rare))
            if self.has_rare:
                places = np.where(other, len(self.categories), places)
        return OneHot(places.astype(np.int64), len(self.suffixes()))


@dataclass(frozen=True)
class Date:
    """Days since the first date of the fit, and the periods that the dates span as points on circles.

    A missing date stands at the median day and in the middle of each circle.
    """

    kind: ClassVar[str] = "date"
    day_first: bool
    origin: float
    fill: float
    periods: list[str]
    is_compact: bool = False

    @classmethod
    def learn(cls, column: ColumnSummary, decision: Decision) -> Date:
        seconds = spread_of_dates(column, decision.day_first, decision.is_compact)
        days = (seconds.maximum - seconds.minimum) / SECONDS_PER_DAY
        has_clock = column.n_with_clock > 0
        has_days = has_clock or bool((days_of_months(seconds.sample.values) > 1).any())  # months have no weekday
        spanned = {"hour": has_clock, "weekday": days >= 7 and has_days, "yearday": days >= 366}
        fill = (seconds.quantile(0.5) - seconds.minimum) / SECONDS_PER_DAY
        periods = [period for period in PERIODS if spanned[period]]
        return cls(decision.day_first, seconds.minimum, fill, periods, decision.is_compact)

    def suffixes(self) -> list[str]:
        return [":days", *(f":{period}_{wave}" for period in self.periods for wave in ("sin", "cos"))]

    def read(self, array: pa.Array, rules: TextRules) -> NDArray[np.float64]:
        if self.is_compact:
            return compact_dates(read_numbers(array, rules))
        return read_moments(array, self.day_first, rules.date_format)

    def encode(self, seconds: NDArray[np.float64], array: pa.Array, source: str, findings: Findings) -> Piece:
        days = (seconds - self.origin) / SECONDS_PER_DAY
        waves = [wave for period in self.periods for wave in on_a_circle(turns(seconds, period))]
        return Block(np.column_stack([np.where(np.isnan(days), self.fill, days), *waves]).astype(np.float32))


@dataclass(frozen=True)
class Time:
    """The time of day as a point on a circle: 23:59 is next to 00:00. A missing one stands in the middle."""

    kind: ClassVar[str] = "time"

    def suffixes(self) -> list[str]:
        return [":hour_sin", ":hour_cos"]

    def read(self, array: pa.Array, rules: TextRules) -> NDArray[np.float64]:
        return read_times_of_day(array)

    def encode(self, seconds: NDArray[np.float64], array: pa.Array, source: str, findings: Findings) -> Piece:
        return Block(np.column_stack(on_a_circle(turns(seconds, "hour"))).astype(np.float32))


@dataclass(frozen=True)
class Text:
    """Shares of hashed letter triples, and the length in letters; all zero where the text is missing."""

    kind: ClassVar[str] = "text"
    n_buckets: int

    def suffixes(self) -> list[str]:
        width = len(str(self.n_buckets - 1))
        return [":length", *(f":triples_{bucket:0{width}d}" for bucket in range(self.n_buckets))]

    def encode_words(self, words: pa.Array, source: str, findings: Findings) -> Piece:
        import pyarrow.compute as pc

        words = pc.fill_null(words, "")
        lengths = as_floats(pc.utf8_length(words)).astype(np.float32)
        return Block(np.column_stack([lengths, trigram_shares(words, self.n_buckets)]))


@dataclass(frozen=True)
class LeftOut:
    """A column that tells rows apart too well or not at all. Only whether it is missing may be of use."""

    kind: str
    constant: str | None = None

    def suffixes(self) -> list[str]:
        return []

    def look(self, array: pa.Array, rules: TextRules, source: str, findings: Findings) -> None:
        """Note values where the fit knew none, or only one other."""
        import pyarrow as pa
        import pyarrow.compute as pc

        present = np.asarray(array.is_valid())
        if self.kind == "empty":
            findings.note(source, NO_LONGER_EMPTY, Stray.find(array, present))
        if self.constant is not None:
            same = np.asarray(pc.fill_null(pc.equal(words_of(array), self.constant), False))
            value = read_numbers(pa.array([self.constant]), rules)[0]
            if not np.isnan(value):
                same = same | (read_numbers(array, rules) == value)
            findings.note(source, NO_LONGER_CONSTANT, Stray.find(array, present & ~same))


Measured: TypeAlias = Number | Boolean | Date | Time
Worded: TypeAlias = Category | Text
Encoding: TypeAlias = Measured | Worded | LeftOut


def category_counts(column: ColumnSummary) -> dict[str, int]:
    """How often each category that is remembered occurs."""
    by_text = column.form in ("text", "category")
    words = column.texts.values.tolist() if by_text else number_words(column.numbers.sample.values)
    if column.form == "boolean":
        words = ["true" if word == "1" else "false" for word in words]
    counts = column.texts.counts if by_text else column.numbers.sample.counts
    totals: dict[str, int] = {}
    for word, count in zip(words, counts.tolist(), strict=True):
        totals[word] = totals.get(word, 0) + count
    return totals


def turns(seconds: NDArray[np.float64], period: str) -> NDArray[np.float64]:
    """How far each moment is through its day, week or year, in [0, 1).

    Examples
    --------
    >>> turns(np.array([0.0, 6 * 3600]), "hour").tolist()
    [0.0, 0.25]
    """
    if period == "hour":
        return seconds % SECONDS_PER_DAY / SECONDS_PER_DAY
    days = np.floor(seconds / SECONDS_PER_DAY)
    if period == "weekday":
        return (days + 3) % 7 / 7  # 1 January 1970 was a Thursday; weeks start on Monday
    known = ~np.isnan(days)
    dates = np.where(known, days, 0).astype(np.int64).astype("datetime64[D]")
    years = dates.astype("datetime64[Y]")
    starts, ends = years.astype("datetime64[D]"), (years + np.timedelta64(1, "Y")).astype("datetime64[D]")
    return np.where(known, (dates - starts) / (ends - starts), np.nan)


def days_of_months(seconds: NDArray[np.float64]) -> NDArray[np.int64]:
    """The day of the month of each moment, from 1.

    Examples
    --------
    >>> days_of_months(np.array([0.0, 86400.0])).tolist()
    [1, 2]
    """
    dates = np.floor(seconds / SECONDS_PER_DAY).astype(np.int64).astype("datetime64[D]")
    days: NDArray[np.int64] = (dates - dates.astype("datetime64[M]")).astype(np.int64) + 1
    return days


def on_a_circle(turned: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Sine and cosine of a part of a full turn; 0, 0 (the middle) for NaN."""
    angle = 2 * np.pi * turned
    return [np.nan_to_num(np.sin(angle)), np.nan_to_num(np.cos(angle))]


def spread_of_numbers(column: ColumnSummary, rules: TextRules, decimal: str | None, dress: str | None) -> Spread:
    """Where a column's numbers lie, plain or in a dress."""
    return column.numbers if decimal is None else written_spread(column, rules, decimal, dress or "")


def spread_of_dates(column: ColumnSummary, day_first: bool, is_compact: bool) -> Spread:
    """Where a column's dates lie, in seconds since 1970."""
    return compact_spread(column) if is_compact else column.moments[day_first]


def typical_values(column: ColumnSummary, encoding: Encoding, rules: TextRules) -> Typical:
    """What is usual in a column, for a user to compare a value with."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(encoding, Number):
        numbers = spread_of_numbers(column, rules, encoding.decimal, encoding.dress)
        low, high = (numbers.quantile(share) for share in TYPICAL_SHARES)
        if isinstance(encoding, Year):
            return Typical(low=f"{low:.0f}", high=f"{high:.0f}")
        return encoding.typical(low, high)
    if isinstance(encoding, Date):
        dates = spread_of_dates(column, encoding.day_first, encoding.is_compact)
        first, last = (_date_text(dates, share) for share in TYPICAL_SHARES)
        return Typical(low=first, high=last)
    if isinstance(encoding, Category | Boolean) and column.n_present:
        counts, n_missing = category_counts(column), column.n_missing
        if isinstance(encoding, Boolean):
            n_missing += sum(counts.pop(marker, 0) for marker in column.markers)
        if n_missing:
            counts[MISSING_WORD] = counts.get(MISSING_WORD, 0) + n_missing
        top = sorted(counts, key=lambda word: (-counts[word], word))[:N_TYPICAL]
        return Typical(values=top, shares=[counts[word] / column.n_rows for word in top])
    if isinstance(encoding, Time | Text) and len(column.texts.values):
        texts = pa.array(column.texts.values.tolist(), pa.string())
        is_time = isinstance(encoding, Time)
        values = read_times_of_day(texts) if is_time else as_floats(pc.utf8_length(texts))
        spread, known = Spread(column.capacity), ~np.isnan(values)
        spread.add(values[known], column.texts.counts[known])
        low, high = (spread.quantile(share) for share in TYPICAL_SHARES)
        if is_time:
            return Typical(low=_clock_text(low), high=_clock_text(high))
        ends = [f"{low:.0f}", f"{high:.0f} letters"] if low < high else [_letters(low)] * 2
        return Typical(low=ends[0], high=ends[1])
    return Typical()


def moment_text(seconds: float) -> str:
    """A moment in seconds since 1970 as a date, with the time of day unless it is midnight.

    Examples
    --------
    >>> moment_text(86400.0), moment_text(86460.0)
    ('1970-01-02', '1970-01-02 00:01:00')
    """
    return str(np.datetime64(0, "s") + np.timedelta64(round(seconds), "s")).replace("T", " ").removesuffix(" 00:00:00")


def _letters(length: float) -> str:
    return f"{length:.0f} letter{'s' if length != 1 else ''}"


def _date_text(seconds: Spread, share: float) -> str:
    return moment_text(seconds.quantile(share))[:10]


def _clock_text(seconds: float) -> str:
    return str(np.datetime64(0, "s") + np.timedelta64(round(seconds), "s"))[11:16]
