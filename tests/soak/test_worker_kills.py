"""Workers of a Dask cluster are killed one after the other, over fits and scores: the results stay the same."""

from __future__ import annotations

from pathlib import Path

import dask.array as da
import numpy as np
from sklearn.base import clone

from rdplearn import RDPDetector
from tests.distributed.conftest import WorkerKiller, client, two_workers  # noqa: F401 - a fixture
from tests.distributed.test_cluster_faults import files_in, folder, score, undisturbed  # noqa: F401 - fixtures
from tests.soak.conftest import Record, sized

KILLS = 20


def test_worker_kills_over_fit_and_score(folder, undisturbed, tmp_path: Path, record: Record):  # noqa: F811
    rows = np.random.default_rng(0).normal(size=(900, 6))
    slow = RDPDetector.paper(n_members=4, n_rounds=3, n_steps=300, engine="numpy", max_samples=400, random_state=0)
    expected = clone(slow).fit(rows)
    killed = {"fit": 0, "score": 0}
    n_runs = 0
    while sum(killed.values()) < sized(KILLS):
        n_runs += 1  # on a cluster of its own: a nanny does not always start the killed worker again
        if n_runs % 2:
            with two_workers() as client, WorkerKiller(client, "rdp-score-part") as killer:
                told = score(client, folder, tmp_path / f"scores-{n_runs}")
            assert files_in(tmp_path / f"scores-{n_runs}") == undisturbed[0]
            assert told == undisturbed[1]
            killed["score"] += killer.killed is not None
        else:
            with two_workers() as client, WorkerKiller(client, "rdp-fit-member") as killer:
                fitted = clone(slow).fit(da.from_array(rows, chunks=(250, 6)))
            assert fitted.history_ == expected.history_
            assert fitted.offset_ == expected.offset_
            killed["fit"] += killer.killed is not None
        assert n_runs < 5 * KILLS, "workers are hardly ever caught at work"
    kills = {f"kills_in_{name}": count for name, count in killed.items()}
    record("Worker kills", runs=n_runs, **kills, rows_lost=0, other_results=0)
