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
from sklearn.utils import check_random_state

from rdplearn._distributed.client import Tasks
from rdplearn._distributed.partitions import Collection, PartitionedMatrix, joined
from rdplearn._distributed.worker_memory import keep_freed_memory
from rdplearn._explain.typical_rows import TypicalRows, learn_typical_rows, rows_to_sample
from rdplearn._training.boosting import BoostedMember, BoostingSettings
from rdplearn._training.members import Plan, plan_members, seat_members, train_member
from rdplearn._training.progress import Watch
from rdplearn._types import Ints, Matrix
from rdplearn._views.minmax import MinMaxView
from rdplearn._views.view import View, join_views, sample_for_curves
from rdplearn.callbacks import find_checkpoint
from rdplearn.clusterer import RDPClusterer
from rdplearn.detector import RDPDetector
from rdplearn.table_model import TableModel
from rdplearn.transformer import RDPTransformer

CURVES, JUDGED, SAMPLE, TYPICAL = "curves", "judged", "sample", "typical"
MOST_ROWS_OF_FEATURES = 100_000  # of larger tables, features and groups are learned from a sample of this size


def fit_detector(detector: RDPDetector, collection: Collection, tasks: Tasks) -> RDPDetector:
    """Do what `RDPDetector.fit` does, each step where the rows are."""
    detector._check_parameters()
    refuse_checkpoint(detector)
    table = PartitionedMatrix(collection, tasks)
    table.introduce(detector, min_rows=2)
    if table.is_constant:
        detector._warn_of_constant(table.n_columns)
    seed = detector._draw_seed()
    outlook = detector._outlook(table.n_rows, table.n_columns)
    sampling = detector._plan_sampling(table.n_rows, seed, outlook)
    plans = plan_members(detector._plan_parts(outlook), sampling, seed)
    judged = detector._rows_to_judge(sampling, seed)
    purposes = {str(plan.number): plan.rows for plan in plans}
    purposes |= {CURVES: sample_for_curves(table.n_rows, seed), JUDGED: judged}
    pieces = table.draw({**purposes, TYPICAL: rows_to_sample(table.n_rows, seed)})
    settings = detector._boosting_settings(table.filling(), outlook)
    names = [plan.part.view for plan in plans]
    views = tasks.named("rdp-fit-views", fit_views, names, table.min_max(), pieces[CURVES])
    members = [
        tasks.named(f"rdp-fit-member-{plan.number}", fit_member, pieces[str(plan.number)], views, plan, settings)
        for plan in plans
    ]
    # All at once, so that partitions are read once; the rows to judge wait on the cluster for the weights.
    seen, *started = tasks.start([views, *members, *pieces[JUDGED], *pieces[TYPICAL]])
    training, waiting = started[: len(members)], started[len(members) :]
    n_steps = settings.training.n_steps
    with Watch(len(plans), settings.n_rounds, n_steps, visible=bool(detector.verbose)) as watch:
        arriving = (member for _, member in tasks.as_done(training))
        detector._take(seat_members(arriving, plans, tasks.results([seen])[0], watch), settings)
    model = tasks.shared("rdp-model", on_one_thread(detector))
    judging = [tasks.named(f"rdp-judge-rows-{n}", judge_rows, piece, model) for n, piece in enumerate(pieces[JUDGED])]
    choosing = tasks.named("rdp-typical-rows", choose_typical_rows, pieces[TYPICAL], model, seed)
    detector.typical_rows_, *scores = tasks.results(tasks.start([choosing, *judging]))
    del waiting  # the cluster may forget the rows now
    detector.offset_ = -detector._choose_threshold(np.concatenate(scores))
    return detector


def fit_features(
    estimator: RDPTransformer | RDPClusterer, collection: Collection, tasks: Tasks
) -> RDPTransformer | RDPClusterer:
    """Fit a transformer or clusterer on one worker, on all rows or a uniform sample of them."""
    estimator._validate_params()
    refuse_checkpoint(estimator)
    table = PartitionedMatrix(collection, tasks)
    table.introduce(estimator, min_rows=2)
    rows = sample_of(table.n_rows, estimator.random_state)
    pieces = table.draw({SAMPLE: rows})[SAMPLE]
    task = tasks.named("rdp-fit-features", fit_whole, pieces, on_one_thread(estimator))
    fitted = tasks.results(tasks.start([task]))[0]
    known = ("n_jobs", "n_features_in_", "feature_names_in_", "labels_")
    for name, value in vars(fitted).items():
        if name not in known:
            setattr(estimator, name, value)
    return estimator


def refuse_checkpoint(estimator: Any) -> None:
    """A checkpoint is for one machine: on a cluster, what a lost worker had done is done again by another."""
    if find_checkpoint(getattr(estimator, "callbacks", None)) is not None:
        raise ValueError(
            f"The 'callbacks' of {type(estimator).__name__} hold a Checkpoint, which is for tables in memory and not "
            "for partitions on a cluster. Leave it out."
        )


def sample_of(n_rows: int, random_state: Any) -> Ints:
    """The rows that features are learned from: all, or a uniform sample."""
    if n_rows <= MOST_ROWS_OF_FEATURES:
        return np.arange(n_rows)
    # a copy: the estimator's own stream starts where it would on one machine
    seed = int(check_random_state(copy.deepcopy(random_state)).randint(2**31 - 1))
    return np.sort(np.random.default_rng(seed).choice(n_rows, MOST_ROWS_OF_FEATURES, replace=False))


def fit_views(names: Sequence[str], min_max: MinMaxView, pieces: Sequence[Matrix]) -> dict[str, View]:
    """Learn the views, the curves from rows that were drawn for them."""
    return join_views(names, min_max=lambda: min_max, curve_rows=lambda: joined(pieces))


def fit_member(
    pieces: Sequence[Matrix], views: dict[str, View], plan: Plan, settings: BoostingSettings
) -> BoostedMember:
    """Train one member on the rows that were drawn for it."""
    keep_freed_memory()
    unwatched = Watch(plan.number + 1, settings.n_rounds, settings.training.n_steps, visible=False)
    return train_member(views[plan.part.view](joined(pieces)), plan, settings, unwatched)


def judge_rows(rows: Matrix, detector: RDPDetector) -> npt.NDArray[np.float64]:
    """Anomaly scores of rows."""
    keep_freed_memory()
    return detector._anomaly_scores(rows)


def choose_typical_rows(pieces: Sequence[Matrix], detector: RDPDetector, seed: int) -> TypicalRows:
    """Choose the rows that explanations need among those that were drawn for it."""
    keep_freed_memory()
    rows = joined(pieces)
    return learn_typical_rows(rows, detector._anomaly_scores(rows), seed)


def fit_whole(pieces: Sequence[Matrix], estimator: Any) -> Any:
    """Fit an estimator on rows that were drawn for it."""
    keep_freed_memory()
    return estimator.fit(joined(pieces))


def on_one_thread(model: Any) -> Any:
    """A copy of a model, fitted or not, that keeps to the thread of its task and draws no progress bar."""
    if isinstance(model, TableModel):
        return TableModel(on_one_thread(model.estimator), model.encoder)
    quiet = copy.copy(model)
    for name, value in {"n_jobs": 1, "verbose": 0}.items():
        if name in quiet.get_params(deep=False):
            setattr(quiet, name, value)
    for name in ("transformer", "transformer_"):  # of a clusterer
        if getattr(quiet, name, None) is not None:
            setattr(quiet, name, on_one_thread(getattr(quiet, name)))
    return quiet
