r"""How many rows are anomalies, told from the logarithms of their scores alone.

Logarithms of the scores of normal rows lie on a straight line, in their upper half, when they are drawn against the
quantiles of the normal distribution. The slope of the line is the largest that the rows show between their 50 and 85 %
points, and a little more to be cautious. Where many times more rows lie beyond a score than the line allows, and more
than chance does, those too many are anomalies. Without them the line is a little lower, so this is repeated until it
settles. The first guess is the largest share: from none on, many anomalies would have a say in the slope.

To draw a line between normal rows and others (`threshold.py`) two more things are asked:

- *A gap.* Where scores become rare and then frequent again, the rows beyond are counted, and the line is not needed.
- *Kinds.* Anomalies differ from each other, and so do their scores. Rows that lie near each other are a rare kind of
  normal row (`rare_kinds.py`), and so are rows whose scores come in lumps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from rdplearn._types import Doubles, Flags

BODY = np.array([[0.5, 0.7], [0.6, 0.8], [0.7, 0.85]])  # where anomalies are taken to be few: the line's slope
MIDDLE, BEYOND = 0.7, 0.8  # the line goes through the middle; anomalies are looked for beyond
MOST_ANOMALIES = 0.12  # share of the rows: more are a kind of their own
ALLOWED = 0.25  # of the rows beyond a score, by the line, if the others are to be anomalies
CAUTION = 1.3  # times the slope that the rows show
CHANCE = 2.0  # standard errors of the share of rows beyond a score
MOST_TURNS = 30
MOST_APART = 0.15  # share of the rows that lie beyond a gap, at most
NEIGHBOURS = 5  # rows next to each other, by which it is told how close scores are; beyond a gap lie twice as many
DEEP, WIDE = 3.0, 0.3  # a gap: so many times what lies between those beyond it, and of the slope of the line
TENTH, QUARTER = 0.1, 0.25
MOST_DIFFER = 0.75  # of the scores, where rows do not repeat themselves
CLOSE = 0.05  # of what scores spread over: a tenth of them that is closer together than that is a lump


def anomalous_share(logs: Doubles) -> float:
    """The share of rows, at most 12 %, that lie where the line of the normal rows does not reach.

    logs : ascending

    Examples
    --------
    >>> logs = np.random.default_rng(0).normal(size=2000)
    >>> anomalous_share(np.sort(logs))
    0.0
    >>> logs[:100] += 10.0
    >>> round(anomalous_share(np.sort(logs)), 2)
    0.05
    """
    n_rows = len(logs)
    first = int(BEYOND * n_rows)
    beyond = 1.0 - np.arange(first, n_rows) / n_rows  # share of rows at or beyond each score
    chance = CHANCE * np.sqrt(beyond * (1.0 - beyond) / n_rows)
    share = MOST_ANOMALIES
    for _ in range(MOST_TURNS):
        normal = without_top(logs, share)
        allowed = (1.0 - share) * _allowed_beyond(logs[first:], normal)
        too_many = beyond - allowed
        is_sure = (too_many > chance) & (allowed <= ALLOWED * beyond)
        share = min(float(np.max(too_many[is_sure], initial=0.0)), MOST_ANOMALIES)
        if len(without_top(logs, share)) == len(normal):
            break
    return share


class Told(NamedTuple):
    """Which rows are taken to be normal, and what tells it.

    is_normal : (n_rows,), the lowest score first
    is_apart : whether a gap lies between them and the others
    of_kinds : the share of the rows with high scores that belong to a rare kind: then no line goes on beyond them
    """

    is_normal: Flags
    is_apart: bool
    of_kinds: float


def tell_normal(logs: Doubles, find_kinds: Callable[[int, Flags], Flags] | None = None) -> Told:
    """Tell normal rows from those that lie beyond a gap, or are too many, but for those of them that are of a kind.

    logs : ascending
    find_kinds : from which place on scores are high, and which of these rows are in lumps -> which are of a rare kind;
        None to go by lumps alone

    Examples
    --------
    >>> logs = np.random.default_rng(0).normal(size=2000)
    >>> different, alike = np.concatenate([logs, np.linspace(6, 9, 60)]), np.concatenate([logs, np.full(60, 7.0)])
    >>> [int(np.sum(~tell_normal(np.sort(some)).is_normal)) for some in (logs, different, alike)]
    [0, 60, 0]
    """
    is_normal = np.ones(len(logs), dtype=bool)
    if repeat_themselves(logs):
        return Told(is_normal, is_apart=False, of_kinds=1.0)
    share = anomalous_share(logs)
    slope = float(np.max(_slopes(without_top(logs, share))))
    n_apart = rows_beyond_gap(logs, slope)
    first = len(logs) - (n_apart or round(share * len(logs)))
    if first == len(logs):
        return Told(is_normal, is_apart=False, of_kinds=0.0)
    is_kind = in_lumps(logs[first:], slope)
    if find_kinds is not None:
        is_kind = find_kinds(first, is_kind)
    is_normal[first:] = is_kind
    return Told(is_normal, is_apart=n_apart > 0, of_kinds=float(np.mean(is_kind)))


def rows_beyond_gap(logs: Doubles, slope: float) -> int:
    """How many rows lie beyond the widest gap in the scores; 0 where there is none.

    Five neighbours lie far apart, measured by how close those are that lie beyond, and by the slope of the line.
    """
    upper = logs[max(len(logs) - int(MOST_APART * len(logs)) - NEIGHBOURS, 0) :]
    first = np.arange(max(len(upper) - 3 * NEIGHBOURS, 0))  # of five neighbours, with ten rows beyond them
    apart = upper[first + NEIGHBOURS] - upper[first]
    n_beyond = len(upper) - first - NEIGHBOURS
    low, high = len(upper) - n_beyond + n_beyond // 4, len(upper) - n_beyond + 3 * n_beyond // 4
    usual = NEIGHBOURS * (upper[high] - upper[low]) / (high - low)  # of the middle half of those beyond
    is_gap = (apart > DEEP * usual) & (apart > WIDE * slope)
    if not is_gap.any():
        return 0
    widths = np.where(np.convolve(is_gap, np.ones(NEIGHBOURS)) > 0, np.diff(upper)[: len(is_gap) + NEIGHBOURS - 1], -1)
    return int(len(upper) - 1 - np.argmax(widths))


def in_lumps(logs: Doubles, slope: float) -> Flags:
    """Which rows have a tenth of all closely around them; none where this is true of few. logs : in ascending order."""
    n_close = max(NEIGHBOURS - 1, int(TENTH * len(logs)))
    if len(logs) <= 2 * n_close:
        return np.zeros(len(logs), dtype=bool)
    low, high = quantiles(logs, np.array([TENTH, 1.0 - TENTH]))
    is_close = logs[n_close:] - logs[:-n_close] < CLOSE * max(high - low, slope) * n_close / (TENTH * len(logs))
    around = np.convolve(is_close, np.ones(n_close + 1)) > 0
    return around if np.mean(is_close) > QUARTER else np.zeros(len(logs), dtype=bool)


def repeat_themselves(logs: Doubles) -> bool:
    """Whether most rows of the upper half have the score of another one, as in tables of a few categories."""
    upper = logs[len(logs) // 2 :]
    return len(np.unique(upper)) < MOST_DIFFER * len(upper)


def without_top(ascending: Doubles, share: float) -> Doubles:
    """The scores without this share of the highest."""
    return ascending[: len(ascending) - round(share * len(ascending))]


def quantiles(ascending: Doubles, shares: Doubles) -> Doubles:
    """As `numpy.quantile`, for scores in order."""
    places = shares * (len(ascending) - 1)
    below = np.minimum(places.astype(np.int64), max(len(ascending) - 2, 0))
    above = np.minimum(below + 1, len(ascending) - 1)
    return np.asarray(ascending[below] + (places - below) * (ascending[above] - ascending[below]))


def _allowed_beyond(logs: Doubles, normal: Doubles) -> Doubles:
    """The share of normal rows that the line has beyond each score; all of them where there is no line."""
    slope = CAUTION * float(np.max(_slopes(normal)))
    if not slope > 0.0:
        return np.ones(len(logs))
    places = ndtri(MIDDLE) + (logs - quantiles(normal, np.array(MIDDLE))) / slope
    return np.asarray(ndtr(-places))


def _slopes(normal: Doubles) -> Doubles:
    """How steep the scores of normal rows are against normal quantiles, between points where most rows are normal."""
    return np.asarray(np.diff(quantiles(normal, BODY), axis=1) / np.diff(ndtri(BODY), axis=1))
