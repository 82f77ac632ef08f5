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
import scipy.sparse as sp

from rdplearn._model.combination import middle_score, relative_logs
from rdplearn._model.even_residuals import can_even_out, divided, divided_mapping, sizes_of
from rdplearn._model.mapping import Mapping, draw_mapping
from rdplearn._model.representation import Representation, TrainingSettings
from rdplearn._scoring.scores import (
    N_SUBSAMPLES,
    SUBSAMPLE_SIZE,
    Member,
    mean_squares,
    nearest_subsample_scores,
)
from rdplearn._training.checkpoint import FitFolder
from rdplearn._training.drawn_phi import draw_phi
from rdplearn._training.loop import EngineName, train
from rdplearn._training.progress import Watch
from rdplearn._training.row_space import RowSpace, row_space
from rdplearn._training.saved_member import load_member, save_member
from rdplearn._training.task import Phi, Problem
from rdplearn._training.torch_options import NOTHING_WANTED, TorchSettings
from rdplearn._types import Floats, Ints, Rows
from rdplearn.callbacks import Records, wants_to_stop


@dataclass(frozen=True)
class BoostingSettings:
    """How a member comes about, under the estimator's own parameter names.

    folder : where members are saved after every so many rounds, and continued from
    """

    training: TrainingSettings
    n_components: int
    n_targets: int
    n_rounds: int
    filter_fraction: float
    shrinkage: float
    start_scale: float
    even_residuals: bool
    bandwidth: float | None
    score_rounds: int
    n_rounds_kept: int
    engine: EngineName
    torch: TorchSettings = NOTHING_WANTED
    callbacks: tuple[Any, ...] = ()
    record_every: int | None = None
    folder: FitFolder | None = None


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


def boost(boosting: Boosting) -> BoostedMember:
    """Bring up one member, training it here, a round after the other."""
    settings = boosting.settings
    while boosting.n_rounds_done < settings.n_rounds:
        problem = boosting.begin_round()
        records = train(problem, settings.training, settings.engine, boosting.report, settings.record_every)
        boosting.end_round(problem, records)
    return boosting.member


class Boosting:
    """A member on its way through the rounds: each is begun, trained elsewhere, and ended.

    Parameters
    ----------
    number : of the member, for reports
    rows : (n_rows, n_columns), each row once
    draws : the member's sample, as indices of `rows`; a row drawn twice counts twice
    kind : of the random mapping, see `draw_mapping`
    """

    def __init__(
        self,
        number: int,
        rows: Rows,
        draws: Ints,
        kind: str | Callable[[Rows], Any] | object,
        settings: BoostingSettings,
        seeds: np.random.SeedSequence,
        watch: Watch,
    ) -> None:
        self.member = BoostedMember(number)
        self.rows, self.draws, self.kind, self.settings, self.watch = rows, draws, kind, settings, watch
        self.seeds = seeds.spawn(settings.n_rounds)
        self.n_rounds_done = 0
        self.kept = draws
        self.kept_before: list[Ints] = []  # what each of the member's rounds was trained on
        self.logs: list[Floats] = []  # of each of them, see `relative_logs`
        self.sizes: list[Floats] = []  # what each one's numbers are divided by, see `even_residuals.py`
        self.span = row_space(rows) if may_rotate(settings, rows) else None
        if settings.folder is not None:
            self.go_on_from(settings.folder)

    def begin_round(self) -> Problem:
        """Draw a random mapping and a representation to be trained."""
        settings, rows = self.settings, self.rows
        self.rng = np.random.default_rng(self.seeds[self.n_rounds_done])
        self.mapping = self.draw_mapping(self.kept, self.rng)
        self.targets = self.mapping(rows)
        check_targets(self.targets, settings)
        aims = self.targets if settings.shrinkage == 0 else np.float32(1.0 - settings.shrinkage) * self.targets
        self.start = draw_phi(rows, settings.n_components, settings.torch, self.rng, settings.start_scale)
        problem = Problem(rows, aims, self.kept, self.start, int(self.rng.integers(2**63)))
        return problem if self.span is None else enter(self.span, problem)

    def report(self, records: Records) -> bool:
        """Tell progress and callbacks what was done; returns whether this round's training should end."""
        before, now = int(records[-2]["step"]) if len(records) > 1 else 0, int(records[-1]["step"])
        labels = {"member": self.member.number, "round": self.n_rounds_done}
        ends = wants_to_stop(self.settings.callbacks, [{**labels, **record} for record in records])
        self.watch.advance(self.member.number, (self.settings.training.n_steps if ends else now) - before)
        return ends

    def end_round(self, problem: Problem, records: Records) -> None:
        """Score the rows, drop the most anomalous, and write down what happened."""
        settings, n_kept_rounds = self.settings, self.settings.n_rounds_kept
        trained = problem.phi if self.span is None else leave(self.span, self.start, problem.phi)
        judge = prepare_scoring(trained, self.mapping, self.rows, self.kept, settings, self.rng)
        judge, scores, sizes = judge_rows(judge, self.rows, self.targets, self.kept, even=settings.even_residuals)
        judge = replace(judge, typical=middle_score(scores[self.draws]))
        self.member.rounds = [*self.member.rounds, judge][-n_kept_rounds:]
        self.sizes = [*self.sizes, sizes][-n_kept_rounds:]
        self.logs = [*self.logs, relative_logs(scores[self.draws], judge.typical)][-n_kept_rounds:]
        self.kept_before = [*self.kept_before, self.kept][-n_kept_rounds:]
        self.kept, cut = drop_highest(self.kept, scores[self.kept], settings.filter_fraction)
        labels = {"member": self.member.number, "round": self.n_rounds_done, "n_kept": len(self.kept), "cut": cut}
        self.member.history += [{**labels, **record} for record in records]
        self.n_rounds_done += 1
        if self.n_rounds_done == settings.n_rounds:
            self.member.spread = float(np.mean(self.logs[-settings.score_rounds :], axis=0).std())
        folder = settings.folder
        if folder is not None and (self.n_rounds_done % folder.every == 0 or self.n_rounds_done == settings.n_rounds):
            save_member(folder, self)

    def go_on_from(self, folder: FitFolder) -> None:
        """Take up what was saved of this member: all but the random mappings, which are drawn again."""
        saved = load_member(folder, self.member.number)
        if saved is None:
            return
        self.n_rounds_done, self.kept = saved.n_rounds_done, saved.kept
        self.kept_before, self.logs = saved.of_rounds("kept_before"), saved.of_rounds("logs")
        self.sizes = saved.of_rounds("sizes")
        self.member.history, self.member.spread = saved.history, saved.spread
        self.watch.advance(self.member.number, self.n_rounds_done * self.settings.training.n_steps)
        first = self.n_rounds_done - len(self.kept_before)
        for number, kept in enumerate(self.kept_before):
            rng = np.random.default_rng(self.seeds[first + number])
            mapping = self.draw_mapping(kept, rng)
            drawn = Member(draw_phi(self.rows, self.settings.n_components, self.settings.torch, rng), mapping)
            if self.sizes[number].size:
                drawn = replace(drawn, mapping=divided_mapping(mapping, self.sizes[number]))
            self.member.rounds.append(saved.fill(number, drawn))

    def draw_mapping(self, kept: Ints, rng: np.random.Generator) -> Mapping:
        """Draw the random mapping of a round."""
        return draw_mapping(self.kind, self.rows, kept, self.settings.n_targets, rng, self.settings.bandwidth)


