"""Anomalies that have the same reason, told as one kind: "z = 0: 20 rows".

A row belongs to the column that comes first among its reasons. Where two columns share the reason in a row, one counts
whose value is odd by itself, and of several such the one that leads more of the rows. Within a column, rows are told
apart by what is odd about the value, as a reader would say it: it is missing, no number, higher or lower than usual, a
value that is not among the usual ones, or a usual one that does not fit the rest of its row. A value that makes up half
of such rows is named, and is a kind of its own.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from rdplearn.table.typical import Typical, value_words

if TYPE_CHECKING:
    from rdplearn._explain.explanation import Explanation

ANSWERS_COLUMN = "your answers"  # what answers did is listed beside the columns, as the last
LEAST_SHARE = 0.2  # of what raises a score; a first column with less than that is no reason by itself
LEAST_USUAL = 0.05  # of the rows; a category that fewer have is unusual, even among the most frequent ones
MOST_NAMED = 3  # values that one title names
NO_SINGLE_COLUMN = "several columns together"
PLAIN_NUMBER, START_OF_DATE = re.compile(r"-?\d+(\.\d+)?"), re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class Kind:
    """Anomalies that have the same reason.

    Attributes
    ----------
    title : str
        The reason in words: "z = 0", "fare 120 or more", "tip missing".
    column : str or None
        The column at fault; None where no single column stands out.
    typical : str
        What is usual in that column.
    rows : tuple of int
        Places of the rows in the explanation, the highest score first; the first is the example.
    """

    title: str
    column: str | None
    typical: str
    rows: tuple[int, ...]

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    @property
    def example(self) -> int:
        """The place of the row that stands for all: the one with the highest score."""
        return self.rows[0]

    def to_dict(self, numbers: Sequence[int]) -> dict[str, Any]:
        """Plain values for JSON. numbers : what users call the rows of the explanation, such as 1 for the first."""
        return {
            "kind": self.title,
            "column": self.column,
            "typical": self.typical,
            "n_rows": self.n_rows,
            "example": int(numbers[self.example]),
            "rows": [int(numbers[row]) for row in self.rows],
        }


class Oddity(Enum):
    """What is odd about a value; the words are for values that differ."""

    MISSING = "{column} missing"  # with others that are missing in the same rows
    NO_NUMBER = "{column} is not a number"
    HIGH = "{column} {lowest} or more"
    LOW = "{column} {highest} or less"
    LATE = "{column} {lowest} or later"
    EARLY = "{column} {highest} or earlier"
    UNUSUAL = "unusual values of {column}"
    ELSEWHERE = "{column} unusual for such rows"  # a usual value that stands in the wrong row


BEYOND = (Oddity.HIGH, Oddity.LOW, Oddity.LATE, Oddity.EARLY)


@dataclass(frozen=True)
class Reason:
    """The first reason of one row."""

    row: int
    column: str
    value: Any
    oddity: Oddity
    together: tuple[str, ...]  # the columns that share the reason, the largest contribution first
    partner: str = ""  # a column that only counts together with this one, and what stands there


def kinds_of(explanation: Explanation) -> list[Kind]:
    """Rows of an explanation by their first reasons, the kind with the most rows first.

    Examples
    --------
    >>> import numpy as np
    >>> from rdplearn._explain.explanation import Explanation
    >>> explanation = Explanation(
    ...     column_names=["fare", "tip"],
    ...     contributions=np.array([[0.8, 0.1], [0.7, 0.1], [0.1, 0.9]]),
    ...     anomaly_scores=np.array([0.9, 0.8, 1.0]),
    ...     baseline=0.0,
    ...     values=np.array([[950.0, 2.0], [120.0, 3.0], [9.0, np.nan]]),
    ...     typical=[Typical(low=5.0, high=80.0), Typical(low=0.0, high=9.0)],
    ... )
    >>> [(kind.title, kind.n_rows, kind.example) for kind in kinds_of(explanation)]
    [('fare 120 or more', 2, 0), ('tip missing', 1, 2)]
    """
    reasons = _first_reasons(explanation)
    alike: dict[tuple[str, Oddity], list[Reason]] = defaultdict(list)
    for reason in reasons:
        alike[reason.column, reason.oddity].append(reason)
    typical = dict(zip(explanation.column_names, explanation.typical, strict=True))
    found = [
        Kind(_title(group), column, _typical_words(group, typical[column]), tuple(reason.row for reason in group))
        for (column, _), of_column in alike.items()
        for group in _by_shared_value(of_column)
    ]
    explained = {reason.row for reason in reasons}
    others = tuple(row for row in _by_score(explanation) if row not in explained)
    if others:
        found.append(Kind(NO_SINGLE_COLUMN, None, "", others))
    return sorted(found, key=lambda kind: (-kind.n_rows, -explanation.anomaly_scores[kind.example], kind.title))


def _by_score(explanation: Explanation) -> list[int]:
    return sorted(range(len(explanation)), key=lambda row: (-explanation.anomaly_scores[row], row))


def _first_reasons(explanation: Explanation) -> list[Reason]:
    """The first reason of each row in which a column stands out, the highest score first."""
    columns = {row: explanation.columns_of(row) for row in _by_score(explanation)}
    standing_out = {row: told for row, told in columns.items() if told and _share_of_first(told) >= LEAST_SHARE}
    n_led = Counter(told[0]["column"] for told in standing_out.values())
    place_of = {name: place for place, name in enumerate(explanation.column_names)}
    reasons = []
    for row, told in standing_out.items():
        candidates = (told[0]["column"], *told[0]["shared_with"])
        values = {entry["column"]: entry["value"] for entry in told}
        oddities = {name: oddity_of(values[name], explanation.typical[place_of[name]]) for name in candidates}
        odd = [name for name in candidates if oddities[name] is not Oddity.ELSEWHERE] or candidates
        column = max(odd, key=lambda name: (n_led[name], -place_of[name]))
        reasons.append(Reason(row, column, values[column], oddities[column], candidates, _partner(told, column)))
    return reasons


def _share_of_first(told: list[dict[str, Any]]) -> float:
    """The part of the score that the first column accounts for, with those that share its reason."""
    together = {told[0]["column"], *told[0]["shared_with"]}
    return float(sum(entry["share"] for entry in told if entry["column"] in together))


def oddity_of(value: Any, typical: Typical) -> Oddity:
    """What is odd about a value, held against what is typical of its column.

    Examples
    --------
    >>> usual = Typical(low=5.0, high=80.0)
    >>> [oddity_of(value, usual).name for value in (None, "ten", 950.0, 2.0, 9.0)]
    ['MISSING', 'NO_NUMBER', 'HIGH', 'LOW', 'ELSEWHERE']
    >>> oddity_of("2031-05-01", Typical(low="2024-01-01", high="2024-12-31")).name
    'LATE'
    >>> payment = Typical(values=["cash", "gold"], shares=[0.9, 0.01])
    >>> [oddity_of(value, payment).name for value in ("chq", "gold", "cash")]
    ['UNUSUAL', 'UNUSUAL', 'ELSEWHERE']
    """
    if value is None:
        return Oddity.MISSING
    if typical.low is None or typical.high is None:
        shares = dict(zip(typical.values, typical.shares, strict=True))
        return Oddity.ELSEWHERE if shares.get(_word(value), 0.0) >= LEAST_USUAL else Oddity.UNUSUAL
    if isinstance(typical.low, str):
        return _oddity_of_moment(value, typical.low, str(typical.high))
    if isinstance(value, str):
        return Oddity.NO_NUMBER
    if value > typical.high:
        return Oddity.HIGH
    return Oddity.LOW if value < typical.low else Oddity.ELSEWHERE


def _oddity_of_moment(value: Any, low: str, high: str) -> Oddity:
    """The same of years and dates, which are texts; one that is written in a way of its own, or no date, is unusual."""
    moment = _comparable(str(value))
    if moment is None or _comparable(high) is None:
        return Oddity.UNUSUAL
    if moment > (_comparable(high) or moment):
        return Oddity.LATE
    return Oddity.EARLY if moment < (_comparable(low) or moment) else Oddity.ELSEWHERE


def _comparable(text: str) -> tuple[float, str] | None:
    """A year or a day, so that the later is the greater; None for what is neither."""
    if PLAIN_NUMBER.fullmatch(text):
        return float(text), ""
    return (float(text[:4]), text[:10]) if START_OF_DATE.match(text) else None


def _word(value: Any) -> str:
    """A value as categories are written."""
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _together(reasons: list[Reason]) -> list[str]:
    """The columns that share the reason in most of the rows."""
    counts = Counter(name for reason in reasons for name in reason.together)
    return [name for name, count in counts.items() if 2 * count > len(reasons)]


def _typical_words(reasons: list[Reason], typical: Typical) -> str:
    """What is usual in the column; nothing where several are missing, which have no range in common."""
    return "" if reasons[0].oddity is Oddity.MISSING and len(_together(reasons)) > 1 else typical.words()


def named_columns(columns: Sequence[str]) -> str:
    """The names of columns, of many the first.

    Examples
    --------
    >>> named_columns(["tip"]), named_columns(["tip", "fare", "tolls", "total", "payment"])
    ('tip', 'tip, fare and 3 more columns')
    """
    named = [value_words(column) for column in columns]
    if len(named) > MOST_NAMED:
        named = [*named[: MOST_NAMED - 1], f"{len(named) - MOST_NAMED + 1} more columns"]
    return listed(named, "and")


def listed(words: Sequence[str], last: str) -> str:
    """Words in a row, as they are said aloud.

    Examples
    --------
    >>> listed(["cash"], "or"), listed(["cash", "card"], "or"), listed(["cash", "card", "cheque"], "or")
    ('cash', 'cash or card', 'cash, card or cheque')
    """
    return f" {last} ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def _rank(value: Any) -> Any:
    return _comparable(value) if isinstance(value, str) else value


def _by_shared_value(reasons: list[Reason]) -> list[list[Reason]]:
    """Reasons with one oddity, apart by value where a value makes up half of them or more, the others together.

    Of values that are too high or too low it must be the farthest, such as a 0 or a 999 that stands for something else.
    """
    oddity = reasons[0].oddity
    if oddity is Oddity.MISSING or reasons[0].column == ANSWERS_COLUMN:
        return [reasons]
    counts = Counter(reason.value for reason in reasons)
    named = [value for value, count in counts.items() if count >= 2 and 2 * count >= len(reasons)]
    if oddity in BEYOND:
        end = max if oddity in (Oddity.HIGH, Oddity.LATE) else min
        named = [value for value in named if value == end(counts, key=_rank)]
    groups = [[reason for reason in reasons if reason.value == value] for value in named]
    rest = [reason for reason in reasons if reason.value not in named]
    return [*groups, rest] if rest else groups


def _partner(told: list[dict[str, Any]], column: str) -> str:
    others = [entry for entry in told if entry["only_together"] and entry["column"] != column]
    is_pair = told[0]["only_together"] and len(others) == 1 and others[0]["value"] is not None
    return f"{value_words(others[0]['column'])} = {value_words(others[0]['value'])}" if is_pair else ""


def _title(reasons: list[Reason]) -> str:
    """The reason in words, with the column that only counts together with it if that says the same in all rows."""
    partners = {reason.partner for reason in reasons}
    with_partner = f" with {partners.pop()}" if len(partners) == 1 and reasons[0].partner else ""
    return _own_title(reasons) + with_partner


def _own_title(reasons: list[Reason]) -> str:
    column, oddity = value_words(reasons[0].column), reasons[0].oddity
    if column == ANSWERS_COLUMN:
        return column
    if oddity is Oddity.MISSING:
        return f"{named_columns(_together(reasons))} missing"
    values = list(dict.fromkeys(reason.value for reason in reasons))  # the highest score first
    if oddity in BEYOND and len(values) > 1:
        lowest, highest = (value_words(end(values, key=_rank)) for end in (min, max))
        return oddity.value.format(column=column, lowest=lowest, highest=highest)
    if len(values) > MOST_NAMED or (len(values) > 1 and oddity is not Oddity.UNUSUAL):
        return oddity.value.format(column=column)
    remark = {Oddity.NO_NUMBER: ", not a number", Oddity.ELSEWHERE: ", unusual for such rows"}.get(oddity, "")
    return f"{column} = {listed([value_words(value) for value in values], 'or')}{remark}"
