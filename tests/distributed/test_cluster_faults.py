"""Workers are killed, a scheduler goes away, runs are resumed: the same results, nothing twice or lost."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import dask.array as da
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

import rdplearn
from rdplearn import RDPDetector, TableModel
from rdplearn._distributed.client import Tasks
from rdplearn._distributed.dataset_results import write_results
from rdplearn._distributed.parquet_parts import open_dataset
from rdplearn._distributed.result_folder import CHECKSUMS, ResultFolder
from rdplearn._results.scored import TopRows, scored_rows
from rdplearn.cli.checks import identity_of
from rdplearn.errors import TableError
from tests.distributed.conftest import SMALL, WorkerKiller

N_PARTS, ROWS_A_PART = 8, 3000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A dataset of several parts, one of them empty, columns in two orders; and a model."""
    folder = tmp_path_factory.mktemp("faults")
    rng = np.random.default_rng(0)
    (folder / "in" / "deep").mkdir(parents=True)
    for number in range(N_PARTS):
        columns = {"key": np.arange(ROWS_A_PART) + number * ROWS_A_PART, "x": rng.normal(size=ROWS_A_PART)}
        columns["city"] = rng.choice(["Oslo", "Rome"], ROWS_A_PART)
        rows = pa.table(columns)
        rows = rows.select(["city", "key", "x"]) if number == 3 else rows.slice(0, 0) if number == 5 else rows
        pq.write_table(rows, folder / "in" / ("deep" if number == 7 else "") / f"{number}.parquet")
    train = pq.read_table(folder / "in" / "0.parquet")
    detector = RDPDetector.paper(n_members=30, n_rounds=1, n_steps=10, random_state=0)
    model = TableModel(detector, rdplearn.TableEncoder(ignore=["key"])).fit(train)
    rdplearn.save(model, folder / "model")
    return folder


def score(client, folder, output, *, resume=False, made_of="all the same"):
    model = rdplearn.load(folder / "model")
    dataset = open_dataset(folder / "in")
    top = TopRows(5, ["key"])
    with ResultFolder(output, {"made of": made_of}, resume=resume) as results:
        n_rows, tally, is_resumed = write_results(
            dataset,
            model,
            scored_rows,
            Tasks(client),
            results,
            name="rdp-score-part",
            carried=["key"],
            watchers=[top],
            identity_of=identity_of,
            count=lambda n_rows: None,
        )
    return n_rows, tally, is_resumed, top.as_dicts()


def files_in(folder) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def undisturbed(client, folder):
    told = score(client, folder, folder / "undisturbed")
    return files_in(folder / "undisturbed"), told


def test_there_is_a_part_of_results_for_each_part_of_the_table(folder, undisturbed):
    files, (n_rows, _, _, top) = undisturbed
    assert sorted(files) == sorted([*(f"{n}.parquet" for n in range(7)), "deep/7.parquet"])
    whole = pq.read_table(folder / "undisturbed").sort_by("row")
    assert n_rows == whole.num_rows == (N_PARTS - 1) * ROWS_A_PART
    assert whole.column("row").to_pylist() == list(range(1, n_rows + 1))
    model, everything = rdplearn.load(folder / "model"), open_dataset(folder / "in")
    batches = [batch.select(["key", "x", "city"]) for batch in everything.batches()]
    here = -model.score_samples(pa.Table.from_batches(batches))
    assert np.array_equal(whole.column("anomaly_score").to_numpy(), here)
    assert [row["row"] - 1 for row in top] == np.argsort(-here, kind="stable")[:5].tolist()


def test_a_worker_that_is_killed_in_the_middle_of_scoring_changes_nothing(client, folder, undisturbed):
    with WorkerKiller(client, "rdp-score-part") as killer:
        told = score(client, folder, folder / "killed")
    assert killer.killed is not None
    assert files_in(folder / "killed") == undisturbed[0]
    assert told == undisturbed[1]


def test_a_worker_that_is_killed_in_the_middle_of_a_fit_changes_nothing(client):
    rows = np.random.default_rng(0).normal(size=(900, 6))
    slow = RDPDetector.paper(n_members=4, n_rounds=3, n_steps=300, engine="numpy", max_samples=400, random_state=0)
    expected = clone(slow).fit(rows)
    with WorkerKiller(client, "rdp-fit-member") as killer:
        fitted = clone(slow).fit(da.from_array(rows, chunks=(250, 6)))
    assert killer.killed is not None
    assert fitted.history_ == expected.history_
    assert fitted.offset_ == expected.offset_


def begin_and_stop(output, files: dict[str, bytes]) -> None:
    """Leave what a run leaves that is stopped when it has written these files."""
    with suppress(KeyboardInterrupt), ResultFolder(output, {"made of": "all the same"}) as results:
        for name, content in files.items():
            (results.partial / name).write_bytes(content)
            with open(results.partial / CHECKSUMS, "a") as noted:
                noted.write(f"{hashlib.sha256(content).hexdigest()}  {name}\n")
        raise KeyboardInterrupt


