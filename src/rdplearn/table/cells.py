"""What the cells of a column say: texts read as numbers, truth values, dates and times of day.

A cell is *missing* when it is null, NaN, empty, or one of the markers of `TextRules`. `clean_cells` brings a
column of any Arrow type to one of a few, with blanks stripped and missing cells null; the readers below it
take such *clean* arrays, whole, and give NaN for cells that are missing or do not say such a thing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rdplearn.errors import TableError
from rdplearn.table.wording import as_option, shown

if TYPE_CHECKING:
    import pyarrow as pa

MISSING_MARKERS = ("", "NA", "NaN", "nan", "NAN", "null", "NULL", "None")
TRUE_WORDS = ("true", "yes", "t", "y")
FALSE_WORDS = ("false", "no", "f", "n")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
SECONDS_PER_DAY = 86_400

PLAIN_NUMBER = r"^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[iI][nN][fF](?:inity)?)$"
CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:\.\d+)?))?(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
    r"(?: ?(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
)
TIME_OF_DAY = f"^{CLOCK}$"
START_OF_A_DATE = r"^(?:\d{4}[-/.]\d|\d{1,2}[-/. ]|[A-Za-z]{3,9}[.,]* )"
YEAR_FIRST = rf"^(?P<year>\d{{4}})[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})(?:[T ,]+{CLOCK})?$"
YEAR_LAST = r"^(?P<first>\d{1,2})(?P<mark>[-/.])(?P<second_part>\d{1,2})[-/.](?P<year>\d{4})" rf"(?:[T ,]+{CLOCK})?$"
DAY_THEN_MONTH_NAME = (
    rf"^(?:[A-Za-z]{{3,9}},? )?(?P<day>\d{{1,2}})[ -](?P<month>[A-Za-z]{{3,9}})\.?[ ,-]+(?P<year>\d{{4}})"
    rf"(?:[T ,]+{CLOCK})?$"
)
MONTH_NAME_THEN_DAY = (
    r"^(?:[A-Za-z]{3,9},? )?(?P<month>[A-Za-z]{3,9})\.? (?P<day>\d{1,2}),? (?P<year>\d{4})"
    rf"(?:[T ,]+{CLOCK})?$"
)


@dataclass(frozen=True)
class TextRules:
    """How texts are to be read.

    Parameters
    ----------
    missing : sequence of str
        Markers of missing values, besides the usual ``""``, ``NA``, ``NaN``, ``null``, ``NULL`` and ``None``.
    decimal : str
        The decimal mark, ``"."`` or ``","``.
    thousands : str or None
        The mark between groups of three digits, such as ``","``, ``"."``, ``"'"`` or ``" "``; none by
        default.
    day_first : bool or None
        Whether 01/02/2024 is the first of February; None lets the column's other dates decide.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_numbers(pa.array(["1.234,5", "-7"]), TextRules(decimal=",", thousands=".")).tolist()
    [1234.5, -7.0]
    """

    missing: tuple[str, ...] = ()
    decimal: str = "."
    thousands: str | None = None
    day_first: bool | None = None

    def __post_init__(self) -> None:
        if isinstance(self.missing, str):
            raise TableError(f"The 'missing' option must be a list of texts. Got {self.missing!r}; put it in a list.")
        object.__setattr__(self, "missing", tuple(str(marker).strip() for marker in self.missing))
        if self.decimal not in (".", ","):
            raise TableError(f"The 'decimal' option must be '.' or ','. Got {self.decimal!r} instead.")
        if self.thousands is not None and (
            len(self.thousands) != 1 or self.thousands in f"{self.decimal}+-0123456789eE"
        ):
            raise TableError(
                f"The 'thousands' option must be one character, no digit and not the decimal mark. "
                f"Got {self.thousands!r} instead."
            )

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "missing": list(self.missing)}


def is_text(array: pa.Array) -> bool:
    import pyarrow.types as types

    return bool(types.is_string(array.type) or types.is_large_string(array.type))


def clean_cells(array: pa.Array, rules: TextRules, column: str, table: str) -> pa.Array:
    """Bring a column to string, double, bool, timestamp, time64, null, or a dictionary of strings.

    Missing cells become null. Dictionaries stay dictionaries: whoever made one declared the column to be a
    category.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    kind = array.type
    try:
        if types.is_dictionary(kind):
            decoded = array.cast(kind.value_type)
            return words_of(clean_cells(decoded, rules, column, table)).dictionary_encode()
        if types.is_boolean(kind) or types.is_null(kind):
            return array
        if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
            floats = pc.cast(array, pa.float64(), safe=False)
            return pc.if_else(pc.is_nan(floats), pa.scalar(None, floats.type), floats)
        if types.is_timestamp(kind) or types.is_date(kind):
            zone = kind.tz if types.is_timestamp(kind) else None
            return pc.cast(array, pa.timestamp("us", zone), safe=False)
        if types.is_time(kind):
            return pc.cast(array, pa.time64("us"), safe=False)
        if types.is_duration(kind):
            microseconds = pc.cast(array, pa.duration("us"), safe=False).cast(pa.int64())
            return pc.divide(microseconds.cast(pa.float64()), 1e6)
        if not types.is_nested(kind):
            return clean_texts(pc.cast(array, pa.string()), rules)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    raise TableError(
        f"Column {shown(column)} of {table} holds {str(kind)[:60]} values, which are no number, "
        f"text or date. Pass --ignore {as_option(column)}."
    )


