"""What several tests share: small tables with planted anomalies, and the tolerances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings

from rdplearn._training.engines.engine import start_engine
from rdplearn._training.flops import stretch_length
from rdplearn._training.loop import train
from rdplearn._training.settings import TrainingSettings, TrainingTask
from rdplearn.defaults import DETECTOR_PAPER

settings.register_profile("same-every-time", derandomize=True)
settings.register_profile("search", derandomize=False)  # pytest --hypothesis-profile=search: other examples each time
settings.load_profile("same-every-time")

SMALL = {**DETECTOR_PAPER, "n_members": 3, "n_rounds": 2, "n_steps": 100, "max_samples": 500, "random_state": 0}


def planted_table(n_rows: int = 500, n_columns: int = 6, n_anomalies: int = 10, seed: int = 0):
    """Correlated Gaussian rows, the last of which are far away. Returns the table and the labels."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n_rows, 3)) @ rng.normal(size=(3, n_columns)) + 0.1 * rng.normal(size=(n_rows, n_columns))
    labels = np.zeros(n_rows, dtype=bool)
    labels[-n_anomalies:] = True
    table[labels] += rng.choice([-6.0, 6.0], size=(n_anomalies, n_columns))
    return table, labels


def training_settings(**changes) -> TrainingSettings:
    """The paper's numbers, with few steps and small batches."""
    defaults = {
        "n_steps": 60,
        "batch_size": 32,
        "learning_rate": 0.1,
        "momentum": 0.9,
        "max_grad_norm": 0.1,
        "dropout": 0.1,
        "distance_weight": 1.0,
        "novelty_weight": 1.0,
        "inner_product": "l1",
    }
    return TrainingSettings(**{**defaults, **changes})


def train_task(engine: str, task: TrainingTask, how: TrainingSettings):
    """Train one task, in place. Returns the records of its losses."""
    stretch = stretch_length(task.rows, task.phi.n_components, how)
    (records,) = train(start_engine(engine, [task], how), how, stretch, [lambda records: None])
    return records


def assert_same_to_rounding(actual, expected, *, after_steps: int = 1, scale: float = 1.0) -> None:
    """Compare single-precision results.

    One operation rounds to 6e-8; sums over a batch lose a digit or two; each step of training adds its own error to the
    last, with the weights that it started from.
    """
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=scale * 1e-6 * (1 + after_steps) ** 0.5)


@pytest.fixture
def rng():
    """Random numbers that are the same whichever tests ran before."""
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def table():
    return planted_table()[0]


@pytest.fixture(scope="session")
def labels():
    return planted_table()[1]
