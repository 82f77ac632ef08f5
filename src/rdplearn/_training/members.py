"""All members of an ensemble: each one's rows and seed, where it is trained, and what they become together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed, effective_n_jobs

from rdplearn._model.mapping import with_options
from rdplearn._model.panel import Member, Panel
from rdplearn._model.threads import one_blas_thread
from rdplearn._training.boosting import (
    Boosting,
    BoostingSettings,
    MemberPlan,
    boost,
    leading_space,
    may_rotate,
    wanted_directions,
)
from rdplearn._training.progress import Watch
from rdplearn._training.row_space import RowSpace, leading_directions, rows_for_directions, turned
from rdplearn._types import Floats, Ints, Matrix, Rows
from rdplearn._views.view import SeenRows, View, rows_through, worth_sharing

LARGEST_STACK = 2**30  # bytes of rows and targets that are held at a time
MEMBERS_A_DECK = 8  # of a large table, so many members' rows are drawn at a time


@dataclass(frozen=True)
class Sampling:
    """Which rows of the table members train on: uniform draws.

    bootstrap : each draws for itself, with replacement; otherwise rows are dealt out like cards, so that members share
        none before most have had their turn: what one does not see, another does
    held_back : rows that no member sees
    n_parts : each member leaves out one of so many parts of the rows, in turn, and every row is unseen by as many; 0 if
        a member may see all
    """

    n_rows: int
    n_draws: int
    bootstrap: bool
    held_back: Ints
    n_parts: int = 0

    def draw(self, seeds: Sequence[np.random.SeedSequence]) -> Iterator[Ints]:
        """Draw the rows of each member. seeds : one for each; a member's rows do not depend on how many follow."""
        if self.n_parts:
            return self._without_a_part(seeds)
        if self.bootstrap:
            return (self._with_replacement(np.random.default_rng(seed)) for seed in seeds)
        return self._dealt(len(seeds), np.random.default_rng(seeds[0]))

    def _with_replacement(self, rng: np.random.Generator) -> Ints:
        draws = np.empty(0, dtype=np.int64)
        while len(draws) < self.n_draws:
            more = rng.integers(self.n_rows, size=self.n_draws)
            draws = np.concatenate([draws, more[~np.isin(more, self.held_back)]])
        return draws[: self.n_draws]

    def _without_a_part(self, seeds: Sequence[np.random.SeedSequence]) -> Iterator[Ints]:
        """Draw from all rows but those of one part, none twice to a member."""
        parts = np.array_split(np.random.default_rng(seeds[0]).permutation(self.n_rows), self.n_parts)
        n_each = min(self.n_draws, self.n_rows - len(parts[0]))  # the same for all: the first part is the largest
        part_of = np.empty(self.n_rows, dtype=np.int64)
        for number, part in enumerate(parts):
            part_of[part] = number
        for number, seed in enumerate(seeds):
            others = np.flatnonzero(part_of != number % self.n_parts)
            yield others if n_each == len(others) else np.random.default_rng(seed).choice(others, n_each, replace=False)

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


def plan_members(turns: Sequence[tuple[str, Any]], sampling: Sampling, seed: int) -> list[MemberPlan]:
    """Draw every member's rows. turns : the view and the mapping of each member."""
    of_members = [member_seed.spawn(2) for member_seed in np.random.SeedSequence(seed).spawn(len(turns))]
    drawn = sampling.draw([drawing for drawing, _ in of_members])
    plans = []
    for number, ((view, mapping), of_member, (_, training)) in enumerate(zip(turns, drawn, of_members, strict=True)):
        rows, draws = np.unique(of_member, return_inverse=True)
        plans.append(MemberPlan(number, view, mapping, rows, draws, training))
    return plans


Team = tuple[list[MemberPlan], BoostingSettings]  # members that come about in the same way


SeenMember = tuple[MemberPlan, Rows, RowSpace | None]  # its rows on their columns, and in their leading directions


def train_members(
    matrix: Matrix, views: dict[str, View], teams: Sequence[Team], seed: int, n_jobs: int | None, *, verbose: bool
) -> tuple[list[Panel], list[Member]]:
    """Train every member on its own rows of the table; only these are ever scaled or copied. See `seat_members`."""
    plans = [plan for of_team, _ in teams for plan in of_team]
    is_shared = worth_sharing(matrix, sum(len(plan.rows) for plan in plans))
    whole = SeenRows(matrix, views.values()) if is_shared else None

    @cache
    def directions(name: str, n_wanted: int) -> tuple[Floats, Floats | None]:
        """The leading ones of the rows through a view, and all rows in them if members share what is seen."""
        sample = rows_for_directions(matrix.shape[0], seed)
        basis = leading_directions(rows_through(views[name], matrix, sample, whole), n_wanted)
        return basis, None if whole is None else turned(whole.through(views[name]), basis)

    def seen(team: Team) -> Iterator[SeenMember]:
        of_team, settings = team
        n_wanted = wanted_directions(settings, matrix.shape[1])
        for plan in of_team:
            rows = rows_through(views[plan.view], matrix, plan.rows, whole)
            if n_wanted is None or not has_directions(views[plan.view]):
                yield plan, rows, None
                continue
            basis, of_all = directions(plan.view, n_wanted)
            yield plan, rows, leading_space(rows, basis, settings, None if of_all is None else of_all[plan.rows])

    first = teams[0][1]
    with Watch(len(plans), first.n_rounds, first.training.n_steps, visible=verbose) as watch:
        trained = (train_seen(seen(team), team[1], watch, n_jobs) for team in teams)
        return seat_members(chain.from_iterable(trained), plans, views, watch)


