"""Cells as moments in time: dates in the forms that people write, and times of day."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rdplearn.table.cells import as_floats, cast_if_all_can, is_text, words_of

if TYPE_CHECKING:
    import pyarrow as pa

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
SECONDS_PER_DAY = 86_400

CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:[.,]\d+)?))?(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
    r"(?: ?(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
)
TIME_OF_DAY = f"^{CLOCK}$"
ORDINAL = r"(?:st|nd|rd|th)?"
START_OF_A_DATE = rf"^(?:\d{{4}}(?:[-/. ,QqWw:]|$)|\d{{1,2}}{ORDINAL}[-/. ]|[A-Za-z]{{3,9}}[.,]*[ -]|[Qq][1-4])"
YEAR_FIRST = rf"^(?P<year>\d{{4}})[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})(?:[T ,]+{CLOCK})?$"
YEAR_LAST = r"^(?P<first>\d{1,2})(?P<mark>[-/.])(?P<second_part>\d{1,2})[-/.](?P<year>\d{4})" rf"(?:[T ,]+{CLOCK})?$"
SHORT_YEAR_LAST = (
    r"^(?P<first>\d{1,2})(?P<mark>[-/])(?P<second_part>\d{1,2})[-/](?P<year>\d{2})" rf"(?:[T ,]+{CLOCK})?$"
)
SHORT_YEAR_WITH_DOTS = rf"^(?P<first>\d{{2}})(?P<mark>\.)(?P<second_part>\d{{2}})\.(?P<year>\d{{2}})(?:[T ,]+{CLOCK})?$"
DAY_THEN_MONTH_NAME = (
    rf"^(?:[A-Za-z]{{3,9}},? )?(?P<day>\d{{1,2}}){ORDINAL}[ -](?P<month>[A-Za-z]{{3,9}})\.?[ ,-]+"
    rf"(?P<year>\d{{4}}|\d{{2}})(?:[T ,]+{CLOCK})?$"
)
MONTH_NAME_THEN_DAY = (
    rf"^(?:[A-Za-z]{{3,9}},? )?(?P<month>[A-Za-z]{{3,9}})\.?[ -](?P<day>\d{{1,2}}){ORDINAL},?[ -](?P<year>\d{{4}})"
    rf"(?:[T ,]+{CLOCK})?$"
)
NAMES_OF_MONTHS = (
    r"(?i:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
MONTH_AND_YEAR = rf"^(?P<month>{NAMES_OF_MONTHS})\.?[ ,'-]+(?P<year>\d{{4}}|\d{{2}})$"
YEAR_AND_MONTH = rf"^(?P<year>\d{{4}})[ ,-]+(?P<month_name>{NAMES_OF_MONTHS})\.?$"
YEAR_AND_MONTH_NUMBER = r"^(?P<year>(?:1[5-9]|20)\d{2})[-/](?P<month>\d{2})$"
YEAR_AND_QUARTER = r"^(?P<year>(?:1[5-9]|20)\d{2})[ :-]?[Qq](?P<quarter>[1-4])$"
QUARTER_AND_YEAR = r"^[Qq](?P<quarter>[1-4])[ :,-]*(?P<year>(?:1[5-9]|20)\d{2})$"
YEAR_AND_WEEK = r"^(?P<year>(?:1[5-9]|20)\d{2})-?[Ww](?P<week>\d{2})(?:-?(?P<weekday>[1-7]))?$"
YEAR_ALONE = r"^(?P<year>(?:1[5-9]|20)\d{2})$"  # among dates: a column of nothing else is read as numbers
FORMS = (
    *(
        YEAR_FIRST,
        YEAR_LAST,
        SHORT_YEAR_LAST,
        SHORT_YEAR_WITH_DOTS,
        DAY_THEN_MONTH_NAME,
        MONTH_NAME_THEN_DAY,
        MONTH_AND_YEAR,
    ),
    *(YEAR_AND_MONTH, YEAR_AND_MONTH_NUMBER, YEAR_AND_QUARTER, QUARTER_AND_YEAR, YEAR_AND_WEEK, YEAR_ALONE),
)
FIRST_YEAR_OF_TWO_DIGITS = 1930  # as spreadsheets have it: 29 is 2029, 30 is 1930
COMPACT_YEARS = (1800, 2100)  # of dates such as 20181014, which are numbers anywhere else


def read_moments(array: pa.Array, day_first: bool, date_format: str | None = None) -> NDArray[np.float64]:
    """Read a clean array as moments, in seconds since 1970 (UTC).

    Understood are ISO 8601 and 2024/01/31, 31/01/2024, 31.01.2024, 01-31-2024, 31/01/24, 31.01.24, 31 Jan 2024,
    January 31, 2024, with or without a time of day (24 hours or am/pm) and a zone; Jan 2024, Jan-24, 2024, January,
    2024-01, 2024-Q1, 2024-W05 and 2024, each as its first day; and what `date_format` says, before all others.

    Examples
    --------
    >>> import pyarrow as pa
    >>> texts = pa.array(["1970-01-02", "02/01/1970 00:00:30", "2 Jan 1970", "1970", "soon"])
    >>> read_moments(texts, day_first=True).tolist()
    [86400.0, 86430.0, 86400.0, 0.0, nan]
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    if types.is_timestamp(array.type):
        return as_floats(array.cast(pa.int64())) / 1e6
    if not (is_text(array) or types.is_dictionary(array.type)):
        return np.full(len(array), np.nan)
    texts = words_of(array)
    if date_format is not None:
        as_told = read_format(texts, date_format)
        return np.where(np.isnan(as_told), read_moments(texts, day_first), as_told)
    iso_dates = cast_if_all_can(texts, pa.timestamp("us"))
    if iso_dates is not None:
        return as_floats(iso_dates.cast(pa.int64())) / 1e6
    seconds = np.full(len(texts), np.nan)
    likely, likely_texts = _matching(texts, START_OF_A_DATE)
    for form in FORMS:
        found = pc.extract_regex(likely_texts, form)
        rows = np.flatnonzero(np.asarray(found.is_valid()))
        if len(rows):
            seconds[likely[rows]] = _moments(found.take(pa.array(rows)), day_first)
    return seconds


