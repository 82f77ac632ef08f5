"""Deciding what a column is, from its summary alone.

The kinds, and what becomes of each:

==============  ======================================================================================
number          the number itself
year            the number itself, told without a comma
boolean         0 or 1
category        one column for each frequent value, one for all rare values; codes too
date            days since the first, and sine and cosine of hour, weekday and day of the year
time            sine and cosine of the hour
text            shares of hashed letter triples, and the length
identifier      left out: every value is different, or nearly
constant        left out: there is only one value
empty           left out: every value is missing
unreadable      left out: the cells are lists, bytes or the like
==============  ======================================================================================
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np

from rdplearn.errors import TableError, unknown_choice
from rdplearn.table.cells import TextRules, number_words
from rdplearn.table.column_names import says_code, says_duration, says_identifier, says_listed, says_year
from rdplearn.table.decimal_marks import has_groups, mark_of
from rdplearn.table.dresses import (
    NEARLY_ALL,
    counts_of_dresses,
    dress_of,
    has_letters,
    in_other_dresses,
    not_in,
    written_spread,
)
from rdplearn.table.moments import compact_dates, read_moments
from rdplearn.table.sketches import Spread
from rdplearn.table.summary import LONGEST_KEPT_TEXT, ColumnSummary, Stray
from rdplearn.table.typical import share_words
from rdplearn.table.wording import as_option, rows_text, shown
from rdplearn.table.written_numbers import DURATION, read_written

KINDS = (
    *("number", "year", "boolean", "category", "date", "time", "text", "identifier", "constant", "empty"),
    "unreadable",
)
CHOICES = KINDS[:8]
FEWEST_ROWS_TO_JUDGE = 20
NEARLY_DIFFERENT = 0.99  # different values, as a share of the rows, of texts that tell rows apart and nothing else
NEARLY_DIFFERENT_CODES = 0.9
NEARLY_EVERY = 0.9995  # rounds to 100.0%
WORDS_OF_PROSE = 4
WORDS_OF_A_SENTENCE = 6
YEARS = (1000, 2200)
CERTAIN_YEARS = (1900, 2050)
WORDED_YEARS = (1800, 2050)
BY_NAME = "a code, by its name"


@dataclass(frozen=True)
class Decision:
    """What a column is, a note on why where that is not plain to see, and a warning if one is due.

    decimal, dress : of numbers that are written in words of `read_written`; None if they are plain
    is_compact : dates are numbers such as 20181014
    has_misfits : some cells cannot be read; they count as missing, and are marked
    """

    kind: str
    note: str = ""
    warning: str = ""
    day_first: bool = False
    decimal: str | None = None
    dress: str | None = None
    has_misfits: bool = False
    is_compact: bool = False


def decide_kind(
    column: ColumnSummary, rules: TextRules, table: str, told: str | None = None, usual_mark: str = "."
) -> Decision:
    """Decide what a column is; `told` overrules the evidence where the values allow it.

    usual_mark : the decimal mark of the table, see `decimal_marks.py`

    Raises
    ------
    TableError
        With `strict`, when nearly all values are numbers (or dates) but not all: whether the rest is missing, wrong or
        meant is for the user to say. Without, they count as missing, are marked, and told in a warning.
    """
    decision = _decide(column, rules, table, told, usual_mark)
    if decision.kind == "date" and column.n_in_format and column.not_in_format.n_rows:
        return _telling_format(decision, column, table)
    return decision


def _decide(column: ColumnSummary, rules: TextRules, table: str, told: str | None, usual_mark: str) -> Decision:
    if told is not None:
        return _as_told(column, rules, table, told, usual_mark)
    if column.trouble:
        return Decision("unreadable", f"left out: {column.trouble}")
    if column.n_present == 0:
        return Decision("empty", "left out: every value is missing")
    if column.form != "text":
        return _decide_typed(column)
    n_marked = sum(column.markers.values())
    n_to_read = column.n_present - n_marked
    if n_to_read > 0 and n_marked <= n_to_read:
        decided = _decide_read(column, rules, table, n_to_read, usual_mark)
        if decided is not None:
            return _telling_markers(decided, column, table) if n_marked else decided
    return _decide_words(column, table)


def _decide_typed(column: ColumnSummary) -> Decision:
    if column.form == "number":
        return _decide_number(column)
    if column.form == "moment":
        return _unless_constant(column, Decision("date"))
    if column.form in ("boolean", "time of day"):
        return _unless_constant(column, Decision("boolean" if column.form == "boolean" else "time"))
    return _decide_words(column, "")


def _decide_read(
    column: ColumnSummary, rules: TextRules, table: str, n_to_read: int, usual_mark: str
) -> Decision | None:
    """What all texts say, or nearly all of them; None if they are words."""
    if _n_numbers(column) == n_to_read and not has_groups(column, rules, n_to_read, usual_mark):
        return _decide_compact_dates(column, rules, table) or _decide_number(column)
    if column.n_booleans == n_to_read:
        return _unless_constant(column, Decision("boolean"))
    decimal = mark_of(column, rules, usual_mark)
    dress = dress_of(column, decimal)
    written = column.n_written[decimal] - sum(cells.n_rows for cells in in_other_dresses(column, dress))
    are_durations = _are_durations(column) and (dress is None or written < n_to_read)  # "45 min" has a unit
    if are_durations and column.n_durations == n_to_read:
        return _decide_durations(column, rules, table)
    if column.n_times_of_day == n_to_read:
        return _unless_constant(column, Decision("time"))
    if _are_seasons(column):
        return None
    if _n_dates(column) == n_to_read:
        return _unless_constant(column, _decide_date(column, rules, table))
    if dress is not None and written == n_to_read and not says_code(column.name):
        return _decide_written(column, rules, table, decimal, dress)
    if says_code(column.name):
        return None
    nearly = NEARLY_ALL * n_to_read
    if _n_numbers(column) >= nearly:
        if rules.strict:
            _refuse(column, column.not_numbers, "", table)
        return _with_misfits(_decide_number(column), column, column.not_numbers, "number", table)
    if _n_dates(column) >= nearly:
        day_first = day_first_of(column, rules)
        if rules.strict:
            _refuse(column, column.not_moments[day_first], "that is not a date", table)
        decision = Decision("date", day_first=day_first)
        return _with_misfits(decision, column, column.not_moments[day_first], "date", table)
    if are_durations and column.n_durations >= nearly:
        if rules.strict:
            _refuse(column, column.not_durations, "that is not a duration", table)
        return _with_misfits(_decide_durations(column, rules, table), column, column.not_durations, "number", table)
    if column.n_times_of_day >= nearly:
        if rules.strict:
            _refuse(column, column.not_times_of_day, "that is not a time of day", table)
        return _with_misfits(Decision("time"), column, column.not_times_of_day, "time", table)
    if dress is not None and written >= nearly:
        decision, stray = _decide_written(column, rules, table, decimal, dress), not_in(column, decimal, dress)
        if rules.strict:
            _refuse(column, stray, "", table)
        return _with_misfits(decision, column, stray, "number", table)
    return None


def day_first_of(column: ColumnSummary, rules: TextRules) -> bool:
    """Whether 01/02/2024 starts with the day: as told, else as more of the column's dates allow."""
    if column.form == "moment":
        return False
    if rules.first_is_day is not None:
        return rules.first_is_day
    return column.moments[True].count > column.moments[False].count


