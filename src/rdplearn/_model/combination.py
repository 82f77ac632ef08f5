r"""How the scores of members and rounds become one score.

- *mean* (the paper's): :math:`s(x) = \frac{1}{M} \sum_m s_m(x)`.
- *geometric*: a weighted geometric mean of how many times its typical score each member gives a row,

  .. math:: \log s(x) = \sum_m w_m \log \left( \frac{s_m(x)}{t_m} + 0.01 \right), \qquad \sum_m w_m = 1

  where :math:`t_m` is the median score of the rows that member `m` has drawn, and :math:`w_m` falls with the spread of
  its logarithms over these rows, so that no member speaks louder than the others. A score of 5 reads "five times the
  typical". Members whose views or mappings differ in scale can only be combined in this way.

In both, scores are brought to a *scale* on which they are averaged: as they are, or as logarithms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rdplearn._types import Doubles, Floats

LEAST = 0.01  # times the typical score: below this, better predicted is not more normal
SMALLEST_SPREAD, SMALLEST_SCORE = 1e-3, 1e-12
LARGEST_SCORE = 1e38  # which single precision can hold, and sums of which double precision can


@dataclass(frozen=True)
class Combination:
    """How to average. weights : (n_members,), which add up to 1."""

    geometric: bool
    weights: Doubles

    def to_scale(self, scores: Floats, typical: Floats) -> Floats:
        """Bring the scores of members to the scale on which they are averaged."""
        return relative_logs(scores, typical) if self.geometric else scores

    def within_numbers(self, scaled: Floats) -> Floats:
        """Scores on the scale, in place; what is farther than numbers go gets the largest score that there is."""
        if not np.isfinite(scaled).all():
            largest = np.log(LARGEST_SCORE) if self.geometric else LARGEST_SCORE
            scaled[~(scaled < largest)] = largest
        return scaled

    def from_scale(self, averages: npt.NDArray[np.floating]) -> Doubles:
        """Bring averages back to scores."""
        doubles: Doubles = averages.astype(np.float64)
        return np.exp(doubles) if self.geometric else doubles

    def over_members(self, scaled: npt.NDArray[np.floating]) -> Doubles:
        """One score from those of all members. scaled : (n_rows, n_members), on the scale."""
        # no product: BLAS would give the same row other last bits among other rows
        return self.from_scale(np.add.reduce(scaled * self.weights, axis=1))


def mean_of(n_members: int) -> Combination:
    """The paper's: all members count alike."""
    return Combination(geometric=False, weights=np.full(n_members, 1.0 / n_members))


def geometric_mean(spreads: npt.ArrayLike) -> Combination:
    """Members count the less, the wider their logarithms spread.

    Examples
    --------
    >>> geometric_mean([1.0, 1.0, 0.5]).weights.tolist()
    [0.25, 0.25, 0.5]
    """
    voices = 1.0 / np.maximum(np.asarray(spreads, dtype=np.float64), SMALLEST_SPREAD)
    return Combination(geometric=True, weights=voices / voices.sum())


def relative_logs(scores: Floats, typical: Floats | float) -> Floats:
    """Logarithm of how many times the typical score a score is."""
    return np.log(scores / np.maximum(typical, SMALLEST_SCORE) + np.float32(LEAST))


def middle_score(scores: Floats) -> float:
    """The median, sooner than `numpy.median` has it of so few.

    Examples
    --------
    >>> middle_score(np.array([4.0, 1.0, 2.0, 9.0], dtype=np.float32))
    3.0
    """
    places = [(len(scores) - 1) // 2, len(scores) // 2]
    return float(np.partition(scores, places)[places].mean())