def has_directions(view: View) -> bool:
    """Whether a few directions are found of the rows through a view.

    Several views side by side have too many columns for that, and no member of a very wide table has them.
    """
    return len(view.parts) == 1


def train_seen(
    seen: Iterable[SeenMember], settings: BoostingSettings, watch: Watch, n_jobs: int | None
) -> Iterator[Member]:
    """Train members, each with its rows as its view shows them, as many at a time as memory allows.

    n_jobs : threads that PyTorch may use, or that stacks of members are spread over
    """
    if settings.engine == "torch":
        for stack in stacks(seen, settings, None):
            yield from train_stack(stack, settings, watch, n_jobs)
        return
    n_threads = effective_n_jobs(n_jobs)
    # compiled members gain nothing by a stack; of plain ones, every thread gets its share
    most_members = 1 if settings.engine == "numba" else -(-watch.n_members // n_threads)
    jobs = (delayed(train_stack)(stack, settings, watch, 1) for stack in stacks(seen, settings, most_members))
    for members in as_they_finish(n_jobs)(jobs):
        yield from members


def as_they_finish(n_jobs: int | None) -> Parallel:
    """Work spread over threads or what `joblib.parallel_config` says, results as they come where it can."""
    try:
        return Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator_unordered")
    except ValueError:  # the backend "multiprocessing" gives results back all at once
        return Parallel(n_jobs=n_jobs, prefer="threads")


def train_stack(stack: list[SeenMember], settings: BoostingSettings, watch: Watch, n_jobs: int | None) -> list[Member]:
    """Bring up the members of one stack."""
    with one_blas_thread(), engine_threads(settings.engine, n_jobs):
        return boost([Boosting(plan, rows, settings, watch, leading) for plan, rows, leading in stack], settings)


def engine_threads(engine: str, n_jobs: int | None) -> AbstractContextManager[None]:
    """Hold PyTorch, if it is used, to the threads asked for."""
    if engine != "torch":
        return nullcontext()
    from rdplearn._training.engines.torch_device import torch_threads  # here: importing PyTorch takes seconds

    return torch_threads(n_jobs)


def stacks(
    seen: Iterable[SeenMember], settings: BoostingSettings, most_members: int | None
) -> Iterator[list[SeenMember]]:
    """Cut the members into stacks that fit into memory, each of members with the same number of columns."""
    growing: dict[tuple[int, ...], list[SeenMember]] = {}
    for member in seen:
        stack = growing.setdefault(kind_of_stack(member, settings), [])
        n_bytes = sum(stacked_bytes(rows, settings, plan.mapping) for plan, rows, _ in (*stack, member))
        if stack and (len(stack) == most_members or n_bytes > LARGEST_STACK):
            yield list(stack)
            stack.clear()
        stack.append(member)
    yield from growing.values()


def kind_of_stack(member: SeenMember, settings: BoostingSettings) -> tuple[int, ...]:
    """What members of a stack have in common: their columns. NumPy takes sparse and rotated rows one by one."""
    plan, rows, leading = member
    if leading is not None:
        return (leading.rows.shape[1],)
    by_itself = sp.issparse(rows) or may_rotate(settings, rows)
    is_alone = settings.engine == "numpy" and by_itself
    return (rows.shape[1], plan.number) if is_alone else (rows.shape[1],)


def stacked_bytes(rows: Rows, settings: BoostingSettings, mapping: Any) -> int:
    """Memory that a member's rows, targets and batches take in a stack."""
    n_rows, n_columns = rows.shape
    n_values = rows.nnz * 3 if sp.issparse(rows) else n_rows * n_columns
    return int(4 * (n_values + n_rows * (with_options(mapping).n_targets or settings.n_components)))


def seat_members(
    members: Iterable[Member], plans: list[MemberPlan], views: dict[str, View], watch: Watch
) -> tuple[list[Panel], list[Member]]:
    """Put members together as they arrive, in any order; those with the same view and mapping sit in one panel.

    Returns the panels, and the members in their order: their weights stand in the panels from then on.
    """
    kinds = [(plan.view, plan.mapping) for plan in plans]
    first_of_kind = [number for number, kind in enumerate(kinds) if kind not in kinds[:number]]
    numbers = {first: [n for n, kind in enumerate(kinds) if kind == kinds[first]] for first in first_of_kind}
    panels: dict[int, Panel] = {}
    arrived: list[Member] = []
    for member in members:
        watch.finish(member.number)
        first = next(first for first, of_kind in numbers.items() if member.number in of_kind)
        if first not in panels:
            panels[first] = Panel(numbers[first], views[kinds[first][0]], len(member.rounds), member.rounds[0])
        panels[first].put(numbers[first].index(member.number), member.rounds)
        member.rounds = []
        arrived.append(member)
    return [panels[first] for first in first_of_kind], sorted(arrived, key=lambda member: member.number)
