"""Boosting many members in lockstep: all train a round together, then each scores and drops rows of its own.

That is what PyTorch and plain NumPy do with the members of an ensemble: one batched computation in place of many small
ones. The compiled kernels gain nothing by it, and train members one by one (`boosting.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed, effective_n_jobs

from rdplearn._threads import one_blas_thread
from rdplearn._training.boosting import BoostedMember, Boosting, BoostingSettings, may_rotate
from rdplearn._training.loop import record_of, start_stack, stretch_length
from rdplearn._training.progress import Watch
from rdplearn._types import Ints, Rows
from rdplearn.callbacks import Records

LARGEST_STACK = 2**30  # bytes of rows and targets that are held at a time


@dataclass(frozen=True)
class MemberTask:
    """What a member is brought up from: see `rdplearn._training.boosting.boost`."""

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
    """Bring up members, as many at a time as memory allows. n_jobs : threads that PyTorch or stacks may use."""
    if settings.engine == "torch":
        from rdplearn._training.engines.torch_device import (
            torch_threads,  # here, because importing PyTorch takes seconds
        )

        for stack in stacks(tasks, settings):
            with torch_threads(n_jobs):
                members = boost_stack(stack, settings, watch)
            yield from members
        return
    most_members = -(-watch.n_members // effective_n_jobs(n_jobs))  # every thread gets its share
    jobs = (delayed(boost_stack)(stack, settings, watch) for stack in stacks(tasks, settings, most_members))
    for members in Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator_unordered")(jobs):
        yield from members


def stacks(
    tasks: Iterable[MemberTask], settings: BoostingSettings, most_members: int | None = None
) -> Iterator[list[MemberTask]]:
    """Cut the members into stacks that fit into memory, each of members with the same number of columns."""
    growing: dict[tuple[int, ...], list[MemberTask]] = {}
    for task in tasks:
        stack = growing.setdefault(kind_of_stack(task, settings), [])
        n_bytes = sum(other.n_bytes(settings.n_targets) for other in (*stack, task))
        if stack and (len(stack) == most_members or n_bytes > LARGEST_STACK):
            yield list(stack)
            stack.clear()
        stack.append(task)
    yield from growing.values()


def kind_of_stack(task: MemberTask, settings: BoostingSettings) -> tuple[int, ...]:
    """What members of a stack have in common: their columns. NumPy takes sparse and rotated rows one by one."""
    is_alone = settings.engine == "numpy" and (sp.issparse(task.rows) or may_rotate(settings, task.rows))
    return (task.rows.shape[1], task.number) if is_alone else (task.rows.shape[1],)


def boost_stack(tasks: list[MemberTask], settings: BoostingSettings, watch: Watch) -> list[BoostedMember]:
    """Bring up the members of one stack, round by round; members that were saved join in where they stopped."""
    with one_blas_thread():
        members = [Boosting(t.number, t.rows, t.draws, t.kind, settings, t.seeds, watch) for t in tasks]
        while behind := [member for member in members if member.n_rounds_done < settings.n_rounds]:
            first_round = min(member.n_rounds_done for member in behind)
            train_round([member for member in behind if member.n_rounds_done == first_round], settings)
    return [member.member for member in members]


def train_round(members: list[Boosting], settings: BoostingSettings) -> None:
    """Train one round of all members together."""
    training = settings.training
    problems = [member.begin_round() for member in members]
    steps = start_stack(settings.engine, problems, training, settings.torch)
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
