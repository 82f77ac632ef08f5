"""Shared: the repository on the path, a folder of made-up data, tables with planted anomalies."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
if str(REPOSITORY) not in sys.path:  # the experiments are not in the wheel
    sys.path.insert(0, str(REPOSITORY))


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Empty data and cache folders of this test's own."""
    monkeypatch.setenv("RDPLEARN_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("RDPLEARN_CACHE", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    return tmp_path


@pytest.fixture
def all_data_here(monkeypatch):
    """The page as it is where every set of the paper is: no test looks beyond the clone for one."""
    from experiments import report

    monkeypatch.setattr(report, "missing_data", lambda names: set())


@pytest.fixture
def planted():
    """300 rows near a plane in 12 columns and 10 far from it (label 1), scaled to [0, 1]."""
    random = np.random.default_rng(0)
    normal = random.normal(size=(300, 3)) @ random.normal(size=(3, 12)) + 0.1 * random.normal(size=(300, 12))
    rows = np.vstack([normal, random.uniform(-8, 8, size=(10, 12))])
    rows = (rows - rows.min(axis=0)) / np.ptp(rows, axis=0)
    return rows.astype(np.float32), np.repeat([0, 1], [300, 10])


@pytest.fixture
def three_groups():
    """120 rows in three well-parted groups, and the group of each."""
    random = np.random.default_rng(1)
    centres = random.uniform(size=(3, 16))
    groups = np.arange(120) % 3
    return (centres[groups] + 0.02 * random.normal(size=(120, 16))).astype(np.float32), groups
