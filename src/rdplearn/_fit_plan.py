"""What a fit of the detector is going to do, worked out before it does any of it.

A fit on one machine and a fit on a Dask cluster carry out the same plan: which rows each member draws, how it is
trained, which rows say what is typical, and which decide on the threshold. `_voices.py` has the steps that both take
with what came out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rdplearn._detector_parameters import is_calibrated, is_clean
from rdplearn._explain.typical_rows import rows_to_sample
from rdplearn._model.judges import have_judges, of_others
from rdplearn._model.mapping import RandomMapping
from rdplearn._training.boosting import BoostingSettings, MemberPlan
from rdplearn._training.checkpoint import FitFolder
from rdplearn._training.engines.engine import choose_engine
from rdplearn._training.flops import Filling
from rdplearn._training.members import Sampling, Team, plan_members
from rdplearn._training.row_space import n_directions
from rdplearn._training.settings import TrainingSettings
from rdplearn._training.torch_options import NOTHING_WANTED, engine_for, torch_options
from rdplearn._types import Doubles, Flags, Ints, TableColumns, draw_seed, drawn_rows
from rdplearn.callbacks import KeepRounds, find
from rdplearn.defaults import DetectorChoices, choose_for_detector, in_turn, rise

if TYPE_CHECKING:
    from rdplearn.detector import RDPDetector

SHARE_ROWS = 100_000  # the threshold of a larger table is taken from a sample of this size
COMPANION_VIEW = "rank"
DISTANCE_VIEW, DISTANCE_MAPPING = "robust", RandomMapping("orthogonal", n_targets=32)
DISTANCE_STEPS, DISTANCE_BATCH, DISTANCE_RATE = 60, 64, 0.03
DISTANCE_COMPONENTS, DISTANCE_START = 16, 1.0  # from a random projection on, which keeps distances as they are
DISTANCE_SUBSAMPLES, DISTANCE_NEIGHBOUR = 16, 3
CLEAN_REFERENCES = 1_024  # of each member, where all rows are known to be normal: the nearest of all counts
CALIBRATION_ROWS, CALIBRATION_SHARE = 10_000, 0.2  # held back from all members for a false-alarm rate, at most
FEW_TIMES = 3  # its columns: a member that sees fewer rows knows them by heart
MOST_PARTS = 4  # of the rows, one of which each such member does not see


@dataclass(frozen=True)
class FitPlan:
    """What a fit is going to do.

    chosen : the parameters with nothing left open
    teams : members with the novelty loss, or the losses that the user wants; then those that predict distances, if any
    sampled : the rows that say what is typical, ascending
    judged : the rows whose scores decide on the threshold, ascending
    unseen : of these, whether no member sees them, (n_judged,)
    columns : which columns of the matrix belong together; None if it is not the encoding of a table
    by_heart : whether members know their rows by heart, so that only the others say how normal a row is
    has_prices : whether voices pay to be heard: of distances there may be anomalies among the rows that they know
    fewest_references : of each subsample that distance members have drawn, the rows that count in any case
    """

    seed: int
    chosen: DetectorChoices
    teams: tuple[Team, ...]
    sampled: Ints
    judged: Ints
    unseen: Flags
    columns: TableColumns | None
    by_heart: bool
    has_prices: bool
    fewest_references: int

    @property
    def members(self) -> list[MemberPlan]:
        """All members, in their order."""
        return [member for of_team, _ in self.teams for member in of_team]

    @property
    def numbers(self) -> list[Ints]:
        """The numbers of the members of each team."""
        return [np.array([member.number for member in of_team]) for of_team, _ in self.teams]

    def as_unseen(self, scaled: npt.NDArray[np.floating], rows: Ints, weights: Doubles) -> npt.NDArray[np.floating]:
        """What members say of rows of the fit, as if these were new: see `of_others`. rows : their places."""
        if not self.by_heart:
            return scaled
        return of_others(scaled, self._seen(rows), weights, self.numbers)

    def said_of(self, rows: Ints) -> Ints:
        """The numbers, among these rows, of those that `as_unseen` says something of."""
        is_judged = self.by_heart and have_judges(self._seen(rows), self.numbers)
        return np.flatnonzero(is_judged) if np.any(is_judged) else np.arange(len(rows))

    def _seen(self, rows: Ints) -> Flags:
        return np.stack([np.isin(rows, member.rows) for member in self.members], axis=1)

    @property
    def asks_made_up_rows(self) -> bool:
        """Whether made-up rows tell how well voices know the table: to members that know rows by heart, all are new."""
        return self.has_prices and not self.by_heart

    @property
    def settings(self) -> BoostingSettings:
        """How the members of the first team come about."""
        return self.teams[0][1]

    @property
    def views(self) -> list[str]:
        """The view of every member, and the one that tells what goes with what in a table."""
        return [*(member.view for member in self.members), *([] if self.columns is None else [COMPANION_VIEW])]


def plan_fit(
    detector: RDPDetector,
    n_rows: int,
    filling: Filling,
    seed: int,
    folder: FitFolder | None = None,
    columns: TableColumns | None = None,
    chosen: DetectorChoices | None = None,
) -> FitPlan:
    """Plan the fit of a detector, whose parameters were checked, to a table of so many rows.

    chosen : what an earlier fit has chosen, if this one goes on from it
    """
    if chosen is None:
        chosen = choose_for_detector(n_rows, filling.n_columns, detector.get_params(deep=False))
    sampling = plan_sampling(detector, n_rows, filling.n_columns, chosen, seed)
    views, mappings = (in_turn(choices, chosen.n_members) for choices in (chosen.views, chosen.mapping))
    of_novelty = list(zip(views, mappings, strict=True))
    distance_view = DISTANCE_VIEW if DISTANCE_VIEW in chosen.views else chosen.views[0]
    of_distance = chosen.distance_members * [(distance_view, DISTANCE_MAPPING)]
    members = plan_members(of_novelty + of_distance, sampling, seed)
    settings = boosting_settings(detector, chosen, filling, folder)
    by_novelty, others = members[: chosen.n_members], members[chosen.n_members :]
    judged = rows_to_judge(detector, sampling, seed)
    nearest_counts, by_heart = has_unseen_normal_rows(detector, sampling), know_by_heart(sampling, filling.n_columns)
    fewest, most = references_of_each(sampling)
    subsamples, neighbour = (DISTANCE_SUBSAMPLES, fewest if by_heart else most), DISTANCE_NEIGHBOUR
    if nearest_counts:
        subsamples, neighbour = (1, min(CLEAN_REFERENCES, n_rows)), 1
    return FitPlan(
        seed=seed,
        chosen=chosen,
        teams=(
            (by_novelty, settings),
            *([(others, distance_settings(settings, subsamples, neighbour))] if others else []),
        ),
        sampled=rows_of_the_scale(detector, sampling, seed),
        judged=judged,
        unseen=np.isin(judged, sampling.held_back),
        columns=columns,
        by_heart=by_heart,
        has_prices=bool(others) and not nearest_counts,
        fewest_references=fewest,
    )


def plan_sampling(detector: RDPDetector, n_rows: int, n_columns: int, chosen: DetectorChoices, seed: int) -> Sampling:
    """How many rows members draw, and which they may not see."""
    is_share = not isinstance(chosen.max_samples, Integral)
    n_draws = max(2, round(chosen.max_samples * n_rows)) if is_share else int(chosen.max_samples)
    n_left = n_draws * (1.0 - detector.filter_fraction) ** (detector.n_rounds - 1)
    if n_left < 2:
        raise ValueError(
            f"The 'filter_fraction' parameter of RDPDetector must leave at least 2 rows for the last round. Got "
            f"{detector.filter_fraction}, which leaves {n_left:.1f} of {n_draws} after {detector.n_rounds - 1} rounds: "
            "pass a smaller fraction, fewer rounds or a larger max_samples."
        )
    sampling = Sampling(n_rows, n_draws, detector.bootstrap, np.empty(0, dtype=np.int64))
    if know_by_heart(sampling, n_columns):
        # of more parts than a team has members, some would be unseen by none of them
        n_parts = min(MOST_PARTS, chosen.n_members, chosen.distance_members or chosen.n_members)
        leaves_out = not detector.bootstrap and 2 <= n_parts <= n_rows // 2
        return replace(sampling, n_parts=n_parts) if leaves_out else sampling
    if is_calibrated(detector):
        n_held_back = min(CALIBRATION_ROWS, max(1, int(CALIBRATION_SHARE * n_rows)))
        return replace(sampling, held_back=drawn_rows(n_rows, n_held_back, seed))
    return sampling


def know_by_heart(sampling: Sampling, n_columns: int) -> bool:
    """Whether members see so few rows that these look more normal to them than any new one."""
    return min(sampling.n_draws, sampling.n_rows) < FEW_TIMES * n_columns


def rows_of_the_scale(detector: RDPDetector, sampling: Sampling, seed: int) -> Ints:
    """The rows that say what is typical, ascending; of a clean table those that no member sees, as new rows will be."""
    if has_unseen_normal_rows(detector, sampling):
        return sampling.held_back[rows_to_sample(len(sampling.held_back), seed)]
    return rows_to_sample(sampling.n_rows, seed)


def has_unseen_normal_rows(detector: RDPDetector, sampling: Sampling) -> bool:
    """Whether rows that are known to be normal, and that no member sees, say how far from others is far."""
    return is_clean(detector) and len(sampling.held_back) > 0


def rows_to_judge(detector: RDPDetector, sampling: Sampling, seed: int) -> Ints:
    """The rows whose scores decide on the threshold, ascending; with those held back as many others as can be read."""
    if is_calibrated(detector):
        n_more = min(sampling.n_rows, CALIBRATION_ROWS) - len(sampling.held_back)
        if n_more <= 0:
            return sampling.held_back
        others = np.setdiff1d(np.arange(sampling.n_rows), sampling.held_back)
        more = np.random.default_rng([seed, CALIBRATION_ROWS]).choice(others, n_more, replace=False)
        return np.sort(np.concatenate([sampling.held_back, more]))
    if detector.contamination == "auto":
        return rows_to_sample(sampling.n_rows, seed)
    return drawn_rows(sampling.n_rows, SHARE_ROWS, seed)


def boosting_settings(
    detector: RDPDetector, chosen: DetectorChoices, filling: Filling, folder: FitFolder | None
) -> BoostingSettings:
    """How members come about."""
    wanted = torch_options(detector)
    training = TrainingSettings(
        n_steps=chosen.n_steps,
        batch_size=chosen.batch_size,
        learning_rate=chosen.learning_rate,
        momentum=detector.momentum,
        max_grad_norm=detector.max_grad_norm,
        dropout=detector.dropout,
        distance_weight=detector.distance_weight or 0.0,
        novelty_weight=detector.novelty_weight,
        inner_product=detector.inner_product,
    )
    n_scoring = min(chosen.score_rounds, detector.n_rounds)
    n_all_steps = chosen.n_members * detector.n_rounds * chosen.n_steps
    engine = engine_for("RDPDetector", detector.engine, wanted)
    # a φ that starts at full size, as the paper's, says something outside of any few directions
    directions = n_directions(chosen.n_steps) if detector.start_scale < 1 else None
    if directions is not None and directions < filling.n_columns:
        filling = Filling(directions, directions, is_sparse=False)
    return BoostingSettings(
        training=training,
        n_components=chosen.n_components,
        n_rounds=detector.n_rounds,
        filter_fraction=0.0 if is_clean(detector) else detector.filter_fraction,
        shrinkage=detector.shrinkage,
        start_scale=detector.start_scale,
        even_residuals=chosen.even_residuals,
        score_rounds=n_scoring,
        n_rounds_kept=n_scoring if find(KeepRounds, detector.callbacks) is None else detector.n_rounds,
        engine=choose_engine(engine, n_all_steps, filling, chosen.n_components, training),
        torch=wanted,
        callbacks=tuple(detector.callbacks or ()),
        folder=folder,
        n_directions=directions,
    )


def references_of_each(sampling: Sampling) -> tuple[int, int]:
    """How many rows each subsample of distance members has: the fewest that count, and the most.

    Together at least half of a small table, and at most all that a member draws; fewer of a large table, where scoring
    takes most of the time.
    """
    n_fewest = min(0.5 * sampling.n_rows, 512 * 0.5 ** rise(sampling.n_rows, 15_000, 4))
    fewest = max(1, round(n_fewest / DISTANCE_SUBSAMPLES))
    n_drawn = min(sampling.n_draws, sampling.n_rows)
    return fewest, max(fewest, min(2 * fewest, n_drawn // DISTANCE_SUBSAMPLES))


def distance_settings(settings: BoostingSettings, subsamples: tuple[int, int], neighbour: int) -> BoostingSettings:
    """How members come about that predict distances: all pairs of a batch, in one short round.

    subsamples, neighbour : the nearest of many rows counts, or some of few, for anomalies may have their like there
    """
    training = replace(
        settings.training,
        n_steps=DISTANCE_STEPS,
        batch_size=DISTANCE_BATCH,
        learning_rate=DISTANCE_RATE,
        dropout=0.0,
        distance_weight=1.0,
        novelty_weight=0.0,
        inner_product="plain",
        pairs="all",
    )
    return replace(
        settings,
        training=training,
        n_components=DISTANCE_COMPONENTS,
        n_rounds=1,
        filter_fraction=0.0,
        shrinkage=0.0,
        start_scale=DISTANCE_START,
        score_rounds=1,
        n_rounds_kept=1,
        engine="numpy",
        torch=NOTHING_WANTED,
        callbacks=(),  # they are about the members that the user's parameters are about
        subsamples=subsamples,
        neighbour=neighbour,
        n_directions=None,
    )


def with_unseen(plan: FitPlan, numbers: Ints) -> FitPlan:
    """The plan of a renewal, in which the members that stay have seen none of the rows. numbers : of the new ones."""
    nothing = np.empty(0, dtype=np.int64)
    teams = [
        ([m if m.number in numbers else replace(m, rows=nothing) for m in of_team], settings)
        for of_team, settings in plan.teams
    ]
    return replace(plan, teams=tuple(teams))


def seed_of_renewal(detector: RDPDetector) -> int:
    """The seed of a renewal; each has another one."""
    return int(
        np.random.SeedSequence([draw_seed(detector.random_state), detector.n_renewed_ + 1]).generate_state(1)[0] >> 1
    )
