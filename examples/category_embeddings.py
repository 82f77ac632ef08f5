"""Categories as embeddings: φ's first layer learns a vector for each, instead of seeing one column for each.

    python examples/category_embeddings.py

A table of payments has a shop, a currency and an amount. Every shop is paid in one currency; the anomalies are payments
in another one. Neither the shop nor the currency of such a row is rare, only the two together. φ looks up a vector for
the shop and one for the currency; η, the random mapping, projects the columns with categories as zeros and ones.
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn

from rdplearn import RDPDetector, TorchOptions

N_SHOPS, N_CURRENCIES, N_NUMBERS = 40, 5, 50


def payments(n_rows: int = 3000, n_anomalies: int = 30, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Shop and currency as numbers, the amount, and which rows are anomalous."""
    rng = np.random.default_rng(seed)
    shop = rng.integers(N_SHOPS, size=n_rows)
    currency = shop % N_CURRENCIES
    is_anomalous = np.arange(n_rows) < n_anomalies
    currency[is_anomalous] = (currency[is_anomalous] + rng.integers(1, N_CURRENCIES, n_anomalies)) % N_CURRENCIES
    return np.column_stack([shop, currency, rng.normal(size=n_rows)]), is_anomalous


class EmbeddedPayments(nn.Module):
    """φ: a vector for the shop, one for the currency, the amount, and two layers on top."""

    def __init__(self, n_columns: int, n_components: int, n_dimensions: int = 8) -> None:
        super().__init__()
        self.shops = nn.Embedding(N_SHOPS, n_dimensions)
        self.currencies = nn.Embedding(N_CURRENCIES, n_dimensions)
        n_inputs = 2 * n_dimensions + n_columns - 2
        self.layers = nn.Sequential(nn.Linear(n_inputs, 64), nn.LeakyReLU(0.2), nn.Linear(64, n_components))

    def forward(self, rows: Tensor) -> Tensor:
        """Take rows (n_rows, n_columns) to (n_rows, n_components)."""
        codes = rows[:, :2].long()
        return self.layers(torch.cat([self.shops(codes[:, 0]), self.currencies(codes[:, 1]), rows[:, 2:]], dim=1))


def project_one_hot(weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """η: a random projection of the columns, categories as zeros and ones, bent."""
    shop, currency = np.eye(N_SHOPS)[rows[:, 0].astype(int)], np.eye(N_CURRENCIES)[rows[:, 1].astype(int)]
    products = np.hstack([shop, currency, rows[:, 2:]]) @ weights
    return np.maximum(products, 0.25 * products)


def main(n_steps: int = 300) -> dict[str, float]:
    """Compare φ with embeddings with the default on the same columns."""
    table, is_anomalous = payments()
    weights = np.random.default_rng(1).normal(size=(N_SHOPS + N_CURRENCIES + 1, N_NUMBERS))
    quick = {"n_members": 4, "n_rounds": 2, "n_steps": n_steps, "random_state": 0}
    detectors = {
        "embeddings": RDPDetector(
            torch=TorchOptions(network=EmbeddedPayments),
            n_components=N_NUMBERS,
            mapping=partial(project_one_hot, weights),
            views="unchanged",
            **quick,
        ),
        "codes as numbers": RDPDetector(**quick),
    }
    results = {}
    for name, detector in detectors.items():
        results[name] = float(roc_auc_score(is_anomalous, -detector.fit(table).score_samples(table)))
        print(f"{name}: AUC-ROC {results[name]:.3f}")
    return results


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
