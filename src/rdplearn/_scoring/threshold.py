"""Where to draw the line between normal and anomalous, without labels.

Three ways to say it: as a share of all rows (`contamination=0.02`), as a share of the *normal* rows
(`false_alarm_rate=0.01`), or not at all (`"auto"`).

A false-alarm rate is calibrated on rows that were held back from training, for a row that a member was trained on looks
more normal to it than a new one. Anomalies among these rows lie in the same tail as the normal rows that we want
to count. Leaving out what boosting dropped does not help: it drops a fixed share, most of it normal, and a line drawn
on the survivors alone reports many times the share asked for. Instead the tail of the normal rows is continued from
below: their log scores are taken to fall off no slower, beyond the 85 % point, than the slowest exponential that they
show under it. The line is the lower one of this tail's quantile and that of all rows. So without anomalies the rate is
met, and a group of up to 15 % anomalies does not push the line up out of reach.
"""

from __future__ import annotations

import numpy as np

from rdplearn._types import Doubles
from rdplearn.errors import warn_user

BODY = np.array([0.5, 0.6, 0.7, 0.8, 0.85])  # where anomalies are taken to be absent


def share_threshold(scores: Doubles, contamination: float) -> float:
    """The anomaly score that the share `contamination` of rows exceeds."""
    return float(np.quantile(scores, 1.0 - contamination))


def automatic_threshold(scores: Doubles, *, on_logs: bool = False) -> float:
    """Tukey's upper fence, the end of a box plot's whisker: upper quartile plus 1.5 interquartile ranges.

    on_logs : of the logarithms, for scores that are geometric means

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.random.default_rng(0).chisquare(50, size=1000)
    >>> bool(0 < np.mean(scores > automatic_threshold(scores, on_logs=False)) < 0.02)
    True
    """
    lower, upper = np.quantile(_logs(scores) if on_logs else scores, [0.25, 0.75])
    fence = upper + 1.5 * (upper - lower)
    return float(np.exp(fence) if on_logs else fence)


def false_alarm_threshold(unseen_scores: Doubles, false_alarm_rate: float) -> float:
    """The anomaly score that the share `false_alarm_rate` of normal rows exceeds.

    Parameters
    ----------
    unseen_scores : scores of rows, some of them perhaps anomalous, that no member was trained on
    """
    n_rows = len(unseen_scores)
    if _rank(n_rows, false_alarm_rate) > n_rows:
        warn_user(
            f"false_alarm_rate={false_alarm_rate} needs at least {int(np.ceil(1 / false_alarm_rate)) - 1} rows to "
            f"calibrate on and has {n_rows}: the threshold is the highest score among them. Pass a higher rate or "
            "fit on more rows."
        )
    return rate_threshold(unseen_scores, false_alarm_rate)


def rate_threshold(scores: Doubles, false_alarm_rate: float) -> float:
    """The lower one of the scores that this share of all rows exceeds, and of the normal rows by their body."""
    place = min(_rank(len(scores), false_alarm_rate), len(scores)) - 1
    return float(min(np.partition(scores, place)[place], continued_tail(scores, false_alarm_rate)))


def continued_tail(scores: Doubles, share: float) -> float:
    """The score that this share of rows would exceed if the tail went on as the body suggests."""
    logs = np.quantile(_logs(scores), BODY)
    survivors = -np.log(1.0 - BODY)
    slope = float(np.max(np.diff(logs) / np.diff(survivors)))
    return float(np.exp(logs[-1] + slope * max(0.0, np.log((1.0 - BODY[-1]) / share))))


def _rank(n_rows: int, false_alarm_rate: float) -> int:
    return int(np.ceil((1.0 - false_alarm_rate) * (n_rows + 1)))  # the +1 makes it right for finitely many rows


def _logs(scores: Doubles) -> Doubles:
    return np.log(np.maximum(scores, np.finfo(np.float64).tiny))
