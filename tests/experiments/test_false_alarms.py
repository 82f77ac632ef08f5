"""The study of the false-alarm rate measures what it says."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.__main__ import app
from typer.testing import CliRunner

from experiments import false_alarms, results


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(false_alarms, "N_ROWS", 1000)
    monkeypatch.setattr(false_alarms, "N_FRESH", 2000)


@pytest.mark.parametrize("asked", [0.05, "auto"])
def test_a_clean_table_keeps_the_rate_and_finds_anomalies(asked):
    measured = false_alarms.measure({"table": "correlated", "anomalies": 0.0, "asked": asked, "seed": 0})
    rate = 0.01 if asked == "auto" else asked
    assert 0.2 * rate < measured["normal_reported"] < 2.5 * rate
    assert measured["anomalies_reported"] > 0.9


def test_lines_are_written_once_for_each_label(tmp_path, monkeypatch):
    monkeypatch.setattr(false_alarms, "N_SEEDS", 1)
    monkeypatch.setattr(false_alarms, "SHARES", (0.05,))
    monkeypatch.setattr(false_alarms, "RATES", (0.05,))
    monkeypatch.setattr(false_alarms, "ALL_ROWS", {"gaussian": false_alarms.ALL_ROWS["gaussian"]})
    path = tmp_path / "lines.jsonl"
    for label in ("before", "before", "after"):
        assert CliRunner().invoke(app, ["false-alarms", "--as", label, "--results", str(path)]).exit_code == 0
    lines = list(results.read_file(path))
    assert [line["label"] for line in lines] == ["before", "after"]
    assert lines[0]["normal_reported"] == lines[1]["normal_reported"]


@pytest.mark.parametrize("kind", false_alarms.ALL_ROWS)
def test_every_kind_of_table_has_anomalies_of_its_own(kind):
    rng = np.random.default_rng(0)
    rows = false_alarms.ALL_ROWS[kind](300, rng)
    anomalies = false_alarms.anomalies_of(kind, rows, 50, rng)
    assert anomalies.shape == (50, rows.shape[1])
    assert np.isfinite(rows).all()
    assert np.isfinite(anomalies).all()
    if kind == "rare binary":
        assert set(np.unique(anomalies)) == {0.0, 1.0}
        assert anomalies.mean() > 0.4 > rows.mean()
