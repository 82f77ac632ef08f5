"""Boosting: train, score the rows, drop the most anomalous, and train anew on the rest.

Anomalies among the training rows teach a member to expect them. Each round draws a new random mapping, trains a new
representation on the rows kept so far and drops the share `filter_fraction` of them that scores highest, so that later
rounds learn from cleaner rows. The members of the last rounds do the scoring.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from rdplearn._model.anomaly_scores import N_SUBSAMPLES, SUBSAMPLE_SIZE, lifted, mean_squares, nearest_subsample_scores
from rdplearn._model.combination import middle_score, relative_logs
from rdplearn._model.even_residuals import can_even_out, divided, sizes_of
from rdplearn._model.mapping import with_options
from rdplearn._model.panel import Member, Round
from rdplearn._model.representation import Phi, draw_representation
from rdplearn._training.checkpoint import FitFolder
from rdplearn._training.engines.engine import start_engine
from rdplearn._training.flops import stretch_length
from rdplearn._training.loop import diverged, train
from rdplearn._training.phi import draw_phi
from rdplearn._training.progress import Watch
from rdplearn._training.row_space import RowSpace, entered, left, row_space
from rdplearn._training.saved_members import go_on_from, save_member
from rdplearn._training.settings import EngineName, TrainingSettings, TrainingTask
from rdplearn._training.torch_options import NOTHING_WANTED, TorchOptions
from rdplearn._types import Floats, Ints, Rows
from rdplearn.callbacks import Records, record_every, wants_to_stop

SHORTEST = 0.05  # of the usual length of φ


@dataclass(frozen=True)
class BoostingSettings:
    """How a member comes about, under the estimator's own parameter names.

    subsamples : how many, and of how many rows each, members without the novelty loss score by; `neighbour` : which of
        them counts, see `nearest_subsample_scores`
    n_directions : of the rows, in which W is trained, see `row_space.py`; None for all
    folder : where members are saved after every so many rounds, and continued from
    """

    training: TrainingSettings
    n_components: int
    n_rounds: int
    filter_fraction: float
    shrinkage: float
    start_scale: float
    even_residuals: float
    score_rounds: int
    n_rounds_kept: int
    engine: EngineName
    torch: TorchOptions = NOTHING_WANTED
    callbacks: tuple[Any, ...] = ()
    folder: FitFolder | None = None
    subsamples: tuple[int, int] = (N_SUBSAMPLES, SUBSAMPLE_SIZE)
    neighbour: int = 0
    n_directions: int | None = None

    @property
    def n_references(self) -> int:
        """Rows of all subsamples together."""
        return self.subsamples[0] * self.subsamples[1]


@dataclass(frozen=True)
class MemberPlan:
    """What it takes to train one member.

    view : how it sees the columns, by name; mapping : its kind of random mapping
    rows : of the table, each once; draws : the member's sample, as indices of `rows`; a row drawn twice counts twice
    """

    number: int
    view: str
    mapping: Any
    rows: Ints
    draws: Ints
    seeds: np.random.SeedSequence


def boost(members: Sequence[Boosting], settings: BoostingSettings) -> list[Member]:
    """Bring up members together, round by round; those that were saved join in where they stopped."""
    while behind := [member for member in members if member.n_rounds_done < settings.n_rounds]:
        first_round = min(member.n_rounds_done for member in behind)
        train_round([member for member in behind if member.n_rounds_done == first_round], settings)
    return [member.member for member in members]


def train_round(members: list[Boosting], settings: BoostingSettings) -> None:
    """Train one round of all members together; then each scores and drops rows of its own."""
    tasks = [member.begin_round() for member in members]
    engine = start_engine(settings.engine, tasks, settings.training, settings.torch)
    stretch = stretch_length(tasks[0].rows, settings.n_components, settings.training, record_every(settings.callbacks))
    records = train(engine, settings.training, stretch, [member.report for member in members])
    for member, task, of_member in zip(members, tasks, records, strict=True):
        member.end_round(task, of_member)


class Boosting:
    """A member on its way through the rounds: each is begun, trained elsewhere, and ended.

    rows : (n_rows, n_columns), those of the plan as the member's view shows them
    leading : the same in the leading directions of the view, where W is to be trained in these
    """

    def __init__(
        self,
        plan: MemberPlan,
        rows: Rows,
        settings: BoostingSettings,
        watch: Watch,
        leading: RowSpace | None = None,
    ) -> None:
        self.member = Member(plan.number)
        self.rows, self.draws, self.settings, self.watch = rows, plan.draws, settings, watch
        self.random_mapping = with_options(plan.mapping)
        self.seeds = plan.seeds.spawn(settings.n_rounds)
        self.n_rounds_done = 0
        self.kept = plan.draws
        self.kept_before: list[Ints] = []  # what each of the member's rounds was trained on
        self.logs: list[Floats] = []  # of each of them, see `relative_logs`
        self.sizes: list[Floats] = []  # what each one's components are divided by, see `even_residuals.py`
        self.span = leading
        if leading is None and may_rotate(settings, rows):
            self.span = row_space(rows)
        if settings.folder is not None:
            go_on_from(self, settings.folder)

    def begin_round(self) -> TrainingTask:
        """Draw a random mapping and a representation to be trained."""
        settings, rows = self.settings, self.rows
        self.rng = np.random.default_rng(self.seeds[self.n_rounds_done])
        self.mapping = self.random_mapping.draw(rows, self.kept, settings.n_components, self.rng)
        self.targets = self.mapping(rows)
        check_targets(self.targets, settings)
        aims = self.targets if settings.shrinkage == 0 else np.float32(1.0 - settings.shrinkage) * self.targets
        phi = self.draw_start()
        seed = int(self.rng.integers(2**63))
        randomness: Any = np.random.default_rng(seed) if settings.training.pairs == "all" else seed
        self.start = TrainingTask(rows, aims, self.kept, phi, randomness, n_columns=rows.shape[1])
        if self.span is None:
            return self.start
        return entered(self.start, self.span) if self.span.is_all else replace(self.start, rows=self.span.rows)

    def draw_start(self) -> Phi:
        """Draw φ before training: on the columns, or as it would be within the leading directions of the rows."""
        settings, n_columns = self.settings, self.rows.shape[1]
        if self.span is None or self.span.is_all:
            return draw_phi(self.rows, settings.n_components, settings.torch, self.rng, settings.start_scale)
        rank = self.span.rows.shape[1]
        scale = settings.start_scale * float(np.sqrt(rank / n_columns))  # drawn for `rank` columns, wanted for all
        return draw_representation(rank, settings.n_components, self.rng, start_scale=scale)

    def report(self, records: Records) -> bool:
        """Tell progress and callbacks what was done; returns whether this round's training should end."""
        before, now = int(records[-2]["step"]) if len(records) > 1 else 0, int(records[-1]["step"])
        labels = {"member": self.member.number, "round": self.n_rounds_done}
        ends = wants_to_stop(self.settings.callbacks, [{**labels, **record} for record in records])
        self.watch.advance(self.member.number, (self.settings.training.n_steps if ends else now) - before)
        return ends

    @np.errstate(over="ignore", invalid="ignore")  # told in words, if it matters
    def end_round(self, task: TrainingTask, records: Records) -> None:
        """Score the rows, drop the most anomalous, and write down what happened."""
        settings, n_kept_rounds = self.settings, self.settings.n_rounds_kept
        trained, rows = task.phi, task.rows
        if self.span is not None and self.span.is_all:
            trained, rows = left(self.span, self.start, task).phi, self.rows
        phi = trained(rows)
        if self.span is not None and not self.span.is_all and self.is_kept:
            trained = left(self.span, self.start, task).phi
        judge = self.prepare_scoring(trained)
        judge, scores, sizes = judge_rows(judge, phi, self.targets, self.kept, evenness=settings.even_residuals)
        if np.isnan(scores).any() or not np.isfinite(scores[self.kept]).any():
            raise diverged("scores of the rows that it learned from are not numbers", settings.training.learning_rate)
        judge = replace(judge, typical=max(middle_score(scores[self.draws]), shortest_typical(judge)))
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
            save_member(self, folder)

    @property
    def is_kept(self) -> bool:
        """Whether anybody asks for this round's φ once it has told which rows to drop."""
        return (
            self.settings.folder is not None
            or self.n_rounds_done >= self.settings.n_rounds - self.settings.n_rounds_kept
        )

    def prepare_scoring(self, phi: Any) -> Round:
        """Put together what scoring needs; without the novelty loss, that is subsamples of the rows kept."""
        if self.settings.training.novelty_weight > 0:
            return Round(phi, self.mapping)
        n_subsamples, neighbour = self.settings.subsamples[0], self.settings.neighbour
        if neighbour and self.settings.n_references <= len(self.kept):  # each once, or a row meets itself twice
            chosen = self.rng.permutation(self.kept)[: self.settings.n_references]
        else:
            chosen = self.kept[self.rng.integers(len(self.kept), size=self.settings.n_references)]
        return Round(phi, self.mapping, phi(self.rows[chosen]), n_subsamples=n_subsamples, neighbour=neighbour)


