"""What a stopped run has left is continued exactly or refused: never mixed with another table, nor with damage."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from rdplearn.cli.checks import SAMPLE_BYTES, identity_of
from tests.cli.conftest import QUICK, Run, sales
from tests.cli.test_kills import speak_of_another_table


@pytest.fixture
def small_batches(monkeypatch) -> None:
    monkeypatch.setattr("rdplearn.table.reading.FEWEST_ROWS", 50)
    monkeypatch.setattr("rdplearn.table.reading.MOST_ROWS", 50)
    monkeypatch.setattr("rdplearn._results.resumable.SECONDS_BETWEEN_ENTRIES", 0.0)


@pytest.fixture
def stopped(run: Run, model: Path, tmp_path: Path, small_batches: None) -> tuple[list[object], bytes]:
    """A run that was stopped after 200 of 300 rows: its command, and what it would have written."""
    table, output = tmp_path / "sales.csv", tmp_path / "scores.csv"
    command = ["score", model, table, "-o", output, "--jobs", 1, "--id", "order", "-q"]
    table.write_text(sales())
    run(*command)
    whole = output.read_bytes()
    output.unlink()
    lines = sales().splitlines(keepends=True)
    lines[201] = lines[201].replace(",2024", ",x024")
    table.write_text("".join(lines))
    run(*command, exit_code=1)
    table.write_text(sales())
    speak_of_another_table(tmp_path / "scores.csv.partial.json", table)
    return [*command, "--resume"], whole


def tamperings() -> dict[str, tuple[str, object]]:
    """Of the journal another value; of the partial file another byte."""
    journal = {
        "fewer rows": {"n_rows": 150},
        "more rows": {"n_rows": 250},
        "no rows": {"n_rows": 0},
        "negative rows": {"n_rows": -50},
        "rows in words": {"n_rows": "200"},
        "fewer bytes": {"n_bytes": 1000},
        "more bytes": {"n_bytes": 10**6},
        "no bytes": {"n_bytes": 0},
        "another count": {"tally": [7]},
        "no counts": {"tally": []},
        "other columns": {"made_of": None},
        "another checksum": {"sha256": "0" * 64},
    }
    partial = {f"byte {place}": place for place in (0, 20, 500, 2000, 4000)}
    return {name: ("journal", change) for name, change in journal.items()} | {
        name: ("partial", place) for name, place in partial.items()
    }


@pytest.mark.parametrize("name", tamperings())
def test_tampered_state_is_refused(name: str, stopped, run: Run, tmp_path: Path):
    command, whole = stopped
    what, change = tamperings()[name]
    journal, partial = tmp_path / "scores.csv.partial.json", tmp_path / "scores.csv.partial"
    if what == "journal":
        content = json.loads(journal.read_text())
        content["entry"].update(change)
        journal.write_text(json.dumps(content))
    else:
        content = bytearray(partial.read_bytes())
        content[change] ^= 1
        partial.write_bytes(content)
    assert "Start again without --resume" in run(*command, exit_code=1).stderr
    assert not (tmp_path / "scores.csv").exists()
    run(*command[:-1])
    assert (tmp_path / "scores.csv").read_bytes() == whole


def test_flipped_bits_are_refused_or_change_nothing(stopped, run: Run, tmp_path: Path):
    command, whole = stopped
    files = [tmp_path / "scores.csv.partial.json", tmp_path / "scores.csv.partial"]
    before = [file.read_bytes() for file in files]
    rng = random.Random(0)
    for number in range(20):
        for file, content in zip(files, before, strict=True):
            file.write_bytes(content)
        changed = bytearray(before[number % 2])
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        files[number % 2].write_bytes(changed)
        from typer.testing import CliRunner

        from rdplearn.cli.app import app

        done = CliRunner().invoke(app, [str(word) for word in command])
        if done.exit_code == 0:
            assert (tmp_path / "scores.csv").read_bytes() == whole
            (tmp_path / "scores.csv").unlink()
        else:
            assert done.exit_code == 1
            assert "Start again" in done.stderr


def test_an_untouched_state_is_continued(stopped, run: Run, tmp_path: Path):
    command, whole = stopped
    run(*command)
    assert (tmp_path / "scores.csv").read_bytes() == whole


def test_an_edit_far_inside_with_size_and_time_kept_is_another_table(stopped, run: Run, tmp_path: Path):
    table = tmp_path / "sales.csv"
    status, content = table.stat(), table.read_text()
    table.write_text(content.replace("A00290", "B00290"))
    os.utime(table, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert "begun with another table" in run(*stopped[0], exit_code=1).stderr


@pytest.mark.parametrize("n_bytes", [0, 1, SAMPLE_BYTES, SAMPLE_BYTES + 1, 5 * SAMPLE_BYTES + 7, 100 * SAMPLE_BYTES])
def test_the_identity_of_a_file_looks_at_all_of_it(n_bytes: int, tmp_path: Path):
    path = tmp_path / "file"
    path.write_bytes(bytes(n_bytes))
    status, identity = path.stat(), identity_of(str(path))
    for place in {*range(0, n_bytes, SAMPLE_BYTES // 2), n_bytes - 1} if n_bytes else ():
        with open(path, "r+b") as file:
            file.seek(place)
            file.write(b"x")
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert identity_of(str(path)) != identity
        path.write_bytes(bytes(n_bytes))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert identity_of(str(path)) == identity


@pytest.mark.parametrize("how", ["rewritten", "replaced", "appended to", "removed"])
def test_a_table_that_changes_during_the_run_is_an_error(how: str, run: Run, table: Path, tmp_path: Path, monkeypatch):
    from rdplearn.table_model import TableModel

    fit = TableModel.fit

    def fit_and_change(model: TableModel, opened: object) -> TableModel:
        fitted = fit(model, opened)
        other = sales().replace("A0", "B0")
        if how == "replaced":
            (tmp_path / "other").write_text(other)
            (tmp_path / "other").replace(table)
        elif how == "appended to":
            with open(table, "a") as file:
                file.write("A00300,1,Oslo,2024-01-01,0\n")
        elif how == "removed":
            table.unlink()
        else:
            table.write_text(other)
        return fitted

    monkeypatch.setattr(TableModel, "fit", fit_and_change)
    output = tmp_path / "scores.csv"
    told = run("detect", table, "-o", output, "-q", *QUICK, exit_code=1).stderr
    assert "was changed while it was read. Run again" in told
    assert not output.exists()


def test_a_table_that_changes_while_it_is_scored_is_an_error(
    run: Run, model: Path, table: Path, tmp_path: Path, small_batches: None, monkeypatch
):
    from rdplearn._results.resumable import GrowingFile

    add = GrowingFile.add

    def add_and_change(file: GrowingFile, batch: object, *, tally: list[int]) -> None:
        table.write_text(sales().replace("A0", "B0"))
        add(file, batch, tally=tally)

    monkeypatch.setattr(GrowingFile, "add", add_and_change)
    told = run("score", model, table, "-o", tmp_path / "scores.csv", "-q", "--jobs", 1, exit_code=1).stderr
    assert "was changed while it was read" in told
    assert not (tmp_path / "scores.csv").exists()
    assert (
        "begun with another table"
        in run("score", model, table, "-o", tmp_path / "scores.csv", "-q", "--jobs", 1, "--resume", exit_code=1).stderr
    )
