"""The study of the false-alarm rate measures what it says."""

from __future__ import annotations

from experiments import false_alarms


def test_a_clean_table_keeps_the_rate_and_finds_anomalies(monkeypatch):
    monkeypatch.setattr(false_alarms, "N_ROWS", 1000)
    monkeypatch.setattr(false_alarms, "N_FRESH", 2000)
    run = false_alarms.measure("correlated", 0.0, 0.05, seed=0)
    assert 0.01 < run["normal rows reported"] < 0.09
    assert run["anomalies reported"] > 0.9