def read_format(texts: pa.Array, date_format: str) -> NDArray[np.float64]:
    """Read texts as moments that are written in one way, in seconds since 1970; NaN for any that is not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    read = pc.strptime(texts, format=date_format, unit="s", error_is_null=True)
    return as_floats(read.cast(pa.int64()))


def compact_dates(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Read numbers such as 20181014 as dates, in seconds since 1970; NaN for any that is none.

    Examples
    --------
    >>> compact_dates(np.array([19700102.0, 20181399.0, 12.5])).tolist()
    [86400.0, nan, nan]
    """
    whole = np.isfinite(values) & (values == np.floor(values)) & (np.abs(values) < 1e9)
    numbers = np.where(whole, values, 0).astype(np.int64)
    year, month, day = numbers // 10_000, numbers // 100 % 100, numbers % 100
    days = _days(year, month, day)
    return np.where((year >= COMPACT_YEARS[0]) & (year <= COMPACT_YEARS[1]), days * SECONDS_PER_DAY, np.nan)


def read_times_of_day(array: pa.Array) -> NDArray[np.float64]:
    """Read a clean array as times of day, in seconds since midnight.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_times_of_day(pa.array(["00:01", "1:00:05 pm", "24:00", "24:01", "00:00:02,5"])).tolist()
    [60.0, 46805.0, 86400.0, nan, 2.5]
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

    undecided = pc.any(pc.match_substring_regex(texts, r"^\d{1,2}[-/]\d{1,2}[-/](?:\d{4}|\d{2})(?:\D|$)")).as_py()
    return (False, True) if undecided else (False,)


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

    texts = pc.replace_substring(_group(found, name), ",", ".")  # of a second, as in 13:45:06,250
    return as_floats(pc.cast(pc.if_else(pc.equal(texts, ""), "0", texts), pa.float64()))


def _month_numbers(names: pa.Array) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    short = pc.utf8_slice_codeunits(pc.utf8_lower(names), 0, 3)
    return as_floats(pc.index_in(short, value_set=pa.array(MONTHS, short.type))) + 1


def _moments(found: pa.Array, day_first: bool) -> NDArray[np.float64]:
    """Seconds since 1970 from the named parts of a date form; NaN where there is no such day."""
    names: Sequence[str] = [field.name for field in found.type]
    if "week" in names:
        return _days_of_weeks(*(_numbers(found, name) for name in ("year", "week", "weekday"))) * SECONDS_PER_DAY
    if "first" in names:
        first, second = _numbers(found, "first"), _numbers(found, "second_part")
        # Dates with dots are written day first wherever they are written.
        first_is_day = (np.asarray(_group(found, "mark")) == ".") | day_first
        day, month = np.where(first_is_day, first, second), np.where(first_is_day, second, first)
    elif names == ["year"]:
        day = month = np.ones(len(found))
    elif "quarter" in names:
        day, month = np.ones(len(found)), 3 * _numbers(found, "quarter") - 2
    else:
        day = _numbers(found, "day") if "day" in names else np.ones(len(found))
        named = next((name for name in ("month_name", "month") if name in names), "month")
        by_number = names[0] == "year" and named == "month"
        month = _numbers(found, "month") if by_number else _month_numbers(_group(found, named))
    year = _numbers(found, "year")
    if "first" in names or "day" not in names or names[0] == "day":
        year = np.where(year < 100, FIRST_YEAR_OF_TWO_DIGITS + (year - FIRST_YEAR_OF_TWO_DIGITS) % 100, year)
    seconds = _days(year, month, day) * SECONDS_PER_DAY
    if "hour" not in names:
        return seconds
    return seconds + _seconds_of_day(found) - _zone_seconds(_group(found, "zone"))


def _days(year: NDArray[Any], month: NDArray[Any], day: NDArray[Any]) -> NDArray[np.float64]:
    """Days since 1970; NaN where there is no such day."""
    possible = (month >= 1) & (month <= 12) & (day >= 1) & (year >= 1)
    months = np.where(possible, (year - 1970) * 12 + month - 1, 0).astype(np.int64).astype("datetime64[M]")
    days = months.astype("datetime64[D]").astype(np.float64) + np.where(possible, day, 1) - 1
    month_ends = (months + np.timedelta64(1, "M")).astype("datetime64[D]").astype(np.float64)
    return np.where(possible & (days < month_ends), days, np.nan)


def _days_of_weeks(
    year: NDArray[np.float64], week: NDArray[np.float64], weekday: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Days since 1970 of weeks as ISO 8601 counts them, the first being that of January 4; by default their Monday."""
    first, end = (_monday_of(_days(year + later, np.ones_like(year), np.full_like(year, 4.0))) for later in (0, 1))
    days = first + 7 * (week - 1)
    return np.where((week >= 1) & (days < end), days + np.maximum(weekday, 1) - 1, np.nan)


