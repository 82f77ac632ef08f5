r"""How rare values as far out as this one are: a surprise, :math:`-\log p`, for every value of a column.

The share of rows that lie as far out is counted up to a point :math:`d_0`, which a share :math:`p_0` of rows exceeds.
Beyond it there are too few to count, and some of them are what we look for. The tail goes on as a power,
:math:`p = p_0\, (d / d_0)^{-\alpha}`. Its exponent is the smallest, the most patient one, that the rows between two or
three points suggest of which :math:`d_0` is the last, and at most 5. In single columns hardly a row is wrong, and
:math:`p_0` is 1.5 % of all rows. Among the scores of rows, up to a tenth or more may be anomalies: they are to show as
such, so counting ends sooner. So it does in a column of many values, of which a few per cent lie several times as far
out as all others, and differ from each other.

Everything is a curve, straight between knots, as the views of `curves.py` are, so that one mechanism looks values up,
stores and exports them.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from rdplearn._types import Doubles
from rdplearn._views.curves import NARROWEST, Curve, Distinct

RESIDUAL_POINTS, SIDE_POINTS = (0.8, 0.9, 0.985), (0.9, 0.97)  # of a column; a side has half of the rows
VOICE_POINTS = (0.6, 0.75, 0.9)  # of the scores of a voice
Points = tuple[float, ...]
LARGEST_EXPONENT = 5.0
FEWEST_TO_JUDGE = 40  # rows beyond the median: fewer cannot tell how a tail goes on
CAUTIOUS_EXPONENT = 2.0
FEW_WRONG = 2.0  # rows of a side that may be wrong however few there are: its tail begins below them
MOST_WRONG, GAP = 0.1, 3.0  # rows of a side, where they lie so many times as far out as all others: likewise
FEWEST_VALUES = 10  # that others must have
MOST_EQUAL = 0.35  # of these, as many as have the same value, on average over them: a pile is not wrong
HALF = (0.75, 0.25)  # of these: they lie closer together than the gap is wide, or they are a long tail
SHARES = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.96])  # at knots
FARTHER = 2.0 ** np.arange(1, 31)  # times the last counted distance: there the tail has its knots
LONG_WAY = 1000.0  # of logarithms: no score goes farther
RARE_SIGN = 0.015  # a sign that fewer rows have is odd by itself


def tail_of(
    distances: Doubles, counts: Doubles, n_rows: float, points: Points, own_share: float
) -> tuple[Doubles, Doubles, float]:
    """The surprise of distances: knots, heights, and the exponent beyond the last knot.

    distances : positive and ascending; counts : how many rows have each; n_rows : those that may have one
    points : shares of distances; up to the last of them rows are counted
    own_share : how much of the rows at a distance counts as below it. With all of them, no point lies in the gap
        between the last usual distance, which many rows may have, and a few wrong ones
    """
    total = float(counts.sum())
    within = (np.cumsum(counts) - (1.0 - own_share) * counts) / total  # share of the distances below each
    knots = np.interp([*SHARES[points[-1] > SHARES], points[-1]], within, distances)
    at_least = total - np.interp(knots, distances, np.cumsum(counts) - counts)  # rows as far out as each knot
    heights = -np.log(np.clip(at_least / n_rows, 0.5 / n_rows, 1.0))
    knots, first = np.unique(knots, return_index=True)
    return (
        knots,
        np.maximum.accumulate(heights[first]),
        exponent_of(np.interp(points, within, distances), points, total),
    )


def exponent_of(distances: Doubles, points: Points, n_rows: float) -> float:
    """The smallest exponent that the distances at some points suggest."""
    logs = np.log(np.maximum(distances, np.finfo(np.float64).tiny))
    falls = -np.log1p(-np.array(points))
    largest = LARGEST_EXPONENT if n_rows >= FEWEST_TO_JUDGE else CAUTIOUS_EXPONENT
    pairs = [(falls[j] - falls[i], logs[j] - logs[i]) for i, j in combinations(range(len(points)), 2)]
    return min([largest, *(fall / width for fall, width in pairs if width > 0)])


def distance_curve(distances: Doubles, counts: Doubles, n_rows: float, points: Points) -> Curve:
    """The surprise of distances from 0 on, where it is 0; see `tail_of`."""
    if not len(distances):
        return np.array([0.0, 1e-6]), np.array([0.0, np.log(2.0 * n_rows)])
    knots, heights, exponent = tail_of(distances, counts, n_rows, points, own_share=1.0)
    last = knots[-1]
    reach = FARTHER[last < np.finfo(np.float64).max / FARTHER[-1] / 8 / FARTHER]
    beyond = heights[-1] + exponent * np.log(reach)
    return np.concatenate([[0.0], knots, last * reach]), np.concatenate([[0.0], heights, beyond])


def tail_curve(column: Distinct) -> Curve:
    """How rare it is to lie so far above or below the median; a sign that hardly a row has is rare by itself.

    Examples
    --------
    >>> amounts = Distinct(np.arange(1.0, 1001.0), np.ones(1000, dtype=np.int64))
    >>> knots, heights = tail_curve(amounts)
    >>> np.interp([500.5, 1000.0, 100_000.0, -500.0], knots, heights).round(1).tolist()
    [0.0, 3.5, 29.8, 7.7]
    """
    middle, values, counts = column.quantile(0.5), column.values, column.counts.astype(np.float64)
    above, below = values > middle, values < middle
    high, up = side_curve(values[above] - middle, counts[above], column.n_rows)
    low, down = side_curve((middle - values[below])[::-1], counts[below][::-1], column.n_rows)
    knots = np.concatenate([middle - low[:0:-1], middle + high])
    heights = np.concatenate([down[:0:-1], up])
    return rare_signs_raised(knots, heights, column)


def side_curve(distances: Doubles, counts: Doubles, n_rows: int) -> Curve:
    """The surprise of rows on one side of the median, which has half of them; of few, less is counted.

    Examples
    --------
    >>> knots, heights = side_curve(np.append(np.arange(1.0, 20.0), 9000.0), np.ones(20), 40)
    >>> bool(np.interp(9000.0, knots, heights) > 10 > 4 > np.interp(19.0, knots, heights))
    True
    """
    farthest = 1.0 - FEW_WRONG / max(float(counts.sum()), FEW_WRONG + 1.0)
    below_gap = share_below_gap(distances, counts)
    usual = below_gap if below_gap < SIDE_POINTS[-1] else 1.0  # fewer lie beyond the last point as it is
    points = tuple(min(point, farthest) * usual for point in SIDE_POINTS)
    return distance_curve(distances, counts, 0.5 * n_rows, points)


@np.errstate(invalid="ignore")  # what is farther than numbers go is beyond no gap
def share_below_gap(distances: Doubles, counts: Doubles) -> float:
    """The share of rows below the widest gap with so few beyond it that these may be wrong; 1 where there is none.

    As logarithms of distances have it: what counts is how many times as far.

    Examples
    --------
    >>> usual, wrong = np.arange(1.0, 96.0), np.array([2000.0, 2500.0, 3100.0, 4000.0, 9000.0])
    >>> share_below_gap(np.append(usual, wrong), np.ones(100))
    0.95
    >>> share_below_gap(np.append(usual, 2000.0), np.append(np.ones(95), 5.0))
    1.0
    """
    logs = np.log(distances)
    wider = np.diff(logs)
    within = np.cumsum(counts)[:-1] / counts.sum()
    may_be = (wider >= np.log(GAP)) & (within >= 1.0 - MOST_WRONG) & (np.arange(len(wider)) >= FEWEST_VALUES - 1)
    gaps = [gap for gap in np.flatnonzero(may_be) if differ_apart(logs[gap + 1 :], counts[gap + 1 :], wider[gap])]
    return float(within[max(gaps, key=lambda gap: wider[gap])]) if gaps else 1.0


def differ_apart(logs: Doubles, counts: Doubles, gap: float) -> bool:
    """Whether rows beyond a gap have values of their own, and lie closer together than the gap is wide."""
    is_pile = np.sum((counts / counts.sum()) ** 2) > MOST_EQUAL
    return bool(not is_pile and np.subtract(*np.quantile(np.repeat(logs, counts.astype(np.int64)), HALF)) < gap)


def rare_signs_raised(knots: Doubles, heights: Doubles, column: Distinct) -> Curve:
    """Where hardly a row is negative, or hardly one positive, that alone is as surprising as it is rare."""
    for sign in (-1.0, 1.0):
        share = max(float(column.counts[sign * column.values > 0].sum()), 0.5) / column.n_rows
        if share > RARE_SIGN or not column.values.any():
            continue
        finer = np.union1d(knots, [0.0, sign * NARROWEST])
        knots, heights = finer, np.interp(finer, knots, heights)
        heights = np.where(sign * knots > 0, np.maximum(heights, -np.log(share)), heights)
    return knots, heights


def score_curve(scores: Doubles, points: Points) -> Curve:
    """The surprise of logarithms of scores, straight beyond the last counted one.

    scores : positive

    Examples
    --------
    >>> knots, heights = score_curve(np.random.default_rng(0).pareto(2.0, size=10_000) + 1.0, VOICE_POINTS)
    >>> bool(abs(np.interp(np.log(100.0), knots, heights) - 2 * np.log(100.0)) < 1.0)
    True
    """
    values, counts = np.unique(np.maximum(scores, np.finfo(np.float64).tiny), return_counts=True)
    knots, heights, exponent = tail_of(values, counts.astype(np.float64), float(len(scores)), points, own_share=0.5)
    logs = np.log(knots)
    return np.append(logs, logs[-1] + LONG_WAY), np.append(heights, heights[-1] + exponent * LONG_WAY)
