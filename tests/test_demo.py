"""The main job from the command line, and what it says when it cannot be done."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from rdplearn.cli import main


def test_the_demo_prints_the_top_rows_and_writes_all_rows(tmp_path):
    output = tmp_path / "scores.csv"
    done = subprocess.run(
        [sys.executable, "-m", "rdplearn.cli", "demo", "-o", str(output)], capture_output=True, text=True, check=True
    )
    assert "penguins" in done.stdout
    assert "CC0" in done.stdout
    assert done.stderr == ""  # progress is for terminals
    rows = list(csv.DictReader(output.read_text().splitlines()))
    assert len(rows) == 344
    assert list(tmp_path.iterdir()) == [output]  # nothing half-written is left beside it
    first = sorted(rows, key=lambda row: int(row["rank"]))
    assert {row["body_mass_g"] for row in first[:2]} == {"NA"}  # the two that nobody measured
    odd = {("body_mass_g", "2700"), ("bill_length_mm", "58"), ("flipper_length_mm", "176")}  # as the README says
    assert {(row["reason_1"], row["value_1"]) for row in first[2:5]} == odd
    assert [row["anomalous"] for row in first[:15]] == ["true"] * 14 + ["false"]
    for page in ("README.md", "docs/getting_started.md"):
        told = " ".join((Path(__file__).parent.parent / page).read_text().lower().split())
        assert "nine more" in told  # 14 but the two and the three
        assert "unusual for their kind" in told


def test_the_demo_speaks_json(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["rdplearn", "demo", "--json", "--top", "2", "-o", str(tmp_path / "scores.csv")])
    with pytest.raises(SystemExit) as ending:
        main()
    assert ending.value.code == 0
    facts = json.loads(capsys.readouterr().out)
    rows = list(csv.DictReader((tmp_path / "scores.csv").read_text().splitlines()))
    best = max(rows, key=lambda row: float(row["anomaly_score"]))
    assert [int(best["row"]), facts["n_rows"], len(facts["top"])] == [facts["top"][0]["row"], 344, 2]


def test_the_demo_writes_rows_alone_to_standard_output(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["rdplearn", "demo", "-o", "-"])
    with pytest.raises(SystemExit) as ending:
        main()
    assert ending.value.code == 0
    assert len(list(csv.DictReader(capsys.readouterr().out.splitlines()))) == 344


def test_a_folder_that_is_not_there_is_one_line_on_stderr(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["rdplearn", "demo", "-o", str(tmp_path / "nowhere" / "scores.csv")])
    with pytest.raises(SystemExit) as ending:
        main()
    assert ending.value.code == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"rdplearn: There is no folder '{tmp_path / 'nowhere'}' to write 'scores.csv' in. Create it")
    assert err.count("\n") == 1


def test_help_teaches_with_an_example():
    done = subprocess.run(
        [sys.executable, "-m", "rdplearn.cli", "demo", "--help"], capture_output=True, text=True, check=True
    )
    assert "Example: rdplearn demo" in done.stdout


def test_importing_the_command_line_is_cheap():
    heavy = "numba", "sklearn", "scipy", "torch", "pandas", "pyarrow"
    code = f"import rdplearn.cli, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
