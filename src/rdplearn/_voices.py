"""What the members of a detector say: taken in, brought to one scale, and held against a line.

A fit on one machine and a fit on a Dask cluster take these steps with what training gave them, by the plan of
`_fit_plan.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rdplearn._detector_parameters import is_calibrated, is_clean
from rdplearn._fit_plan import COMPANION_VIEW, FitPlan
from rdplearn._model.combination import geometric_mean, mean_of, with_voices
from rdplearn._model.panel import Member, Panel
from rdplearn._model.prices import PRICE, fair_prices, share_beyond, share_told
from rdplearn._scoring.scores import scaled_scores
from rdplearn._scoring.threshold import automatic_threshold, false_alarm_threshold, look_alike, share_threshold
from rdplearn._training.cells import MOST_CELLS, learn_cells, points_beside
from rdplearn._training.made_up_rows import made_up_rows, rows_between
from rdplearn._training.renewal import renewed_combination, renewed_history, renewed_panels
from rdplearn._types import Doubles, Ints, Matrix
from rdplearn._views.rare_kinds import FindNear, RareKinds, among, in_kinds
from rdplearn._views.view import View

if TYPE_CHECKING:
    from rdplearn.detector import RDPDetector


def take_members(detector: RDPDetector, plan: FitPlan, panels: list[Panel], members: Sequence[Member]) -> None:
    """Give a detector its trained members."""
    detector.chosen_, detector.panels_, detector.cells_ = plan.chosen, panels, None
    detector.history_ = [record for member in members for record in member.history]
    detector.n_scoring_rounds_, detector.n_renewed_ = plan.settings.score_rounds, 0
    is_geometric = detector.combination == "geometric"
    spreads = [member.spread for member in members]
    detector.combination_ = geometric_mean(spreads, plan.numbers) if is_geometric else mean_of(len(members))


def take_renewed_members(
    detector: RDPDetector, plan: FitPlan, numbers: Ints, panels: list[Panel], members: Sequence[Member]
) -> None:
    """Give a fitted detector new members in place of those with these numbers."""
    detector.panels_ = renewed_panels(detector.panels_, numbers, panels)
    detector.combination_ = renewed_combination(detector.combination_, numbers, members, plan.numbers)
    detector.history_ = renewed_history(detector.history_, numbers, members)
    detector.n_renewed_ += len(numbers)


def scoring_panels(detector: RDPDetector) -> list[Panel]:
    """The members of a fitted detector with the rounds that score."""
    return [panel.last_rounds(detector.n_scoring_rounds_) for panel in detector.panels_]


def all_scaled_scores(detector: RDPDetector, matrix: Matrix) -> npt.NDArray[np.floating]:
    """What every member, and the cells if they have a voice, say of rows: see `scaled_scores`."""
    return scaled_scores(matrix, scoring_panels(detector), detector.combination_, detector.n_jobs, detector.cells_)


def anomaly_scores(detector: RDPDetector, matrix: Matrix) -> Doubles:
    """The scores of rows by a detector that has its members: the higher, the more anomalous."""
    return detector.combination_.over_members(all_scaled_scores(detector, matrix))


def learn_voices(
    detector: RDPDetector, plan: FitPlan, views: dict[str, View], curve_rows: Callable[[], Matrix], sampled: Matrix
) -> npt.NDArray[np.floating]:
    """Let the cells of a table speak, and bring all voices to one scale; returns what they say of the sampled rows.

    curve_rows : gives the rows that curves are learned from; sampled : the rows that say what is typical
    """
    columns, is_geometric = plan.columns, detector.combination_.geometric
    if columns is not None and is_geometric and len(columns.group_of_column) <= MOST_CELLS:
        detector.cells_ = learn_cells(curve_rows(), columns, views[COMPANION_VIEW])
    scaled, prices = heard_at_fair_prices(detector, plan, sampled)
    unseen = plan.as_unseen(scaled, plan.sampled, detector.combination_.weights)
    points, find_near = points_beside(detector.cells_), among(plan.said_of(plan.sampled), partial(in_kinds, sampled))
    detector.combination_ = with_voices(detector.combination_, unseen, plan.numbers, prices, points, find_near)
    return scaled


def heard_at_fair_prices(
    detector: RDPDetector, plan: FitPlan, sampled: Matrix
) -> tuple[npt.NDArray[np.floating], Sequence[float]]:
    """What voices say of the sampled rows, and what each pays to be heard.

    Distances are heard by few references first. Where they tell made-up rows better than that is paid for, they pay
    less, get more references, and are heard once more.
    """
    everyone, prices = detector.panels_, [0.0, PRICE] if plan.has_prices else [0.0] * len(plan.teams)
    detector.panels_ = with_references(everyone, plan, prices)
    scaled = all_scaled_scores(detector, sampled)
    if plan.asks_made_up_rows:
        prices = fair_prices(*shares_told(detector, plan, scaled, sampled))
        if prices[1] < PRICE:
            detector.panels_ = with_references(everyone, plan, prices)
            scaled = said_anew_by_distance(detector, plan, scaled, sampled)
    return scaled, prices


def with_references(panels: Sequence[Panel], plan: FitPlan, prices: Sequence[float]) -> list[Panel]:
    """The members with as many references as are worth the time of scoring: the more, the less distances pay."""
    if not plan.asks_made_up_rows:
        return list(panels)
    n_each = round(plan.fewest_references * (2.0 - min(prices[1] / PRICE, 1.0)))
    learned = {member.number for member in plan.members if len(member.rows)}  # the others stay from an earlier fit
    return [panel.with_references(n_each) if learned.issuperset(panel.members) else panel for panel in panels]


def shares_told(
    detector: RDPDetector, plan: FitPlan, scaled: npt.NDArray[np.floating], sampled: Matrix
) -> tuple[list[float], list[float]]:
    """How many made-up rows of either sort novelty and distance tell from the sampled rows, of which they say `scaled`.

    The arguments of `fair_prices`.
    """
    combination = detector.combination_
    apart, between = made_up_rows(sampled, plan.columns, plan.seed), rows_between(sampled, plan.seed)
    both = sp.csr_array(sp.vstack([apart, between])) if sp.issparse(sampled) else np.concatenate([apart, between])
    said = scaled_scores(both, scoring_panels(detector), combination, detector.n_jobs)
    n_apart = apart.shape[0]
    of_apart, of_between = [], []
    for team in plan.numbers:
        of_sampled, of_both = combination.averages(scaled, team), combination.averages(said, team)
        of_apart.append(share_told(of_both[:n_apart], of_sampled))
        of_between.append(share_beyond(of_both[n_apart:], of_sampled))
    return of_apart, of_between


def said_anew_by_distance(
    detector: RDPDetector, plan: FitPlan, scaled: npt.NDArray[np.floating], sampled: Matrix
) -> npt.NDArray[np.floating]:
    """What voices say of the sampled rows, where members that predict distances have other references now."""
    by_distance = [panel for panel in scoring_panels(detector) if panel.references is not None]
    anew = scaled_scores(sampled, by_distance, detector.combination_, detector.n_jobs)
    _, team = plan.numbers
    scaled[:, team] = anew[:, team]
    return scaled


def choose_threshold(
    detector: RDPDetector, plan: FitPlan, scaled: npt.NDArray[np.floating], find_near: FindNear
) -> float:
    """The anomaly score above which `predict` reports a row.

    scaled : what voices say of the rows to judge; find_near : tells which of them lie near each other, see `in_kinds`
    """
    combination, clean = detector.combination_, is_clean(detector)
    as_new = plan.as_unseen(scaled, plan.judged, combination.weights)
    scores, by_cells = combination.over_members(as_new), combination.said_by_cells(as_new)
    places = plan.said_of(plan.judged)
    is_held_back = is_calibrated(detector) and not plan.by_heart
    if is_held_back and not look_alike(scores[plan.unseen], scores[~plan.unseen]):
        scores, by_cells, places = scores[plan.unseen], by_cells[plan.unseen], places[plan.unseen]
    kinds = RareKinds(among(places, find_near), by_cells)
    if detector.false_alarm_rate is not None:
        return false_alarm_threshold(scores, detector.false_alarm_rate, combination, kinds, clean=clean)
    if detector.contamination == "auto" or clean:
        return automatic_threshold(scores, combination, kinds, clean=clean)
    return share_threshold(scores, float(detector.contamination))
