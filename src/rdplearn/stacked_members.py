"""Boosting many members in lockstep: all train a round together, then each scores and drops rows of its own.

That is what the torch engine does with the members of an ensemble: one batched computation in place of many small ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rdplearn.boosting import BoostedMember, Boosting, BoostingSettings
from rdplearn.callbacks import Records
from rdplearn.progress import Watch
from rdplearn.random_mapping import Rows
from rdplearn.threads import one_blas_thread
from rdplearn.training import record_of, stretch_length

Ints = npt.NDArray[np.int64]

LARGEST_STACK = 2**30  # bytes of rows and targets that are held at a time


@dataclass(frozen=True)
class MemberTask:
    """What a member is brought up from: see `rdplearn.boosting.boost`."""

    number: int
    rows: Rows
    draws: Ints
    kind: Any
    seeds: np.random.SeedSequence

    def n_bytes(self, n_targets: int) -> int:
        """Memory that the member's rows, targets and batches take in a stack."""
        n_rows, n_columns = self.rows.shape
        values = self.rows.nnz * 3 if sp.issparse(self.rows) else n_rows * n_columns
        return 4 * (values + n_rows * n_targets)


def boost_stacked(
    tasks: Iterable[MemberTask], settings: BoostingSettings, watch: Watch, n_jobs: int | None
) -> Iterator[BoostedMember]:
    """Bring up members, as many at a time as memory allows. n_jobs : threads that PyTorch may use."""
    from rdplearn.torch_device import torch_threads  # here, because importing PyTorch takes seconds

    for stack in stacks(tasks, settings.n_targets):
        with one_blas_thread(), torch_threads(n_jobs):
            members = boost_stack(stack, settings, watch)
        yield from members


def stacks(tasks: Iterable[MemberTask], n_targets: int) -> Iterator[list[MemberTask]]:
    """Cut the members into stacks that fit into memory, each of members with the same number of columns."""
    growing: dict[int, list[MemberTask]] = {}
    for task in tasks:
        stack = growing.setdefault(task.rows.shape[1], [])
        if stack and sum(other.n_bytes(n_targets) for other in (*stack, task)) > LARGEST_STACK:
            yield list(stack)
            stack.clear()
        stack.append(task)
    yield from growing.values()


def boost_stack(tasks: list[MemberTask], settings: BoostingSettings, watch: Watch) -> list[BoostedMember]:
    """Bring up the members of one stack, round by round; members that were saved join in where they stopped."""
    members = [Boosting(task.number, task.rows, task.draws, task.kind, settings, task.seeds, watch) for task in tasks]
    while behind := [member for member in members if member.n_rounds_done < settings.n_rounds]:
        first_round = min(member.n_rounds_done for member in behind)
        train_round([member for member in behind if member.n_rounds_done == first_round], settings)
    return [member.member for member in members]


def train_round(members: list[Boosting], settings: BoostingSettings) -> None:
    """Train one round of all members together."""
    from rdplearn.stacked_steps import StackedSteps

    training = settings.training
    problems = [member.begin_round() for member in members]
    steps = StackedSteps(problems, training, settings.torch)
    stretch = stretch_length(problems[0].rows, settings.n_components, training, settings.record_every)
    records: list[Records] = [[] for _ in members]
    going = set(range(len(members)))
    for first_step in range(0, training.n_steps, stretch):
        n_now = min(stretch, training.n_steps - first_step)
        for number, losses in enumerate(steps.run(first_step, n_now)):
            if number not in going:
                continue
            records[number].append(record_of(first_step + n_now, losses, ("distance", "novelty")))
            if members[number].report(records[number]):
                steps.stop(number)
                going.remove(number)
        if not going:
            break
    steps.finish()
    for member, problem, of_member in zip(members, problems, records, strict=True):
        member.end_round(problem, of_member)