def clean_texts(texts: pa.Array, rules: TextRules) -> pa.Array:
    """Strip blanks from texts and make missing markers null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(texts)
    markers = pa.array(sorted({*MISSING_MARKERS, *rules.missing}), trimmed.type)
    marked = pc.is_in(trimmed, value_set=markers)
    if not pc.any(marked).as_py():
        return trimmed
    return pc.if_else(marked, pa.scalar(None, trimmed.type), trimmed)


def words_of(array: pa.Array) -> pa.Array:
    """Write a clean array as text; whole numbers without a point, so that 1.0 and 1 are one category."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    if is_text(array):
        return array
    if types.is_floating(array.type):
        words = pa.array(number_words(as_floats(array)), pa.string())
        return pc.if_else(array.is_null(), pa.scalar(None, words.type), words)
    return array.cast(pa.string())


def number_words(values: NDArray[np.float64]) -> list[str]:
    return [f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value) for value in values.tolist()]


def as_floats(array: pa.Array) -> NDArray[np.float64]:
    """Arrow numbers or truth values as float64, nulls as NaN."""
    import pyarrow as pa

    floats: NDArray[np.float64] = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return floats


def read_numbers(array: pa.Array, rules: TextRules) -> NDArray[np.float64]:
    """Read a clean array as numbers.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_numbers(pa.array(["12", "1e3", None, "twelve"]), TextRules()).tolist()
    [12.0, 1000.0, nan, nan]
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    if types.is_floating(array.type) or types.is_boolean(array.type) or types.is_null(array.type):
        return as_floats(array)
    if types.is_temporal(array.type):
        return np.full(len(array), np.nan)
    texts = words_of(array)
    if rules.thousands is not None:
        mark, decimal = f"\\x{{{ord(rules.thousands):x}}}", f"\\{rules.decimal}"
        grouped = pc.match_substring_regex(texts, rf"^[+-]?\d{{1,3}}({mark}\d{{3}})+({decimal}\d*)?$")
        texts = pc.if_else(grouped, pc.replace_substring(texts, rules.thousands, ""), texts)
    if rules.decimal == ",":
        # A point is no decimal mark here: 1.5 must not quietly become a number beside 1,5.
        texts = pc.if_else(pc.match_substring(texts, "."), "no number", pc.replace_substring(texts, ",", "."))
    numbers = _cast_if_all_can(texts, pa.float64())
    if numbers is not None and not pc.any(pc.is_nan(numbers)).as_py():
        return as_floats(numbers)
    numeric = pc.match_substring_regex(texts, PLAIN_NUMBER)
    return as_floats(pc.cast(pc.if_else(numeric, texts, pa.scalar(None, texts.type)), pa.float64()))


def read_booleans(array: pa.Array, rules: TextRules) -> NDArray[np.float64]:
    """Read a clean array as truth values, 1 or 0.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_booleans(pa.array(["yes", "FALSE", None, "perhaps"]), TextRules()).tolist()
    [1.0, 0.0, nan, nan]
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    if is_text(array) or types.is_dictionary(array.type):
        lowered = pc.utf8_lower(words_of(array))
        true = pc.is_in(lowered, value_set=pa.array([*TRUE_WORDS, "1", "1.0"], lowered.type))
        false = pc.is_in(lowered, value_set=pa.array([*FALSE_WORDS, "0", "0.0"], lowered.type))
        return np.where(np.asarray(true), 1.0, np.where(np.asarray(false), 0.0, np.nan))
    values = read_numbers(array, rules)
    return np.where((values == 0) | (values == 1), values, np.nan)


