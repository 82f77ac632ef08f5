"""A table with two kinds of strange rows, of which one is fine, and a detector that finds both."""

from __future__ import annotations

import numpy as np
import pytest

from rdplearn import RDPDetector

FINE, WRONG = slice(0, 12), slice(12, 24)


@pytest.fixture(scope="session")
def strange() -> np.ndarray:
    rows = np.random.default_rng(0).normal(size=(500, 4))
    rows[FINE, 0] += 6
    rows[WRONG, 1] -= 6
    return rows


@pytest.fixture(scope="session")
def detector(strange) -> RDPDetector:
    return RDPDetector(n_members=5, n_rounds=2, random_state=0, n_jobs=1).fit(strange)
