"""No worker is there, or all are paused: a warning says so, then an error; nobody waits for ever."""

from __future__ import annotations

import logging
import time

import dask
import pytest

distributed = pytest.importorskip("distributed", reason="needs the [distributed] extra")

from rdplearn._distributed.client import SECONDS_WITHOUT_WORKERS, Tasks  # noqa: E402
from rdplearn.errors import ClusterError, RDPWarning  # noqa: E402


@pytest.fixture
def cluster():
    with (
        distributed.LocalCluster(
            n_workers=1, processes=False, memory_limit=0, dashboard_address=":0", silence_logs=logging.CRITICAL
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield cluster, client


def pause(cluster, client) -> None:
    cluster.workers[0].status = distributed.core.Status.paused


def take_away(cluster, client) -> None:
    cluster.scale(0)
    deadline = time.monotonic() + 30
    while client.scheduler_info()["workers"] and time.monotonic() < deadline:
        time.sleep(0.05)


@pytest.mark.parametrize(("trouble", "told"), [(pause, "All 1 Dask workers are paused"), (take_away, "has no workers")])
def test_work_that_nobody_does_is_given_up_with_a_word(cluster, trouble, told):
    trouble(*cluster)
    tasks, start = Tasks(cluster[1]), time.monotonic()
    with (
        dask.config.set({"rdplearn.seconds-without-workers": 1.5}),
        pytest.warns(RDPWarning, match=rf"{told}.* If no worker takes tasks within \d seconds, the work is stopped"),
        pytest.raises(ClusterError, match=rf"{told}.* Nothing was done for \d seconds, so the work is stopped"),
    ):
        tasks.results(tasks.start([tasks.named("rdp-any", abs, -1)]))
    assert time.monotonic() - start < 20


def test_the_word_comes_within_a_minute():
    assert SECONDS_WITHOUT_WORKERS < 60


def test_workers_that_come_back_in_time_go_on(cluster, monkeypatch):
    pause(*cluster)
    told = []

    def help_them(message: str) -> None:
        told.append(message)
        cluster[0].workers[0].status = distributed.core.Status.running

    monkeypatch.setattr("rdplearn._distributed.client.warn_user", help_them)
    tasks = Tasks(cluster[1])
    with dask.config.set({"rdplearn.seconds-without-workers": 6}):
        assert tasks.results(tasks.start([tasks.named("rdp-any", abs, -1)])) == [1]
    assert len(told) == 1