def read_moments(array: pa.Array, day_first: bool) -> NDArray[np.float64]:
    """Read a clean array as moments, in seconds since 1970 (UTC).

    Understood are ISO 8601 and 2024/01/31, 31/01/2024, 31.01.2024, 01-31-2024, 31 Jan 2024, January 31, 2024,
    with or without a time of day (24 hours or am/pm) and a zone.

    Examples
    --------
    >>> import pyarrow as pa
    >>> texts = pa.array(["1970-01-02", "02/01/1970 00:00:30", "2 Jan 1970", "soon"])
    >>> read_moments(texts, day_first=True).tolist()
    [86400.0, 86430.0, 86400.0, nan]
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    if types.is_timestamp(array.type):
        return as_floats(array.cast(pa.int64())) / 1e6
    if not (is_text(array) or types.is_dictionary(array.type)):
        return np.full(len(array), np.nan)
    texts = words_of(array)
    iso_dates = _cast_if_all_can(texts, pa.timestamp("us"))
    if iso_dates is not None:
        return as_floats(iso_dates.cast(pa.int64())) / 1e6
    seconds = np.full(len(texts), np.nan)
    likely, likely_texts = _matching(texts, START_OF_A_DATE)
    for form in (YEAR_FIRST, YEAR_LAST, DAY_THEN_MONTH_NAME, MONTH_NAME_THEN_DAY):
        found = pc.extract_regex(likely_texts, form)
        rows = np.flatnonzero(np.asarray(found.is_valid()))
        if len(rows):
            seconds[likely[rows]] = _moments(found.take(pa.array(rows)), day_first)
    return seconds


def read_times_of_day(array: pa.Array) -> NDArray[np.float64]:
    """Read a clean array as times of day, in seconds since midnight.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_times_of_day(pa.array(["00:01", "1:00:05 pm", "25:00"])).tolist()
    [60.0, 46805.0, nan]
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    if types.is_time(array.type):
        return as_floats(array.cast(pa.int64())) / 1e6
    if not (is_text(array) or types.is_dictionary(array.type)):
        return np.full(len(array), np.nan)
    rows, texts = _matching(words_of(array), TIME_OF_DAY)
    seconds = np.full(len(array), np.nan)
    seconds[rows] = _seconds_of_day(pc.extract_regex(texts, TIME_OF_DAY))
    return seconds


def orders_of_dates(texts: pa.Array) -> tuple[bool, ...]:
    """The orders, as `day_first`, in which dates have to be read: both if some look like 01/02/2024."""
    import pyarrow.compute as pc

    undecided = pc.any(pc.match_substring_regex(texts, r"^\d{1,2}[-/]\d{1,2}[-/]\d{4}")).as_py()
    return (False, True) if undecided else (False,)


