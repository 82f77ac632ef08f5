"""Reports from the command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import QUICK, Run


def test_detect_writes_a_report_beside_everything_else(run: Run, table: Path, tmp_path: Path):
    path = tmp_path / "report.html"
    told = run("detect", table, "--id", "order", "--label", "fraud", "--report", path, *QUICK).stdout
    assert f"Report: {path}" in told
    text = path.read_text(encoding="utf-8")
    assert "A00057" in text
    assert "Against the labels in" in text
    assert [file.name for file in sorted(tmp_path.iterdir())] == ["report.html", "sales.csv"]


def test_two_rows_are_enough_for_a_report(run: Run, tmp_path: Path):
    (tmp_path / "two.csv").write_text("a,b\n1,2\n3,4\n")
    run("detect", tmp_path / "two.csv", "--report", tmp_path / "report.html", *QUICK)
    assert (tmp_path / "report.html").exists()


def test_report_tells_its_summary_and_writes_the_page(run: Run, model: Path, table: Path, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = run("report", model, table, "--id", "order").stdout
    verdict, first = told.splitlines()[:2]
    assert "of the 10 most unusual rows would be the same." in verdict
    assert first.startswith("sales.csv has 300 rows and 5 columns.")
    assert told.endswith("Report: report.html\n")
    assert "Against the labels" not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_json_prints_what_the_page_would_show_and_writes_none(run: Run, model: Path, table: Path, tmp_path: Path):
    found = json.loads(run("report", model, table, "--json", "--top", 7, "-q").stdout)
    assert found["n_explained"] == 7
    assert found["rows"][0]["reasons"]["columns"][0]["column"] == "amount"
    assert {"scores", "trust", "drivers", "columns", "training", "model", "versions"} <= set(found)
    assert list(tmp_path.iterdir()) == [table]


def test_clusters_have_a_report_too(run: Run, table: Path, tmp_path: Path):
    path, model = tmp_path / "clusters.html", tmp_path / "model.safetensors"
    fitted = ["--id", "order", "--ignore", "fraud", "-k", 3, "--jobs", 1]
    told = run("cluster", table, *fitted, "--report", path, "-m", model).stdout
    assert f"Report: {path}" in told
    assert "300 rows in 3 clusters" in path.read_text(encoding="utf-8")
    found = json.loads(run("report", model, table, "--label", "city", "--json", "-q").stdout)
    assert sum(cluster["n_rows"] for cluster in found["clusters"]) == 300
    assert found["evaluation"]["n_classes"] == 3


def test_a_report_is_refused_before_the_work(run: Run, model: Path, table: Path, tmp_path: Path):
    told = run("report", model, table, "-o", table, exit_code=1).stderr
    assert "is the table itself" in told
    told = run("detect", table, "--report", tmp_path / "no" / "report.html", exit_code=1).stderr
    assert "There is no folder" in told
    told = run("report", model, table, "--label", "fruad", exit_code=1).stderr
    assert "Did you mean 'fraud'?" in told
    page, groups = tmp_path / "r.html", tmp_path / "c.csv"
    told = run("cluster", model, table, "--report", page, "-o", groups, "--resume", exit_code=2).stderr
    assert "needs all rows" in told
    assert [file.name for file in tmp_path.iterdir()] == ["sales.csv"]
