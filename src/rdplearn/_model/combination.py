r"""How the scores of members and rounds become one score.

- *mean* (the paper's): :math:`s(x) = \frac{1}{M} \sum_m s_m(x)`.
- *geometric*: a weighted geometric mean of how many times its typical score each member gives a row,

  .. math:: \log s(x) = \sum_m w_m \log \left( \frac{s_m(x)}{t_m} + 0.01 \right), \qquad \sum_m w_m = 1

  where :math:`t_m` is the median score of the rows that member `m` has drawn, and :math:`w_m` falls with the spread of
  its logarithms over these rows, so that no member speaks louder than the others. A score of 5 reads "five times the
  typical". Members whose views or mappings differ in scale can only be combined in this way.

In both, scores are brought to a *scale* on which they are averaged: as they are, or as logarithms.

A detector may have several *voices*: members that judge by novelty, members that judge by distance, and the cells of a
table (`cells.py`). What each of them says becomes a surprise, :math:`-\log_{10} p`, where `p` is the share of rows that
it finds as odd (`tails.py`), and the largest counts: one voice is enough. That largest surprise is brought to the same
scale once more, for the more voices there are, the more often one of them is surprised. A score of 3 reads "about one
row in a thousand is as odd".

A voice may pay a *price* first, so that it is heard only when it is sure (`prices.py`). What members say of rows that
they were trained on is held against those that were not (`judges.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from rdplearn._types import Doubles, Flags, Floats, Ints
from rdplearn._views.normal_rows import tell_normal
from rdplearn._views.rare_kinds import FindNear, RareKinds
from rdplearn._views.tails import LONG_WAY, RESIDUAL_POINTS, VOICE_POINTS, Points, score_curve

LEAST = 0.01  # times the typical score: below this, better predicted is not more normal
SMALLEST_SPREAD, SMALLEST_SCORE = 1e-3, 1e-12
DECIMALS = 12  # of the score
NATS = float(np.log(10.0))  # in one unit of the score
LARGEST_SCORE = 1e38  # which single precision can hold, and sums of which double precision can


@dataclass(frozen=True)
class Voice:
    """Members that judge in the same way, and how rare what they say is.

    members : their numbers
    knots, heights : a curve from the logarithm of their score to its surprise in nats
    price : taken off the surprise of a voice that is to be heard only when it is sure
    """

    members: Ints
    knots: Doubles
    heights: Doubles
    price: float = 0.0


AS_IT_IS = (np.array([0.0, LONG_WAY]), np.array([0.0, LONG_WAY]))


@dataclass(frozen=True)
class Combination:
    """How to average, and what becomes of the averages.

    weights : (n_members,), which add up to 1, or to 1 in each voice
    voices : none where the average is the score, as in the paper
    scale : knots and heights of a curve from the largest surprise of all voices to that of the row, in nats
    """

    geometric: bool
    weights: Doubles
    voices: tuple[Voice, ...] = ()
    scale: tuple[Doubles, Doubles] = AS_IT_IS

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
        """One score from those of all members.

        scaled : (n_rows, n_members), on the scale; the cells' surprise, where they have a voice, is one column more
        """
        if not self.voices:
            return self.from_scale(self.averages(scaled, np.arange(len(self.weights))))
        # rounded, so that the least surprised rows have 0 and not what rounding leaves of it
        return np.round(np.interp(self.largest_surprise(scaled), *self.scale) / NATS, DECIMALS)

    def largest_surprise(self, scaled: npt.NDArray[np.floating]) -> Doubles:
        """What the voice says that is surprised most, in nats: (n_rows,)."""
        said = [self.surprise(scaled, voice) for voice in self.voices]
        cells = scaled[:, len(self.weights) :].astype(np.float64)
        return np.asarray(np.max([*said, *cells.T], axis=0))

    def said_by_cells(self, scaled: npt.NDArray[np.floating]) -> Flags:
        """Whether single cells are surprised most, more than any voice: (n_rows,)."""
        cells = scaled[:, len(self.weights) :].astype(np.float64)
        if not cells.shape[1]:
            return np.zeros(len(scaled), dtype=bool)
        return np.asarray((cells == self.largest_surprise(scaled)[:, None]).any(axis=1))

    def surprise(self, scaled: npt.NDArray[np.floating], voice: Voice) -> Doubles:
        """What one voice says, in nats, its price paid: (n_rows,)."""
        return np.asarray(np.interp(self.averages(scaled, voice.members), voice.knots, voice.heights) - voice.price)

    def averages(self, scaled: npt.NDArray[np.floating], members: Ints) -> Doubles:
        """What some members say together: (n_rows,)."""
        # no product: BLAS would give the same row other last bits among other rows; and row by row in memory
        weighted = np.ascontiguousarray(scaled[:, members] * self.weights[members])
        return np.asarray(np.add.reduce(weighted, axis=1))

    def logs_of(self, scores: Doubles) -> Doubles:
        """Logarithms of scores; of surprises, those of the scores by which members would be as surprised."""
        if not self.voices:
            return np.log(np.maximum(scores, np.finfo(np.float64).tiny))
        knots, heights = self.scale
        members = self.voices[0]
        return np.interp(np.interp(scores * NATS, heights, knots) + members.price, members.heights, members.knots)

    def score_of(self, log: float) -> float:
        """The score that has this logarithm, see `logs_of`."""
        if not self.voices:
            return float(np.exp(log))
        members = self.voices[0]
        surprise = np.interp(log, members.knots, members.heights) - members.price
        return float(np.interp(surprise, *self.scale) / NATS)

    def with_weights(self, weights: Doubles) -> Combination:
        """The same with other weights, which are made to add up to 1, or to 1 in each voice that has any."""
        totals = np.full(len(weights), weights.sum())
        for voice in self.voices:
            totals[voice.members] = weights[voice.members].sum()
        return replace(self, weights=np.where(totals > 0, weights / np.where(totals > 0, totals, 1.0), self.weights))


def mean_of(n_members: int) -> Combination:
    """The paper's: all members count alike."""
    return Combination(geometric=False, weights=np.full(n_members, 1.0 / n_members))


