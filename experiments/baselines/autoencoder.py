"""Autoencoder (Hinton, Salakhutdinov 2006): to detect by reconstruction error, and as a representation.

The paper names no settings. Those of the package most used then (PyOD 0.7: 64-32-32-64 ReLU units, a penalty
of 0.1 on squared activations) drive the code to zero, so that every row is reconstructed as the mean row: the
score is the distance to the mean. That is near the paper's column on most sets, though neither on all nor to the
third digit (the notes under Table 1 in docs/results_tables.md count them); `activity_penalty=0` gives an autoencoder
that learns. As a representation:
one layer of 1,024 leaky units and a linear decoder, as RDP's own network, since the paper's columns "AE" and
"RDP without L_rdp" agree.
"""

from __future__ import annotations

from typing import Self

import numpy as np
import torch

from experiments.baselines.ensemble import MAX_SAMPLES, Ensemble, dense
from experiments.baselines.networks import in_blocks, layers, seeded, train
from experiments.preprocessing import Rows


class AutoencoderMember:
    """One autoencoder; a row's score is its mean squared reconstruction error."""

    def __init__(
        self, *, activity_penalty: float = 0.1, n_steps: int = 1_000, batch_size: int = 256, seed: int = 0
    ) -> None:
        self.activity_penalty = activity_penalty
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.seed = seed

    def fit(self, rows: Rows) -> Self:
        n_columns = rows.shape[1]
        with seeded(self.seed):
            self.network_ = layers(n_columns, 64, 32, 32, 64, n_columns, activation=torch.nn.ReLU)
        self.losses_ = train(
            self._loss,
            torch.optim.Adam(self.network_.parameters(), lr=1e-3),
            torch.from_numpy(dense(rows)),
            n_steps=self.n_steps,
            batch_size=self.batch_size,
            seed=self.seed,
        )
        return self

    def score(self, rows: Rows) -> np.ndarray:
        return in_blocks(self._errors, rows)

    def _loss(self, batch: torch.Tensor) -> torch.Tensor:
        values, activity = batch, 0.0
        for module in self.network_:
            values = module(values)
            if isinstance(module, torch.nn.ReLU):
                activity = activity + values.square().sum(dim=1).mean()
        return (values - batch).square().mean() + self.activity_penalty * activity

    def _errors(self, batch: torch.Tensor) -> torch.Tensor:
        return (self.network_(batch) - batch).square().mean(dim=1)


class AE(Ensemble):
    """An ensemble of autoencoders."""

    def __init__(
        self,
        *,
        n_members: int = 30,
        activity_penalty: float = 0.1,
        n_steps: int = 1_000,
        max_samples: int = MAX_SAMPLES,
        seed: int = 0,
    ) -> None:
        super().__init__(
            lambda member_seed: AutoencoderMember(activity_penalty=activity_penalty, n_steps=n_steps, seed=member_seed),
            n_members=n_members,
            max_samples=max_samples,
            seed=seed,
        )


class AEFeatures:
    """The hidden layer of a wide autoencoder."""

    def __init__(self, *, n_components: int = 1_024, n_steps: int = 300, batch_size: int = 192, seed: int = 0) -> None:
        self.n_components = n_components
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.seed = seed

    def fit(self, rows: Rows) -> Self:
        with seeded(self.seed):
            self.encoder_ = torch.nn.Sequential(
                torch.nn.Linear(rows.shape[1], self.n_components), torch.nn.LeakyReLU(0.2)
            )
            decoder = torch.nn.Linear(self.n_components, rows.shape[1])
        random = np.random.default_rng(self.seed)
        optimiser = torch.optim.Adam([*self.encoder_.parameters(), *decoder.parameters()], lr=1e-3)
        self.losses_ = []
        for _ in range(self.n_steps):  # batches are made dense one at a time: the table may be wide and sparse
            batch = torch.from_numpy(dense(rows[random.integers(rows.shape[0], size=self.batch_size)]))
            loss = (decoder(self.encoder_(batch)) - batch).square().mean()
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            self.losses_.append(float(loss.detach()))
        return self

    def transform(self, rows: Rows) -> np.ndarray:
        return in_blocks(self.encoder_, rows)
