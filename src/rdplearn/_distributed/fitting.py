"""Fitting on a cluster: the stories of `RDPDetector.fit` and its like, with the table in partitions.

The cluster looks at every partition once, and once more to draw rows from it. Rows travel between workers; what comes
back is weights, the scores that decide on the threshold, the curves of the views, and a few typical rows.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rdplearn._detector_parameters import check_parameters
from rdplearn._distributed.client import Tasks
from rdplearn._distributed.partitions import Collection, PartitionedMatrix, joined
from rdplearn._distributed.worker_memory import keep_freed_memory
from rdplearn._explain.typical_rows import TypicalRows, learn_typical_rows
from rdplearn._fit_plan import FitPlan, plan_fit
from rdplearn._model.cells import CellVoice
from rdplearn._model.combination import Combination
from rdplearn._model.panel import Member
from rdplearn._training.boosting import BoostingSettings, MemberPlan, wanted_directions
from rdplearn._training.members import seat_members, single_views, train_stack
from rdplearn._training.progress import Watch
from rdplearn._training.row_space import RowSpace, leading_directions, rows_for_directions, turned
from rdplearn._types import Flags, Floats, Ints, Matrix, TableColumns, draw_seed, drawn_rows
from rdplearn._views.matrix import warn_of_constant
from rdplearn._views.minmax import MinMaxView
from rdplearn._views.rare_kinds import in_kinds
from rdplearn._views.view import View, join_views, sample_for_curves
from rdplearn._voices import all_scaled_scores, choose_threshold, learn_voices, take_members, with_references
from rdplearn.callbacks import Checkpoint, find
from rdplearn.clusterer import RDPClusterer
from rdplearn.detector import RDPDetector
from rdplearn.table_model import TableModel
from rdplearn.transformer import RDPTransformer

CURVES, DIRECTIONS, JUDGED, SAMPLE, TYPICAL = "curves", "directions", "judged", "sample", "typical"
MOST_ROWS_OF_FEATURES = 100_000  # of larger tables, features and groups are learned from a sample of this size


def fit_detector(
    detector: RDPDetector, collection: Collection, tasks: Tasks, columns: TableColumns | None = None
) -> RDPDetector:
    """Carry out the plan that `RDPDetector.fit` carries out, each step where the rows are."""
    check_parameters(detector)
    refuse_checkpoint(detector)
    table = PartitionedMatrix(collection, tasks)
    table.introduce(detector, min_rows=2)
    if table.is_constant:
        warn_of_constant(table.n_columns)
    plan = plan_fit(detector, table.n_rows, table.filling(), draw_seed(detector.random_state), columns=columns)
    purposes = {str(member.number): member.rows for member in plan.members}
    purposes |= {CURVES: sample_for_curves(table.n_rows, plan.seed), JUDGED: plan.judged, TYPICAL: plan.sampled}
    n_wanted = [wanted_directions(settings, table.n_columns) for _, settings in plan.teams]
    if any(n_wanted):
        purposes[DIRECTIONS] = rows_for_directions(table.n_rows, plan.seed)
    pieces = table.draw(purposes)
    views = tasks.named("rdp-fit-views", fit_views, plan.views, table.min_max(), pieces[CURVES], columns)
    members = []
    for team, ((of_team, settings), n_directions) in enumerate(zip(plan.teams, n_wanted, strict=True)):
        given: tuple[Any, ...] = (views,)
        if n_directions is not None:
            found = (pieces[DIRECTIONS], views, [plan.view for plan in of_team], n_directions)
            given = (views, tasks.named(f"rdp-find-directions-{team}", find_directions, *found))
        for member in of_team:
            name = f"rdp-fit-member-{member.number}"
            members.append(tasks.named(name, fit_member, pieces[str(member.number)], member, settings, *given))
    # All at once, so that partitions are read once; the rows to judge wait on the cluster for the weights.
    seen, *started = tasks.start([views, *members, *pieces[JUDGED], *pieces[TYPICAL], *pieces[CURVES]])
    training, waiting = started[: len(members)], started[len(members) :]
    n_steps = plan.settings.training.n_steps
    with Watch(len(plan.members), plan.settings.n_rounds, n_steps, visible=bool(detector.verbose)) as watch:
        arriving = (member for _, member in tasks.as_done(training))
        trained = seat_members(arriving, plan.members, tasks.results([seen])[0], watch)
    take_members(detector, plan, *trained)
    unheard = tasks.shared("rdp-members", on_one_thread(detector))
    settling = tasks.named("rdp-settle-voices", settle, pieces[CURVES], pieces[TYPICAL], unheard, plan, seen)
    detector.combination_, detector.cells_, detector.typical_rows_ = tasks.results(tasks.start([settling]))[0]
    prices = [voice.price for voice in detector.combination_.voices]
    detector.panels_ = with_references(detector.panels_, plan, prices)
    model = tasks.shared("rdp-model", on_one_thread(detector))
    judging = [tasks.named(f"rdp-judge-rows-{n}", judge_rows, piece, model) for n, piece in enumerate(pieces[JUDGED])]
    scaled = tasks.results(tasks.start(judging))

    def find_near(ascending: Ints, first: int) -> Flags:
        """Tell which of the rows to judge lie near each other, where these are."""
        finding = tasks.named("rdp-find-near", near_among, pieces[JUDGED], ascending, first)
        return np.asarray(tasks.results(tasks.start([finding]))[0])

    detector.offset_ = -choose_threshold(detector, plan, np.concatenate(scaled), find_near)
    del waiting  # the cluster may forget the rows now
    return detector


def fit_features(
    estimator: RDPTransformer | RDPClusterer, collection: Collection, tasks: Tasks
) -> RDPTransformer | RDPClusterer:
    """Fit a transformer or clusterer on one worker, on all rows or a uniform sample of them.

    The labels of a clusterer are those of the rows that it was fitted on.
    """
    estimator._validate_params()
    refuse_checkpoint(estimator)
    table = PartitionedMatrix(collection, tasks)
    table.introduce(estimator, min_rows=2)
    rows = sample_of(table.n_rows, estimator.random_state)
    pieces = table.draw({SAMPLE: rows})[SAMPLE]
    task = tasks.named("rdp-fit-features", fit_whole, pieces, on_one_thread(estimator))
    fitted = tasks.results(tasks.start([task]))[0]
    known = ("n_jobs", "n_features_in_", "feature_names_in_")
    for name, value in vars(fitted).items():
        if name not in known:
            setattr(estimator, name, value)
    return estimator


def refuse_checkpoint(estimator: Any) -> None:
    """A checkpoint is for one machine: on a cluster, what a lost worker had done is done again by another."""
    if find(Checkpoint, getattr(estimator, "callbacks", None)) is not None:
        raise ValueError(
            f"The 'callbacks' of {type(estimator).__name__} hold a Checkpoint, which is for tables in memory and not "
            "for partitions on a cluster. Leave it out."
        )


def sample_of(n_rows: int, random_state: Any) -> Ints:
    """The rows that features are learned from: all, or a uniform sample."""
    # a copy: the estimator's own stream starts where it would on one machine
    seed = draw_seed(copy.deepcopy(random_state))
    return drawn_rows(n_rows, MOST_ROWS_OF_FEATURES, seed)


def fit_views(
    names: Sequence[str], min_max: MinMaxView, pieces: Sequence[Matrix], columns: TableColumns | None
) -> dict[str, View]:
    """Learn the views, the curves from rows that were drawn for them."""
    return join_views(names, min_max=lambda: min_max, curve_rows=lambda: joined(pieces), table=columns)


def find_directions(
    pieces: Sequence[Matrix], views: dict[str, View], names: Sequence[str], n_wanted: int
) -> dict[str, Floats]:
    """The leading directions of rows, through each of the views that have any."""
    keep_freed_memory()
    rows = joined(pieces)
    return {name: leading_directions(views[name](rows), n_wanted) for name in single_views(names, views)}


def fit_member(
    pieces: Sequence[Matrix],
    plan: MemberPlan,
    settings: BoostingSettings,
    views: dict[str, View],
    directions: dict[str, Floats] | None = None,
) -> Member:
    """Train one member on the rows that were drawn for it. directions : of the rows through each view, if wanted."""
    keep_freed_memory()
    unwatched = Watch(plan.number + 1, settings.n_rounds, settings.training.n_steps, visible=False)
    rows, basis = views[plan.view](joined(pieces)), (directions or {}).get(plan.view)
    leading = None if basis is None else RowSpace(basis, turned(rows, basis), is_all=False)
    (member,) = train_stack([(plan, rows, leading)], settings, unwatched, n_jobs=1)
    return member


def judge_rows(rows: Matrix, detector: RDPDetector) -> npt.NDArray[np.floating]:
    """What all voices say of rows."""
    keep_freed_memory()
    return all_scaled_scores(detector, rows)


def near_among(pieces: Sequence[Matrix], ascending: Ints, first: int) -> Flags:
    """Tell which rows lie near each other: see `in_kinds`."""
    keep_freed_memory()
    return in_kinds(joined(pieces), ascending, first)


def settle(
    for_curves: Sequence[Matrix],
    typical: Sequence[Matrix],
    detector: RDPDetector,
    plan: FitPlan,
    views: dict[str, View],
) -> tuple[Combination, CellVoice | None, TypicalRows]:
    """Bring the voices to one scale, and choose the rows that explanations need among those drawn for it."""
    keep_freed_memory()
    rows = joined(typical)
    scaled = learn_voices(detector, plan, views, lambda: joined(for_curves), rows)
    scores = detector.combination_.over_members(scaled)  # on the scale that was learned just now
    return detector.combination_, detector.cells_, learn_typical_rows(rows, scores, plan.seed)


def fit_whole(pieces: Sequence[Matrix], estimator: Any) -> Any:
    """Fit an estimator on rows that were drawn for it."""
    keep_freed_memory()
    return estimator.fit(joined(pieces))


def on_one_thread(model: Any) -> Any:
    """A copy of a model, fitted or not, that keeps to the thread of its task and draws no progress bar."""
    if isinstance(model, TableModel):
        return type(model)(on_one_thread(model.estimator), model.encoder)
    quiet = copy.copy(model)
    for name, value in {"n_jobs": 1, "verbose": 0}.items():
        if name in quiet.get_params(deep=False):
            setattr(quiet, name, value)
    for name in ("transformer", "transformer_", "detector"):  # of a clusterer, and of a detector with answers
        if getattr(quiet, name, None) is not None:
            setattr(quiet, name, on_one_thread(getattr(quiet, name)))
    return quiet