def may_rotate(settings: BoostingSettings, rows: Rows) -> bool:
    """Tell whether to train in the span of the rows: it is smaller, and nobody but us looks at the columns."""
    return not sp.issparse(rows) and rows.shape[0] < rows.shape[1] and not settings.torch.sees_columns


def enter(span: RowSpace, problem: Problem) -> Problem:
    """The same problem within the span of the rows."""
    phi = problem.phi
    inner = Representation(span.enter(phi.weights), phi.bias, phi.deeper)
    return Problem(span.rows, problem.targets, problem.kept, inner, problem.seed)


def leave(span: RowSpace, start: Representation, trained: Representation) -> Representation:
    """φ on the table's own columns, from its start there and what was trained within the span."""
    return Representation(span.leave(start.weights, trained.weights), trained.bias, trained.deeper)


def check_targets(targets: Floats, settings: BoostingSettings) -> None:
    """See that the novelty loss has as many targets as it has components to compare with."""
    if settings.training.novelty_weight > 0 and targets.shape[1] != settings.n_components:
        raise ValueError(
            f"The novelty loss compares φ and η number by number, and the mapping has {targets.shape[1]} targets "
            f"where 'n_components' is {settings.n_components}. Make them equal, or pass novelty_weight=0."
        )


def prepare_scoring(
    phi: Phi,
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


def judge_rows(member: Member, rows: Rows, targets: Floats, kept: Ints, *, even: bool) -> tuple[Member, Floats, Floats]:
    """Anomaly scores of rows by one member, with residuals of even size if asked for.

    targets : η of the rows
    Returns the member as it is to score from now on, the scores, and what its numbers were divided by, if anything.
    """
    phi = member.representation(rows)
    if member.references is not None:
        return member, nearest_subsample_scores(phi, member.references), np.empty(0, dtype=np.float32)
    phi -= targets
    if not (even and can_even_out(member, rows.shape[0])):
        return member, mean_squares(phi), np.empty(0, dtype=np.float32)
    phi *= phi
    sizes = sizes_of(phi, kept)
    return divided(member, sizes), phi @ (1.0 / (sizes * sizes * np.float32(sizes.size))), sizes


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
