"""`rdplearn ... --dask` does over a folder of Parquet files what the command does on the same rows in one file."""

from __future__ import annotations

import hashlib
import json
import logging
import socket
import threading
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import rdplearn
from rdplearn.cli.app import app

distributed = pytest.importorskip("distributed", reason="needs the [distributed] extra")

LITTLE = ["--members", "2", "--rounds", "1", "--steps", "30"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, people):
    folder = tmp_path_factory.mktemp("commands")
    (folder / "parts").mkdir()
    table = people.assign(order=[f"o{n}" for n in range(900)], fraud=(np.arange(900) == 17).astype(int))
    table.to_parquet(folder / "whole.parquet", index=False)
    for number, (start, stop) in enumerate([(0, 10), (10, 10), (10, 800), (800, 900)]):
        part = table.iloc[start:stop]
        pq.write_table(
            pa.Table.from_pandas(part[part.columns[::-1]] if number == 2 else part, preserve_index=False),
            folder / "parts" / f"{number}.parquet",
        )
    return folder


@pytest.fixture
def run(client):
    def run(*arguments, code: int = 0):
        done = CliRunner().invoke(app, [*map(str, arguments)])
        assert done.exit_code == code, done.output
        return done

    run.there = ["--dask", client.scheduler.address]
    return run


def rows_of(path) -> pd.DataFrame:
    return pq.read_table(path).to_pandas().sort_values("row", ignore_index=True)


def test_detect(run, folder):
    options = ["--id", "order", "--label", "fraud", *LITTLE, "--json"]
    here = run("detect", folder / "whole.parquet", *options, "-o", folder / "d.parquet").stdout
    there = run("detect", folder / "parts", *options, "-o", folder / "detected", *run.there).stdout
    facts, expected = json.loads(there), json.loads(here)
    for name in ("n_rows", "n_anomalous", "threshold", "top", "kinds", "stability", "evaluation"):
        assert facts[name] == expected[name], name
    alike = ["row", "order", "anomaly_score", "anomalous"]  # ranks and reasons need all rows in one place
    pd.testing.assert_frame_equal(rows_of(folder / "detected"), rows_of(folder / "d.parquet")[alike])
    assert sorted(path.name for path in (folder / "detected").iterdir()) == [f"{n}.parquet" for n in range(4)]


def test_fit_then_score_then_resume(run, folder):
    here, there = folder / "here.st", folder / "there.st"
    run("fit", folder / "whole.parquet", "--id", "order", "--ignore", "fraud", *LITTLE, "-m", here)
    run("fit", folder / "parts", "--id", "order", "--ignore", "fraud", *LITTLE, "-m", there, *run.there)
    pattern = folder / "parts" / "*.parquet"
    run("score", there, pattern, "-o", folder / "scored", *run.there)
    run("score", here, folder / "whole.parquet", "-o", folder / "s.parquet")
    pd.testing.assert_frame_equal(rows_of(folder / "scored"), rows_of(folder / "s.parquet"))
    (folder / "scored").rename(folder / "again.partial")
    made_of = json.loads(pq.read_metadata(folder / "again.partial" / "0.parquet").metadata[b"rdplearn"])["made_of"]
    (folder / "again.partial" / "_made_of.json").write_text(json.dumps(made_of["all"]))
    (folder / "again.partial" / "_checksums.sha256").write_text(
        "".join(
            f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
            for path in sorted((folder / "again.partial").glob("*.parquet"))
        )
    )
    facts = run("score", there, pattern, "-o", folder / "again", "--resume", "--json", *run.there).stdout
    assert "top" not in json.loads(facts)
    pd.testing.assert_frame_equal(rows_of(folder / "again"), rows_of(folder / "s.parquet"))


@pytest.mark.parametrize("command", ["embed", "cluster"])
def test_features_and_groups(run, folder, command):
    options = ["--ignore", "order", "--ignore", "fraud", "--components", "4", "--steps", "20"]
    run(command, folder / "whole.parquet", *options, "-o", folder / f"{command}.parquet")
    run(command, folder / "parts", *options, "-o", folder / f"{command}s", *run.there)
    pd.testing.assert_frame_equal(rows_of(folder / f"{command}s"), rows_of(folder / f"{command}.parquet"))


