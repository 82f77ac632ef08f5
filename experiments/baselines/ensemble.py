"""Members of one kind, each fitted to its own sample of rows; the score is their mean (appendix A)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np
import scipy.sparse as sp

from experiments.baselines import Detector
from experiments.preprocessing import Rows

MAX_SAMPLES = 10_000


class Ensemble:
    """Detectors fitted to samples without replacement of at most `max_samples` rows.

    Parameters
    ----------
    make_member : called with a seed
    n_members : the paper's ensembles have 30
    """

    def __init__(
        self,
        make_member: Callable[[int], Detector],
        *,
        n_members: int = 30,
        max_samples: int = MAX_SAMPLES,
        seed: int = 0,
    ) -> None:
        self.make_member = make_member
        self.n_members = n_members
        self.max_samples = max_samples
        self.seed = seed

    def fit(self, rows: Rows) -> Self:
        seeds = np.random.SeedSequence(self.seed).generate_state(self.n_members)
        self.members_ = [self.make_member(int(seed)).fit(sample_rows(rows, self.max_samples, seed)) for seed in seeds]
        return self

    def member_scores(self, rows: Rows) -> np.ndarray:
        return np.stack([member.score(rows) for member in self.members_])  # (n_members, n_rows)

    def score(self, rows: Rows) -> np.ndarray:
        return self.member_scores(rows).mean(axis=0)


def sample_rows(rows: Rows, at_most: int, seed: int) -> Rows:
    """Draw rows without replacement; all of them, in their order, if they are few enough."""
    if rows.shape[0] <= at_most:
        return rows
    chosen = np.random.default_rng(seed).choice(rows.shape[0], at_most, replace=False)
    return rows[np.sort(chosen)]


def dense(rows: Rows) -> np.ndarray:
    """Give rows as a dense float32 array."""
    return np.ascontiguousarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float32)
