"""REPEN (Pang, Cao, Chen, Liu 2018): a representation that puts LeSiNN's anomalies far from inliers.

LeSiNN scores the rows; Cantelli's inequality (scores above mean + 1.732 standard deviations) parts candidates
for anomalies from inliers; one ReLU layer of 20 units is trained on triplets (inlier, inlier, candidate) with
a hinge of margin 1,000 on squared distances; LeSiNN in the new space gives the score. Sizes are the
original's.
"""

from __future__ import annotations

from typing import Self

import numpy as np
import torch

from experiments.baselines.ensemble import MAX_SAMPLES, Ensemble, dense
from experiments.baselines.lesinn import lesinn_scores
from experiments.baselines.networks import in_blocks, seeded
from experiments.preprocessing import Rows

CANTELLI = 1.732


class RepenMember:
    """One ranking representation with its LeSiNN."""

    def __init__(
        self,
        *,
        n_components: int = 20,
        n_steps: int = 1_500,
        batch_size: int = 256,
        margin: float = 1_000.0,
        seed: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.margin = margin
        self.seed = seed

    def fit(self, rows: Rows) -> Self:
        scores = lesinn_scores(rows, rows, seed=self.seed)
        with seeded(self.seed):
            self.network_ = torch.nn.Sequential(torch.nn.Linear(rows.shape[1], self.n_components), torch.nn.ReLU())
        self.losses_ = self._train(torch.from_numpy(dense(rows)), scores)
        self.reference_ = self._transform(rows)
        return self

    def score(self, rows: Rows) -> np.ndarray:
        return lesinn_scores(self._transform(rows), self.reference_, seed=self.seed)

    def _train(self, rows: torch.Tensor, scores: np.ndarray) -> list[float]:
        optimiser = torch.optim.Adadelta(self.network_.parameters(), lr=1.0, rho=0.95, eps=1e-7)
        random = np.random.default_rng(self.seed)
        inliers, candidates, inlier_weights, candidate_weights = outlier_candidates(scores)
        losses = []
        for _ in range(self.n_steps):
            query, positive = random.choice(inliers, (2, self.batch_size), p=inlier_weights)
            negative = random.choice(candidates, self.batch_size, p=candidate_weights)
            near, centre, far = (self.network_(rows[torch.from_numpy(one)]) for one in (positive, query, negative))
            gap = (far - centre).square().sum(dim=1) - (near - centre).square().sum(dim=1)
            loss = torch.relu(self.margin - gap).mean()
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            losses.append(float(loss.detach()))
        return losses

    def _transform(self, rows: Rows) -> np.ndarray:
        return in_blocks(self.network_, rows)


def outlier_candidates(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Part rows by Cantelli's threshold: inliers, candidates, and the weights with which each is drawn.

    The most anomalous row is a candidate even if no score passes the threshold.
    """
    threshold = min(scores.mean() + CANTELLI * scores.std(), scores.max())
    inliers, candidates = np.flatnonzero(scores < threshold), np.flatnonzero(scores >= threshold)
    if len(inliers) == 0:
        inliers = candidates
    normality = scores[inliers].max() - scores[inliers] + 1e-12
    weights = scores[candidates] + 1e-12
    return inliers, candidates, normality / normality.sum(), weights / weights.sum()


class REPEN(Ensemble):
    """An ensemble of REPENs."""

    def __init__(
        self, *, n_members: int = 30, n_steps: int = 1_500, max_samples: int = MAX_SAMPLES, seed: int = 0
    ) -> None:
        super().__init__(
            lambda member_seed: RepenMember(n_steps=n_steps, seed=member_seed),
            n_members=n_members,
            max_samples=max_samples,
            seed=seed,
        )
