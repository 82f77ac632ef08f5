"""The commands from end to end, as a user types them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import rdplearn
from tests.cli.conftest import FRAUDS, QUICK, Run, sales

COMMANDS = ("detect", "fit", "score", "explain", "report", "embed", "cluster", "inspect", "demo")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_with_an_example(command: str, run: Run):
    told = run(command, "--help").stdout
    assert f"rdplearn {command}" in told
    assert "Example" in told
    assert "--quiet" in told


def test_help_of_all_and_the_version(run: Run):
    assert all(command in run("--help").stdout for command in COMMANDS)
    assert run("--version").stdout == f"rdplearn {rdplearn.__version__}\n"


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from typer.testing import CliRunner; from rdplearn.cli.app import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        "heavy = ('numpy', 'sklearn', 'numba', 'pyarrow', 'scipy', 'rich', 'jinja2', 'plotly')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_detect_prints_the_planted_rows_and_writes_all_scores(run: Run, table: Path, tmp_path: Path):
    output, model = tmp_path / "scores.csv", tmp_path / "model.safetensors"
    told = run(
        "detect", table, "--id", "order", "--label", "fraud", "-o", output, "-m", model, "--top", 3, *QUICK
    ).stdout
    assert all(f"A{row:05d}" in told for row in FRAUDS)
    assert "AUC-ROC 1.000" in told
    scores = pc.read_csv(output)
    assert scores.column_names[:6] == ["row", "order", "anomaly_score", "rank", "anomalous", "reason_1"]
    assert scores["row"].to_pylist() == list(range(1, 301))
    assert ",-0," not in output.read_text()
    assert [file.name for file in sorted(tmp_path.iterdir())] == ["model.safetensors", "sales.csv", "scores.csv"]
    again = json.loads(run("score", model, table, "--json", "--top", 1).stdout)
    assert again["top"][0]["anomaly_score"] == max(scores["anomaly_score"].to_pylist())


def test_json_is_complete(run: Run, table: Path):
    facts = json.loads(run("detect", table, "--label", "fraud", "--json", "-q", "--top", 2, *QUICK).stdout)
    assert facts["n_rows"] == 300
    assert facts["evaluation"]["n_anomalies"] == len(FRAUDS)
    assert {row["row"] - 1 for row in facts["top"]} <= set(FRAUDS)
    ours = ["anomaly_score", "anomalous", "reasons", "why"]
    assert list(facts["top"][0]) == ["row", "rank", "order", "amount", "city", "sold", "fraud", *ours]


def test_the_label_never_reaches_training(run: Run, tmp_path: Path):
    made = {}
    for name, labels in {"true": FRAUDS, "false": (1, 2, 3, 4), "none": ()}.items():
        (tmp_path / "sales.csv").write_text(sales(labels=labels))
        model, scores = tmp_path / "model", tmp_path / "scores.csv"
        run("fit", tmp_path / "sales.csv", "-m", model, "--label", "fraud", "-q", *QUICK)
        compare = [] if name == "none" else ["--label", "fraud"]
        run("score", model, tmp_path / "sales.csv", "-o", scores, "--jobs", 1, *compare)
        made[name] = (model.read_bytes(), scores.read_bytes())
    assert made["true"] == made["false"] == made["none"]


def test_detect_never_trains_on_the_label(run: Run, tmp_path: Path):
    made = []
    for labels in (FRAUDS, (1, 2, 3, 4)):
        (tmp_path / "sales.csv").write_text(sales(labels=labels))
        made.append(
            run("detect", tmp_path / "sales.csv", "-o", "-", "--label", "fraud", "--id", "order", *QUICK).stdout
        )
    assert made[0] == made[1]


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_all_formats_hold_the_same(ending: str, run: Run, table: Path, model: Path, tmp_path: Path):
    output = tmp_path / f"scores.{ending}"
    run("score", model, table, "--id", "order", "--id", "sold", "-o", output, "--jobs", 1)
    expected = pc.read_csv(io_of(run("score", model, table, "--id", "order", "--id", "sold", "-o", "-").stdout))
    if ending == "jsonl":
        rows = [json.loads(line) for line in output.read_text().splitlines()]
    else:
        rows = (pq.read_table(output) if ending == "parquet" else pc.read_csv(output)).to_pylist()
    assert [row["anomaly_score"] for row in rows] == expected["anomaly_score"].to_pylist()
    assert [str(row["sold"]) for row in rows] == [str(day) for day in expected["sold"].to_pylist()]
    assert [row["anomalous"] for row in rows] == expected["anomalous"].to_pylist()


def io_of(text: str) -> object:
    import io

    return io.BytesIO(text.encode())


def test_standard_input_and_output(run: Run, table: Path, model: Path):
    from_file = run("score", model, table, "-o", "-").stdout
    assert run("score", model, "-", "-o", "-", stdin=table.read_text()).stdout == from_file
    assert len(from_file.splitlines()) == 301


def test_the_result_does_not_depend_on_the_threads(run: Run, table: Path, model: Path):
    assert run("score", model, table, "-o", "-", "--jobs", 2).stdout == run("score", model, table, "-o", "-").stdout


def test_inspect_a_table_and_a_model(run: Run, table: Path, model: Path):
    told = run("inspect", table).output
    assert "identifier" in told
    assert "left out" in told
    facts = json.loads(run("inspect", table, "--json", "-q", "--kind", "order=category").stdout)
    assert facts["columns"][0]["kind"] == "category"
    assert "RDPDetector(" in run("inspect", model).stdout
    facts = json.loads(run("inspect", model, "--json").stdout)
    assert facts["parameters"]["n_members"] == 2
    assert [column["column"] for column in facts["columns"]] == ["amount", "city", "sold"]


def test_options_of_reading_are_heard(run: Run, tmp_path: Path):
    rows = "".join(f"{i % 7}.{i % 9}00,5;{'n/a' if i % 3 else 'x'};0{1 + i % 9}/02/2024\n" for i in range(60))
    (tmp_path / "german.txt").write_bytes(rows.encode("utf-16"))
    options = ["--separator", ";", "--encoding", "utf-16", "--no-header", "--decimal", ",", "--thousands", "."]
    told = run(
        "inspect",
        tmp_path / "german.txt",
        "--json",
        *options,
        "--missing",
        "n/a",
        "--day-first",
        "--ignore",
        "column_2",
    )
    facts = json.loads(told.stdout)
    assert [(column["column"], column["kind"]) for column in facts["columns"]] == [
        ("column_1", "number"),
        ("column_3", "date"),
    ]
    assert facts["columns"][1]["typical"].startswith("2024-02-0")


def test_seeds_decide(run: Run, table: Path):
    first, same, other = (run("detect", table, "-o", "-", "-q", "--seed", s, *QUICK).stdout for s in (1, 1, 2))
    assert first == same != other


WRONG: dict[str, tuple[list[str], int, str]] = {
    "no such table": (["inspect", "nowhere.csv"], 1, "There is no file 'nowhere.csv'"),
    "no such model": (["score", "nowhere", "sales.csv"], 1, "There is no file 'nowhere'"),
    "a table for a model": (
        ["score", "sales.csv", "sales.csv"],
        1,
        "'sales.csv' cannot be read as a model. It is damaged, or another kind of file: name a model that fit",
    ),
    "a model for a table": (["detect", "MODEL"], 1, "is a model, not a table. Where a command takes both, the model"),
    "no such column": (["detect", "sales.csv", "--label", "fraude"], 1, "Did you mean 'fraud'?"),
    "no such id": (["detect", "sales.csv", "--id", "x"], 1, "--id names column 'x'"),
    "labels of another kind": (["detect", "sales.csv", "--label", "city", *QUICK], 1, "must hold 1 for anomalies"),
    "an unknown ending": (["detect", "sales.csv", "-o", "scores.xlsx"], 1, "must end in .csv"),
    "no such folder": (["detect", "sales.csv", "-o", "no/scores.csv"], 1, "There is no folder"),
    "a folder": (["fit", "sales.csv", "-m", "."], 1, "is a folder"),
    "the table itself": (["detect", "sales.csv", "-o", "sales.csv"], 1, "is the table itself"),
    "an impossible share": (["detect", "sales.csv", "--contamination", "0.9"], 2, "contamination"),
    "two lines": (["detect", "sales.csv", "--contamination", "0.1", "--false-alarm-rate", "0.1"], 2, "Leave one out"),
    "no kind": (["inspect", "sales.csv", "--kind", "city"], 2, "must be COLUMN=KIND"),
    "no weight": (
        ["detect", "sales.csv", "--weight", "city=2", "--weight", "amount=x"],
        2,
        "'amount=x' must be COLUMN=",
    ),
    "another kind": (["inspect", "sales.csv", "--kind", "city=town"], 1, "town"),
    "nothing to resume": (["score", "MODEL", "sales.csv", "--resume"], 2, "needs a file to read"),
    "no jobs": (["detect", "sales.csv", "--jobs", "0"], 2, "must be 1 or more, or -1 for all cores. Got 0."),
    "no jobs to score": (["score", "MODEL", "sales.csv", "--jobs", "0"], 2, "must be 1 or more, or -1 for all cores"),
    "another encoding": (
        ["detect", "sales_8.csv", "--encoding", "ascii"],
        1,
        "is not written in ascii. Pass another --encoding, or leave it out.",
    ),
    "no model to write": (["fit", "sales.csv"], 2, "--model"),
    "an unknown option": (["detect", "sales.csv", "--colour"], 2, "--colour"),
    "text in a number": (["score", "MODEL", "words.csv"], 1, "Column 'amount' of 'words.csv' was a number at fit"),
    "a column less": (["score", "MODEL", "less.csv"], 1, "Column 'city' of the fit is missing"),
    "no rows": (["score", "MODEL", "empty.csv"], 1, "There are no rows in 'empty.csv'"),
    "our own name": (["detect", "ours.csv", "--id", "anomaly_score"], 1, "cannot be carried along"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_told_in_one_line(name: str, run: Run, table: Path, model: Path, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.csv").write_text(sales().replace(",9957,", ",much,"))
    (tmp_path / "less.csv").write_text(sales().replace(",city,", ",town,"))
    (tmp_path / "empty.csv").write_text(sales(0))
    (tmp_path / "sales_8.csv").write_text(sales().replace("Oslo", "Tromsø"))
    (tmp_path / "ours.csv").write_text(sales().replace("order", "anomaly_score"))
    before = sorted(file.name for file in tmp_path.iterdir())
    arguments, exit_code, reason = WRONG[name]
    result = run(*[str(model) if word == "MODEL" else word for word in arguments], exit_code=exit_code)
    assert reason in " ".join(result.stderr.split())
    assert result.stdout == ""
    if exit_code == 1:
        assert len([line for line in result.stderr.splitlines() if "warning" not in line]) == 1
    assert sorted(file.name for file in tmp_path.iterdir()) == before


def test_a_table_of_two_rows_has_nothing_to_report(run: Run, tmp_path: Path):
    (tmp_path / "two.csv").write_text("a,b\n1,x\n2,y\n")
    told = run("detect", tmp_path / "two.csv", *QUICK).stdout
    assert "0 of 2 rows reported as anomalous: none has a score above 0." in told
    assert json.loads(run("detect", tmp_path / "two.csv", "--json", "-q", *QUICK).stdout)["threshold"] == 0.0


def test_inspect_cuts_no_notes(run: Run, tmp_path: Path):
    (tmp_path / "notes.csv").write_text("row,amount\n" + "".join(f"{i},{i % 9}\n" for i in range(100)))
    told = " ".join(run("inspect", tmp_path / "notes.csv", "-q").stdout.split())
    assert "left out: every value is different, as in a row number or key" in told
    assert "…" not in told


def test_debug_shows_where(table: Path):
    from typer.testing import CliRunner

    from rdplearn.cli.app import app

    result = CliRunner().invoke(app, ["inspect", "nowhere.csv", "--debug"])
    assert type(result.exception).__name__ == "TableError"


def test_what_should_not_happen_has_no_traceback_either(run: Run, table: Path, monkeypatch):
    def surprise(*_: object, **__: object) -> None:
        raise KeyError("surprise")

    monkeypatch.setattr("rdplearn.table.TableEncoder.look", surprise)
    assert "should not have happened (KeyError: 'surprise')" in run("inspect", table, exit_code=1).stderr


def test_warnings_go_to_stderr_once_and_quiet_silences_them(run: Run, table: Path):
    told = run("detect", table, *QUICK)
    assert told.stderr.count("Left out of") == 1
    assert "warning" not in told.stdout
    assert run("detect", table, "--quiet", *QUICK).stderr == ""


def test_cells_cannot_steer_the_terminal(run: Run, tmp_path: Path):
    rows = "".join(f"{i},\x1b[2J[red]{i % 3}[/red]\n" for i in range(40))
    (tmp_path / "nasty.csv").write_text("n,name\n" + rows + "9000,\x1b[2J[red]0[/red]\n")
    told = run("detect", tmp_path / "nasty.csv", *QUICK).stdout
    assert "\x1b" not in told
    assert "\\x1b[2J[red]0[/red]" in told


def test_a_reader_that_has_seen_enough_is_no_fault(table: Path, model: Path):
    command = f"{sys.executable} -m rdplearn.cli score {model} {table} -o - --jobs 1 | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.startswith('"row"')
    assert done.stderr == ""


def test_shell_completion_is_there():
    # a test has no shell around it that could be recognised
    told = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "rdplearn.cli", "--show-completion", "bash"],
        capture_output=True,
        text=True,
        check=False,
        env=told,
    )
    assert "complete" in done.stdout


@pytest.mark.parametrize(("option", "values"), [("--weight", ("1", "2")), ("--kind", ("number", "text"))])
def test_two_answers_for_one_column_are_refused(run: Run, table: Path, tmp_path: Path, option: str, values):
    both = [word for value in values for word in (option, f"amount={value}")]
    told = run("fit", table, "-m", tmp_path / "m", *both, *QUICK, exit_code=2)
    assert f"'amount' has {values[0]} and {values[1]}: pass one." in told.output
    assert not (tmp_path / "m").exists()


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that cannot be read, as Linux has")
def test_a_file_that_cannot_be_read_is_no_fault_of_standard_output(run: Run):
    told = run("inspect", "/proc/self/mem", exit_code=1)
    assert told.output.startswith("rdplearn: Cannot read '/proc/self/mem': ")
    assert "Input/output error" in told.output