def shown_value(column: ColumnSummary) -> str:
    """The value of a constant column, or the most frequent one that is known."""
    if column.form in ("text", "category"):
        return str(column.texts.values[column.texts.counts.argmax()])
    sample = (column.moments[False] if column.form == "moment" else column.numbers).sample
    if len(sample.values) == 0:
        return "infinity"
    value = sample.values[[sample.counts.argmax()]]
    return str(value.astype("datetime64[s]")[0]) if column.form == "moment" else number_words(value)[0]


def compact_spread(column: ColumnSummary) -> Spread:
    """Where dates such as 20181014 lie, as far as they are remembered."""
    spread = Spread(column.capacity)
    spread.add(compact_dates(column.numbers.sample.values), column.numbers.sample.counts)
    return spread


def _n_numbers(column: ColumnSummary) -> int:
    return column.numbers.count + column.numbers.n_infinite


def _n_dates(column: ColumnSummary) -> int:
    return max(spread.count for spread in column.moments.values())


def _several_units(column: ColumnSummary, table: str) -> str:
    """A warning, if all of a column is numbers in units that cannot be held against each other."""
    n_written = max(column.n_written.values())
    counts = counts_of_dresses(column).most_common()
    if len(counts) < 2 or n_written < NEARLY_ALL * column.n_present or 2 * sum(dict(counts).values()) < n_written:
        return ""
    first = {name.replace("*", ""): cells.first_text for name, cells in reversed((column.dresses or {}).items())}
    examples = [first[name] for name, _ in counts]
    if any(re.search(r"\d[A-Za-z]$", text) for text in examples) or all(map(_begins_with_a_year, examples)):
        return ""  # "12A" is a house or a seat, and "1936 Summer" a season
    listed = " and ".join(f"{shown(first[name])} ({rows_text(count)})" for name, count in counts[:2])
    return (
        f"Column {shown(column.name)} of {table} has numbers in {len(counts)} units, such as {listed}; all were read "
        f"as texts. Write all in one unit, or pass --kind {as_option(column.name + '=number')} to read those in the "
        "most frequent one, and the rest as missing."
    )


