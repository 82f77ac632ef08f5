"""`rdplearn ... --dask` does over a folder of Parquet files what the command does on the same rows in one file."""

from __future__ import annotations

import json
import logging

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

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
    for name in ("n_rows", "n_anomalous", "threshold", "top", "evaluation"):
        assert facts[name] == expected[name], name
    pd.testing.assert_frame_equal(rows_of(folder / "detected"), rows_of(folder / "d.parquet"))
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
    facts = run("score", there, pattern, "-o", folder / "again", "--resume", "--json", *run.there).stdout
    assert "top" not in json.loads(facts)
    pd.testing.assert_frame_equal(rows_of(folder / "again"), rows_of(folder / "s.parquet"))


@pytest.mark.parametrize("command", ["embed", "cluster"])
def test_features_and_groups(run, folder, command):
    options = ["--ignore", "order", "--ignore", "fraud", "--components", "4", "--steps", "20"]
    run(command, folder / "whole.parquet", *options, "-o", folder / f"{command}.parquet")
    run(command, folder / "parts", *options, "-o", folder / f"{command}s", *run.there)
    pd.testing.assert_frame_equal(rows_of(folder / f"{command}s"), rows_of(folder / f"{command}.parquet"))


@pytest.mark.parametrize(
    ("arguments", "told", "code"),
    [
        (["-o", "x.csv"], "must be the name of a folder", 1),
        (["-o", "-"], "needs files to read and a folder to write", 2),
        (["--separator", ";"], "leave nothing to say", 2),
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


def test_a_scheduler_without_workers_is_told(folder):
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=logging.CRITICAL) as cluster:
        done = CliRunner().invoke(app, ["detect", str(folder / "parts"), "--dask", cluster.scheduler_address])
    assert done.exit_code == 1
    assert f"has no workers. Start some with 'dask worker {cluster.scheduler_address}'" in " ".join(done.output.split())


def test_a_folder_without_parquet_files_is_told(run, tmp_path):
    done = run("detect", tmp_path, *run.there, code=1)
    assert "There are no Parquet files" in done.output
