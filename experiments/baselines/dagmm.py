"""DAGMM (Zong et al. 2018): a Gaussian mixture over a row's code and its reconstruction error.

Compression D-60-M and back, tanh, M half of D but no more than 40 or the rows can bear; estimation (M + 2)-10-4 with
dropout 0.5; loss = reconstruction + 0.1 energy + 0.005 covariance penalty, Adam at 1e-4, 100 epochs. All but the code
and the epochs is the original's for its largest set, where these are D-60-30-10-1 and 200: members with a code of one
number disagree. The score is the energy, -log density.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Self

import numpy as np
import torch

from experiments.baselines.ensemble import MAX_SAMPLES, Ensemble, dense
from experiments.baselines.networks import in_blocks, layers, seeded, train
from experiments.preprocessing import Rows

_JITTER = 1e-6


class Mixture(NamedTuple):
    """Weights (k,), means (k, d) and covariances (k, d, d)."""

    weights: torch.Tensor
    means: torch.Tensor
    covariances: torch.Tensor


class DagmmMember:
    """One deep autoencoding Gaussian mixture."""

    def __init__(
        self,
        *,
        max_components: int = 40,
        n_mixtures: int = 4,
        n_epochs: int = 100,
        batch_size: int = 1_024,
        seed: int = 0,
    ) -> None:
        self.max_components = max_components
        self.n_mixtures = n_mixtures
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.seed = seed

    def fit(self, rows: Rows) -> Self:
        n_rows, n_columns = rows.shape
        # the root of the rows: their covariance has no more entries than there are rows
        n_components = max(1, min(self.max_components, n_columns // 2, math.isqrt(n_rows)))
        with seeded(self.seed):
            self.encoder_ = layers(n_columns, 60, n_components, activation=torch.nn.Tanh)
            self.decoder_ = layers(n_components, 60, n_columns, activation=torch.nn.Tanh)
            self.estimator_ = torch.nn.Sequential(
                torch.nn.Linear(n_components + 2, 10),
                torch.nn.Tanh(),
                torch.nn.Dropout(0.5),
                torch.nn.Linear(10, self.n_mixtures),
            )
            parts = (self.encoder_, self.decoder_, self.estimator_)
            optimiser = torch.optim.Adam([p for part in parts for p in part.parameters()], lr=1e-4)
            table = torch.from_numpy(dense(rows))
            n_steps = math.ceil(self.n_epochs * max(1.0, n_rows / self.batch_size))
            self.losses_ = train(
                self._loss, optimiser, table, n_steps=n_steps, batch_size=self.batch_size, seed=self.seed
            )
        self.estimator_.eval()
        with torch.no_grad():
            codes, _ = self._codes(table)
            self.mixture_ = mixture_of(codes, torch.softmax(self.estimator_(codes), dim=1))
        return self

    def score(self, rows: Rows) -> np.ndarray:
        return in_blocks(lambda block: energy(self._codes(block)[0], self.mixture_), rows)

    def _loss(self, batch: torch.Tensor) -> torch.Tensor:
        codes, errors = self._codes(batch)
        mixture = mixture_of(codes, torch.softmax(self.estimator_(codes), dim=1))
        penalty = (1 / mixture.covariances.diagonal(dim1=1, dim2=2)).sum()
        return errors.mean() + 0.1 * energy(codes, mixture).mean() + 0.005 * penalty

    def _codes(self, batch: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Give (code, relative distance, cosine) of every row, and its squared reconstruction error."""
        code = self.encoder_(batch)
        again = self.decoder_(code)
        residual = batch - again
        # sums of products, (n_rows,): on thousands of columns, norms of tables cost most of a step
        squares = torch.einsum("nd,nd->n", residual, residual)
        product = torch.einsum("nd,nd->n", batch, again)
        length = batch.norm(dim=1).clamp_min(1e-6)
        distance = squares.clamp_min(1e-12).sqrt() / length
        cosine = product / (length * again.norm(dim=1).clamp_min(1e-6))
        return torch.cat([code, distance[:, None], cosine[:, None]], dim=1), squares / batch.shape[1]


def mixture_of(codes: torch.Tensor, memberships: torch.Tensor) -> Mixture:
    """Give the mixture that soft memberships (n, k) of codes (n, d) define (equation 5 of Zong et al.).

    In 64 bits: in 32 the covariance of numbers that say the same need not be positive definite.
    """
    codes, memberships = codes.double(), memberships.double()
    mass = memberships.sum(dim=0).clamp_min(1e-6)
    means = memberships.T @ codes / mass[:, None]
    centred = codes[:, None, :] - means  # (n, k, d)
    covariances = torch.einsum("nk,nki,nkj->kij", memberships, centred, centred) / mass[:, None, None]
    return Mixture(mass / len(codes), means, covariances + _JITTER * torch.eye(codes.shape[1], dtype=codes.dtype))


def energy(codes: torch.Tensor, mixture: Mixture) -> torch.Tensor:
    """Give -log density of codes (n, d) under the mixture (equation 6 of Zong et al.)."""
    factors = torch.linalg.cholesky(mixture.covariances)  # (k, d, d)
    centred = codes[:, None, :] - mixture.means  # (n, k, d)
    whitened = torch.linalg.solve_triangular(factors, centred.permute(1, 2, 0), upper=False)  # (k, d, n)
    log_root = factors.diagonal(dim1=1, dim2=2).log().sum(dim=1)
    constant = 0.5 * codes.shape[1] * math.log(2 * math.pi)
    log_density = -0.5 * whitened.square().sum(dim=1) - log_root[:, None] - constant  # (k, n)
    return -torch.logsumexp(log_density + mixture.weights.log()[:, None], dim=0).to(codes.dtype)


class DAGMM(Ensemble):
    """An ensemble of DAGMMs."""

    def __init__(
        self,
        *,
        n_members: int = 30,
        max_components: int = 40,
        n_epochs: int = 100,
        max_samples: int = MAX_SAMPLES,
        seed: int = 0,
    ) -> None:
        super().__init__(
            lambda member_seed: DagmmMember(max_components=max_components, n_epochs=n_epochs, seed=member_seed),
            n_members=n_members,
            max_samples=max_samples,
            seed=seed,
        )