def _begins_with_a_year(text: str) -> bool:
    start = text[:4]
    return start.isdigit() and WORDED_YEARS[0] <= int(start) <= WORDED_YEARS[1]


def _are_durations(column: ColumnSummary) -> bool:
    """Whether what can be read as durations is not times of day: by the name, or as there are too many hours."""
    return says_duration(column.name) or column.n_times_of_day < NEARLY_ALL * column.n_durations


def _decide_durations(column: ColumnSummary, rules: TextRules, table: str) -> Decision:
    return _decide_written(column, rules, table, rules.mark, DURATION)


def _are_seasons(column: ColumnSummary) -> bool:
    """Whether all texts are such as 2003-04, two years in a row: some of them could be read as months."""
    seasons = [re.fullmatch(r"(\d{4})[-/](\d\d)", str(text)) for text in column.texts.values]
    return all(season is not None and (int(season[1]) + 1) % 100 == int(season[2]) for season in seasons)


def _unless_constant(column: ColumnSummary, decision: Decision) -> Decision:
    if column.n_distinct - len(column.markers) > 1:
        return decision
    return Decision(
        "constant", f"left out: the only value is {shown(shown_value(column))}", day_first=decision.day_first
    )


def _decide_number(column: ColumnSummary) -> Decision:
    numbers = column.numbers
    if numbers.sample.n_distinct + (numbers.n_infinite > 0) <= 1:
        return Decision("constant", f"left out: the only value is {shown_value(column)}")
    if column.form == "text" and _have_leading_zeros(column):
        return _decide_digits(column)
    is_whole = numbers.n_fractions == 0 and numbers.n_infinite == 0
    enough = column.n_present >= FEWEST_ROWS_TO_JUDGE
    if is_whole and column.n_compact_dates == _n_numbers(column):
        return Decision("date", f"dates such as {shown_value(column)}", is_compact=True)
    if is_whole and says_year(column.name) and _are_years(column):
        return Decision("year")
    if is_whole and enough and numbers.sample.all_different and column.n_missing == 0:
        counts_rows = numbers.maximum - numbers.minimum < 1.5 * column.n_rows
        if counts_rows or says_identifier(column.name):
            return Decision("identifier", "left out: every value is different, as in a row number or key")
    if is_whole and _are_years(column):
        return Decision("year")
    if is_whole and enough and numbers.minimum >= 0 and says_code(column.name, numbers.maximum):
        return _decide_code(column)
    repeats = _share_of_different(column) < NEARLY_DIFFERENT_CODES
    if is_whole and enough and numbers.minimum >= 0 and says_listed(column.name) and repeats:
        return Decision("category", BY_NAME)
    return Decision("number")


def _are_years(column: ColumnSummary) -> bool:
    """Whether numbers are years; if the name says so, a few that are none are errors."""
    numbers = column.numbers
    if says_year(column.name):
        return all(YEARS[0] <= numbers.quantile(share) <= YEARS[1] for share in (1 - NEARLY_ALL, NEARLY_ALL))
    return CERTAIN_YEARS[0] <= numbers.minimum and numbers.maximum <= CERTAIN_YEARS[1]


def _decide_compact_dates(column: ColumnSummary, rules: TextRules, table: str) -> Decision | None:
    """Dates such as 20181014, if nearly all of the numbers are dates and some are not."""
    if rules.strict or not NEARLY_ALL * _n_numbers(column) <= column.n_compact_dates < _n_numbers(column):
        return None
    decision = Decision("date", "dates such as 20181014", is_compact=True)
    return _with_misfits(decision, column, column.not_compact_dates, "date", table)


def _have_leading_zeros(column: ColumnSummary) -> bool:
    texts = (str(text) for text in column.texts.values)
    return any(len(text) > 1 and text[0] == "0" and text.isdigit() for text in texts)


