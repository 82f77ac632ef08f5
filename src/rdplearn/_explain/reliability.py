"""How far to trust a ranking, and where to draw the line, without labels.

Everything here is a plain function of members' scores, (n_rows, n_members), the higher the more anomalous, on the scale
on which they are averaged (see `rdplearn._model.combination`).

*Stability.* Members differ in everything that is random, so two halves of an ensemble are what two seeds would give.
If they agree on the rows at the top, so will another ensemble; if not, the order at the top is chance. The agreement of
halves, corrected for what chance alone would give, is brought to that of two whole ensembles by the Spearman-Brown
formula :math:`2r / (1 + r)`.

*Agreement of views.* A stable ranking may still be wrong. Members that see values on robust scales and members that
see ranks go by different things; where both find the same rows, these stand out for reasons that do not hang on the
scale of a column: a hint, no guarantee. Over labelled tables it goes with the quality of the ranking only weakly.

*Alarms.* At a false-alarm rate `a`, about `a * n_rows` alarms are expected of a table that has no anomalies; what there
is beyond them is worth a look. How far the number of alarms could differ is found by drawing rows and members anew,
with replacement (bootstrap).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rdplearn._explain.notebook import html_table
from rdplearn._model.combination import Combination, mean_of
from rdplearn._scoring.threshold import rate_threshold
from rdplearn._types import Doubles

TOP_SHARE, FEWEST_TOP = 0.01, 10  # of the rows: the top, at least so many, and at most half of them
SEED = 0  # of halves of members and of draws: the same scores give the same words
PER_TOP_ROW = 10  # of the highest rows; what is further down hardly ever is at the top for half of the members
N_SPLITS, N_DRAWS = 10, 100
FALSE_ALARM_RATES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
INTERVAL = (0.05, 0.95)
MOST_DRAWN_ROWS = 10_000
N_BINS = 50
MANY_TIMES = 30.0  # the median: scores that go so far are counted in bins that grow
STEADY, SHAKY = 0.8, 0.5
ONE_VIEW, OTHER_VIEW = "robust", "rank"


@dataclass(frozen=True)
class RankingStability:
    """How many of the rows at the top another ensemble would have there too: 1 all of them, 0 no more than by chance.

    n_top : how many rows were compared
    """

    figure: float
    n_top: int

    def words(self) -> str:
        """Whether to trust the ranking."""
        start = f"About {self.figure:.0%} of the {self.n_top:,} most anomalous rows would be the same with another seed"
        if self.figure >= STEADY:
            return f"{start}: the ranking can be trusted."
        if self.figure >= SHAKY:
            return f"{start}: trust the rows at the very top, and not the order of the others."
        return f"{start}: do not trust this ranking. Use more members, or leave out columns of noise."


@dataclass(frozen=True)
class Alarms:
    """What a false-alarm rate means on a table.

    threshold : rows with a higher anomaly score are reported
    n_alarms, fewest, most : how many rows that are, and where the number lies with 90 % certainty
    n_expected : how many there would be if no row were anomalous
    """

    false_alarm_rate: float
    threshold: float
    n_alarms: int
    fewest: int
    most: int
    n_expected: float

    def words(self) -> str:
        """What the rate would report, in a sentence."""
        rows = "1 row has" if self.n_alarms == 1 else f"{self.n_alarms:,} rows have"
        return (
            f"At a false-alarm rate of {100 * self.false_alarm_rate:g}%, {rows} a score above the line, "
            f"{self.threshold:.4g}; {self.n_expected:,.3g} are expected by chance."
        )


@dataclass(frozen=True)
class ScoreDistribution:
    """A histogram of anomaly scores. edges : n_bins + 1, evenly spaced, perhaps as logarithms; counts : n_bins."""

    edges: list[float]
    counts: list[int]


@dataclass(frozen=True, repr=False)
class Assessment:
    """What can be said of scores without labels.

    n_rows : of the table
    n_judged : rows that it rests on; a uniform sample of a large table
    stability : None of a single member, which has nothing to agree with
    view_agreement : in [-1, 1]; None unless some members see robust scales alone and some ranks alone
    """

    n_rows: int
    n_judged: int
    stability: RankingStability | None
    alarms: list[Alarms]
    distribution: ScoreDistribution
    view_agreement: float | None = None

    def __repr__(self) -> str:
        """What it says, in sentences."""
        return "\n".join([self._caption(), *(alarms.words() for alarms in self.alarms)])

    def _repr_html_(self) -> str:
        """What a notebook shows: the same as a table."""
        rows = [
            {"false-alarm rate": f"{100 * alarms.false_alarm_rate:g}%", "line": f"{alarms.threshold:.4g}"}
            | {"rows above": f"{alarms.n_alarms:,}", "with 90% certainty": f"{alarms.fewest:,} to {alarms.most:,}"}
            | {"expected by chance": f"{alarms.n_expected:,.3g}"}
            for alarms in self.alarms
        ]
        return html_table(rows, self._caption())

    def _caption(self) -> str:
        return "A single member has nothing to agree with." if self.stability is None else self.stability.words()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON, with the sentence on stability."""
        plain = asdict(self)
        if self.stability is not None:
            plain["stability"]["words"] = self.stability.words()
        return plain


