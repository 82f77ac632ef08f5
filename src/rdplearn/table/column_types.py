"""Deciding what a column is, from its summary alone.

The kinds, and what becomes of each:

==============  ======================================================================================
number          the number itself
boolean         0 or 1
category        one column for each frequent value, one for all rare values
date            days since the first, and sine and cosine of hour, weekday and day of the year
time            sine and cosine of the hour
text            shares of hashed letter triples, and the length
identifier      left out: every value is different
constant        left out: there is only one value
empty           left out: every value is missing
==============  ======================================================================================
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from rdplearn.errors import TableError, unknown_choice
from rdplearn.table.cells import TextRules, number_words
from rdplearn.table.summary import LONGEST_KEPT_TEXT, ColumnSummary, Stray
from rdplearn.table.wording import as_option, rows_text, shown

KINDS = ("number", "boolean", "category", "date", "time", "text", "identifier", "constant", "empty")
CHOICES = KINDS[:7]
FEWEST_ROWS_TO_JUDGE = 20
NEARLY_ALL = 0.9
WORDS_OF_PROSE = 4
NAME_OF_AN_IDENTIFIER = re.compile(r"(?i:(^|[\W_])(id|uuid|guid|key|index)$)|[a-z]I[dD]$")
COMMA_NUMBER = re.compile(r"[+-]?(\d+|\d{1,3}([. ']\d{3})+),\d+")
GROUPED_NUMBER = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
CODE_WITH_ZEROS = re.compile(r"0\d+")


@dataclass(frozen=True)
class Decision:
    """What a column is, a note on why where that is not plain to see, and a warning if one is due."""

    kind: str
    note: str = ""
    warning: str = ""
    day_first: bool = False


def decide_kind(column: ColumnSummary, rules: TextRules, table: str, told: str | None = None) -> Decision:
    """Decide what a column is; `told` overrules the evidence where the values allow it.

    Raises
    ------
    TableError
        When nearly all values are numbers (or dates) but not all: whether the rest is missing, wrong or meant
        is for the user to say.
    """
    if told is not None:
        return _as_told(column, rules, table, told)
    if column.n_present == 0:
        return Decision("empty", "left out: every value is missing")
    if _n_numbers(column) == column.n_present and column.form in ("number", "text"):
        return _decide_number(column)
    if column.form == "boolean" or column.n_booleans == column.n_present:
        return _unless_constant(column, Decision("boolean"))
    if column.form == "time of day" or column.n_times_of_day == column.n_present:
        return _unless_constant(column, Decision("time"))
    if _n_dates(column) == column.n_present:
        return _unless_constant(column, _decide_date(column, rules, table))
    if column.form == "text":
        _refuse_strays(column, rules, table)
    return _decide_words(column, table)


def day_first_of(column: ColumnSummary, rules: TextRules) -> bool:
    """Whether 01/02/2024 starts with the day: as told, else as more of the column's dates allow."""
    if column.form == "moment":
        return False
    if rules.day_first is not None:
        return rules.day_first
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


def _n_numbers(column: ColumnSummary) -> int:
    return column.numbers.count + column.numbers.n_infinite


def _n_dates(column: ColumnSummary) -> int:
    return max(spread.count for spread in column.moments.values())


def _unless_constant(column: ColumnSummary, decision: Decision) -> Decision:
    if column.n_distinct > 1:
        return decision
    return Decision(
        "constant", f"left out: the only value is {shown(shown_value(column))}", day_first=decision.day_first
    )


def _decide_number(column: ColumnSummary) -> Decision:
    numbers = column.numbers
    if numbers.sample.n_distinct + (numbers.n_infinite > 0) <= 1:
        return Decision("constant", f"left out: the only value is {shown_value(column)}")
    if column.form == "text" and any(CODE_WITH_ZEROS.fullmatch(str(text)) for text in column.texts.values):
        codes = _decide_words(column, "")
        return Decision(codes.kind, f"digits with leading zeros are codes; {codes.note}".rstrip("; "))
    whole_and_different = numbers.n_fractions == 0 and numbers.sample.all_different and numbers.n_infinite == 0
    if whole_and_different and column.n_missing == 0 and column.n_rows >= FEWEST_ROWS_TO_JUDGE:
        counts_rows = numbers.maximum - numbers.minimum < 1.5 * column.n_rows
        if counts_rows or NAME_OF_AN_IDENTIFIER.search(column.name):
            return Decision("identifier", "left out: every value is different, as in a row number or key")
    return Decision("number")


def _decide_date(column: ColumnSummary, rules: TextRules, table: str) -> Decision:
    day_first = day_first_of(column, rules)
    if column.moments[day_first].count < column.n_present:
        _refuse(column, column.not_moments[day_first], "that is no date with " + _order(day_first), table)
    orders_differ = set(column.moments[True].sample.hashes) != set(column.moments[False].sample.hashes)
    same_count = column.moments[True].count == column.moments[False].count
    if column.form == "text" and rules.day_first is None and same_count and orders_differ:
        return Decision(
            "date",
            "month read before day",
            f"The dates of column {shown(column.name)} of {table}, such as {shown(shown_value(column))}, "
            "can be read with the day or the month first; the month was taken. "
            "Pass --day-first or --month-first.",
        )
    return Decision("date", day_first=day_first)


