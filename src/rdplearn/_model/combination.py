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

The voice of distances pays a *price* first, so that it is heard only when it is sure: anomalies may be among the rows
that it knows. How well does it know the table? Made-up rows tell (`made_up_rows.py`). If it tells them from rows of the
table better than members with the novelty loss do, its price falls, and its members score by more rows; if it is
clearly better, the others pay in its place. If it alone sees holes between the rows, its price falls by more than half.
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
MIDDLE_OF_NORMAL = (0.1587, 0.8413)  # two standard deviations apart in a normal distribution
PRICE = 1.2  # in nats, of a voice of distances that tells made-up rows as well as the other voice does
CLEARLY = 0.15  # telling so many more of the made-up rows is worth one price
HOLES, HOLES_WORTH = (0.3, 0.4), 0.6  # telling so many more rows between others is worth this part of a price
LIMITS = (-1.0, 2.0)  # of how many prices it is worth; beyond one, the other voice pays
ODD = 0.8  # share of the rows of the table that are not odd
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


def fair_prices(made_up: Sequence[float], between: Sequence[float] = (0.0, 0.0)) -> list[float]:
    """What the two voices pay, by how many made-up rows novelty tells from rows of the table, and how many distance.

    made_up : where nothing goes together, see `share_told`; between : where they lie between rows, see `share_beyond`

    Examples
    --------
    >>> [fair_prices((0.7, told)) for told in (0.55, 0.7, 0.85, 1.0)]
    [[0.0, 2.4], [0.0, 1.2], [0.0, 0.0], [1.2, 0.0]]
    >>> [fair_prices((0.7, 0.7), (0.2, told)) for told in (0.5, 0.55, 0.9)]
    [[0.0, 1.2], [0.0, 0.84], [0.0, 0.48]]
    """
    knows_more = (made_up[1] - made_up[0]) / CLEARLY
    sees_holes = float(np.interp(between[1] - between[0], HOLES, (0.0, HOLES_WORTH)))
    of_distance = round(PRICE * (1.0 - float(np.clip(knows_more + sees_holes, *LIMITS))), DECIMALS)
    return [max(0.0, -of_distance), max(0.0, of_distance)]


def share_told(made_up: Doubles, real: Doubles) -> float:
    """How often a made-up row has a higher score than a row of the table; a tie counts half.

    Examples
    --------
    >>> share_told(np.array([1.0, 3.0]), np.array([0.0, 2.0, 3.0]))
    0.5833333333333334
    """
    real = np.sort(real)
    below = [np.searchsorted(real, made_up, side) for side in ("left", "right")]
    return float(np.mean(below)) / len(real)


def of_others(
    scaled: npt.NDArray[np.floating], seen: Flags, weights: Doubles, teams: Sequence[Ints]
) -> npt.NDArray[np.floating]:
    """What members say of rows of the fit, as if these were new: by those members alone that have not seen a row.

    A row counts by how far it is from what its judges say of unseen rows. Few judges differ more by chance than a whole
    team: what chance adds, told by how much judges of the same row differ, is taken off again.

    scaled : as in `Combination.over_members`; seen : (n_rows, n_members), whether a member was trained on a row
    Rows that a whole team has seen are left out, unless that is true of all.

    Examples
    --------
    >>> seen = np.array([[True, False], [False, True], [True, True]])
    >>> of_others(np.array([[0.0, 2.0], [3.0, 1.0], [1.0, 1.0]]), seen, np.full(2, 0.5), [np.arange(2)]).tolist()
    [[3.0, 2.0], [3.0, 2.0]]
    """
    is_judged = have_judges(seen, teams)
    if not is_judged.any():
        return scaled
    filled, seen = scaled[is_judged].copy(), seen[is_judged]
    for team in teams:
        filled[:, team] = _by_judges(filled[:, team].astype(np.float64), ~seen[:, team], weights[team])
    return filled


def have_judges(seen: Flags, teams: Sequence[Ints]) -> Flags:
    """For which rows every team has a member that has not seen them."""
    return np.all([~seen[:, team].all(axis=1) for team in teams], axis=0)


def _by_judges(scaled: Doubles, judges: Flags, weights: Doubles) -> Doubles:
    """`of_others` of one team. judges : (n_rows, n_members), of which each row has one at least."""
    usual = np.array([np.median(said[by] if by.any() else said) for said, by in zip(scaled.T, judges.T, strict=True)])
    shares = weights * judges
    shares /= shares.sum(axis=1, keepdims=True)
    apart = scaled - usual
    ours = (shares * apart).sum(axis=1)
    chance = (shares**2).sum(axis=1)  # of the variance of one judge; less of many
    of_judge = np.sum(shares * (apart - ours[:, None]) ** 2) / max(np.sum(1.0 - chance), SMALLEST_SPREAD)
    low, high = np.quantile(ours, MIDDLE_OF_NORMAL)
    of_row = max(((high - low) / 2) ** 2 - of_judge * float(chance.mean()), 0.0)
    of_team = of_row + of_judge * np.sum((weights / weights.sum()) ** 2)
    shrunk = np.sqrt(of_team / np.maximum(of_row + of_judge * chance, SMALLEST_SCORE))
    return np.asarray(usual + (np.minimum(shrunk, 1.0) * ours)[:, None])


def share_beyond(made_up: Doubles, real: Doubles) -> float:
    """How many made-up rows have a higher score than four in five rows of the table.

    Examples
    --------
    >>> share_beyond(np.array([1.0, 5.0]), np.arange(5.0))
    0.5
    """
    return float(np.mean(made_up > np.quantile(real, ODD)))


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