def geometric_mean(spreads: npt.ArrayLike, teams: Sequence[Sequence[int] | Ints] | None = None) -> Combination:
    """Members count the less, the wider their logarithms spread. teams : in each of which weights add up to 1.

    Examples
    --------
    >>> geometric_mean([1.0, 1.0, 0.5]).weights.tolist()
    [0.25, 0.25, 0.5]
    >>> geometric_mean([1.0, 1.0, 0.5], [[0, 1], [2]]).weights.tolist()
    [0.5, 0.5, 1.0]
    """
    weights = 1.0 / np.maximum(np.asarray(spreads, dtype=np.float64), SMALLEST_SPREAD)
    for members in [range(len(weights))] if teams is None else teams:
        weights[list(members)] /= weights[list(members)].sum()
    return Combination(geometric=True, weights=weights)


def with_voices(
    combination: Combination,
    scaled: npt.NDArray[np.floating],
    teams: Sequence[Ints],
    prices: Sequence[float],
    points: Points = VOICE_POINTS,
    find_near: FindNear | None = None,
) -> Combination:
    """The combination with its members on the scale of surprise; as it is if it takes plain means.

    scaled : what members, and perhaps cells, say of rows of the table, see `Combination.over_members`
    teams : members of each voice; prices : of each
    points : up to where their scores are counted, see `tails.py`
    find_near : tells which of these rows lie near each other; None to tell rare kinds by the scores alone
    """
    if not combination.geometric:
        return combination
    averages = [combination.averages(scaled, members).astype(np.float64) for members in teams]
    voices = tuple(
        Voice(members, *score_curve(np.exp(logs), points), price=price)
        for members, logs, price in zip(teams, averages, prices, strict=True)
    )
    unscaled = replace(combination, voices=voices)
    surprises = unscaled.largest_surprise(scaled)
    order = np.argsort(surprises, kind="stable")
    ascending = surprises[order]
    # what is rare among all rows is not rare enough where many of them are anomalies
    kinds = None if find_near is None else RareKinds(find_near, unscaled.said_by_cells(scaled))
    told = tell_normal(unscaled.logs_of(ascending / NATS), None if kinds is None else partial(kinds.among_high, order))
    normal = ascending[told.is_normal]
    return replace(unscaled, scale=score_curve(np.exp(normal), RESIDUAL_POINTS))


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