def _cast_if_all_can(texts: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """Cast texts, or give None if one cannot be. Failing is slow in Arrow, so a few are tried first."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        pc.cast(texts[:32], kind)
        return pc.cast(texts, kind)
    except pa.ArrowInvalid:
        return None


def _matching(texts: pa.Array, pattern: str) -> tuple[NDArray[np.int64], pa.Array]:
    """The rows whose texts match, and these texts: testing is ten times faster than taking apart."""
    import pyarrow as pa
    import pyarrow.compute as pc

    matches = pc.fill_null(pc.match_substring_regex(texts, pattern), False)
    rows = np.flatnonzero(np.asarray(matches))
    return rows, texts.take(pa.array(rows))


def _group(found: pa.Array, name: str) -> pa.Array:
    return found.field(found.type.get_field_index(name))


def _numbers(found: pa.Array, name: str) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = _group(found, name)
    return as_floats(pc.cast(pc.if_else(pc.equal(texts, ""), "0", texts), pa.float64()))


def _month_numbers(names: pa.Array) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    short = pc.utf8_slice_codeunits(pc.utf8_lower(names), 0, 3)
    return as_floats(pc.index_in(short, value_set=pa.array(MONTHS, short.type))) + 1


def _moments(found: pa.Array, day_first: bool) -> NDArray[np.float64]:
    """Seconds since 1970 from the named parts of a date form; NaN where there is no such day."""
    names: Sequence[str] = [field.name for field in found.type]
    if "first" in names:
        first, second = _numbers(found, "first"), _numbers(found, "second_part")
        # Dates with dots are written day first wherever they are written.
        first_is_day = (np.asarray(_group(found, "mark")) == ".") | day_first
        day, month = np.where(first_is_day, first, second), np.where(first_is_day, second, first)
    else:
        day = _numbers(found, "day")
        month = _numbers(found, "month") if names[0] == "year" else _month_numbers(_group(found, "month"))
    year = _numbers(found, "year")
    possible = (month >= 1) & (month <= 12) & (day >= 1) & (year >= 1)
    months = np.where(possible, (year - 1970) * 12 + month - 1, 0).astype(np.int64).astype("datetime64[M]")
    days = months.astype("datetime64[D]").astype(np.float64) + np.where(possible, day, 1) - 1
    month_ends = (months + 1).astype("datetime64[D]").astype(np.float64)
    seconds: NDArray[np.float64] = np.where(possible & (days < month_ends), days * SECONDS_PER_DAY, np.nan)
    return seconds + _seconds_of_day(found) - _zone_seconds(_group(found, "zone"))


def _seconds_of_day(found: pa.Array) -> NDArray[np.float64]:
    hour, minute, second = (_numbers(found, part) for part in ("hour", "minute", "second"))
    half = np.char.lower(np.asarray(_group(found, "half").to_pylist(), dtype=np.str_))
    twelve_hours = half != ""
    possible = (minute < 60) & (second < 61) & np.where(twelve_hours, (hour >= 1) & (hour <= 12), hour < 24)
    hour = np.where(twelve_hours, hour % 12 + 12 * (half == "p"), hour)
    return np.where(possible, hour * 3600 + minute * 60 + second, np.nan)


def _zone_seconds(zones: pa.Array) -> NDArray[np.float64]:
    """Seconds that a zone such as +02:00 is ahead of UTC; 0 for Z, UTC, GMT and for none."""
    import pyarrow.compute as pc

    parts = pc.extract_regex(zones, r"^(?P<sign>[+-])(?P<hours>\d{2}):?(?P<minutes>\d{2})$")
    ahead = np.nan_to_num(_numbers(parts, "hours") * 3600 + _numbers(parts, "minutes") * 60)
    return np.where(np.asarray(_group(parts, "sign").to_pylist(), dtype=object) == "-", -ahead, ahead)