def _decide_digits(column: ColumnSummary) -> Decision:
    codes = _decide_words(column, "")
    return Decision(codes.kind, f"digits with leading zeros are codes; {codes.note}".rstrip("; "))


def _decide_code(column: ColumnSummary) -> Decision:
    share = _share_of_different(column)
    if share >= NEARLY_DIFFERENT_CODES:
        return Decision("identifier", f"left out: a code, by its name, of which {share_words(share)} are different")
    return Decision("category", BY_NAME)


def _share_of_different(column: ColumnSummary) -> float:
    """How many different values there are to a row with one; the sample is uniform, so that its own share will do."""
    sample = column.texts if column.form in ("text", "category") else column.numbers.sample
    return len(sample.counts) / max(int(sample.counts.sum()), 1)


def _decide_written(column: ColumnSummary, rules: TextRules, table: str, decimal: str, dress: str) -> Decision:
    if dress != DURATION and _have_leading_zeros(column):
        return _decide_digits(column)
    spread = written_spread(column, rules, decimal, dress)
    if has_letters(dress) and WORDED_YEARS[0] <= spread.minimum and spread.maximum <= WORDED_YEARS[1]:
        return _decide_words(column, table)  # "1936 Summer"
    if spread.sample.n_distinct <= 1:
        return _unless_constant(column, Decision("number", decimal=decimal, dress=dress))
    import pyarrow as pa

    texts = column.texts.values.tolist()
    plain = read_written(pa.array(texts, pa.string()), rules, decimal, dress)[0]
    unscaled = read_written(pa.array(texts, pa.string()), rules, decimal)[0]
    places = [place for place, text in enumerate(texts) if not np.isnan(plain[place]) and not _is_plain(text)]
    places = [place for place in places if plain[place] != unscaled[place]] or places
    example = places[0] if places else int(np.flatnonzero(~np.isnan(plain))[0])
    what, unit = ("durations", " seconds") if dress == DURATION else ("numbers", "")
    note = f"{what} such as {shown(texts[example])}, read as {number_words(plain[[example]])[0]}{unit}"
    return Decision(
        "number",
        note,
        f"Column {shown(column.name)} of {table} holds {note}. Pass --plain-numbers, or --kind "
        f"{as_option(column.name + '=category')}, to read them as texts.",
        decimal=decimal,
        dress=dress,
    )


