"""All members of an ensemble: each one's rows and seed, where it is trained, and what they become together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from rdplearn._scoring.scores import Ensemble, Panel
from rdplearn._threads import one_blas_thread
from rdplearn._training.boosting import BoostedMember, Boosting, BoostingSettings, boost
from rdplearn._training.progress import Watch
from rdplearn._training.stacks import MemberTask, boost_stacked
from rdplearn._types import Doubles, Ints, Matrix, Rows
from rdplearn._views.view import SeenRows, View, rows_through, worth_sharing

MEMBERS_A_DECK = 8  # of a large table, so many members' rows are drawn at a time


@dataclass(frozen=True)
class Sampling:
    """Which rows of the table members train on: uniform draws.

    bootstrap : each draws for itself, with replacement; otherwise rows are dealt out like cards, so that members share
        none before most have had their turn: what one does not see, another does
    held_back : rows that no member sees
    """

    n_rows: int
    n_draws: int
    bootstrap: bool
    held_back: Ints

    def draw(self, seeds: Sequence[np.random.SeedSequence]) -> Iterator[Ints]:
        """Draw the rows of each member. seeds : one for each; a member's rows do not depend on how many follow."""
        if self.bootstrap:
            return (self._with_replacement(np.random.default_rng(seed)) for seed in seeds)
        return self._dealt(len(seeds), np.random.default_rng(seeds[0]))

    def _with_replacement(self, rng: np.random.Generator) -> Ints:
        draws = np.empty(0, dtype=np.int64)
        while len(draws) < self.n_draws:
            more = rng.integers(self.n_rows, size=self.n_draws)
            draws = np.concatenate([draws, more[~np.isin(more, self.held_back)]])
        return draws[: self.n_draws]

    def _dealt(self, n_members: int, rng: np.random.Generator) -> Iterator[Ints]:
        """Deal rows from a shuffled deck, then from the next one; none twice to a member."""
        n_each = min(self.n_draws, self.n_rows - len(self.held_back))
        left = np.empty(0, dtype=np.int64)
        for _ in range(n_members):
            if len(left) < n_each:
                deck = self._deck(rng)
                left = np.concatenate([left, deck[~np.isin(deck, left)]])
            yield left[:n_each]
            left = left[n_each:]

    def _deck(self, rng: np.random.Generator) -> Ints:
        """All rows in random order; of a large table, enough for a few members."""
        n_wanted = MEMBERS_A_DECK * self.n_draws + len(self.held_back)
        deck = rng.choice(self.n_rows, size=min(n_wanted, self.n_rows), replace=False)
        return deck[~np.isin(deck, self.held_back)]


@dataclass(frozen=True)
class Part:
    """What makes a member differ from others: how it sees the columns, and its kind of random mapping."""

    view: str
    mapping: Any


@dataclass(frozen=True)
class Plan:
    """What it takes to train one member.

    rows : of the table, each once; draws : the member's sample, as indices of `rows`
    """

    number: int
    part: Part
    rows: Ints
    draws: Ints
    seeds: np.random.SeedSequence


@dataclass
class TrainedMembers:
    """What came out of training.

    panels : the members, with the rounds that were to be kept
    spreads : (n_members,), see `BoostedMember`
    """

    panels: list[Panel]
    spreads: Doubles
    history: list[dict[str, float]]


def plan_members(parts: list[Part], sampling: Sampling, seed: int) -> list[Plan]:
    """Draw every member's rows. parts : of each member."""
    plans = []
    of_members = [member_seed.spawn(2) for member_seed in np.random.SeedSequence(seed).spawn(len(parts))]
    drawn = sampling.draw([drawing for drawing, _ in of_members])
    for number, (part, of_member, (_, training)) in enumerate(zip(parts, drawn, of_members, strict=True)):
        rows, draws = np.unique(of_member, return_inverse=True)
        plans.append(Plan(number, part, rows, draws, training))
    return plans


def train_members(
    matrix: Matrix,
    views: dict[str, View],
    plans: list[Plan],
    settings: BoostingSettings,
    n_jobs: int | None,
    *,
    verbose: bool,
) -> TrainedMembers:
    """Train every member on its own rows of the table; only these are ever scaled or copied."""
    is_shared = worth_sharing(matrix, sum(len(plan.rows) for plan in plans))
    whole = SeenRows(matrix, views.values()) if is_shared else None

    def tasks() -> Iterator[tuple[Plan, Rows]]:
        for plan in plans:
            yield plan, rows_through(views[plan.part.view], matrix, plan.rows, whole)

    with Watch(len(plans), settings.n_rounds, settings.training.n_steps, visible=verbose) as watch:
        return seat_members(train_all(tasks(), settings, watch, n_jobs), plans, views, watch)


def train_all(
    tasks: Iterator[tuple[Plan, Rows]], settings: BoostingSettings, watch: Watch, n_jobs: int | None
) -> Iterator[BoostedMember]:
    """Train members, each with its rows: stacked, or if they are compiled spread over threads or joblib's backend."""
    if settings.engine != "numba":
        return boost_stacked((stacked_task(rows, plan) for plan, rows in tasks), settings, watch, n_jobs)
    jobs = (delayed(train_member)(rows, plan, settings, watch) for plan, rows in tasks)
    return Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator_unordered")(jobs)


def train_member(rows: Rows, plan: Plan, settings: BoostingSettings, watch: Watch) -> BoostedMember:
    """Train one member on its rows as its view shows them."""
    if settings.engine != "numba":
        return next(boost_stacked([stacked_task(rows, plan)], settings, watch, n_jobs=1))
    with one_blas_thread():
        return boost(Boosting(plan.number, rows, plan.draws, plan.part.mapping, settings, plan.seeds, watch))


def stacked_task(rows: Rows, plan: Plan) -> MemberTask:
    """A member as the engines that stack members take it."""
    return MemberTask(plan.number, rows, plan.draws, plan.part.mapping, plan.seeds)


def seat_members(
    members: Iterable[BoostedMember], plans: list[Plan], views: dict[str, View], watch: Watch
) -> TrainedMembers:
    """Put members together as they arrive, in any order."""
    trained: list[BoostedMember] = []
    seats = Seats([plan.part for plan in plans], views)
    for member in members:
        watch.finish(member.number)
        seats.take(member)
        trained.append(member)
    trained.sort(key=lambda member: member.number)
    return TrainedMembers(
        seats.panels,
        np.array([member.spread for member in trained]),
        [record for member in trained for record in member.history],
    )


class Seats:
    """Panels that fill up as members arrive; those with the same part sit together."""

    def __init__(self, parts: list[Part], views: dict[str, View]) -> None:
        kinds = [part for number, part in enumerate(parts) if part not in parts[:number]]
        numbers = [np.flatnonzero([part == kind for part in parts]) for kind in kinds]
        self.panels = [Panel(m, views[kind.view], []) for m, kind in zip(numbers, kinds, strict=True)]

    def take(self, member: BoostedMember) -> None:
        """Seat a member; its weights stand in its panel from then on."""
        panel = next(panel for panel in self.panels if member.number in panel.members)
        place = int(np.searchsorted(panel.members, member.number))
        if not panel.ensembles:
            panel.ensembles.extend(Ensemble(len(panel.members), example) for example in member.rounds)
        for ensemble, trained_round in zip(panel.ensembles, member.rounds, strict=True):
            ensemble.put(place, trained_round)
        member.rounds = []