def test_finished_parts_are_not_made_again(client, folder, undisturbed):
    output, partial = folder / "resumed", folder / "resumed.partial"
    begin_and_stop(output, {name: undisturbed[0][name] for name in ("0.parquet", "1.parquet")})
    assert partial.exists()
    with pytest.raises(TableError, match="begun with another made of"):
        score(client, folder, output, resume=True, made_of="something else")
    kept = (partial / "1.parquet").stat().st_ino
    n_rows, tally, is_resumed, _ = score(client, folder, output, resume=True)
    assert is_resumed
    assert (n_rows, tally) == undisturbed[1][:2]
    assert files_in(output) == undisturbed[0]
    assert (output / "1.parquet").stat().st_ino == kept
    assert not partial.exists()


def test_results_take_no_name_that_is_in_use(client, folder, undisturbed):
    with pytest.raises(FileExistsError, match="exists already"):
        score(client, folder, folder / "undisturbed")


def test_a_damaged_part_is_named_and_leaves_no_output(client, folder):
    broken = folder / "broken"
    broken.mkdir()
    whole = (folder / "in" / "0.parquet").read_bytes()
    (broken / "a.parquet").write_bytes(whole)
    (broken / "b.parquet").write_bytes(whole[:100])
    with pytest.raises(TableError, match=r"Cannot read '.*b\.parquet'"):
        open_dataset(broken)


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_scheduler_that_goes_away_is_told_of_and_leaves_no_half_output(folder, tmp_path):
    big = tmp_path / "in"
    big.mkdir()
    rng = np.random.default_rng(1)
    for number in range(40):
        table = pa.table({"x": rng.normal(size=20_000), "city": rng.choice(["Oslo", "Rome"], 20_000)})
        pq.write_table(table.append_column("key", pa.array(np.arange(20_000))), big / f"{number:02}.parquet")
    python = [sys.executable, "-m"]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(
        [*python, "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard",
         "--scheduler-file", str(tmp_path / "where.json")], **silent
    )  # fmt: skip
    started = [scheduler]
    try:
        where = wait_for(lambda: (tmp_path / "where.json").exists() and address_in(tmp_path / "where.json"))
        started.append(
            subprocess.Popen([*python, "distributed.cli.dask_worker", where, "--nthreads", "1", "--no-nanny"], **silent)
        )
        command = [*python, "rdplearn.cli", "score", str(folder / "model"), str(big), "-o", str(tmp_path / "out")]
        wait_for(lambda: has_workers(where))
        program = subprocess.Popen([*command, "--dask", where], stderr=subprocess.PIPE, text=True)
        started.append(program)
        wait_for(lambda: len(list(tmp_path.glob("out.partial/*.parquet"))) >= 2)
        scheduler.send_signal(signal.SIGKILL)
        told = program.communicate(timeout=180)[1]
        assert program.returncode == 1
        assert "stopped answering while it was working" in told
        assert "Traceback" not in told
        assert not (tmp_path / "out").exists()
        assert list(tmp_path.glob("out.partial/*.parquet"))
    finally:
        for program in started:
            program.kill()
            program.wait()


def address_in(path) -> str:
    import json

    try:
        return json.loads(path.read_text())["address"]
    except (ValueError, KeyError):
        return ""


def has_workers(where: str) -> bool:
    from distributed import Client

    with Client(where, timeout=20, set_as_default=False) as client:
        return bool(client.scheduler_info()["workers"])


def wait_for(condition, seconds: float = 180.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError("waited in vain")


def test_memory_of_a_worker_does_not_grow_with_the_size_of_a_part(client, tmp_path):
    rng = np.random.default_rng(2)
    table = pa.table({"key": np.arange(600_000), "x": rng.normal(size=600_000), "y": rng.normal(size=600_000)})
    model = TableModel(RDPDetector(**SMALL), rdplearn.TableEncoder(ignore=["key"])).fit(table.slice(0, 500))
    # The compiler alone takes 120 MB, and comes when a worker has seen enough rows of a long part: not what we measure.
    client.run(load_compiled_scoring, model)
    peaks = []
    for name, n_rows in {"some": 100_000, "many": 600_000}.items():
        place = tmp_path / name
        (place / "in").mkdir(parents=True)
        for number in range(2):  # one for each worker
            pq.write_table(table.slice(0, n_rows), place / "in" / f"{number}.parquet")
        rdplearn.save(model, place / "model")
        score(client, place, place / "out")
        peaks.append(max(client.run(peak_memory).values()))
    assert peaks[1] - peaks[0] < 30e6  # half a million rows more have 12 MB of numbers, and as much of results


def load_compiled_scoring(model) -> None:
    from rdplearn._scoring.scores import rows_so_far

    with rows_so_far(10**9):
        model.estimator.score_samples(np.zeros((10, 2), dtype=np.float32))
    assert "rdplearn._scoring.compiled" in sys.modules


def peak_memory() -> float:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0
