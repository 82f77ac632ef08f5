"""Boosting: train, score the rows, drop the most anomalous, and train anew on the rest.

Anomalies among the training rows teach a member to expect them. Each round draws a new random mapping, trains a new
representation on the rows kept so far and drops the share `filter_fraction` of them that scores highest, so that later
rounds learn from cleaner rows. The members of the last rounds do the scoring.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rdplearn.combination import relative_logs
from rdplearn.progress import Watch
from rdplearn.random_mapping import Mapping, Rows, draw_mapping
from rdplearn.representation import Representation, TrainingSettings, draw_representation
from rdplearn.row_space import RowSpace, row_space
from rdplearn.scoring import (
    N_SUBSAMPLES,
    SUBSAMPLE_SIZE,
    Member,
    nearest_subsample_scores,
    novelty_scores,
)
from rdplearn.training import EngineName, train

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class BoostingSettings:
    """How a member comes about, under the estimator's own parameter names."""

    training: TrainingSettings
    n_components: int
    n_targets: int
    n_rounds: int
    filter_fraction: float
    shrinkage: float
    bandwidth: float | None
    score_rounds: int
    n_rounds_kept: int
    engine: EngineName


@dataclass
class BoostedMember:
    """A member after boosting.

    rounds : the trained members of the last rounds, as many as are to be kept
    spread : standard deviation of the logarithms of its scores over the rows that it has drawn
    history : losses of every stretch of every round
    """

    number: int
    rounds: list[Member] = field(default_factory=list)
    spread: float = 1.0
    history: list[dict[str, float]] = field(default_factory=list)


def boost(
    number: int,
    rows: Rows,
    draws: Ints,
    kind: str | Callable[[Rows], Any] | object,
    settings: BoostingSettings,
    seeds: np.random.SeedSequence,
    watch: Watch,
) -> BoostedMember:
    """Bring up one member.

    Parameters
    ----------
    number : of the member, for reports
    rows : (n_rows, n_columns), each row once
    draws : the member's sample, as indices of `rows`; a row drawn twice counts twice
    kind : of the random mapping, see `draw_mapping`
    """
    span = row_space(rows) if not sp.issparse(rows) and rows.shape[0] < rows.shape[1] else None
    member = BoostedMember(number)
    kept = draws
    logs_of_rounds: list[Floats] = []
    for number_of_round, seed in enumerate(seeds.spawn(settings.n_rounds)):
        rng = np.random.default_rng(seed)
        mapping = draw_mapping(kind, rows, kept, settings.n_targets, rng, settings.bandwidth)
        targets = mapping(rows)
        check_targets(targets, settings)
        aims = targets if settings.shrinkage == 0 else np.float32(1.0 - settings.shrinkage) * targets
        trained, records = train_in_span(span, rows, aims, kept, settings, rng, lambda n: watch.advance(number, n))
        judge = prepare_scoring(trained, mapping, rows, kept, settings, rng)
        scores = score(judge, rows, targets)
        judge = replace(judge, typical=float(np.median(scores[draws])))
        logs_of_rounds.append(relative_logs(scores[draws], judge.typical))
        kept, cut = drop_highest(kept, scores[kept], settings.filter_fraction)
        member.rounds = [*member.rounds, judge][-settings.n_rounds_kept :]
        labels = {"member": number, "round": number_of_round, "n_kept": len(kept), "cut": cut}
        member.history += [{**labels, **record} for record in records]
    member.spread = float(np.mean(logs_of_rounds[-settings.score_rounds :], axis=0).std())
    return member


def check_targets(targets: Floats, settings: BoostingSettings) -> None:
    """See that the novelty loss has as many targets as it has components to compare with."""
    if settings.training.novelty_weight > 0 and targets.shape[1] != settings.n_components:
        raise ValueError(
            f"The novelty loss compares φ and η number by number, and the mapping has {targets.shape[1]} targets "
            f"where 'n_components' is {settings.n_components}. Make them equal, or pass novelty_weight=0."
        )


def train_in_span(
    span: RowSpace | None,
    rows: Rows,
    targets: Floats,
    kept: Ints,
    settings: BoostingSettings,
    rng: np.random.Generator,
    after_stretch: Callable[[int], None],
) -> tuple[Representation, list[dict[str, float]]]:
    """Draw and train a representation, within the span of the rows where that is smaller."""
    phi = draw_representation(rows.shape[1], settings.n_components, rng)
    inner = phi if span is None else Representation(span.enter(phi.weights), phi.bias)
    seed = int(rng.integers(2**63))
    inner_rows = rows if span is None else span.rows
    records = train(inner_rows, targets, kept, inner, settings.training, seed, settings.engine, after_stretch)
    if span is None:
        return inner, records
    return Representation(span.leave(phi.weights, inner.weights), inner.bias), records


def prepare_scoring(
    phi: Representation,
    mapping: Mapping,
    rows: Rows,
    kept: Ints,
    settings: BoostingSettings,
    rng: np.random.Generator,
) -> Member:
    """Put together what scoring needs; without the novelty loss, that is subsamples of the rows kept."""
    if settings.training.novelty_weight > 0:
        return Member(phi, mapping)
    chosen = kept[rng.integers(len(kept), size=N_SUBSAMPLES * SUBSAMPLE_SIZE)]
    return Member(phi, mapping, phi(rows[chosen]))


def score(member: Member, rows: Rows, targets: Floats) -> Floats:
    """Anomaly score of rows by one member. targets : η of the rows."""
    phi = member.representation(rows)
    if member.references is None:
        return novelty_scores(phi, targets)
    return nearest_subsample_scores(phi, member.references)


def drop_highest(kept: Ints, scores: Floats, fraction: float) -> tuple[Ints, float]:
    """Drop the given share of rows with the highest scores. Returns the rest and the highest score among it.

    Examples
    --------
    >>> drop_highest(np.array([7, 8, 9]), np.array([0.1, 5.0, 0.2]), 0.34)
    (array([7, 9]), 0.2)
    """
    n_left = len(kept) - int(fraction * len(kept))
    order = np.argsort(scores, kind="stable")[:n_left]
    return kept[np.sort(order)], float(scores[order[-1]])