def may_rotate(settings: BoostingSettings, rows: Rows) -> bool:
    """Tell whether to train in the span of the rows: it is smaller, and nobody but us looks at the columns."""
    is_wide = not sp.issparse(rows) and rows.shape[0] < rows.shape[1]
    return is_wide and settings.training.pairs == "one" and not settings.torch.sees_columns


def wanted_directions(settings: BoostingSettings, n_columns: int) -> int | None:
    """In how many directions W is trained; None if there are no more columns, or φ is not one layer of ours."""
    is_short = settings.n_directions is not None and settings.n_directions < n_columns
    is_one_layer = settings.training.pairs == "one" and settings.torch.widths == ()
    return settings.n_directions if is_short and is_one_layer and not settings.torch.sees_columns else None


def check_targets(targets: Floats, settings: BoostingSettings) -> None:
    """See that the novelty loss has as many targets as it has components to compare with."""
    if settings.training.novelty_weight > 0 and targets.shape[1] != settings.n_components:
        raise ValueError(
            f"The novelty loss compares φ and η component by component, and the mapping has {targets.shape[1]} targets "
            f"where 'n_components' is {settings.n_components}. Make them equal, or pass novelty_weight=0."
        )


def judge_rows(
    judge: Round, phi: Floats, targets: Floats, kept: Ints, *, evenness: float
) -> tuple[Round, Floats, Floats]:
    """Anomaly scores of rows by one round, with residuals of even size as far as asked for.

    phi : of the rows, overwritten; targets : η of the rows
    evenness : 1 for residuals of the same size, 0 to take them as they are
    Returns the round as it is to score from now on, the scores, and what its components were divided by, if anything.
    """
    if judge.references is not None:
        scores = nearest_subsample_scores(phi, lifted(judge.references), judge.n_subsamples, judge.neighbour)
        return judge, scores, np.empty(0, dtype=np.float32)
    phi -= targets
    if not (evenness and can_even_out(judge, len(phi))):
        return judge, mean_squares(phi), np.empty(0, dtype=np.float32)
    phi *= phi
    sizes = sizes_of(phi, kept) ** np.float32(evenness)
    return divided(judge, sizes), phi @ (1.0 / (sizes * sizes * np.float32(sizes.size))), sizes


def shortest_typical(judge: Round) -> float:
    """What a typical distance is at least, where most rows have their like among the references; 0 without any."""
    if judge.references is None:
        return 0.0
    return SHORTEST * float(np.sqrt(np.mean(np.sum(judge.references**2, axis=1))))


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
