"""What is usual in a column, to hold a value against: a range of numbers or dates, or the most frequent values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rdplearn.table.wording import printable

TYPICAL_SHARES = (0.05, 0.95)  # of its numbers, so many lie below the two ends of a column's typical range
LEAST_NAMED = 0.005  # share of the rows: a value that no more have is no example of what is typical
MISSING_WORD, MANY_WORDS = "missing", "many different values"
LONGEST_VALUE = 40


class Seconds(float):
    """A duration: a number like any other, which people are told as hours, minutes and seconds.

    Examples
    --------
    >>> str(Seconds(3753)), str(Seconds(59.25)), str(Seconds(-360_000))
    ('1:02:33', '0:00:59.25', '-100:00:00')
    """

    def __str__(self) -> str:
        hundredths = round(abs(float(self)) * 100)
        minutes, rest = divmod(hundredths, 6000)
        fraction = f".{rest % 100:02d}" if rest % 100 else ""
        return f"{'-' if self < 0 else ''}{minutes // 60}:{minutes % 60:02d}:{rest // 100:02d}{fraction}"


@dataclass(frozen=True)
class Typical:
    """The typical values of one column; everything is empty where there is nothing to compare with.

    low, high : nine tenths of the numbers lie between them; durations are `Seconds`, dates texts such as
        2024-01-31, times of day such as 13:45, and of free texts it is their length: "4" and "31 letters"
    values, shares : the most frequent values, and the share of rows that each has; holes count as a value

    Examples
    --------
    >>> Typical(low=20.0, high=310.5).words()
    '20 to 310.5'
    >>> Typical(values=["Rome", "Oslo"], shares=[0.75, 0.25]).words()
    'Rome (75%), Oslo (25%)'
    >>> Typical(values=["CA", "NV"], shares=[0.998, 0.002]).words()
    'CA (over 99%)'
    >>> Typical(values=["1 High Street", "9 Low Street"], shares=[0.003, 0.002]).words()
    'many different values'
    """

    low: float | str | None = None
    high: float | str | None = None
    values: list[str] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)

    def words(self) -> str:
        """What a user compares a value with."""
        if self.low is not None and self.high is not None:
            low, high = value_words(self.low), value_words(self.high)
            return low if low == high else f"{low} to {high}"
        named = [pair for pair in zip(self.values, self.shares, strict=True) if pair[1] > LEAST_NAMED]
        if self.values and not named:
            return MANY_WORDS
        return ", ".join(f"{value_words(value)} ({share_words(share)})" for value, share in named)


def share_words(share: float) -> str:
    """A share of the rows for people: not all of them is not 100%.

    Examples
    --------
    >>> share_words(0.75), share_words(0.998), share_words(1.0)
    ('75%', 'over 99%', '100%')
    """
    return "over 99%" if 0.995 <= share < 1.0 else f"{share:.0%}"


def number_text(value: float) -> str:
    """Write a number for people.

    Examples
    --------
    >>> number_text(9800.0), number_text(0.123456), number_text(2783918982.0), number_text(1.5e20), number_text(-0.0)
    ('9,800', '0.1235', '2,783,918,982', '1.5e+20', '0')
    """
    value = value or 0.0  # minus zero is zero
    if abs(value) >= 1e15:
        return f"{value:.4g}"
    return f"{value:,.0f}" if value.is_integer() or abs(value) >= 1e4 else f"{value:,.4g}"


def value_words(value: Any) -> str:
    r"""A value of a cell for people: short, on one line, without characters that steer a terminal.

    Examples
    --------
    >>> value_words(9800), value_words(None), value_words(True), value_words("two\nlines")
    ('9,800', 'missing', 'yes', 'two\\nlines')
    """
    if value is None or (isinstance(value, float | np.floating) and np.isnan(value)):
        return MISSING_WORD
    if isinstance(value, Seconds):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | float | np.integer | np.floating):
        return number_text(float(value))
    text = str(value)
    text = printable(text[: LONGEST_VALUE + 1])
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