def assess(
    scaled: npt.NDArray[Any],
    combination: Combination | None = None,
    *,
    n_rows: int | None = None,
    views: Sequence[str] | None = None,
) -> Assessment:
    """Say how far a ranking can be trusted and what each false-alarm rate would report.

    Parameters
    ----------
    scaled : (n_judged, n_members)
    combination : how members are averaged; by default their plain mean
    n_rows : of the table, if the scores are those of a sample of it
    views : how each member sees the columns
    """
    combination = combination or mean_of(scaled.shape[1])
    n_rows = len(scaled) if n_rows is None else n_rows
    return Assessment(
        n_rows=n_rows,
        n_judged=len(scaled),
        stability=ranking_stability(scaled, combination) if has_company(scaled, combination) else None,
        alarms=alarm_table(scaled, combination, n_rows=n_rows),
        distribution=score_distribution(combination.over_members(scaled)),
        view_agreement=view_agreement(scaled, views) if views is not None else None,
    )


def has_company(scaled: npt.NDArray[Any], combination: Combination) -> bool:
    """Whether there are several members, and several rows, so that halves of the ensemble can be compared."""
    return len(combination.weights) > 1 and len(scaled) > 1


def ranking_stability(
    scaled: npt.NDArray[Any],
    combination: Combination | None = None,
    *,
    n_rows: int | None = None,
) -> RankingStability:
    """How stable the rows at the top are between halves of the ensemble, and so between seeds.

    Parameters
    ----------
    scaled : (n_rows, n_members), at least two of each
    n_rows : of the table, if these are but its highest rows; the top is then at most a tenth of them

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth, noise = rng.normal(size=(1000, 1)), rng.normal(size=(1000, 20))
    >>> ranking_stability(truth + 0.1 * noise).words()
    'About 100% of the 10 most anomalous rows would be the same with another seed: the ranking can be trusted.'
    >>> ranking_stability(noise).figure < 0.1
    True
    """
    n_judged = len(scaled)
    n_members = scaled.shape[1] if combination is None else len(combination.weights)
    if n_judged < 2 or n_members < 2:
        raise ValueError(
            f"ranking_stability compares members on rows and needs at least 2 of both. Got {n_judged} row(s) and "
            f"{n_members} member(s): fit with a larger n_members."
        )
    combination = combination or mean_of(n_members)
    n_rows = n_judged if n_rows is None else n_rows
    most = n_judged // 2 if n_rows == n_judged else n_judged // PER_TOP_ROW
    n_top = max(1, min(max(FEWEST_TOP, round(TOP_SHARE * n_rows)), most))
    rng = np.random.default_rng(SEED)
    shared = [_shared_top(scaled, combination, rng.permutation(n_members), n_top) for _ in range(N_SPLITS)]
    by_chance = n_top / n_rows
    agreement = max(0.0, (float(np.mean(shared)) - by_chance) / (1.0 - by_chance))
    return RankingStability(2 * agreement / (1 + agreement), n_top)


def view_agreement(scaled: npt.NDArray[Any], views: Sequence[str]) -> float | None:
    """Correlation of what members say that see robust scales and what members say that see ranks.

    Parameters
    ----------
    scaled : (n_rows, n_members)
    views : how each member sees the columns; None comes back unless both kinds are there and tell rows apart

    Examples
    --------
    >>> values, ranks = [0.0, 1.0, 2.0], [0.0, 1.0, 1.0]
    >>> round(view_agreement(np.stack([values, ranks], axis=1), ["robust", "rank"]), 3)
    0.866
    """
    sides = [
        _standardised(scaled[:, [number for number, view in enumerate(views) if view == side]])
        for side in (ONE_VIEW, OTHER_VIEW)
    ]
    if not all(side.shape[1] for side in sides):
        return None
    one, other = (side.mean(axis=1) for side in sides)
    if one.std() == 0 or other.std() == 0:
        return None
    return float(np.corrcoef(one, other)[0, 1])


