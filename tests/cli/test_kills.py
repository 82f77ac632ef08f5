"""Killed at any moment, `score` and `fit` leave the old file or none; resumed, the result is the same to the byte."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import time
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import rdplearn
from rdplearn._files.atomic import held_together
from rdplearn._results.resumable import GrowingFile, _checksum_of
from rdplearn.cli.app import app
from rdplearn.cli.checks import identity_of
from tests.cli.conftest import QUICK, Run, sales

N_KILLS = 20
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # the child only runs our command


@pytest.fixture
def small_batches(monkeypatch) -> None:
    monkeypatch.setattr("rdplearn.table.reading.FEWEST_ROWS", 50)
    monkeypatch.setattr("rdplearn.table.reading.MOST_ROWS", 50)
    monkeypatch.setattr("rdplearn._results.resumable.SECONDS_BETWEEN_ENTRIES", 0.0)


def in_child(arguments: list[str]) -> multiprocessing.Process:
    """Run a command in a fork, which has everything imported already, so that kills fall into the work."""
    child = multiprocessing.get_context("fork").Process(target=run_and_leave, args=(arguments,))
    child.start()
    return child


def run_and_leave(arguments: list[str]) -> None:
    os._exit(CliRunner().invoke(app, arguments).exit_code)


def kill_after(child: multiprocessing.Process, seconds: float) -> bool:
    """Kill it; whether it had not ended by itself."""
    child.join(seconds)
    was_running = child.is_alive()
    if was_running:
        os.kill(child.pid, signal.SIGKILL)
    child.join()
    return was_running


def speak_of_another_table(journal: Path, table: Path) -> None:
    """Make a journal believe that it was begun with this table."""
    entry = json.loads(journal.read_text())["entry"]
    entry["made_of"]["table"] = identity_of(str(table))
    journal.write_text(json.dumps({"entry": entry, "sha256": _checksum_of(entry)}))


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_a_killed_score_leaves_the_old_file_and_resumes_to_the_same_bytes(
    ending: str, run: Run, model: Path, tmp_path: Path, small_batches: None
):
    table, whole, output = tmp_path / "sales.csv", tmp_path / f"whole.{ending}", tmp_path / f"scores.{ending}"
    table.write_text(sales(2000))
    start = time.monotonic()
    run("score", model, table, "--id", "order", "-o", whole, "--jobs", 1)
    seconds = time.monotonic() - start
    rng = random.Random(0)
    output.write_text("old")
    n_killed, n_resumed = 0, 0
    for _ in range(N_KILLS // 3 + 1):
        n_resumed += (tmp_path / f"scores.{ending}.partial.json").exists()
        arguments = ["score", model, table, "--id", "order", "-o", output, "--jobs", "1", "--resume"]
        n_killed += kill_after(in_child([str(word) for word in arguments]), rng.uniform(0, seconds))
        if output.read_bytes() != b"old":  # it was done before the kill
            assert output.read_bytes() == whole.read_bytes()
            output.write_text("old")
    run(*arguments)
    assert output.read_bytes() == whole.read_bytes()
    assert n_killed > 0
    left = {file.name for file in tmp_path.iterdir() if not file.name.startswith(".")}
    assert left == {"sales.csv", whole.name, output.name}


def test_resume_goes_on_where_the_journal_ends(run: Run, model: Path, tmp_path: Path, small_batches: None):
    table, output = tmp_path / "sales.csv", tmp_path / "scores.csv"
    table.write_text(sales(500))
    run("score", model, table, "-o", output, "--jobs", 1)
    whole = output.read_bytes()
    output.unlink()
    # A fault in row 401 stops the first run; nothing else of the table changes, but for its date.
    good = table.read_text()
    lines = good.splitlines(keepends=True)
    lines[401] = lines[401].replace(",2024", ",x024")
    table.write_text("".join(lines))
    assert "row 401" in run("score", model, table, "-o", output, "--jobs", 1, exit_code=1).stderr
    assert not output.exists()
    journal = tmp_path / "scores.csv.partial.json"
    assert json.loads(journal.read_text())["entry"]["n_rows"] == 400
    table.write_text(good)
    assert (
        "begun with another table"
        in run("score", model, table, "-o", output, "--jobs", 1, "--resume", exit_code=1).stderr
    )
    speak_of_another_table(journal, table)
    with open(tmp_path / "scores.csv.partial", "ab") as partial:
        partial.write(b"half a ro")  # written after the last entry
    facts = json.loads(run("score", model, table, "-o", output, "--jobs", 1, "--resume", "--json").stdout)
    assert facts["n_rows"] == 500
    assert "top" not in facts
    assert output.read_bytes() == whole


def test_a_damaged_journal_is_told(run: Run, model: Path, tmp_path: Path):
    table, output = tmp_path / "sales.csv", tmp_path / "scores.csv"
    table.write_text(sales())
    (tmp_path / "scores.csv.partial").write_text("row\n")
    (tmp_path / "scores.csv.partial.json").write_text("{")
    arguments = ["score", model, table, "-o", output, "--jobs", 1]
    assert "Start again without --resume" in run(*arguments, "--resume", exit_code=1).stderr
    run(*arguments)
    assert len(output.read_text().splitlines()) == 301


def test_a_killed_fit_leaves_the_old_model_or_a_whole_one(run: Run, model: Path, tmp_path: Path):
    table, fitted = tmp_path / "sales.csv", tmp_path / "model.safetensors"
    table.write_text(sales())
    arguments = [str(word) for word in ["fit", table, "-m", fitted, "--label", "fraud", "-q", *QUICK]]
    start = time.monotonic()
    run(*arguments)
    seconds = time.monotonic() - start
    whole = fitted.read_bytes()
    fitted.write_bytes(model.read_bytes())
    rng = random.Random(1)
    for _ in range(N_KILLS // 3):
        kill_after(in_child(arguments), rng.uniform(0, 1.2 * seconds))
        assert fitted.read_bytes() in (model.read_bytes(), whole)
        rdplearn.load(fitted)


def test_two_runs_do_not_write_the_same_file(run: Run, model: Path, tmp_path: Path):
    table, output = tmp_path / "sales.csv", tmp_path / "scores.csv"
    table.write_text(sales())
    rows = pa.record_batch({"row": [1]})
    with GrowingFile(output, {}) as first:
        first.add(rows, tally=[0])
        told = run("score", model, table, "-o", output, "--jobs", 1, exit_code=1).stderr
        assert "Another run is writing" in told
    assert output.read_text() == '"row"\n1\n'


@pytest.mark.parametrize("command", ["detect", "cluster"])
def test_results_that_belong_together_are_of_one_run(command: str, run: Run, table: Path, tmp_path: Path):
    names = {"-o": tmp_path / "scores.csv", "-m": tmp_path / "model", "--report": tmp_path / "page.html"}
    few = QUICK if command == "detect" else ["-k", 2, "--steps", 30, "--components", 3, "--jobs", 1]
    words = [command, table, *(word for pair in names.items() for word in pair), "-q", *few]
    for name in names.values():
        with held_together([name, tmp_path / "another"]):
            assert f"Another run is writing '{name}'" in run(*words, exit_code=1).stderr
        assert [file.name for file in tmp_path.iterdir()] == ["sales.csv"]
    (tmp_path / ".model.lock").touch()  # a killed run has left it
    run(*words)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["model", "page.html", "sales.csv", "scores.csv"]


def test_a_fault_of_detect_leaves_nothing_behind(run: Run, tmp_path: Path):
    table, output = tmp_path / "sales.csv", tmp_path / "scores.csv"
    lines = sales().splitlines()
    late = "\n".join([*lines[:-1], lines[-1][:-1] + "maybe"])
    table.write_text(late)
    # The first look at the labels is kept from seeing the last row.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rdplearn.cli.score_output.read_labels", lambda *_: None)
        told = run("detect", table, "--label", "fraud", "-o", output, *QUICK, exit_code=1).stderr
    assert "'maybe' in row 300" in told
    assert [file.name for file in tmp_path.iterdir()] == ["sales.csv"]