def test_a_clusterer_of_a_cluster_is_kept_as_one_of_this_machine(run, folder):
    options = ["--ignore", "order", "--ignore", "fraud", "--components", "4", "--steps", "20", "-k", "3"]
    told = [
        run("cluster", folder / "whole.parquet", *options, "-m", folder / "here.groups", "--json"),
        run("cluster", folder / "parts", *options, "-m", folder / "there.groups", "--json", *run.there),
    ]
    trust = [json.loads(facts.stdout)["trust"] for facts in told]
    assert trust[0] == trust[1]  # judged by the same rows
    here, there = rdplearn.load(folder / "here.groups"), rdplearn.load(folder / "there.groups")
    assert np.array_equal(there.estimator.labels_, here.estimator.labels_)
    assert np.array_equal(there.estimator.cluster_centers_, here.estimator.cluster_centers_)
    run("cluster", folder / "there.groups", folder / "parts", *run.there)


@pytest.mark.parametrize(
    ("arguments", "told", "code"),
    [
        (["-o", "x.csv"], "must be the name of a folder", 1),
        (["-o", "-"], "needs files to read and a folder to write", 2),
        (["--separator", ";"], "reads Parquet files. Leave out", 2),
        (["--id", "ordr"], "Did you mean 'order'?", 1),
    ],
    ids=lambda value: str(value),
)
def test_what_cannot_be_done_on_a_cluster_is_told(run, folder, arguments, told, code):
    done = run("detect", folder / "parts", *arguments, *LITTLE, *run.there, code=code)
    assert told in " ".join(done.output.split())


@pytest.mark.parametrize("where", ["tcp://127.0.0.1:9", "local:none"])
def test_a_cluster_that_is_not_there_is_told(folder, where, monkeypatch):
    monkeypatch.setattr("rdplearn._distributed.client.SECONDS_TO_CONNECT", 1)
    done = CliRunner().invoke(app, ["detect", str(folder / "parts"), "--dask", where])
    assert done.exit_code == 1
    assert "no Dask scheduler" in done.output or "must name a number of workers" in done.output


@pytest.mark.parametrize("greeting", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-OpenSSH_9.2\r\n"], ids=str)
def test_something_else_than_a_scheduler_is_told_of_soon(folder, greeting, monkeypatch):
    monkeypatch.setattr("rdplearn._distributed.client.SECONDS_TO_CONNECT", 2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=greet_all, args=(server, greeting), daemon=True).start()
        where, start = f"tcp://127.0.0.1:{server.getsockname()[1]}", time.monotonic()
        done = CliRunner().invoke(app, ["detect", str(folder / "parts"), "--dask", where])
    assert done.exit_code == 1
    assert f"There is no Dask scheduler at '{where}': nothing answers there as Dask does" in " ".join(
        done.output.split()
    )
    assert time.monotonic() - start < 20


def greet_all(server: socket.socket, greeting: bytes) -> None:
    callers = []  # kept, so that nobody is hung up on
    try:
        while True:
            callers.append(server.accept()[0])
            callers[-1].sendall(greeting)
    except OSError:
        for caller in callers:
            caller.close()


def test_a_worker_is_not_taken_for_a_scheduler(client, folder):
    where = next(iter(client.scheduler_info()["workers"]))
    done = CliRunner().invoke(app, ["detect", str(folder / "parts"), "--dask", where])
    assert done.exit_code == 1
    assert f"There is no Dask scheduler at '{where}': a Worker answers there" in " ".join(done.output.split())


def test_results_do_not_go_into_the_table(run, folder):
    done = run("detect", folder / "parts", *LITTLE, "-o", folder / "parts" / "scores", *run.there, code=1)
    assert "lies in the table itself" in " ".join(done.output.split())


def test_a_scheduler_without_workers_is_told(folder):
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=logging.CRITICAL) as cluster:
        done = CliRunner().invoke(app, ["detect", str(folder / "parts"), "--dask", cluster.scheduler_address])
    assert done.exit_code == 1
    assert f"has no workers. Start some with 'dask worker {cluster.scheduler_address}'" in " ".join(done.output.split())


def test_a_folder_without_parquet_files_is_told(run, tmp_path):
    done = run("detect", tmp_path, *run.there, code=1)
    assert "There are no Parquet files" in done.output