def _standardised(columns: npt.NDArray[Any]) -> Doubles:
    doubles = columns.astype(np.float64)
    spread = doubles.std(axis=0)
    return (doubles - doubles.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def alarm_table(
    scaled: npt.NDArray[Any],
    combination: Combination | None = None,
    *,
    false_alarm_rates: Sequence[float] = FALSE_ALARM_RATES,
    n_rows: int | None = None,
) -> list[Alarms]:
    """The number of alarms at several false-alarm rates, with its uncertainty; rates below one row are left out.

    Parameters
    ----------
    scaled : (n_judged, n_members)
    n_rows : of the table, if the scores are those of a sample of it; counts are those of the table

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.chisquare(10, size=(2000, 1)) * np.ones(8)
    >>> scores[:50] *= rng.uniform(5, 50, size=(50, 1))
    >>> for alarms in alarm_table(scores, false_alarm_rates=[0.01, 0.05]):
    ...     print(alarms.n_expected, alarms.n_alarms >= 50, alarms.fewest <= alarms.n_alarms <= alarms.most)
    20.0 True True
    100.0 True True
    """
    combination = combination or mean_of(scaled.shape[1])
    per_judged = (len(scaled) if n_rows is None else n_rows) / len(scaled)
    scores = combination.over_members(scaled)
    rates = [rate for rate in false_alarm_rates if rate * len(scores) >= 1] or [max(false_alarm_rates)]
    lines = [rate_threshold(scores, rate, combination) for rate in rates]
    shares = _drawn_shares(scaled, combination, rates, np.random.default_rng(SEED))
    table = []
    for rate, line, of_rate in zip(rates, lines, shares.T, strict=True):
        n_alarms = int(np.sum(scores > line))
        fewest, most = np.quantile(of_rate, INTERVAL) * len(scores)
        table.append(
            Alarms(
                false_alarm_rate=float(rate),
                threshold=line,
                n_alarms=round(n_alarms * per_judged),
                fewest=round(min(float(fewest), n_alarms) * per_judged),
                most=round(max(float(most), n_alarms) * per_judged),
                n_expected=float(rate * len(scores) * per_judged),
            )
        )
    return table


def score_distribution(scores: Doubles, *, n_bins: int = N_BINS) -> ScoreDistribution:
    """A histogram of anomaly scores; with bins that grow where a few scores are many times the others.

    Examples
    --------
    >>> made = score_distribution(np.array([1.0, 2.0, 100.0]), n_bins=2)
    >>> [round(edge) for edge in made.edges], made.counts
    ([1, 10, 100], [2, 1])
    """
    low, high = float(scores.min()), float(scores.max())
    if low > 0 and high > MANY_TIMES * float(np.median(scores)):
        edges = np.geomspace(low, high, n_bins + 1)
    else:
        edges = np.linspace(low, high if high > low else low + max(abs(low), 1.0), n_bins + 1)
    counts = np.bincount(np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, n_bins - 1), minlength=n_bins)
    return ScoreDistribution(edges.tolist(), counts.tolist())


def _shared_top(scaled: npt.NDArray[Any], combination: Combination, order: npt.NDArray[np.int64], n_top: int) -> float:
    """The share of the top rows by one half of the members that the other half has at the top as well."""
    tops = []
    for half in (order[: len(order) // 2], order[len(order) // 2 :]):
        weights = np.where(np.isin(np.arange(len(order)), half), combination.weights, 0.0)
        scores = combination.with_weights(weights).over_members(scaled)
        tops.append(np.argsort(-scores, kind="stable")[:n_top])
    return len(np.intersect1d(tops[0], tops[1])) / n_top


def _drawn_shares(
    scaled: npt.NDArray[Any], combination: Combination, rates: Sequence[float], rng: np.random.Generator
) -> Doubles:
    """The share of rows that is reported when rows and members are drawn anew: (N_DRAWS, n_rates)."""
    n_rows, n_members = len(scaled), len(combination.weights)
    shares = np.empty((N_DRAWS, len(rates)))
    for draw in range(N_DRAWS):
        rows = rng.integers(n_rows, size=min(n_rows, MOST_DRAWN_ROWS))
        weights = combination.weights * np.bincount(rng.integers(n_members, size=n_members), minlength=n_members)
        scores = combination.with_weights(weights).over_members(scaled[rows])
        lines = [rate_threshold(scores, rate, combination) for rate in rates]
        shares[draw] = [np.mean(scores > line) for line in lines]
    # A draw of few rows varies more than a draw of all: bring its spread to that of the table.
    centre = shares.mean(axis=0)
    return np.maximum(centre + (shares - centre) * np.sqrt(min(n_rows, MOST_DRAWN_ROWS) / n_rows), 0.0)
