"""Orders, and models of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import rdplearn

N_ROWS = 300


def orders(seed: int = 0) -> pa.Table:
    """Orders with a column of each kind, one of them left out of the model."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "order": [f"A{row:05d}" for row in range(N_ROWS)],
            "amount": rng.uniform(20, 310, N_ROWS).round(2),
            "items": pa.array(rng.integers(1, 9, N_ROWS), mask=rng.random(N_ROWS) < 0.1),
            "city": rng.choice(["Oslo", "Rome", "Paris"], N_ROWS),
            "sold": [f"2024-01-{1 + row % 28:02d}" for row in range(N_ROWS)],
            "new": rng.choice([True, False], N_ROWS),
        }
    )


def fitted(seed: int) -> rdplearn.TableModel:
    detector = rdplearn.RDPDetector(n_members=2, n_rounds=1, n_steps=20, random_state=seed, n_jobs=1)
    return rdplearn.TableModel(detector, rdplearn.TableEncoder(ignore=["order"])).fit(orders())
