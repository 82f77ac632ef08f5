r"""How many rows are anomalies, told from the logarithms of their scores alone.

Logarithms of the scores of normal rows lie on a straight line, in their upper half, when they are drawn against the
quantiles of the normal distribution. The slope of the line is the largest that the rows show between their 50 and 85 %
points, and a little more to be cautious. Where many times more rows lie beyond a score than the line allows, and more
than chance does, those too many are anomalies. Without them the line is a little lower, so this is repeated until it
settles.

Scores alone cannot tell a small group of anomalies from a small group of normal rows that are unlike the others, such
as those that have a value which 2 % of the rows have. Such a group counts as anomalous.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from rdplearn._types import Doubles

BODY = np.array([[0.5, 0.7], [0.6, 0.8], [0.7, 0.85]])  # where anomalies are taken to be few: the line's slope
MIDDLE, BEYOND = 0.7, 0.8  # the line goes through the middle; anomalies are looked for beyond
MOST_ANOMALIES = 0.12  # share of the rows: more are a kind of their own
ALLOWED = 0.25  # of the rows beyond a score, by the line, if the others are to be anomalies
CAUTION = 1.3  # times the slope that the rows show
CHANCE = 2.0  # standard errors of the share of rows beyond a score
MOST_TURNS = 30


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
    share = 0.0
    for _ in range(MOST_TURNS):
        normal = without_top(logs, share)
        allowed = (1.0 - share) * _allowed_beyond(logs[first:], normal)
        too_many = beyond - allowed
        is_sure = (too_many > chance) & (allowed <= ALLOWED * beyond)
        share = min(float(np.max(too_many[is_sure], initial=0.0)), MOST_ANOMALIES)
        if len(without_top(logs, share)) == len(normal):
            break
    return share


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
    widths = np.diff(quantiles(normal, BODY), axis=1) / np.diff(ndtri(BODY), axis=1)
    slope = CAUTION * float(np.max(widths))
    if not slope > 0.0:
        return np.ones(len(logs))
    places = ndtri(MIDDLE) + (logs - quantiles(normal, np.array(MIDDLE))) / slope
    return np.asarray(ndtr(-places))
