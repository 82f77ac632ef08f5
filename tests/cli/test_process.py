"""`rdplearn` among other programs: closed pipes, full disks, signals, names that are taken, hostile names."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import QUICK, Run, sales

PROGRAM = [sys.executable, "-m", "rdplearn.cli"]


def shell(command: str, **options: object) -> subprocess.CompletedProcess[str]:
    program = f'rdplearn() {{ {" ".join(PROGRAM)} "$@"; }}; '
    return subprocess.run(["bash", "-c", program + command], capture_output=True, text=True, check=False, **options)


def test_the_package_is_the_program_as_well():
    done = subprocess.run([sys.executable, "-m", "rdplearn", "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("rdplearn ")


def test_a_reader_that_has_seen_enough_ends_it_by_sigpipe(model: Path, tmp_path: Path):
    (tmp_path / "long.csv").write_text(sales(20_000))
    done = shell(f"rdplearn score {model} {tmp_path}/long.csv -o - --jobs 1 | head -n 1; exit ${{PIPESTATUS[0]}}")
    assert done.returncode in (0, 128 + signal.SIGPIPE)
    assert done.stdout.startswith('"row"')
    assert done.stderr == ""


def test_standard_output_that_is_full_or_closed_is_an_ordinary_error(model: Path, table: Path, tmp_path: Path):
    for command in (f"score {model} {table} -o -", f"score {model} {table}", f"inspect {model} --json"):
        done = shell(f"rdplearn {command} -q > /dev/full")
        assert done.returncode == 1
        assert done.stderr.startswith("rdplearn: ")
        assert "standard output" in done.stderr
        assert done.stderr.endswith("Make room, or send it elsewhere.\n")
        assert done.stderr.count("\n") == 1
    done = shell(f"rdplearn score {model} {table} -o {tmp_path}/scores.csv >&-")
    assert done.returncode == 1
    assert done.stderr == "rdplearn: Standard output is closed. Send it to a file, or to /dev/null.\n"
    done = shell(f"rdplearn score {model} {table} -o {tmp_path}/scores.csv -q 2>&-")
    assert done.returncode == 0


@pytest.mark.skipif(not os.access("/proc", os.W_OK), reason="only root is let into /proc, where no file can be made")
@pytest.mark.parametrize("command", ["score MODEL TABLE -o /proc/x.csv", "report MODEL TABLE -o /proc/x.html"])
def test_a_folder_that_takes_no_files_is_told_in_words(command: str, run: Run, model: Path, table: Path):
    arguments = command.replace("MODEL", str(model)).replace("TABLE", str(table)).split()
    told = run(*arguments, "-q", exit_code=1).stderr
    assert told == f"rdplearn: '{arguments[-1]}' cannot be written: no file can be made there. Pass another place.\n"


def test_a_full_disk_is_told_by_fit_with_the_path_and_what_to_do(table: Path, tmp_path: Path):
    model = tmp_path / "model.safetensors"
    done = shell(f"ulimit -f 4; rdplearn fit {table} -m {model} -q --jobs 1")
    assert done.returncode == 1
    assert done.stderr.startswith(f"rdplearn: '{model}' cannot be written: ")
    assert done.stderr.endswith("Make room, or pass another place.\n")
    assert done.stderr.count("\n") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["sales.csv"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_while_reading_standard_input_leaves_no_copy(number: signal.Signals, tmp_path: Path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    child = subprocess.Popen(
        [*PROGRAM, "inspect", "-"], stdin=subprocess.PIPE, env={**os.environ, "TMPDIR": str(folder)}, cwd=tmp_path
    )
    assert child.stdin is not None
    child.stdin.write(sales(200_000).encode())  # more than the pipe holds: it has begun to read
    child.stdin.flush()
    time.sleep(0.5)
    assert child.poll() is None
    child.send_signal(number)
    assert child.wait(20) == (128 + number if number == signal.SIGTERM else -number)
    child.stdin.close()
    assert list(folder.iterdir()) == []


def test_what_is_read_is_never_written_over(run: Run, model: Path, table: Path, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.csv").write_bytes(model.read_bytes())
    (tmp_path / "m.html").write_bytes(model.read_bytes())
    (tmp_path / "link.csv").symlink_to("m.csv")
    (tmp_path / "scores.csv.partial").write_text(sales())
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    for command, reason in {
        "score m.csv sales.csv -o m.csv": "'m.csv' is the model itself",
        "score m.csv sales.csv -o link.csv": "'link.csv' is the model itself",
        "score link.csv sales.csv -o m.csv": "'m.csv' is the model itself",
        "score m.csv sales.csv -o ./sales.csv": "is the table itself",
        "score m.csv scores.csv.partial -o scores.csv": "scores.csv.partial' is the table itself",
        "report m.html sales.csv -o m.html": "'m.html' is the model itself",
        "export m.csv -o m.csv": "'m.csv' is the model itself",
        "detect sales.csv -o x.csv -m x.csv": "is the name of another result",
        "detect sales.csv -m x.html --report x.html": "is the name of another result",
        "detect sales.csv --report sales.csv": "must end in .html",
        "fit sales.csv -m sales.csv": "is the table itself",
        "cluster m.csv sales.csv -o m.csv": "is the model itself",
        "cluster sales.csv -o x.csv -m x.csv.partial": "is the name of another result",
        "embed m.csv sales.csv -o m.csv": "is the model itself",
    }.items():
        assert reason in run(*command.split(), exit_code=1).stderr, command
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("command", ["detect", "cluster", "report"])
def test_a_report_is_named_as_a_page(command: str, run: Run, model: Path, table: Path, tmp_path: Path):
    where = [model, table, "-o"] if command == "report" else [table, "--report"]
    told = run(command, *where, tmp_path / "x.pdf", exit_code=1).stderr
    assert "x.pdf' must end in .html or .htm: a report is an HTML page." in told
    assert not (tmp_path / "x.pdf").exists()


def test_a_file_that_will_be_replaced_is_named_in_one_line(run: Run, model: Path, table: Path, tmp_path: Path):
    output = tmp_path / "scores.csv"
    assert run("score", model, table, "-o", output).stderr == ""
    told = run("score", model, table, "-o", output).stderr
    assert told == f"rdplearn: warning: '{output}' exists and will be replaced.\n"
    assert run("score", model, table, "-o", output, "--quiet").stderr == ""


def test_names_cannot_steer_the_terminal(run: Run, tmp_path: Path):
    columns = {"amount\x1b[2J": list(range(40)), "city": ["Oslo", "Rome"] * 20}
    pq.write_table(pa.table(columns), tmp_path / "nasty.parquet")
    told = run("detect", tmp_path / "nasty.parquet", "--id", "amount\x1b[1J", *QUICK, exit_code=1).stderr
    assert "Did you mean 'amount\\x1b[2J'?" in told
    assert "\x1b" not in told
    broken = tmp_path / "bro\x1b[2Jken.csv"
    broken.write_text("")
    assert "\x1b" not in run("inspect", broken, exit_code=1).stderr
    broken.write_text(sales())
    assert "\x1b" not in run("inspect", broken, "--kind", "\x1b[2J", exit_code=2).output


def test_an_error_of_arrow_cannot_steer_the_terminal(run: Run, table: Path, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise pa.ArrowInvalid("Unexpected \x1b]0;pwned\x07 in column \x9b31m")

    monkeypatch.setattr("rdplearn.table.reading.read_csv", fail)
    told = run("inspect", table, exit_code=1).stderr
    assert "Unexpected \\x1b]0;pwned\\x07 in column \\x9b31m" in told


def test_an_unwritable_folder_is_told_before_training(run: Run, table: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    monkeypatch.setattr("rdplearn.table_model.TableModel.fit", lambda *_: pytest.fail("it was trained"))
    for command in (["fit", table, "-m"], ["detect", table, "-o"], ["cluster", table, "--report"]):
        told = run(*command, tmp_path / f"x.{'html' if command[0] == 'cluster' else 'csv'}", exit_code=1).stderr
        assert "may not be written to" in told


def test_the_next_run_removes_what_a_killed_one_has_left(run: Run, model: Path, table: Path, tmp_path: Path):
    output, page = tmp_path / "scores.parquet", tmp_path / "report.html"
    left = [output, page, tmp_path / "scores.parquet.partial.json"]
    for path in left:
        path.with_name(f".{path.name}.0123456789abcdef.part").write_text("half")
    (tmp_path / "scores.parquet.partial").write_text("half a result")
    run("score", model, table, "-o", output, "-q")
    run("report", model, table, "-o", page, "-q")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["report.html", "sales.csv", "scores.parquet"]
