r"""Where to draw the line between normal and anomalous, without labels.

Two ways to say it: as a share of all rows (`contamination=0.02`), or as a share of the *normal* rows
(`false_alarm_rate=0.01`). `contamination="auto"` is the second at one in a hundred, on the rows of the table itself:
about one in a hundred normal rows, and every row stranger than these.

A false-alarm rate is calibrated on rows that were held back from training, for a row that a member was trained on looks
more normal to it than a new one. Anomalies among these rows lie in the same tail as the normal rows that we want to
count, so their share is told first, without knowing any of them (`normal_rows.py`), and taken off the top. The rate is
read off the rows that are left. Where fewer than five lie beyond it, their upper tail is continued along a line.

Up to a tenth of the rows may be anomalies; beyond that the line errs towards fewer alarms. A rare kind of normal row,
well apart from the others, is taken for anomalous and reported.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from rdplearn._model.combination import Combination, mean_of
from rdplearn._types import Doubles
from rdplearn._views.normal_rows import BEYOND, MIDDLE, anomalous_share, quantiles, without_top
from rdplearn.errors import warn_user

AUTOMATIC_RATE = 0.01
FEWEST = 5  # rows beyond a line that is read off; fewer say little
SIZES = mean_of(1)  # scores that are no surprises


def share_threshold(scores: Doubles, contamination: float) -> float:
    """The anomaly score that the share `contamination` of rows exceeds."""
    return float(np.quantile(scores, 1.0 - contamination))


def automatic_threshold(scores: Doubles, combination: Combination = SIZES, *, clean: bool = False) -> float:
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
    return rate_threshold(scores, AUTOMATIC_RATE, combination, clean=clean)


def false_alarm_threshold(
    unseen_scores: Doubles, false_alarm_rate: float, combination: Combination = SIZES, *, clean: bool = False
) -> float:
    """The anomaly score that about the share `false_alarm_rate` of normal rows exceeds.

    Parameters
    ----------
    unseen_scores : scores of rows, some of them perhaps anomalous, that no member was trained on
    combination : what the scores came from
    clean : whether all of these rows are known to be normal
    """
    n_rows = len(unseen_scores)
    if _rank(n_rows, false_alarm_rate) > n_rows:
        warn_user(
            f"false_alarm_rate={false_alarm_rate} needs at least {int(np.ceil(1 / false_alarm_rate)) - 1} rows to "
            f"calibrate on and has {n_rows}: the threshold is a guess beyond the scores that there are. Pass a higher "
            "rate or fit on more rows."
        )
    return rate_threshold(unseen_scores, false_alarm_rate, combination, clean=clean)


def rate_threshold(
    scores: Doubles, false_alarm_rate: float, combination: Combination = SIZES, *, clean: bool = False
) -> float:
    """The anomaly score that this share of the normal rows exceeds. clean : whether all of the rows are normal."""
    ascending = np.sort(scores)
    logs = combination.logs_of(ascending)
    share = 0.0 if clean else anomalous_share(logs)
    normal = without_top(ascending, share)
    if false_alarm_rate * len(normal) >= FEWEST:
        place = min(_rank(len(normal), false_alarm_rate), len(normal)) - 1
        # between two rows: rounding, as in another runtime, must not decide about a row on the line
        return float(ascending[place : place + 2].mean())
    last_read = float(normal[max(len(normal) - FEWEST, 0)])
    return max(last_read, combination.score_of(continued_tail(without_top(logs, share), false_alarm_rate)))


def continued_tail(logs: Doubles, share: float) -> float:
    """What this share of normal rows would exceed, by a line against normal quantiles through their upper tail.

    logs : ascending
    """
    last = 1.0 - min(FEWEST / len(logs), 1.0 - BEYOND)
    low, high = quantiles(logs, np.array([MIDDLE, last]))
    slope = (high - low) / (ndtri(last) - ndtri(MIDDLE))
    return float(high + slope * max(0.0, ndtri(1.0 - share) - ndtri(last)))


def _rank(n_rows: int, false_alarm_rate: float) -> int:
    return int(np.ceil((1.0 - false_alarm_rate) * (n_rows + 1)))  # the +1 makes it right for finitely many rows