def _is_plain(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _with_misfits(decision: Decision, column: ColumnSummary, stray: Stray, what: str, table: str) -> Decision:
    if decision.kind not in ("number", "year", "date", "time") or stray.n_rows == 0:
        return decision
    note = f"{rows_text(stray.n_rows)} not a {what}, such as {shown(stray.first_text)}"
    warning = (
        f"Column {shown(column.name)} of {table} is not a {what} in {rows_text(stray.n_rows)} (first: row "
        f"{stray.first_row}, {shown(stray.first_text)}); these cells count as missing and get a mark. Pass --strict to "
        f"stop at them, or --kind {as_option(column.name + '=category')} to read all as texts."
    )
    return replace(
        decision, note=_joined(decision.note, note), warning=_joined(decision.warning, warning, " "), has_misfits=True
    )


def _telling_format(decision: Decision, column: ColumnSummary, table: str) -> Decision:
    stray = column.not_in_format
    rows, order = rows_text(stray.n_rows), _order(decision.day_first)
    warning = (
        f"Column {shown(column.name)} of {table} has dates in {rows} that --date-format does not fit (first: row "
        f"{stray.first_row}, {shown(stray.first_text)}); they were read as usual, with {order}. Write all dates "
        "alike, or pass another --date-format."
    )
    note = f"{rows} not as --date-format says, such as {shown(stray.first_text)}"
    return replace(decision, note=_joined(decision.note, note), warning=_joined(decision.warning, warning, " "))


def _telling_markers(decision: Decision, column: ColumnSummary, table: str) -> Decision:
    if decision.kind in ("category", "text", "identifier"):
        return decision
    listed = ", ".join(f"{shown(marker)} ({rows_text(count)})" for marker, count in sorted(column.markers.items())[:5])
    warning = (
        f"In column {shown(column.name)} of {table}, {listed} counts as missing. Pass --strict to stop at it, or "
        f"--kind {as_option(column.name + '=category')} to read it as a text."
    )
    note = _joined(decision.note, f"{listed} counts as missing")
    return replace(decision, note=note, warning=_joined(decision.warning, warning, " "))


def _joined(first: str, second: str, between: str = "; ") -> str:
    return f"{first}{between}{second}" if first else second


def _decide_date(column: ColumnSummary, rules: TextRules, table: str) -> Decision:
    day_first = day_first_of(column, rules)
    stray = column.not_moments[day_first]
    if stray.n_rows:
        if rules.strict:
            _refuse(column, stray, "that is not a date with " + _order(day_first), table)
        return _with_misfits(Decision("date", day_first=day_first), column, stray, "date", table)
    orders_differ = set(column.moments[True].sample.hashes) != set(column.moments[False].sample.hashes)
    same_count = column.moments[True].count == column.moments[False].count
    if rules.first_is_day is None and same_count and orders_differ:
        return Decision(
            "date",
            "month read before day",
            f"The dates of column {shown(column.name)} of {table}, such as {shown(shown_value(column))}, "
            "can be read with the day or the month first; the month was taken. "
            "Pass --day-first or --month-first, or --date-format.",
        )
    return Decision("date", day_first=day_first)


def _order(day_first: bool) -> str:
    return "the day first" if day_first else "the month first"


def _refuse(column: ColumnSummary, stray: Stray, why: str, table: str, *, none_fits: bool = False) -> NoReturn:
    advice = "P" if none_fits else _if_missing(stray.first_text)
    raise TableError(
        f"Column {shown(column.name)} of {table} has text {why + ' ' if why else ''}in "
        f"{rows_text(stray.n_rows)} (first: row {stray.first_row}, {shown(stray.first_text)}). "
        f"{advice}ass --kind {as_option(column.name + '=category')}."
    )


def _if_missing(text: str) -> str:
    """The advice for a text that may mean missing; none for one that has digits in it, for it means something."""
    if any(letter.isdigit() for letter in text) or not text.isprintable():
        return "Leave out --strict, or p"
    return f"Pass --missing {as_option(text)} if it means missing, or p"


def _decide_words(column: ColumnSummary, table: str) -> Decision:
    texts = [str(text) for text in column.texts.values]
    distinct = column.texts.n_distinct
    if distinct == 1:
        return _unless_constant(column, Decision("category"))
    warning = _mixture_warning(column, table)
    n_words = sorted(len(text.split()) for text in texts)[len(texts) // 2]
    longest = max(map(len, texts))
    enough = column.n_present >= FEWEST_ROWS_TO_JUDGE
    share = _share_of_different(column)
    repeats_little = enough and share > 0.5
    if longest >= LONGEST_KEPT_TEXT or (n_words >= WORDS_OF_A_SENTENCE and repeats_little and column.form == "text"):
        return Decision("text", "free text: hashed letter triples", warning)
    if enough and share >= (NEARLY_DIFFERENT_CODES if says_code(column.name) else NEARLY_DIFFERENT):
        nearly = "nearly every value is" if share >= NEARLY_EVERY else f"{share:.1%} of the values are"
        how_many = "every value is" if column.texts.all_different else nearly
        return Decision("identifier", f"left out: {how_many} different", warning)
    if n_words >= WORDS_OF_PROSE and repeats_little and column.form == "text":
        return Decision("text", "free text: hashed letter triples", warning)
    if says_code(column.name):
        return Decision("category", BY_NAME, warning)
    if column.texts.overflowed or repeats_little:
        about = "about " if column.texts.overflowed else ""
        return Decision("text", f"{about}{distinct:,} different values: hashed letter triples", warning)
    return Decision("category", "", warning)


def _mixture_warning(column: ColumnSummary, table: str) -> str:
    share = _n_numbers(column) / column.n_present
    if column.form != "text" or says_code(column.name):
        return ""
    if warning := _several_units(column, table) or _both_orders(column, table):
        return warning
    if not 0.5 <= share < 1:
        return ""
    stray = column.not_numbers
    if stray.n_rows == 0:
        return ""
    return (
        f"Column {shown(column.name)} of {table} mixes numbers ({share:.0%}) and text "
        f"(first: row {stray.first_row}, {shown(stray.first_text)}); all were read as text. "
        f"Pass --kind {as_option(column.name + '=number')} to read numbers, and the rest as missing."
    )


def _both_orders(column: ColumnSummary, table: str) -> str:
    """A warning, if all of a column is dates, some with the day first and some with the month first."""
    if not all(spread.count for spread in column.moments.values()):
        return ""
    import pyarrow as pa

    texts, counts = column.texts.values.tolist(), column.texts.counts
    are_dates = {order: ~np.isnan(read_moments(pa.array(texts, pa.string()), order)) for order in (True, False)}
    either, only = are_dates[True] | are_dates[False], are_dates[True] != are_dates[False]
    if counts[either].sum() < NEARLY_ALL * counts.sum():
        return ""
    day, month = (texts[int(np.argmax(only & are_dates[order]))] for order in (True, False))
    return (
        f"Column {shown(column.name)} of {table} has dates with the day first, such as {shown(day)}, and with the "
        f"month first, such as {shown(month)}; all were read as texts. Write all alike, or pass --kind "
        f"{as_option(column.name + '=date')} to read those of one order, and the rest as missing."
    )


def _as_told(column: ColumnSummary, rules: TextRules, table: str, told: str, usual_mark: str) -> Decision:
    """Follow the user's word, unless the values cannot be read that way."""
    if told not in CHOICES:
        raise TableError(unknown_choice(f"kinds[{shown(column.name)}]", "TableEncoder", told, CHOICES))
    note = "as told"
    if told == "identifier":
        return Decision(told, "left out: as told")
    if column.trouble:
        raise TableError(
            f"Column {shown(column.name)} of {table} {column.trouble}. Pass --ignore {as_option(column.name)}."
        )
    if column.n_present == 0:
        return Decision("empty", "left out: every value is missing")
    if told == "date":
        return _told_date(column, rules, table)
    if told in ("number", "year"):
        return _told_number(column, rules, table, told, usual_mark)
    n_to_read = column.n_present - sum(column.markers.values())
    readable = {
        "boolean": column.form == "boolean"
        or column.n_booleans == n_to_read
        or (_n_numbers(column) == n_to_read and set(column.numbers.sample.values.tolist()) <= {0.0, 1.0}),
        "time": column.form == "time of day" or column.n_times_of_day == n_to_read,
        "category": column.form not in ("moment", "time of day"),
        "text": column.form not in ("moment", "time of day"),
    }
    if not readable[told]:
        raise TableError(
            f"Column {shown(column.name)} of {table} cannot be read as {told}: a value such as "
            f"{shown(shown_value(column))} does not fit. Pass another --kind for it."
        )
    return Decision(told, note)


def _told_date(column: ColumnSummary, rules: TextRules, table: str) -> Decision:
    if column.n_compact_dates and column.n_compact_dates == _n_numbers(column):
        return Decision("date", "as told", is_compact=True)
    day_first = day_first_of(column, rules)
    stray = column.not_moments[day_first]
    if column.moments[day_first].count == column.n_present:
        return Decision("date", "as told", day_first=day_first)
    none_fits = column.moments[day_first].count == 0
    if rules.strict or none_fits:
        _refuse(column, _some(column, stray), "that is not a date", table, none_fits=none_fits)
    return _with_misfits(Decision("date", "as told", day_first=day_first), column, stray, "date", table)


def _told_number(column: ColumnSummary, rules: TextRules, table: str, told: str, usual_mark: str) -> Decision:
    are_groups = has_groups(column, rules, column.n_present, usual_mark)
    if _n_numbers(column) == column.n_present and not are_groups:
        return Decision(told, "as told")
    decimal = mark_of(column, rules, usual_mark)
    dress = dress_of(column, decimal)
    if dress is None and column.dresses:
        dress = counts_of_dresses(column).most_common(1)[0][0]
    if column.n_durations > max(column.n_written[decimal] if dress is not None else 0, _n_numbers(column)):
        decision = Decision(told, "as told", decimal=decimal, dress=DURATION)
        if rules.strict and column.not_durations.n_rows:
            _refuse(column, column.not_durations, "that is not a duration", table)
        return _with_misfits(decision, column, column.not_durations, "number", table)
    if (are_groups or column.n_written[decimal] > _n_numbers(column)) and dress is not None:
        decision, stray = Decision(told, "as told", decimal=decimal, dress=dress), not_in(column, decimal, dress)
    else:
        decision, stray = Decision(told, "as told"), column.not_numbers
    n_read = max(column.n_written[decimal] if decision.dress is not None else 0, _n_numbers(column))
    if (rules.strict and stray.n_rows) or n_read == 0:
        _refuse(column, _some(column, stray), "", table, none_fits=n_read == 0)
    return _with_misfits(decision, column, stray, "number", table)


def _some(column: ColumnSummary, stray: Stray) -> Stray:
    return stray if stray.n_rows else Stray(column.n_present, 1, shown_value(column))
