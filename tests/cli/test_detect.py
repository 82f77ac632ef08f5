"""What `detect` tells: why rows are unusual, kinds of anomalies, ranks and reasons in the file, how far to trust."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from rdplearn._explain.reliability import STEADY
from tests.cli.conftest import QUICK, Run

ODD = (3, 40, 77, 150)  # rows, from 1, whose depth is zero


@pytest.fixture
def stones(tmp_path: Path) -> Path:
    """A CSV of many columns, of which the last tells what is odd."""
    rng = np.random.default_rng(0)
    names = [f"size_{n}" for n in range(7)]
    lines = [",".join(["stone", *names, "cut", "year", "depth"])]
    for row in range(1, 201):
        sizes = [f"{size:.2f}" for size in rng.normal(5, 1, 7)]
        cut, year = ("good", "ideal")[int(rng.integers(2))], 1990 + int(rng.integers(30))
        lines.append(",".join([f"S{row}", *sizes, cut, str(year), "0" if row in ODD else f"{rng.normal(400, 5):,.2f}"]))
    path = tmp_path / "stones.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_each_row_is_told_with_its_reason_and_the_columns_that_matter(run: Run, stones: Path):
    told = run("detect", stones, "--id", "stone", "--top", 8, "--contamination", 0.03, *QUICK).stdout
    rows = [line for line in told.splitlines() if "depth 0 (typical " in line]
    assert {f"S{row}" for row in ODD} <= {line.split()[1] for line in rows}
    assert "size_0" not in told.splitlines()[1]


def test_alarms_with_the_same_reason_are_told_as_one_kind(run: Run, stones: Path):
    options = ["--id", "stone", "--contamination", 0.03, *QUICK]
    told = run("detect", stones, *options).stdout
    kind = next(line for line in told.splitlines() if line.startswith(" depth = 0"))
    assert kind.split()[3] == "4"
    kind = json.loads(run("detect", stones, "--json", "-q", *options).stdout)["kinds"][0]
    assert (kind["kind"], kind["column"], kind["n_rows"]) == ("depth = 0", "depth", 4)
    assert sorted(kind["rows"]) == list(ODD)
    assert kind["example"] == kind["rows"][0]


def test_json_has_numbers_as_numbers_all_columns_and_reasons(run: Run, stones: Path):
    facts = json.loads(run("detect", stones, "--id", "stone", "--json", "-q", "--top", 5, *QUICK).stdout)
    assert [row["rank"] for row in facts["top"]] == [1, 2, 3, 4, 5]
    for row in facts["top"]:
        assert isinstance(row["size_6"], float)
        assert isinstance(row["year"], int)
        assert row["cut"] in ("good", "ideal")
        assert row["stone"] == f"S{row['row']}"
    first = facts["top"][0]
    assert first["depth"] == 0
    assert first["reasons"][0]["column"] == "depth"
    assert first["why"][0].startswith("depth 0 (typical ")


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_files_have_scores_ranks_flags_and_reasons(ending: str, run: Run, stones: Path, tmp_path: Path):
    output = tmp_path / f"out.{ending}"
    run("detect", stones, "--id", "stone", "--contamination", 0.03, "--top", 6, "-o", output, *QUICK)
    if ending == "jsonl":
        found = pa.Table.from_pylist([json.loads(line) for line in output.read_text().splitlines()])
    else:
        found = pq.read_table(output) if ending == "parquet" else pc.read_csv(output)
    scores = np.array(found["anomaly_score"])
    assert found["rank"].to_pylist() == [1 + int((scores > score).sum()) for score in scores]
    explained = {row["row"]: row for row in found.to_pylist() if row["reason_1"]}
    assert set(ODD) <= set(explained)
    assert len(explained) == 6
    for row in ODD:
        assert (explained[row]["reason_1"], float(explained[row]["value_1"])) == ("depth", 0.0)
        assert " to " in explained[row]["typical_1"]
        assert explained[row]["anomalous"]


def test_keep_writes_all_columns_of_the_table(run: Run, stones: Path):
    text = run("detect", stones, "--keep", "--id", "cut", "-o", "-", "-q", *QUICK).stdout
    header, first = (line.replace('"', "").split(",") for line in text.splitlines()[:2])
    assert header[:3] == ["row", "cut", "stone"]
    assert {"depth", "size_6", "anomaly_score", "rank"} <= set(header)
    assert first[header.index("stone")] == "S1"


def test_keep_needs_a_file(run: Run, stones: Path):
    assert "is about the file that -o writes" in run("detect", stones, "--keep", exit_code=2).stderr


def test_an_id_may_have_any_other_name(run: Run, tmp_path: Path):
    (tmp_path / "named.csv").write_text("why,x,y\n" + "".join(f"n{n},{n % 7},{n % 5}\n" for n in range(60)))
    assert "60 rows reported" in run("detect", tmp_path / "named.csv", "--id", "why", *QUICK).stdout


def test_columns_that_bear_our_names_are_refused(run: Run, tmp_path: Path):
    (tmp_path / "ours.csv").write_text("rank,x\n" + "".join(f"{n},{n % 7}\n" for n in range(50)))
    told = run("detect", tmp_path / "ours.csv", "--keep", "-o", tmp_path / "o.csv", *QUICK, exit_code=1).stderr
    assert "Column 'rank' cannot be carried along: the result has one of that name. Rename it." in told


def test_how_little_a_ranking_of_noise_can_be_trusted_is_told(run: Run, tmp_path: Path):
    rng = np.random.default_rng(0)
    rows = "\n".join(",".join(f"{cell:.3f}" for cell in row) for row in rng.uniform(size=(300, 20)))
    header = ",".join(f"x{n}" for n in range(20))
    (tmp_path / "noise.csv").write_text(f"{header}\n{rows}\n")
    facts = json.loads(run("detect", tmp_path / "noise.csv", "--json", *QUICK).stdout)
    assert facts["stability"]["figure"] < STEADY
    assert facts["stability"]["words"] in run("detect", tmp_path / "noise.csv", *QUICK).stdout


def test_a_ranking_that_can_be_trusted_needs_no_word(run: Run, stones: Path, monkeypatch):
    monkeypatch.setattr("rdplearn.cli.detect_output.STEADY", 0.0)
    assert "with another seed" not in run("detect", stones, "--id", "stone", *QUICK).stdout


def test_reasons_are_bounded_however_many_rows_are_reported(run: Run, stones: Path, monkeypatch):
    monkeypatch.setattr("rdplearn._results.explained.MOST_EXPLAINED", 5)
    options = ["--contamination", 0.2, "--top", 3, "-q", *QUICK]
    told = run("detect", stones, *options).stdout
    assert "Kinds of the 5 highest of the reported rows; --top looks at more." in told
    facts = json.loads(run("detect", stones, "--json", *options).stdout)
    assert facts["n_explained"] == 5
    assert facts["n_anomalous"] == 40
    assert len(facts["top"]) == 3
