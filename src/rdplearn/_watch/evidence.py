"""How far counts of new rows are from those of a model's memory, and whether that can be chance.

Both samples are finite, those of the memory too. Tests are of two samples therefore, and an effect is what is left
after the distance that chance alone would make of two samples of this size. So a small table does not cry wolf because
it is small, nor a large one because everything is significant there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import binom, chi2, hypergeom, norm

FEWEST_EXPECTED = 8.0  # in a place, of either sample, for the chi-squared distribution to hold


@dataclass(frozen=True)
class Evidence:
    """How far two samples are apart, as a share of the rows, and how often chance alone brings them so far apart."""

    effect: float
    p_value: float


def distance_of_counts(known: Sequence[int], new: Sequence[int]) -> Evidence:
    """Two samples counted in the same places: the share of rows that would have to move, and the chi-squared test.

    The effect is the total variation distance, from whose square that of what chance makes is taken.

    Examples
    --------
    >>> same, moved = distance_of_counts([500, 500], [52, 48]), distance_of_counts([500, 500], [80, 20])
    >>> same.effect, round(moved.effect, 2), moved.p_value < 1e-6
    (0.0, 0.3, True)
    """
    pooled = _pooled(np.asarray([known, new], dtype=np.float64))
    totals = pooled.sum(axis=1)
    if pooled.shape[1] < 2 or totals.min() == 0:
        return Evidence(0.0, 1.0)
    shares = pooled.sum(axis=0) / totals.sum()
    expected = totals[:, None] * shares
    statistic = float(((pooled - expected) ** 2 / expected).sum())
    distance = float(np.abs(pooled[0] / totals[0] - pooled[1] / totals[1]).sum()) / 2
    spread = np.sqrt(shares * (1 - shares) * (1 / totals).sum())
    by_chance = float(np.sqrt(2 / np.pi) * spread.sum()) / 2
    effect = float(np.sqrt(max(distance**2 - by_chance**2, 0.0)))
    return Evidence(effect, float(chi2.sf(statistic, pooled.shape[1] - 1)))


def change_of_share(n_known: int, of_known: int, n_new: int, of_new: int) -> Evidence:
    """A share of the rows then and now: how much larger or smaller it is, and Fisher's exact test of both sides.

    Examples
    --------
    >>> change = change_of_share(10, 1000, 30, 1000)
    >>> round(change.effect, 3), change.p_value < 0.01
    (0.02, True)
    """
    if of_known == 0 or of_new == 0:
        return Evidence(0.0, 1.0)
    less = hypergeom.cdf(n_new, of_known + of_new, n_known + n_new, of_new)
    more = rise_of_share(n_known, of_known, n_new, of_new).p_value
    difference = n_new / of_new - n_known / of_known
    return Evidence(abs(difference), min(2 * float(min(less, more)), 1.0))


def rise_of_share(n_known: int, of_known: int, n_new: int, of_new: int) -> Evidence:
    """The same of one side: how much larger the share is now, and Fisher's exact test of that.

    Examples
    --------
    >>> fall, rise = rise_of_share(10, 1000, 5, 1000), rise_of_share(10, 1000, 30, 1000)
    >>> fall.effect, round(fall.p_value, 2), rise.p_value < 0.01
    (0.0, 0.94, True)
    """
    if of_known == 0 or of_new == 0:
        return Evidence(0.0, 1.0)
    p_value = float(hypergeom.sf(n_new - 1, of_known + of_new, n_known + n_new, of_new))
    return Evidence(max(n_new / of_new - n_known / of_known, 0.0), p_value)


def above_promise(rate: float, n_new: int, of_new: int) -> float:
    """The exact binomial test: how often rows of this rate would give as many, or more.

    Examples
    --------
    >>> round(above_promise(0.01, 5, 100), 4)
    0.0034
    """
    return float(binom.sf(n_new - 1, of_new, rate))


def rise_of_ranks(known: Sequence[int], new: Sequence[int]) -> Evidence:
    """Whether new rows lie higher than known ones, counted in the same places: the Mann-Whitney test of one side.

    The effect is how much more often a new row is the higher one of two than the lower one.

    Examples
    --------
    >>> rise = rise_of_ranks([50, 50], [0, 100])
    >>> rise.effect, rise.p_value < 1e-6, rise_of_ranks([50, 50], [100, 0])
    (0.5, True, Evidence(effect=0.0, p_value=1.0))
    """
    before, now = np.asarray(known, dtype=np.float64), np.asarray(new, dtype=np.float64)
    n_before, n_now, together = before.sum(), now.sum(), before + now
    if min(n_before, n_now) == 0:
        return Evidence(0.0, 1.0)
    higher = float(((np.cumsum(before) - before / 2) * now).sum() / (n_before * n_now))
    ties = float((together**3 - together).sum() / (together.sum() * (together.sum() - 1)))
    spread = np.sqrt(max(together.sum() + 1 - ties, 0.0) / (12 * n_before * n_now))
    if higher <= 0.5 or spread == 0:
        return Evidence(0.0, 1.0)
    return Evidence(2 * higher - 1, float(norm.sf((higher - 0.5) / spread)))


def corrected(p_values: Sequence[float]) -> list[float]:
    """Holm's correction for many tests: each value as small as the level at which it would still count.

    Examples
    --------
    >>> corrected([0.01, 0.5, 0.02])
    [0.03, 0.5, 0.04]
    """
    order = np.argsort(p_values, kind="stable")
    scaled = np.asarray(p_values)[order] * np.arange(len(order), 0, -1)
    back = np.empty(len(order))
    back[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    values: list[float] = back.tolist()
    return values


def _pooled(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Neighbouring places put together until chance would leave enough in each, in both samples."""
    totals = counts.sum(axis=1)
    fewest = FEWEST_EXPECTED * totals.sum() / max(float(totals.min()), 1.0)
    kept: list[npt.NDArray[np.float64]] = []
    gathered = np.zeros(2)
    for place in counts.T:
        gathered = gathered + place
        if gathered.sum() >= fewest:
            kept.append(gathered)
            gathered = np.zeros(2)
    if kept:
        kept[-1] = kept[-1] + gathered
    return np.array(kept or [gathered]).T
