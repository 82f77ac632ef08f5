"""Where the line is drawn."""

from __future__ import annotations

import numpy as np
import pytest

from rdplearn import RDPDetector, RDPWarning
from rdplearn._scoring.threshold import automatic_threshold, false_alarm_threshold, rate_threshold, share_threshold
from rdplearn._views.normal_rows import MOST_ANOMALIES, OF_LOGS, OF_SURPRISES, anomalous_share
from tests.conftest import planted_table


def test_a_share_of_rows_lies_above_its_threshold(rng):
    scores = rng.random(1000)
    assert np.mean(scores > share_threshold(scores, 0.03)) == pytest.approx(0.03)


SCORES = {
    "size": lambda rng, n: np.exp(rng.normal(size=n)),
    "surprise": lambda rng, n: rng.exponential(size=n) - 0.1,  # some of them below zero
}
FAR = {"size": lambda scores: 1_000.0 * scores, "surprise": lambda scores: scores + 8.0}


def contaminated(scale, share, n_rows, rng):
    scores = SCORES[scale](rng, n_rows)
    is_odd = np.arange(n_rows) < share * n_rows
    return np.where(is_odd, FAR[scale](scores), scores), is_odd


def share_in(scores, scale):
    values = np.log(np.maximum(scores, 1e-300)) if scale == "size" else scores
    return anomalous_share(np.sort(values), OF_LOGS if scale == "size" else OF_SURPRISES)


@pytest.mark.parametrize("scale", SCORES)
@pytest.mark.parametrize("share", [0.0, 0.05, 0.1])
def test_by_default_one_normal_row_in_a_hundred_is_reported_and_all_that_is_stranger(scale, share, rng):
    reported = []
    for _ in range(20):
        scores, is_odd = contaminated(scale, share, 2000, rng)
        is_reported = scores > automatic_threshold(scores, is_surprise=scale == "surprise")
        assert np.all(is_reported[is_odd])
        reported.append(np.mean(is_reported[~is_odd]))
    assert 0.005 < np.median(reported) < 0.02


@pytest.mark.parametrize("scale", SCORES)
@pytest.mark.parametrize("rate", [0.01, 0.05, 0.2])
def test_the_false_alarm_rate_is_met_without_anomalies(scale, rate, rng):
    shares = []
    for _ in range(100):
        calibration, fresh = SCORES[scale](rng, (2, 2000))
        shares.append(np.mean(fresh > false_alarm_threshold(calibration, rate, is_surprise=scale == "surprise")))
    assert np.median(shares) == pytest.approx(rate, rel=0.1)


@pytest.mark.parametrize("scale", SCORES)
@pytest.mark.parametrize("share", [0.01, 0.05, 0.1])
@pytest.mark.parametrize("rate", [0.003, 0.01, 0.05])
def test_anomalies_among_the_calibration_rows_neither_hide_nor_raise_alarms(scale, share, rate, rng):
    scores, is_odd = contaminated(scale, share, 5000, rng)
    threshold = false_alarm_threshold(scores, rate, is_surprise=scale == "surprise")
    assert 0.5 * rate < np.mean(SCORES[scale](rng, 20_000) > threshold) < 2.0 * rate
    assert np.mean(scores[is_odd] > threshold) > 0.99


@pytest.mark.parametrize("scale", SCORES)
def test_the_share_of_anomalies_is_found_up_to_a_limit(scale, rng):
    for share in (0.0, 0.03, 0.1):
        found = [share_in(contaminated(scale, share, 2000, rng)[0], scale) for _ in range(9)]
        assert np.median(found) == pytest.approx(share, abs=0.012)
    assert share_in(contaminated(scale, 0.5, 2000, rng)[0], scale) <= MOST_ANOMALIES


def test_a_rate_beyond_the_rows_is_continued(rng):
    reported = []
    for _ in range(40):
        calibration, fresh = np.exp(rng.normal(size=600)), np.exp(rng.normal(size=20_000))
        reported.append(np.mean(fresh > rate_threshold(calibration, 0.001)))
    assert 0.0005 < np.median(reported) < 0.002


@pytest.mark.parametrize("scale", SCORES)
@pytest.mark.parametrize("n_rows", [1, 2, 5, 300])
def test_scores_that_are_all_the_same_raise_no_alarm(scale, n_rows):
    for value in (0.0, 2.0):
        scores = np.full(n_rows, value)
        assert not np.any(scores > automatic_threshold(scores, is_surprise=scale == "surprise"))
        assert share_in(scores, scale) == 0.0


def test_few_rows_apart_from_many_that_are_the_same_are_not_taken_for_a_tail():
    scores = np.concatenate([np.full(950, 1.0), np.linspace(2.0, 3.0, 50)])
    assert np.mean(scores > automatic_threshold(scores)) <= 0.01


def test_a_threshold_depends_on_neither_the_order_nor_the_unit_of_scores(rng):
    scores = np.concatenate([np.exp(rng.normal(size=900)), np.full(30, 1e6)])
    line = rate_threshold(scores, 0.01)
    assert rate_threshold(rng.permutation(scores), 0.01) == line
    assert rate_threshold(1e9 * scores, 0.01) == pytest.approx(1e9 * line)


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
