"""Commands take several files, patterns and workbooks as one table."""

from __future__ import annotations

import json
from pathlib import Path

import openpyxl
import pytest

from tests.cli.conftest import QUICK, Run, sales


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """The sales in three files."""
    header, *rows = sales().splitlines()
    paths = []
    for number in range(3):
        paths.append(tmp_path / f"part-{number}.csv")
        paths[-1].write_text("\n".join([header, *rows[number * 100 : (number + 1) * 100]]) + "\n")
    return paths


def test_several_files_mean_the_same_as_one(run: Run, table: Path, parts: list[Path], tmp_path: Path):
    options = ["--id", "order", "--ignore", "fraud", "-o", "-", "-q", *QUICK]
    whole = run("detect", table, *options).stdout
    assert run("detect", *parts, *options).stdout == whole
    assert run("detect", tmp_path / "part-*.csv", *options).stdout == whole


def test_fit_and_score_take_several_files_and_resume_knows_them(run: Run, parts: list[Path], tmp_path: Path):
    model, output = tmp_path / "model", tmp_path / "scores.csv"
    run("fit", *parts, "-m", model, "--id", "order", "-q", *QUICK)
    facts = json.loads(run("score", model, *parts, "-o", output, "--json", "--jobs", 1).stdout)
    assert facts["n_rows"] == 300
    assert facts["table"].endswith("part-0.csv' and 2 more files")
    assert run("score", model, tmp_path / "part-*.csv", "-o", "-", "-q").stdout == output.read_text()


def test_commands_that_look_at_a_table_take_several_files(run: Run, model: Path, parts: list[Path], tmp_path: Path):
    assert "300 rows, " in run("inspect", *parts, "-q").stdout
    assert json.loads(run("watch", model, *parts, "--json").stdout)["n_rows"] == 300
    assert json.loads(run("explain", model, *parts, "--row", 258, "--json").stdout)["rows"][0]["row"] == 258
    run("report", model, *parts, "-o", tmp_path / "page.html", "-q")
    assert "is the table itself" in run("report", model, *parts, "-o", parts[1], exit_code=1).stderr


@pytest.mark.parametrize("command", ["cluster", "embed"])
def test_commands_that_learn_features_take_several_files(command: str, run: Run, parts: list[Path], tmp_path: Path):
    model, output = tmp_path / "model", tmp_path / "result.csv"
    run(command, *parts, "-m", model, "-o", output, "--id", "order", "-q", "--steps", 5, "--jobs", 1)
    assert len(output.read_text().splitlines()) == 301
    again = run(command, model, *parts, "-o", "-", "--id", "order", "-q", "--jobs", 1).stdout
    assert again == output.read_text()
    assert run(command, model, tmp_path / "part-*.csv", "-o", "-", "--id", "order", "-q").stdout == again
    told = run(command, *parts, "-m", model, "--dask", "local:1", exit_code=2).stderr
    assert "takes one folder or 'pattern'" in told


def test_review_takes_several_files_and_a_name_for_the_answers(
    run: Run, model: Path, parts: list[Path], tmp_path: Path
):
    answers = tmp_path / "answers.csv"
    assert "1 answer" in run("review", model, *parts, "--answers", answers, stdin="y").stdout
    assert answers.read_text().count("\n") == 2
    for tables in (parts, [tmp_path / "part-*.csv"]):
        told = run("review", model, *tables, exit_code=2).stderr
        assert "is needed with several files: name the file to keep the answers in." in " ".join(told.split())


def test_an_output_that_is_one_of_the_files_is_refused(run: Run, parts: list[Path]):
    told = run("detect", *parts, "-o", parts[1], exit_code=1).stderr
    assert "is the table itself" in told
    assert parts[1].read_text().startswith("order")


def test_files_with_other_columns_are_told(run: Run, parts: list[Path]):
    parts[2].write_text("a,b\n1,2\n")
    told = run("detect", *parts, *QUICK, exit_code=1).stderr
    assert "part-2.csv' lacks column 'order', which" in told


def test_dask_takes_one_folder_or_pattern(run: Run, parts: list[Path]):
    told = run("detect", *parts, "--dask", "local:1", exit_code=2).stderr
    assert "takes one folder or 'pattern'" in told


def test_a_sheet_of_a_workbook(run: Run, tmp_path: Path):
    book = openpyxl.Workbook()
    book.active.append(["nothing", "here"])
    sheet = book.create_sheet("sales")
    for line in sales(100, frauds=(57,)).splitlines():
        sheet.append(line.split(","))
    book.save(tmp_path / "sales.xlsx")
    options = ["--id", "order", "--ignore", "fraud", "--json", "-q", *QUICK]
    facts = json.loads(run("detect", tmp_path / "sales.xlsx", "--sheet", "sales", *options).stdout)
    assert facts["top"][0]["row"] == 58
    assert facts["top"][0]["amount"] == 9857
    assert "has no sheet 'x'" in run("inspect", tmp_path / "sales.xlsx", "--sheet", "x", exit_code=1).stderr
