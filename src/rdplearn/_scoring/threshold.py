r"""Where to draw the line between normal and anomalous, without labels.

Two ways to say it: as a share of all rows (`contamination=0.02`), or as a share of the *normal* rows
(`false_alarm_rate=0.01`). `contamination="auto"` is the second at one in a hundred, on the rows of the table itself:
about one in a hundred normal rows, and every row stranger than these.

A false-alarm rate is calibrated on rows that were held back from training, for a row that a member was trained on may
look more normal to it than a new one. Where they look alike, by the medians of their scores, both are read: the more
rows, the rarer an alarm that can be counted.

Anomalies among these rows lie in the same tail as the normal rows that we want to count, so their share is told first,
without knowing any of them (`normal_rows.py`), and taken off the top; rows that lie near each other, as ordinary rows
do, stay, unless single cells make them odd (`rare_kinds.py`). The rate is read off the rows that are left. Where less
than one lies beyond it, their upper tail is continued along a line. Where anomalies are too many for the line of the
normal rows, and no gap says where they begin, some are left below: there the lower of both counts.

Where a line cannot be known, it errs towards fewer alarms: if more than a tenth of the rows are anomalies, if anomalies
are all alike, and if fewer than five normal rows lie beyond the rate and most rows with high scores are of a rare kind:
then only rows above all of that kind are anomalies for sure.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.special import ndtri

from rdplearn._model.combination import Combination, mean_of
from rdplearn._types import Doubles
from rdplearn._views.normal_rows import MIDDLE, Told, quantiles, tell_normal
from rdplearn._views.rare_kinds import RareKinds
from rdplearn.errors import warn_user

AUTOMATIC_RATE = 0.01
FEWEST = 5  # rows beyond a line, by which it is told what they are
MOST = 0.5  # of the rows with high scores: where they are of a kind, the last few are taken for it too
N_HIGHEST = 10  # rows from which a tail is continued
UPPER = 0.9  # of the normal rows: from here on their tail is continued along a line, or
CALM = 0.95  # up to here where some anomalies are left among them
LEAST_WAY = 0.1  # of normal quantiles, by which a slope is told
SURE = 2.0  # standard errors of a median
BETWEEN = (0.1, 0.9)  # of the way from row to row: rounding, as in another runtime, must not decide about one
SIZES = mean_of(1)  # scores that are no surprises


def share_threshold(scores: Doubles, contamination: float) -> float:
    """The anomaly score that the share `contamination` of rows exceeds."""
    return float(np.quantile(scores, 1.0 - contamination))


def automatic_threshold(
    scores: Doubles, combination: Combination = SIZES, kinds: RareKinds | None = None, *, clean: bool = False
) -> float:
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
    return rate_threshold(scores, AUTOMATIC_RATE, combination, kinds, clean=clean)


def false_alarm_threshold(
    scores: Doubles,
    false_alarm_rate: float,
    combination: Combination = SIZES,
    kinds: RareKinds | None = None,
    *,
    clean: bool = False,
) -> float:
    """The anomaly score that about the share `false_alarm_rate` of normal rows exceeds.

    Parameters
    ----------
    scores : of rows, some of them perhaps anomalous, that no member was trained on, or that look as if none were
    combination : what the scores came from
    kinds : tells rare kinds of normal rows; None to tell them by the scores alone
    clean : whether all of these rows are known to be normal
    """
    n_rows = len(scores)
    if false_alarm_rate * (n_rows + 1) < 1.0:
        warn_user(
            f"false_alarm_rate={false_alarm_rate} needs at least {int(np.ceil(1 / false_alarm_rate)) - 1} rows to "
            f"calibrate on and has {n_rows}, so the threshold is a guess. Pass a higher rate, or fit on more rows."
        )
    return rate_threshold(scores, false_alarm_rate, combination, kinds, clean=clean)


def look_alike(unseen: Doubles, others: Doubles) -> bool:
    """Whether the scores of unseen rows lie about the median of the others as chance has it.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.random.default_rng(0).random(1000)
    >>> look_alike(scores[:200], scores[200:]), look_alike(scores[:200] + 0.1, scores[200:])
    (True, False)
    """
    if not len(others):
        return True
    middle = np.median(others)
    above = np.mean(unseen > middle) + 0.5 * np.mean(unseen == middle)
    return bool(abs(above - 0.5) <= SURE * 0.5 / np.sqrt(len(unseen)))


def rate_threshold(
    scores: Doubles,
    false_alarm_rate: float,
    combination: Combination = SIZES,
    kinds: RareKinds | None = None,
    *,
    clean: bool = False,
) -> float:
    """The anomaly score that this share of the normal rows exceeds. clean : whether all of the rows are normal."""
    order = np.argsort(scores, kind="stable")
    ascending = scores[order]
    logs = combination.logs_of(ascending)
    if clean:
        told = Told(np.ones(len(logs), dtype=bool), is_apart=True, of_kinds=0.0)
    else:
        told = tell_normal(logs, None if kinds is None else partial(kinds.among_high, order))
    n_beyond = false_alarm_rate * np.sum(told.is_normal)
    if n_beyond < FEWEST and told.of_kinds > MOST:
        highest = np.flatnonzero(told.is_normal)[-1]
        return read_off(ascending[: highest + 1], false_alarm_rate)
    normal = logs[told.is_normal]
    if n_beyond < 1.0 and not told.of_kinds:
        line = combination.score_of(continued_tail(normal, false_alarm_rate))
    else:
        line = read_off(ascending[told.is_normal], false_alarm_rate)
    if not (told.is_apart or told.of_kinds or told.is_normal.all()):
        line = min(line, combination.score_of(straight_on(normal, false_alarm_rate)))
    return line


def read_off(ascending: Doubles, share: float) -> float:
    """The score that this share of rows exceeds, of new ones too; the highest where that is less than one row.

    Examples
    --------
    >>> read_off(np.arange(1.0, 1000.0), 0.0025), read_off(np.arange(1.0, 1000.0), 0.0001)
    (997.5, 999.0)
    """
    place = (1.0 - share) * (len(ascending) + 1) - 1.0  # the +1 makes it right for finitely many rows
    if place >= len(ascending) - 1:
        return float(ascending[-1])
    below = max(int(place), 0)
    return float(ascending[below] + np.clip(place - below, *BETWEEN) * (ascending[below + 1] - ascending[below]))


def continued_tail(logs: Doubles, share: float) -> float:
    """What this share of normal rows would exceed: each of the highest, gone on from along the line that it is on.

    logs : ascending
    """
    numbers = np.arange(1, min(N_HIGHEST, max(len(logs) // 10, 1)) + 1)  # from the top
    highest, places = logs[len(logs) - numbers], ndtri(1.0 - numbers / (len(logs) + 1.0))
    slope = np.mean((highest - quantiles(logs, np.array(UPPER))) / np.maximum(places - ndtri(UPPER), LEAST_WAY))
    return float(np.mean(highest + slope * (ndtri(1.0 - share) - places)))


def straight_on(logs: Doubles, share: float) -> float:
    """The same along the line of the rows up to where there are hardly anomalies. logs : in ascending order."""
    low, high = quantiles(logs, np.array([MIDDLE, CALM]))
    slope = (high - low) / (ndtri(CALM) - ndtri(MIDDLE))
    return float(high + slope * (ndtri(1.0 - share) - ndtri(CALM)))
