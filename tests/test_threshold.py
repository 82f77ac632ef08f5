"""Where the line is drawn."""

from __future__ import annotations

import numpy as np
import pytest

from rdplearn import RDPDetector, RDPWarning
from rdplearn._scoring.threshold import (
    automatic_threshold,
    continued_tail,
    false_alarm_threshold,
    share_threshold,
)
from tests.conftest import planted_table


def test_a_share_of_rows_lies_above_its_threshold(rng):
    scores = rng.random(1000)
    assert np.mean(scores > share_threshold(scores, 0.03)) == pytest.approx(0.03)


@pytest.mark.parametrize("on_logs", [False, True])
def test_the_automatic_threshold_is_the_end_of_the_whisker(on_logs, rng):
    scores = np.concatenate([rng.normal(10, 1, size=1000), [30.0, 40.0]])
    assert np.sum(scores > automatic_threshold(scores, on_logs=on_logs)) in range(2, 14)
    assert automatic_threshold(np.full(5, 2.0), on_logs=on_logs) == pytest.approx(2.0)
    assert automatic_threshold(np.zeros(5), on_logs=on_logs) == pytest.approx(0.0)


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.2])
def test_the_false_alarm_rate_is_exact_without_anomalies(rate, rng):
    shares = []
    for _ in range(200):
        calibration, fresh = np.exp(rng.standard_t(4, size=(2, 2000)))
        shares.append(np.mean(fresh > false_alarm_threshold(calibration, rate)))
    assert np.mean(shares) == pytest.approx(rate, rel=0.1)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.1])
def test_anomalies_among_the_calibration_rows_neither_hide_nor_raise_alarms(share, rng):
    normal, fresh = np.exp(rng.normal(size=(2, 5000)))
    anomalies = np.exp(rng.normal(8.0, 1.0, size=int(share * 5000)))
    threshold = false_alarm_threshold(np.concatenate([normal, anomalies]), 0.01)
    assert np.mean(fresh > threshold) <= 0.015
    assert np.mean(anomalies > threshold) > 0.9


def test_the_tail_goes_on_as_an_exponential(rng):
    scores = np.exp(rng.exponential(size=200_000))
    assert np.mean(scores > continued_tail(scores, 0.001)) == pytest.approx(0.001, rel=0.35)


def test_too_few_rows_to_calibrate_on_are_said_aloud(rng):
    with pytest.warns(RDPWarning, match="false_alarm_rate=0.01 needs at least 99 rows to calibrate on and has 20"):
        false_alarm_threshold(rng.random(20), 0.01)


@pytest.mark.parametrize("n_anomalies", [0, 40])
def test_fresh_normal_rows_are_reported_at_most_as_often_as_asked(n_anomalies):
    table, labels = planted_table(4000, n_anomalies=2000)
    normal = table[~labels]
    train = np.concatenate([normal[:1000], table[labels][:n_anomalies]])
    detector = RDPDetector(
        n_members=10, n_rounds=3, n_steps=150, max_samples=1000, false_alarm_rate=0.05, random_state=0
    ).fit(train)
    assert np.mean(detector.predict(normal[1000:]) == -1) <= 0.07
    assert np.mean(detector.predict(table[labels]) == -1) > 0.9
