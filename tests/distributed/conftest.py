"""A real cluster on this machine: a scheduler and two worker processes, shared by the tests of a module."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

distributed = pytest.importorskip("distributed", reason="needs the [distributed] extra")

SMALL = {"n_members": 3, "n_rounds": 2, "n_steps": 60, "max_samples": 400, "random_state": 0}


@contextmanager
def two_workers() -> Iterator[distributed.Client]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[distributed.Client]:
    with two_workers() as client:
        yield client


@pytest.fixture(scope="session")
def people() -> pd.DataFrame:
    """A mixed table; one city occurs in the last rows only."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 70, 900),
            "city": rng.choice(["Oslo", "Rome"], 900),
            "height": rng.normal(170, 10, 900).round(1),
        },
        index=np.arange(900) * 3,
    )
    frame.loc[frame.index[880:], "city"] = "Lima"
    frame.loc[frame.index[17], "age"] = 250
    frame.loc[frame.index[40:50], "height"] = np.nan
    return frame


@pytest.fixture(scope="session")
def numbers() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(900, 4)) @ rng.normal(size=(4, 6))
    return pd.DataFrame(values, columns=list("abcdef"), index=np.arange(900) * 2)


class WorkerKiller:
    """Kills, with SIGKILL, the first worker that is seen working on a task of a given name."""

    def __init__(self, client, task: str) -> None:
        self.client, self.task, self.killed = client, task, None
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        self._pids = self.client.run(os.getpid)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._thread.join(timeout=30)

    def _watch(self) -> None:
        deadline = time.monotonic() + 30
        while self.killed is None and time.monotonic() < deadline:
            for worker, keys in self.client.processing().items():
                if any(str(key).startswith(self.task) for key in keys):
                    time.sleep(0.05)  # into the middle of it
                    os.kill(self._pids[worker], signal.SIGKILL)
                    self.killed = worker
                    return
            time.sleep(0.005)