def _order(day_first: bool) -> str:
    return "the day first" if day_first else "the month first"


def _refuse_strays(column: ColumnSummary, rules: TextRules, table: str) -> None:
    if _n_numbers(column) >= NEARLY_ALL * column.n_present:
        _refuse(column, column.not_numbers, "", table)
    if _n_dates(column) >= NEARLY_ALL * column.n_present:
        _refuse(column, column.not_moments[day_first_of(column, rules)], "that is no date", table)


def _refuse(column: ColumnSummary, stray: Stray, why: str, table: str) -> NoReturn:
    raise TableError(
        f"Column {shown(column.name)} of {table} has text {why + ' ' if why else ''}in "
        f"{rows_text(stray.n_rows)} (first: row {stray.first_row}, {shown(stray.first_text)}). "
        f"Pass --missing {as_option(stray.first_text)} if it means missing, "
        f"or --kind {as_option(column.name + '=category')}."
    )


def _decide_words(column: ColumnSummary, table: str) -> Decision:
    texts = [str(text) for text in column.texts.values]
    distinct = column.texts.n_distinct
    if distinct == 1:
        return _unless_constant(column, Decision("category"))
    warning = _mixture_warning(column, table) or _comma_warning(column, texts, table)
    n_words = sorted(len(text.split()) for text in texts)[len(texts) // 2]
    longest = max(map(len, texts))
    enough = column.n_present >= FEWEST_ROWS_TO_JUDGE
    repeats_little = enough and column.n_present < 2 * distinct
    if longest >= LONGEST_KEPT_TEXT or (n_words >= WORDS_OF_PROSE and repeats_little and column.form == "text"):
        return Decision("text", "free text: hashed letter triples", warning)
    if enough and column.texts.all_different:
        return Decision("identifier", "left out: every value is different", warning)
    if column.texts.overflowed or repeats_little:
        return Decision("text", f"about {distinct:,} different values: hashed letter triples", warning)
    return Decision("category", "", warning)


def _mixture_warning(column: ColumnSummary, table: str) -> str:
    share = _n_numbers(column) / column.n_present
    if column.form != "text" or not 0.5 <= share < 1:
        return ""
    stray = column.not_numbers
    return (
        f"Column {shown(column.name)} of {table} mixes numbers ({share:.0%}) and text "
        f"(first: row {stray.first_row}, {shown(stray.first_text)}); all were read as text. "
        f"Pass --missing {as_option(stray.first_text)} if it means missing."
    )


def _comma_warning(column: ColumnSummary, texts: list[str], table: str) -> str:
    for pattern, remedy in ((GROUPED_NUMBER, "--thousands ,"), (COMMA_NUMBER, "--decimal ,")):
        alike = sum(pattern.fullmatch(text) is not None for text in texts)
        plain = sum(text.lstrip("+-").isdigit() for text in texts)
        if alike and alike + plain >= NEARLY_ALL * len(texts):
            return (
                f"Column {shown(column.name)} of {table} was read as text, but its values look like numbers "
                f"(such as {shown(texts[0])}). Pass {remedy} to read them so."
            )
    return ""


def _as_told(column: ColumnSummary, rules: TextRules, table: str, told: str) -> Decision:
    """Follow the user's word, unless the values cannot be read that way."""
    if told not in CHOICES:
        raise TableError(unknown_choice(f"kinds[{shown(column.name)}]", "TableEncoder", told, CHOICES))
    note = "as told"
    if told == "identifier":
        return Decision(told, "left out: as told")
    if column.n_present == 0:
        return Decision("empty", "left out: every value is missing")
    if told == "date":
        day_first = day_first_of(column, rules)
        if column.moments[day_first].count == column.n_present:
            return Decision(told, note, day_first=day_first)
        _refuse(column, column.not_moments[day_first], "that is no date", table)
    if told == "number":
        if _n_numbers(column) == column.n_present:
            return Decision(told, note)
        _refuse(column, column.not_numbers, "", table)
    readable = {
        "boolean": column.form == "boolean"
        or column.n_booleans == column.n_present
        or (_n_numbers(column) == column.n_present and set(column.numbers.sample.values.tolist()) <= {0.0, 1.0}),
        "time": column.form == "time of day" or column.n_times_of_day == column.n_present,
        "category": column.form not in ("moment", "time of day"),
        "text": column.form not in ("moment", "time of day"),
    }
    if not readable[told]:
        raise TableError(
            f"Column {shown(column.name)} of {table} cannot be read as {told}: a value such as "
            f"{shown(shown_value(column))} is none. Pass another --kind for it."
        )
    return Decision(told, note)
