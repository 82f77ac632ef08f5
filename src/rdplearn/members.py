"""All members of an ensemble: the rows and seed of each, threads or another joblib backend, and the ensemble they become."""

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
from rdplearn.threads import one_blas_thread, one_blas_thread_in_worker

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass
class TrainedMembers:
    """What came out of training.

    ensembles : one for the last round, or one for every round if they were to be kept
    survives : (n_calibration_rows, n_members), whether boosting would have kept the row
    trained_on : (n_calibration_rows, n_members), whether the member has seen the row
    """

    ensembles: list[Ensemble]
    survives: Bools
    trained_on: Bools
    history: list[dict[str, float]]


def train_members(
    matrix: Matrix,
    view: Callable[[Matrix], Rows],
    samples: Callable[[int, np.random.Generator], Ints],
    calibration: Ints,
    settings: BoostingSettings,
    n_members: int,
    seed: int,
    n_jobs: int | None,
    *,
    verbose: bool,
) -> TrainedMembers:
    """Train every member on its own rows.

    Parameters
    ----------
    matrix : (n_rows, n_columns), the whole table; only the rows that are drawn are ever scaled or copied
    samples : gives the rows that a member trains on, from its number and a generator
    calibration : rows of the table that every member judges in every round
    """
    calibration_rows = view(matrix[calibration])
    seen = np.zeros((len(calibration), n_members), dtype=bool)

    def tasks(watch: Watch) -> Iterator[object]:
        for number, member_seed in enumerate(np.random.SeedSequence(seed).spawn(n_members)):
            sampling, training = member_seed.spawn(2)
            distinct, draws = np.unique(samples(number, np.random.default_rng(sampling)), return_inverse=True)
            seen[:, number] = np.isin(calibration, distinct)
            rows = view(matrix[distinct])
            yield delayed(_boost)(os.getpid(), number, rows, draws, calibration_rows, settings, training, watch)

    trained: list[BoostedMember] = []
    ensembles: list[Ensemble] = []
    with Watch(n_members, settings.n_rounds, settings.training.n_steps, visible=verbose) as watch, one_blas_thread():
        for member in Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator_unordered")(tasks(watch)):
            watch.finish(member.number)
            ensembles = ensembles or [Ensemble(n_members, example) for example in member.rounds]
            for ensemble, round_ in zip(ensembles, member.rounds, strict=True):
                ensemble.put(member.number, round_)
            member.rounds = []  # its weights stand in the ensemble now
            trained.append(member)
    trained.sort(key=lambda member: member.number)
    return TrainedMembers(
        ensembles,
        np.stack([member.survives for member in trained], axis=1),
        seen,
        [record for member in trained for record in member.history],
    )


def _boost(
    caller: int,
    number: int,
    rows: Rows,
    draws: Ints,
    calibration_rows: Rows,
    settings: BoostingSettings,
    seeds: np.random.SeedSequence,
    watch: Watch,
) -> BoostedMember:
    with one_blas_thread_in_worker(caller):
        return boost(number, rows, draws, calibration_rows, settings, seeds, watch)
