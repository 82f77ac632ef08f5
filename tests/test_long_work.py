"""Long work shows itself, and Ctrl-C ends it at once."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from rdplearn import RDPDetector
from rdplearn._training.progress import StoppedError, Watch

LONG_FIT = """
import numpy as np, sys, threading
from rdplearn import RDPDetector
table = np.random.default_rng(0).normal(size=(2000, 40))
RDPDetector(n_members=2, n_rounds=1, n_steps=5, engine="numba", n_jobs={n_jobs}).fit(table)  # compiled
print("ready", flush=True)
try:
    RDPDetector(n_members=50, n_steps=100_000, engine="numba", n_jobs={n_jobs}).fit(table)
except KeyboardInterrupt:
    deadline = 10.0
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not thread.daemon:
            thread.join(deadline)
            assert not thread.is_alive()
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_the_work_and_leaves_nothing_running(n_jobs):
    process = subprocess.Popen(
        [sys.executable, "-c", LONG_FIT.format(n_jobs=n_jobs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)  # the work itself would take the better part of an hour
    assert out == "interrupted\n", err
    assert process.returncode == 0


def test_progress_goes_to_stderr_when_asked_for(capsys):
    table = np.random.default_rng(0).normal(size=(100, 3))
    RDPDetector(n_members=2, n_rounds=2, n_steps=20, random_state=0).fit(table)
    assert capsys.readouterr() == ("", "")
    RDPDetector(n_members=2, n_rounds=2, n_steps=20, distance_weight=0, random_state=0, verbose=1).fit(table)
    out, err = capsys.readouterr()
    assert out == ""
    assert "members 2/2, rounds 4/4" in err


def test_a_member_stops_at_its_next_report_once_the_work_is_called_off():
    watch = Watch(2, 1, 10, visible=False)
    watch.advance(0, 5)
    watch.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    with pytest.raises(StoppedError):
        watch.advance(1, 5)


def test_a_watch_travels_to_another_process_without_its_bar():
    with Watch(2, 1, 10, visible=True) as watch:
        elsewhere = pickle.loads(pickle.dumps(watch))
    assert not elsewhere.visible
    elsewhere.advance(0, 5)


def test_no_thread_outlives_a_fit(table):
    before = threading.active_count()
    RDPDetector(n_members=4, n_rounds=1, n_steps=20, n_jobs=2).fit(table)
    time.sleep(0.1)
    assert threading.active_count() <= before + 2  # joblib may keep its own, idle and daemonic
