"""`rdplearn review`, `tell` and `mute`, as a user types them."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rdplearn import load, review
from rdplearn._feedback.session import ReviewSession
from rdplearn.errors import TableError
from rdplearn.table import open_table
from tests.cli.conftest import FRAUDS, QUICK, Run, sales


def answers_of(path: Path) -> list[tuple[int, str]]:
    lines = path.read_text().splitlines()[1:]
    return [(int(line.split(",")[0]), line.split(",")[1]) for line in lines]


@pytest.fixture
def answers(run: Run, table: Path, model: Path) -> Path:
    run("review", model, table, stdin="ynn?q")
    return table.with_name("sales.csv.answers.csv")


def test_keys_become_answers_and_the_next_session_goes_on(run: Run, table: Path, model: Path, answers: Path):
    first = answers_of(answers)
    assert [answer for _, answer in first] == ["anomalous", "normal", "normal", "unsure"]
    assert first[0][0] - 1 in FRAUDS
    told = run("review", model, table, stdin="n").stdout  # the end of the input is as good as q
    assert "5 answers (1 anomalous, 3 normal, 1 unsure)" in told
    assert answers_of(answers)[:4] == first
    assert len({row for row, _ in answers_of(answers)}) == 5


def test_a_row_is_shown_with_its_reasons_and_cells(run: Run, table: Path, model: Path):
    told = run("review", model, table, stdin="q").stdout
    assert "give or take" in told
    assert " accounts for " in told
    assert "order: A0" in told
    assert not table.with_name("sales.csv.answers.csv").exists()


def test_undo_takes_the_last_answer_back_and_asks_again(run: Run, table: Path, model: Path, answers: Path):
    before = answers_of(answers)
    told = run("review", model, table, stdin="uuuuuq").stdout
    assert told.count("Undone.") == 4
    assert "There is no answer to undo." in told
    assert answers_of(answers) == []
    assert f"Row {before[0][0]:,}:" in told


def test_one_answer_is_one(run: Run, table: Path, model: Path):
    assert "1 answer (1 anomalous," in run("review", model, table, stdin="y").stdout
    told = run("tell", model, f"{table}.answers.csv", "-o", table.with_name("told")).stdout
    assert "Model with 1 answer:" in told


def test_other_keys_do_nothing(run: Run, table: Path, model: Path, answers: Path):
    before = answers.read_bytes()
    told = run("review", model, table, stdin="x\x1b7q").stdout
    assert answers.read_bytes() == before
    assert told.count("anomaly score") == 1  # the row is not shown again
    assert told.count("q quit: ") == 4
    assert "\x1b" not in told


def test_told_answers_change_scores_explanations_and_reports(run: Run, table: Path, model: Path, answers: Path):
    told = table.with_name("answered.safetensors")
    assert "Model with 4 answers" in run("tell", model, answers, "-o", told).stdout
    rows = {row["row"]: row["anomaly_score"] for row in json.loads(run("score", told, table, "--json").stdout)["top"]}
    assert next(iter(rows)) == answers_of(answers)[0][0]
    facts = json.loads(run("explain", told, table, "--row", answers_of(answers)[0][0], "--json").stdout)["rows"][0]
    assert "your answers" in [column["column"] for column in facts["columns"]]
    assert sum(c["contribution"] for c in facts["columns"]) == pytest.approx(facts["anomaly_score"] - facts["baseline"])
    assert "4 answers about rows" in run("inspect", told).stdout
    run("report", told, table, "-o", table.with_name("report.html"))
    assert "your answers" in table.with_name("report.html").read_text()
    again = table.with_name("again.safetensors")
    run("tell", told, answers, "-o", again)  # the same answers once more change nothing
    assert again.read_bytes() == told.read_bytes()


def test_detect_uses_a_file_of_answers(run: Run, table: Path, answers: Path):
    row, kept = answers_of(answers)[0][0], answers.read_bytes()
    command = ["detect", table, "--id", "order", "--label", "fraud", "-m", table.with_name("new"), *QUICK]
    plain = json.loads(run(*command, "--json").stdout)
    told = json.loads(run(*command, "--answers", answers, "--json").stdout)
    assert told["top"][0]["row"] == row
    assert told["threshold"] != plain["threshold"]  # scores that take answers have a scale of their own
    assert "It has 4 answers" in run("inspect", table.with_name("new")).stdout
    assert answers.read_bytes() == kept
    refused = run("detect", table, "--answers", table, exit_code=1).output
    assert "is not an answers file" in refused


@pytest.mark.parametrize("command", ["fit", "detect"])
def test_a_new_model_does_not_take_the_place_of_answers(command, run: Run, table: Path, model: Path, answers: Path):
    told = table.with_name("answered.safetensors")
    run("tell", model, answers, "-o", told)
    kept = told.read_bytes()
    refused = run(command, table, "-m", told, *QUICK, exit_code=1).output
    assert "has 4 answers and 0 muting rules, which a new model would not have. Pass another name" in refused
    assert told.read_bytes() == kept
    run("tell", model, answers, "-o", told)  # answers that are told anew are the user's wish
    run("fit", table, "--update", told)  # and an update keeps them
    assert "It has 4 answers" in run("inspect", told).stdout


def test_rules_are_made_listed_counted_and_removed(run: Run, table: Path, model: Path, answers: Path):
    row = answers_of(answers)[1][0]
    quiet, loud = table.with_name("quiet.safetensors"), table.with_name("loud.safetensors")
    run("mute", model, answers, "--row", row, "--name", "large sales", "-o", quiet)
    listed = run("mute", quiet).stdout
    assert "large sales: rows whose first reason is amount" in listed
    assert "1 muting rule in" in listed
    assert "It has 0 answers about rows, and 1 muting rule." in run("inspect", quiet).stdout
    why = run("explain", quiet, table, "--row", row, "--columns", "1").stdout
    assert "your answers (muted by 'large sales') lower the score by" in why
    verdict = run("watch", quiet, table).stdout  # the columns are still remembered
    assert "No refit is due" in verdict
    assert "not compared: the model takes answers" in verdict
    muted = json.loads(run("score", quiet, table, "--json").stdout)
    plain = json.loads(run("score", model, table, "--json").stdout)
    assert muted["n_muted"] > 0
    assert muted["n_anomalous"] == plain["n_anomalous"] - muted["n_muted"]
    run("mute", quiet, "--remove", "large sales", "-o", loud)
    assert json.loads(run("score", loud, table, "--json").stdout)["n_anomalous"] == plain["n_anomalous"]


def test_keys_are_read_from_a_terminal_one_by_one(table: Path, model: Path):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "rdplearn.cli", "review", str(model), str(table)]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True)
    os.close(theirs)
    try:
        shown = b""
        for key in (b"y", b"n", b"u", b"q"):
            n_asked = shown.count(b"q quit: ")
            while shown.count(b"q quit: ") == n_asked:
                shown += os.read(ours, 4096)
            time.sleep(0.05)
            os.write(ours, key)  # and no end of the line
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert [answer for _, answer in answers_of(table.with_name("sales.csv.answers.csv"))] == ["anomalous"]


def test_a_killed_session_loses_nothing(table: Path, model: Path):
    command = [sys.executable, "-m", "rdplearn.cli", "review", str(model), str(table)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    path = table.with_name("sales.csv.answers.csv")
    try:
        process.stdin.write(b"yn")
        process.stdin.flush()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (path.exists() and len(answers_of(path)) == 2):
            time.sleep(0.05)
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
    assert [answer for _, answer in answers_of(path)] == ["anomalous", "normal"]


def test_numbers_that_a_spreadsheet_wrote_anew_are_the_same(run: Run, table: Path, model: Path, answers: Path):
    lines = answers.read_text().splitlines()
    fields = lines[1].split(",")
    fields[4] = f"{float(fields[4]):.4f}"  # the amount
    answers.write_text("\n".join([lines[0], ",".join(fields), *lines[2:]]) + "\n")
    assert "4 answers" in run("review", model, table, stdin="q").stdout
    assert "Undone." in run("review", model, table, stdin="uq").stdout


def test_answers_that_another_session_gave_meanwhile_are_kept(table: Path, model: Path):
    path = table.with_name("sales.csv.answers.csv")
    one, two = (ReviewSession(review(load(model)), open_table(table), str(path)) for _ in range(2))
    one.answer(one.next(), "anomalous")
    kept = path.read_bytes()
    with pytest.raises(TableError, match=r"was changed by another program during this review.*run the same command"):
        two.answer(two.next(), "normal")
    assert path.read_bytes() == kept
    again = ReviewSession(review(load(model)), open_table(table), str(path))
    again.answer(again.next(), "normal")
    path.write_bytes(kept)  # in an editor
    with pytest.raises(TableError, match="was changed by another program"):
        again.undo()
    assert path.read_bytes() == kept


WRONG: dict[str, tuple[list[str], int, str]] = {
    "standard input": (["review", "MODEL", "-"], 2, "must be a file"),
    "no strategy": (["review", "MODEL", "sales.csv", "--strategy", "best"], 1, "one of 'top', 'informative'"),
    "other rows": (["review", "MODEL", "other.csv", "--answers", "ANSWERS"], 1, "in column 'order' it has 'A00"),
    "fewer rows": (["review", "MODEL", "short.csv", "--answers", "ANSWERS"], 1, "and 'short.csv' has 2 rows"),
    "other columns": (["review", "MODEL", "wide.csv", "--answers", "ANSWERS"], 1, "are about another table"),
    "a torn file": (["tell", "MODEL", "torn.csv", "-o", "new"], 1, "cut off, or edited"),
    "another table's answers": (["tell", "MODEL", "foreign.csv", "-o", "new"], 1, "of the fit"),
    "no answers": (["tell", "MODEL", "sales.csv", "-o", "new"], 1, "is not an answers file"),
    "over the model": (["tell", "MODEL", "ANSWERS", "-o", "MODEL"], 1, "the model itself"),
    "no such row": (["mute", "MODEL", "ANSWERS", "--row", "299", "-o", "new"], 1, "has no answer about row 299"),
    "a real anomaly": (
        ["mute", "MODEL", "ANSWERS", "--row", "FIRST", "-o", "new"],
        1,
        "was answered as anomalous, and a muting rule says that rows like it are fine. Pass a row that is normal",
    ),
    "a name of two lines": (
        ["mute", "MODEL", "ANSWERS", "--row", "SECOND", "--name", "two\nlines", "-o", "new"],
        1,
        r"The 'name' parameter of mute must be one line of printable letters. Got 'two\nlines' instead.",
    ),
    "no such rule": (["mute", "MODEL", "--remove", "x", "-o", "new"], 1, "There is no muting rule 'x'"),
    "no output": (["mute", "MODEL", "ANSWERS", "--row", "1"], 2, "is needed with --row or --remove"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_is_told(case, run: Run, table: Path, model: Path, answers: Path, monkeypatch):
    monkeypatch.chdir(table.parent)
    kept = answers.read_bytes()
    lines = sales().splitlines()
    Path("other.csv").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")
    Path("short.csv").write_text("\n".join(lines[:3]) + "\n")
    Path("wide.csv").write_text("\n".join(f"{line},{number}" for number, line in enumerate(lines)) + "\n")
    Path("torn.csv").write_bytes(kept[: len(kept) - 9])
    Path("foreign.csv").write_text("row,answer,when,age\n1,normal,2026-11-18T03:51:07Z,31\n")
    arguments, exit_code, told = WRONG[case]
    first, second, *_ = (str(row) for row, _ in answers_of(answers))
    names = {"MODEL": str(model), "ANSWERS": answers.name, "FIRST": first, "SECOND": second}
    result = run(*(names.get(argument, argument) for argument in arguments), stdin="yq", exit_code=exit_code)
    assert told in " ".join(result.output.replace("│", " ").split())
    assert answers.read_bytes() == kept
    assert not Path("new").exists()
