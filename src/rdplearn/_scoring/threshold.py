r"""Where to draw the line between normal and anomalous, without labels.

Two ways to say it: as a share of all rows (`contamination=0.02`), or as a share of the *normal* rows
(`false_alarm_rate=0.01`). `contamination="auto"` is the second at one in a hundred, on the rows of the table itself:
about one in a hundred normal rows, and every row stranger than these.

A false-alarm rate is calibrated on rows that were held back from training, for a row that a member was trained on looks
more normal to it than a new one. Anomalies among these rows lie in the same tail as the normal rows that we want to
count, so they have to be told apart without knowing either:

1. *The line.* Scores of the upper half of the normal rows lie on a straight line when they are drawn against the
   quantiles of a known distribution: logarithms of scores against those of the normal distribution, surprises against
   those of the exponential one (`SCALES`). Its slope is the largest that the rows show between their 50 and 85 %
   points, or a little more to be cautious.
2. *The share of anomalies.* Where many times more rows lie beyond a score than the line allows, and more than chance
   does, those too many are anomalies. Without them the line is a little lower, so this is repeated until it settles.
3. *The rate.* That share is taken off the top, and the rate is read off the rows that are left. Where fewer than five
   of them lie beyond it, their upper tail is continued along a line, too.

Scores alone cannot tell a small group of anomalies from a small group of normal rows that are unlike the others, such
as those that have a value which 2 % of the rows have. Such a group counts as anomalous. Up to a tenth of the rows may
be anomalies; beyond that the line errs towards fewer alarms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from rdplearn._types import Doubles
from rdplearn.errors import warn_user

AUTOMATIC_RATE = 0.01
BODY = np.array([[0.5, 0.7], [0.6, 0.8], [0.7, 0.85]])  # where anomalies are taken to be few: the line's slope
MIDDLE, BEYOND = 0.7, 0.8  # the line goes through the middle; anomalies are looked for beyond
MOST_ANOMALIES = 0.15  # share of the rows
ALLOWED = 0.25  # of the rows beyond a score, by the line, if the others are to be anomalies
CHANCE = 2.0  # standard errors of the share of rows beyond a score
FEWEST = 5  # rows beyond a line that is read off; fewer say little
MOST_TURNS = 30


@dataclass(frozen=True)
class Scale:
    """On what scale the scores of normal rows are straight, and against which quantiles.

    values, scores : from scores to that scale, and back
    quantile : share of the rows below -> place on the line
    survivors : place on the line -> share of the rows beyond
    caution : times the slope that the rows show
    """

    values: Callable[[Doubles], Doubles]
    scores: Callable[[float], float]
    quantile: Callable[[Any], Any]
    survivors: Callable[[Doubles], Doubles]
    caution: float


def _logs(scores: Doubles) -> Doubles:
    return np.log(np.maximum(scores, np.finfo(np.float64).tiny))


def _as_they_are(scores: Any) -> Any:
    return scores


SCALES = {
    "size": Scale(_logs, lambda value: float(np.exp(value)), ndtri, lambda place: ndtr(-place), 1.3),
    "surprise": Scale(
        _as_they_are, float, lambda share: -np.log1p(-share), lambda place: np.exp(-np.maximum(place, 0.0)), 1.0
    ),
}


def share_threshold(scores: Doubles, contamination: float) -> float:
    """The anomaly score that the share `contamination` of rows exceeds."""
    return float(np.quantile(scores, 1.0 - contamination))


def automatic_threshold(scores: Doubles, *, scale: str = "size") -> float:
    """The anomaly score that about one in a hundred normal rows exceeds.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.random.default_rng(0).chisquare(50, size=2000)
    >>> scores[:100] *= 10.0
    >>> line = automatic_threshold(scores)
    >>> bool(np.all(scores[:100] > line)), round(float(np.mean(scores[100:] > line)), 2)
    (True, 0.01)
    """
    return rate_threshold(scores, AUTOMATIC_RATE, scale=scale)


def false_alarm_threshold(unseen_scores: Doubles, false_alarm_rate: float, *, scale: str = "size") -> float:
    """The anomaly score that the share `false_alarm_rate` of normal rows exceeds.

    Parameters
    ----------
    unseen_scores : scores of rows, some of them perhaps anomalous, that no member was trained on
    """
    n_rows = len(unseen_scores)
    if _rank(n_rows, false_alarm_rate) > n_rows:
        warn_user(
            f"false_alarm_rate={false_alarm_rate} needs at least {int(np.ceil(1 / false_alarm_rate)) - 1} rows to "
            f"calibrate on and has {n_rows}: the threshold is a guess beyond the scores that there are. Pass a higher "
            "rate or fit on more rows."
        )
    return rate_threshold(unseen_scores, false_alarm_rate, scale=scale)


def rate_threshold(scores: Doubles, false_alarm_rate: float, *, scale: str = "size") -> float:
    """The anomaly score that this share of the normal rows exceeds.

    scale : "size" for scores that are positive sizes, "surprise" for scores as -log p, of either sign
    """
    chosen = SCALES[scale]
    values = np.sort(chosen.values(scores))
    normal = values[: _n_normal(len(values), _share_of_anomalies(values, chosen))]
    if false_alarm_rate * len(normal) >= FEWEST:
        return chosen.scores(normal[min(_rank(len(normal), false_alarm_rate), len(normal)) - 1])
    return chosen.scores(continued_tail(normal, false_alarm_rate))


def anomalous_share(scores: Doubles, *, scale: str = "size") -> float:
    """The share of rows, at most 15 %, that lie where the line of the normal rows does not reach.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.random.default_rng(0).chisquare(50, size=2000)
    >>> anomalous_share(scores)
    0.0
    >>> scores[:100] *= 10.0
    >>> round(anomalous_share(scores), 2)
    0.05
    """
    chosen = SCALES[scale]
    return _share_of_anomalies(np.sort(chosen.values(scores)), chosen)


def continued_tail(values: Doubles, share: float) -> float:
    """The value that this share of rows would exceed, by a line against normal quantiles through the upper tail.

    values : ascending, of rows that are taken to be normal
    """
    last = 1.0 - min(FEWEST / len(values), 1.0 - BEYOND)
    low, high = _quantiles(values, np.array([MIDDLE, last]))
    slope = (high - low) / (ndtri(last) - ndtri(MIDDLE))
    return float(high + slope * max(0.0, ndtri(1.0 - share) - ndtri(last)))


def _share_of_anomalies(values: Doubles, scale: Scale) -> float:
    """See `anomalous_share`. values : ascending, on the scale on which those of normal rows are straight."""
    n_rows = len(values)
    first = int(BEYOND * n_rows)
    beyond = 1.0 - np.arange(first, n_rows) / n_rows  # share of rows at or beyond each value
    chance = CHANCE * np.sqrt(beyond * (1.0 - beyond) / n_rows)
    share = 0.0
    for _ in range(MOST_TURNS):
        n_normal = _n_normal(n_rows, share)
        allowed = (1.0 - share) * _allowed_beyond(values[first:], values[:n_normal], scale)
        too_many = beyond - allowed
        is_sure = (too_many > chance) & (allowed <= ALLOWED * beyond)
        share = min(float(np.max(too_many[is_sure], initial=0.0)), MOST_ANOMALIES)
        if _n_normal(n_rows, share) == n_normal:
            break
    return share


def _allowed_beyond(values: Doubles, normal: Doubles, scale: Scale) -> Doubles:
    """The share of normal rows that the line has beyond each value; all of them where there is no line."""
    widths = np.diff(_quantiles(normal, BODY), axis=1) / np.diff(scale.quantile(BODY), axis=1)
    slope = scale.caution * float(np.max(widths))
    if not slope > 0.0:
        return np.ones(len(values))
    return scale.survivors(scale.quantile(MIDDLE) + (values - _quantiles(normal, np.array(MIDDLE))) / slope)


def _quantiles(ascending: Doubles, shares: Doubles) -> Doubles:
    """As np.quantile, for values in order."""
    places = shares * (len(ascending) - 1)
    below = np.minimum(places.astype(np.int64), max(len(ascending) - 2, 0))
    above = np.minimum(below + 1, len(ascending) - 1)
    return ascending[below] + (places - below) * (ascending[above] - ascending[below])


def _n_normal(n_rows: int, share: float) -> int:
    return n_rows - round(share * n_rows)


def _rank(n_rows: int, false_alarm_rate: float) -> int:
    return int(np.ceil((1.0 - false_alarm_rate) * (n_rows + 1)))  # the +1 makes it right for finitely many rows