def _monday_of(days: NDArray[np.float64]) -> NDArray[np.float64]:
    return days - (days + 3) % 7  # 1970 began on a Thursday


def _seconds_of_day(found: pa.Array) -> NDArray[np.float64]:
    hour, minute, second = (_numbers(found, part) for part in ("hour", "minute", "second"))
    half = np.char.lower(np.asarray(_group(found, "half").to_pylist(), dtype=np.str_))
    twelve_hours = half != ""
    ends_day = (hour == 24) & (minute == 0) & (second == 0)  # 24:00, as meters and markets write midnight
    of_24 = (hour < 24) | ends_day
    possible = (minute < 60) & (second < 61) & np.where(twelve_hours, (hour >= 1) & (hour <= 12), of_24)
    hour = np.where(twelve_hours, hour % 12 + 12 * (half == "p"), hour)
    return np.where(possible, hour * 3600 + minute * 60 + second, np.nan)


def _zone_seconds(zones: pa.Array) -> NDArray[np.float64]:
    """Seconds that a zone such as +02:00 is ahead of UTC; 0 for Z, UTC, GMT and for none."""
    import pyarrow.compute as pc

    parts = pc.extract_regex(zones, r"^(?P<sign>[+-])(?P<hours>\d{2}):?(?P<minutes>\d{2})$")
    ahead = np.nan_to_num(_numbers(parts, "hours") * 3600 + _numbers(parts, "minutes") * 60)
    return np.where(np.asarray(_group(parts, "sign").to_pylist(), dtype=object) == "-", -ahead, ahead)
