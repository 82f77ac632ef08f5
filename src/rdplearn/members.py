"""All members of an ensemble: each one's rows and seed, where it is trained, and what they become together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed

from rdplearn.boosting import BoostedMember, BoostingSettings, boost
from rdplearn.matrix import Matrix
from rdplearn.progress import Watch
from rdplearn.random_mapping import Rows
from rdplearn.scoring import Ensemble
from rdplearn.stacked_members import MemberTask, boost_stacked
from rdplearn.threads import one_blas_thread, one_blas_thread_in_worker

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Sampling:
    """Which rows of the table a member trains on: drawn uniformly, with replacement.

    held_back : groups of rows; member m sees none of group m modulo their number
    """

    n_rows: int
    n_draws: int
    held_back: list[Ints]

    def draw(self, member: int, rng: np.random.Generator) -> Ints:
        """Draw a member's rows."""
        if not self.held_back:
            return rng.integers(self.n_rows, size=self.n_draws)
        unseen = self.held_back[member % len(self.held_back)]
        draws = np.empty(0, dtype=np.int64)
        while len(draws) < self.n_draws:
            more = rng.integers(self.n_rows, size=self.n_draws)
            draws = np.concatenate([draws, more[~np.isin(more, unseen)]])
        return draws[: self.n_draws]


@dataclass
class TrainedMembers:
    """What came out of training.

    ensembles : one for the last round, or one for every round if they were to be kept
    rows_of_member : the rows of the table that each member has seen
    """

    ensembles: list[Ensemble]
    rows_of_member: list[Ints]
    history: list[dict[str, float]]


def train_members(
    matrix: Matrix,
    view: Callable[[Matrix], Rows],
    sampling: Sampling,
    settings: BoostingSettings,
    n_members: int,
    seed: int,
    n_jobs: int | None,
    *,
    verbose: bool,
) -> TrainedMembers:
    """Train every member on its own rows of the table; only these are ever scaled or copied."""
    rows_of_member: list[Ints] = []

    def tasks() -> Iterator[MemberTask]:
        for number, member_seed in enumerate(np.random.SeedSequence(seed).spawn(n_members)):
            drawing, training = member_seed.spawn(2)
            distinct, draws = np.unique(sampling.draw(number, np.random.default_rng(drawing)), return_inverse=True)
            rows_of_member.append(distinct)
            yield MemberTask(number, view(matrix[distinct]), draws, training)

    trained: list[BoostedMember] = []
    ensembles: list[Ensemble] = []
    with (
        Watch(n_members, settings.n_rounds, settings.training.n_steps, visible=verbose) as watch,
        one_blas_thread(),
    ):
        for member in boost_all(tasks(), settings, watch, n_jobs):
            watch.finish(member.number)
            ensembles = ensembles or [Ensemble(n_members, example) for example in member.rounds]
            for ensemble, trained_round in zip(ensembles, member.rounds, strict=True):
                ensemble.put(member.number, trained_round)
            member.rounds = []  # its weights stand in the ensemble now
            trained.append(member)
    trained.sort(key=lambda member: member.number)
    return TrainedMembers(ensembles, rows_of_member, [record for member in trained for record in member.history])


def boost_all(
    tasks: Iterator[MemberTask], settings: BoostingSettings, watch: Watch, n_jobs: int | None
) -> Iterator[BoostedMember]:
    """Bring up all members: stacked if PyTorch does it, else spread over threads or joblib's backend."""
    if settings.engine == "torch":
        return boost_stacked(tasks, settings, watch, n_jobs)
    jobs = (delayed(_boost)(os.getpid(), task, settings, watch) for task in tasks)
    return Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator_unordered")(jobs)


def _boost(caller: int, task: MemberTask, settings: BoostingSettings, watch: Watch) -> BoostedMember:
    with one_blas_thread_in_worker(caller):
        return boost(task.number, task.rows, task.draws, settings, task.seeds, watch)
