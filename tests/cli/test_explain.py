"""`rdplearn explain`, as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import QUICK, Run, sales


def test_without_rows_the_most_anomalous_are_explained(run: Run, table: Path, model: Path):
    told = run("explain", model, table, "--top", 3).stdout
    assert told.count("Row ") == 3
    top = json.loads(run("score", model, table, "--top", 3, "--json").stdout)["top"]
    assert [line.split(":")[0] for line in told.splitlines() if line.startswith("Row ")] == [
        f"Row {row['row']}" for row in top
    ]


def test_a_row_is_explained_in_words(run: Run, table: Path, model: Path):
    lines = run("explain", model, table, "--row", 158).stdout.splitlines()
    assert lines[0].startswith("Row 158: anomaly score ")
    assert lines[1].startswith("  amount 9,957 (typical ")
    assert lines[1].endswith("% of the score")
    assert len(run("explain", model, table, "--row", 158, "--columns", 1).stdout.splitlines()) == 2


def test_rows_are_named_by_a_column(run: Run, table: Path, model: Path):
    told = run("explain", model, table, "--id", "order", "--row", "A00157", "--row", "A00001").stdout
    by_number = run("explain", model, table, "--row", 158, "--row", 2).stdout
    assert told.replace(" (A00157)", "").replace(" (A00001)", "") == by_number


def test_json_has_every_column_and_adds_up(run: Run, table: Path, model: Path):
    facts = json.loads(run("explain", model, table, "--row", 8, "--row", 58, "--row", 8, "--json").stdout)
    assert [row["row"] for row in facts["rows"]] == [8, 58]
    for row in facts["rows"]:
        total = sum(column["contribution"] for column in row["columns"])
        assert total == pytest.approx(row["anomaly_score"] - row["baseline"])
        assert {column["column"] for column in row["columns"]} <= {"amount", "city", "sold"}


def test_standard_input_can_be_explained(run: Run, table: Path, model: Path):
    from_file = run("explain", model, table, "--row", 58).stdout
    assert run("explain", model, "-", "--row", 58, stdin=table.read_text()).stdout == from_file


WRONG: dict[str, tuple[list[str], int, str]] = {
    "a row that no table has": (["MODEL", "sales.csv", "--row", "9" * 20], 2, "must be the number of a row, from 1"),
    "a row too far": (
        ["MODEL", "sales.csv", "--row", "301"],
        1,
        "'sales.csv' has 300 rows, and no row 301. Rows count from 1.",
    ),
    "no number": (["MODEL", "sales.csv", "--row", "A00057"], 2, "must be the number of a row, from 1"),
    "row zero": (["MODEL", "sales.csv", "--row", "0"], 2, "must be the number of a row, from 1"),
    "no such value": (["MODEL", "sales.csv", "--id", "order", "--row", "B1"], 1, "has 'B1' in column 'order'"),
    "no such column": (["MODEL", "sales.csv", "--id", "ordre", "--row", "A00057"], 1, "Did you mean 'order'?"),
    "no model": (["sales.csv", "sales.csv"], 1, "cannot be read as a model"),
    "no rows": (["MODEL", "empty.csv"], 1, "There are no rows in 'empty.csv'"),
    "a column less": (["MODEL", "less.csv", "--row", "1"], 1, "Column 'city' of the fit is missing"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_told_in_one_line(name: str, run: Run, table: Path, model: Path, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "less.csv").write_text(sales().replace(",city,", ",town,"))
    (tmp_path / "empty.csv").write_text(sales(0))
    arguments, exit_code, reason = WRONG[name]
    result = run("explain", *[model if word == "MODEL" else word for word in arguments], exit_code=exit_code)
    assert reason in " ".join(result.stderr.split())
    assert result.stdout == ""


def test_cells_and_names_cannot_steer_the_terminal(run: Run, tmp_path: Path):
    rows = "".join(f"{i},\x1b[2J{i % 3}\n" for i in range(40))
    (tmp_path / "nasty.csv").write_text("n\x1b[2J,name\n" + rows + "9000,\x1b[2J0\n")
    run("fit", tmp_path / "nasty.csv", "-m", tmp_path / "model", *QUICK)
    told = run("explain", tmp_path / "model", tmp_path / "nasty.csv", "--id", "name", "--top", 2).stdout
    assert "\x1b" not in told
    assert "n\\x1b[2J 9,000" in told
