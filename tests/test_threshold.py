"""Where the line is drawn."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from experiments.mixed.planting import plant

import rdplearn
from rdplearn import RDPDetector, RDPWarning, TableModel
from rdplearn._fit_plan import plan_fit
from rdplearn._model.combination import geometric_mean, mean_of, with_voices
from rdplearn._scoring.threshold import (
    automatic_threshold,
    false_alarm_threshold,
    look_alike,
    rate_threshold,
    read_off,
    share_threshold,
)
from rdplearn._training.flops import Filling
from rdplearn._views.normal_rows import MOST_ANOMALIES, anomalous_share, tell_normal
from rdplearn._views.rare_kinds import RareKinds, in_kinds
from tests.conftest import planted_table


def test_a_share_of_rows_lies_above_its_threshold(rng):
    scores = rng.random(1000)
    assert np.mean(scores > share_threshold(scores, 0.03)) == pytest.approx(0.03)


SCALES = ["size", "surprise"]


def combination_of(scale, logs):
    """What gives scores of these logarithms: sizes, or surprises that are learned on the same rows."""
    return mean_of(1) if scale == "size" else with_voices(geometric_mean([1.0]), logs[:, None], [np.arange(1)], [0.0])


def scores_of(logs, combination):
    return combination.over_members(logs[:, None]) if combination.voices else np.exp(logs)


def contaminated(scale, share, n_rows, rng):
    """Scores, which of them are anomalies', and what they came from."""
    is_odd = np.arange(n_rows) < share * n_rows
    logs = rng.normal(size=n_rows) + np.where(is_odd, 10.0, 0.0)
    combination = combination_of(scale, logs)
    return scores_of(logs, combination), is_odd, combination


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("share", [0.0, 0.05, 0.1])
def test_by_default_one_normal_row_in_a_hundred_is_reported_and_all_that_is_stranger(scale, share, rng):
    reported = []
    for _ in range(20):
        scores, is_odd, combination = contaminated(scale, share, 2000, rng)
        is_reported = scores > automatic_threshold(scores, combination)
        assert np.all(is_reported[is_odd])
        reported.append(np.mean(is_reported[~is_odd]))
    assert 0.005 < np.median(reported) < 0.02


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("rate", [0.01, 0.05, 0.2])
def test_the_false_alarm_rate_is_met_without_anomalies(scale, rate, rng):
    shares = []
    for _ in range(100):
        calibration, _, combination = contaminated(scale, 0.0, 2000, rng)
        fresh = scores_of(rng.normal(size=2000), combination)
        shares.append(np.mean(fresh > false_alarm_threshold(calibration, rate, combination)))
    assert np.median(shares) == pytest.approx(rate, rel=0.1)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("share", [0.01, 0.05, 0.1])
@pytest.mark.parametrize("rate", [0.003, 0.01, 0.05])
def test_anomalies_among_the_calibration_rows_neither_hide_nor_raise_alarms(scale, share, rate, rng):
    scores, is_odd, combination = contaminated(scale, share, 5000, rng)
    threshold = false_alarm_threshold(scores, rate, combination)
    fresh = scores_of(rng.normal(size=20_000), combination)
    assert 0.5 * rate < np.mean(fresh > threshold) < 2.0 * rate
    assert np.mean(scores[is_odd] > threshold) > 0.99


def test_the_share_of_anomalies_is_found_up_to_a_limit(rng):
    for share in (0.0, 0.03, 0.1):
        logs = rng.normal(size=(9, 2000)) + np.where(np.arange(2000) < share * 2000, 10.0, 0.0)
        assert np.median([anomalous_share(np.sort(one)) for one in logs]) == pytest.approx(share, abs=0.012)
    assert anomalous_share(np.sort(np.repeat([0.0, 1.0, 9.0, 10.0], 500))) <= MOST_ANOMALIES


def test_rows_beyond_a_gap_are_left_out_one_by_one(rng):
    for n_odd in (20, 60, 250):
        logs = np.sort(np.concatenate([rng.normal(size=3000), rng.normal(9.0, 1.0, size=n_odd)]))
        told = tell_normal(logs)
        assert (told.is_apart, told.of_kinds) == (True, 0.0)
        assert np.sum(~told.is_normal) == pytest.approx(n_odd, abs=3)


def test_a_rare_kind_of_normal_row_is_not_left_out_and_what_differs_beside_it_is(rng):
    bulk, kind, odd = rng.normal(size=2900), rng.normal(7.0, 0.02, size=60), rng.uniform(4.5, 9.0, size=40)
    assert tell_normal(np.sort(np.concatenate([bulk, kind]))).is_normal.mean() > 0.997
    logs = np.concatenate([bulk, kind, odd])
    order = np.argsort(logs)
    is_normal = np.empty(3000, dtype=bool)
    is_normal[order] = tell_normal(logs[order]).is_normal
    assert is_normal[2900:2960].mean() > 0.9
    assert is_normal[2960:].mean() < 0.4


def two_kinds(n_rows, rng):
    """Rows of which 2 % are a kind of their own, well apart."""
    is_rare = rng.random((n_rows, 1)) < 0.02
    return np.where(is_rare, 4.0, 0.0) + np.where(is_rare, 0.5, 1.0) * rng.normal(size=(n_rows, 8))


@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array])
def test_rows_near_each_other_are_a_kind_and_rows_that_differ_are_not(as_given, rng):
    ordinary, alike, apart = rng.normal(size=(2900, 5)), rng.normal(8.0, 0.8, (60, 5)), rng.uniform(-12, 12, (40, 5))
    rows = np.concatenate([ordinary, alike, apart])
    places = rng.permutation(3000)
    moved = np.empty_like(rows)
    moved[places] = rows
    for first, n_high in ((2900, 100), (2850, 150)):
        found = in_kinds(as_given(moved), places, first)
        assert len(found) == n_high
        assert found[-100:-40].mean() > 0.9
        assert not found[-40:].any()


def test_a_handful_of_rows_is_no_kind(rng):
    rows = np.concatenate([rng.normal(size=(300, 3)), np.full((5, 3), 9.0)])
    assert not in_kinds(rows, np.arange(305), 300).any()
    assert in_kinds(rows, np.arange(305), 305).shape == (0,)
    assert not in_kinds(rows[:8], np.arange(8), 1).any()


@pytest.mark.parametrize("size", [1e300, 1e-300, 0.0])
def test_kinds_of_very_large_and_very_small_numbers_are_told(size, rng):
    rows = np.concatenate([rng.normal(size=(300, 3)), rng.normal(9.0, 1.0, (20, 3))])
    rows[:, 0] *= size
    assert in_kinds(rows, np.arange(320), 300).mean() > 0.5
    rows[310, 0] = 1e300
    assert in_kinds(rows, np.arange(320), 300).shape == (20,)


@pytest.mark.parametrize("rate", [0.001, 0.01, None])
def test_a_rare_kind_of_row_is_not_reported_by_the_dozen(rate):
    reported = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        table = two_kinds(3000, rng)
        table[:150] = rng.uniform(table.min(axis=0), table.max(axis=0), size=(150, 8))
        detector = RDPDetector(false_alarm_rate=rate, random_state=seed).fit(table)
        scores = -detector.score_samples(two_kinds(8000, rng))
        reported.append(np.mean(scores > -detector.offset_) / (rate or 0.01))
        assert np.mean(scores > 2.0) < 0.03  # nor has it a score that one row in a hundred should have
    assert np.median(reported) <= 2.0


@pytest.mark.parametrize(("n_rows", "n_odd"), [(200, 4), (400, 9), (500, 15)])
def test_in_a_small_table_errors_above_all_of_a_rare_kind_are_reported(n_rows, n_odd, rng):
    """A tenth of the rows shares a high score: the few beyond all of these used to be taken for the same kind."""
    logs = np.sort(rng.normal(size=n_rows))
    logs[-n_rows // 10 :] = rng.normal(4.0, 0.01, n_rows // 10)
    logs[-n_odd:] = np.linspace(6.0, 12.0, n_odd)
    line = np.log(rate_threshold(np.exp(logs), 0.01))
    assert line < 6.0
    assert np.mean(logs[:-n_odd] > line) <= 0.02


def test_rows_with_nearly_the_same_score_are_a_kind_though_they_lie_apart(rng):
    logs = np.sort(np.concatenate([rng.normal(size=2900), rng.normal(7.0, 0.02, size=60)]))
    kinds = RareKinds(none_near, np.zeros(len(logs), dtype=bool))
    told = tell_normal(logs, partial(kinds.among_high, np.arange(len(logs))))
    assert told.is_normal.mean() > 0.997


@pytest.mark.parametrize(("n_odd", "is_kind"), [(60, False), (300, True)])
def test_errors_of_cells_are_no_kind_if_they_are_few(n_odd, is_kind, rng):
    logs = np.sort(np.concatenate([rng.normal(size=2900), rng.normal(7.0, 0.02, size=n_odd)]))
    kinds = RareKinds(none_near, logs > 6.0)
    told = tell_normal(logs, partial(kinds.among_high, np.arange(len(logs))))
    assert told.is_normal[logs > 6.0].mean() == pytest.approx(float(is_kind), abs=0.02)


def none_near(ascending, first):
    return np.zeros(len(ascending) - first, dtype=bool)


def sales(rng, n_rows=2000):
    """As a file has them: every cell a text."""
    cities, shares = [f"city {number}" for number in range(12)], rng.dirichlet(np.full(12, 3.0))
    price, items = np.round(np.exp(rng.normal(3, 0.6, n_rows)), 2), 1 + rng.poisson(1.5, n_rows)
    paid = rng.choice(["card", "cash", "transfer"], n_rows, p=[0.6, 0.3, 0.1])
    columns = {"city": rng.choice(cities, n_rows, p=shares), "paid": paid, "price": price, "items": items}
    columns |= {"total": np.round(price * items, 2), "day": rng.integers(1, 32, n_rows)}
    return pd.DataFrame(columns).astype(str)


def test_errors_of_few_kinds_are_reported_though_each_kind_is_alike(tmp_path):
    """Three in a hundred rows have an error. Each kind of error has nearly one score, and was taken for normal rows."""
    found, others = [], []
    for seed in range(5):
        frame, is_error = sales(np.random.default_rng(seed)), np.zeros(2000, dtype=bool)
        for kind in ("times100", "newcat", "missing"):
            planting = plant(frame, kind, seed)
            frame, is_error = planting.frame, is_error | planting.is_planted
        frame.to_csv(path := tmp_path / "sales.csv", index=False)
        is_reported = TableModel(RDPDetector(random_state=seed)).fit(path).predict(path) == -1
        found.append(is_reported[is_error].mean())
        others.append(is_reported[~is_error].mean())
    assert np.mean(found) > 0.8
    assert np.mean(others) < 0.02


def test_many_anomalies_that_differ_are_told_from_normal_rows_without_a_gap():
    shares = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        table = rng.normal(size=(3000, 10))
        table[:300] = rng.uniform(table.min(axis=0), table.max(axis=0), size=(300, 10))
        detector = RDPDetector(random_state=seed).fit(table)
        shares.append(np.mean(detector.predict(rng.normal(size=(8000, 10))) == -1))
    assert 0.005 <= np.median(shares) <= 0.02


def test_a_score_between_two_rows_is_read_off_and_never_that_of_a_row():
    scores = np.arange(1.0, 1000.0)
    assert read_off(scores, 0.0025) == 997.5
    assert read_off(scores, 0.01) == pytest.approx(990.1)  # just at a row: a little beyond
    assert read_off(scores, 0.0001) == 999.0
    assert read_off(np.array([3.0]), 0.5) == 3.0


def test_where_rows_repeat_themselves_none_is_left_out(rng):
    logs = np.sort(rng.choice(np.concatenate([rng.normal(size=80), [9.0, 9.5, 10.0]]), size=2000))
    assert tell_normal(logs).is_normal.all()


def test_fresh_rows_of_a_binary_table_are_not_reported_by_the_dozen():
    def draw(n_rows, rng):
        return (rng.random((n_rows, 20)) < np.linspace(0.02, 0.5, 20)).astype(float)

    reported = []
    for seed in range(12):  # rare values make a gap in some of them, and none in most
        rng = np.random.default_rng(seed)
        detector = RDPDetector(false_alarm_rate=0.01, random_state=seed).fit(draw(3000, rng))
        reported.append(np.mean(detector.predict(draw(8_000, rng)) == -1))
    assert 0.005 < np.median(reported) < 0.02


def test_rows_that_members_know_by_heart_are_not_read():
    rng = np.random.default_rng(0)
    assert not look_alike(rng.normal(0.5, 1.0, size=100), rng.normal(size=400))
    assert look_alike(rng.normal(size=100), np.empty(0))
    plan = plan_fit(RDPDetector(false_alarm_rate=0.01), 20_000, Filling(3, 3, is_sparse=False), seed=0)
    assert len(plan.judged) == len(np.unique(plan.judged)) == 10_000
    assert plan.unseen.sum() == 4_000
    assert not np.isin(plan.judged[plan.unseen], np.concatenate([member.rows for member in plan.members])).any()


def test_logarithms_of_surprises_are_those_of_members(rng):
    logs = rng.normal(size=3000)
    combination = combination_of("surprise", logs)
    upper = np.sort(logs)[1500:]
    assert combination.logs_of(scores_of(upper, combination)) == pytest.approx(upper, abs=1e-6)
    assert combination.score_of(2.0) == pytest.approx(scores_of(np.array([2.0]), combination)[0])
    assert mean_of(1).score_of(float(mean_of(1).logs_of(np.array([5.0]))[0])) == pytest.approx(5.0)


def test_a_rate_beyond_the_rows_is_continued(rng):
    reported = []
    for _ in range(40):
        calibration, fresh = np.exp(rng.normal(size=600)), np.exp(rng.normal(size=20_000))
        reported.append(np.mean(fresh > rate_threshold(calibration, 0.001)))
    assert 0.0005 < np.median(reported) < 0.002


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("n_rows", [1, 2, 5, 300])
def test_scores_that_are_all_the_same_raise_no_alarm(scale, n_rows):
    for log in (0.0, 2.0):
        logs = np.full(n_rows, log)
        combination = combination_of(scale, logs)
        scores = scores_of(logs, combination)
        assert not np.any(scores > automatic_threshold(scores, combination))


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


def test_clean_rows_are_all_kept_and_new_rows_like_them_are_reported_at_the_rate():
    rng = np.random.default_rng(0)
    table, fresh = rng.normal(size=(3000, 4)), rng.normal(size=(4000, 4))
    detector = RDPDetector(contamination="none", random_state=0).fit(table)
    assert {record["n_kept"] for record in detector.history_} == {1024}  # of a member's rows, in every round
    assert 0.003 < np.mean(detector.predict(fresh) == -1) < 0.03
    stricter = RDPDetector(contamination="none", false_alarm_rate=0.1, random_state=0).fit(table)
    assert 0.06 < np.mean(stricter.predict(fresh) == -1) < 0.15


def test_of_clean_rows_the_nearest_counts_as_soon_as_novelty_and_unseen_ones_make_the_scale(tmp_path):
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    table, fresh = (centres[rng.integers(3, size=n)] + rng.normal(scale=0.2, size=(n, 2)) for n in (1500, 3000))
    detector = RDPDetector(contamination="none", random_state=0).fit(table)
    (by_distance,) = [panel for panel in detector.panels_ if panel.references is not None]
    assert by_distance.references.shape[1] == 1024
    assert (by_distance.n_subsamples, by_distance.neighbour) == (1, 1)
    assert [voice.price for voice in detector.combination_.voices] == [0.0, 0.0]
    as_promised = np.mean(-detector.score_samples(fresh) > 2.0) / 0.01  # a score of 2: one normal row in a hundred
    assert 0.3 < as_promised < 3.0
    between = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [1.3, 1.3]])
    assert np.all(detector.predict(between) == -1)
    rdplearn.save(detector, tmp_path / "clean.rdp")
    np.testing.assert_array_equal(
        rdplearn.load(tmp_path / "clean.rdp").score_samples(fresh), detector.score_samples(fresh)
    )


def test_clean_rows_teach_what_boosting_would_drop():
    is_rare, ranks = np.arange(1000) >= 900, []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        table = np.vstack([rng.normal(size=(900, 3)), rng.normal(6.0, 0.2, size=(100, 3))])  # a tenth is another kind
        both = [RDPDetector(contamination=c, distance_weight=0, random_state=seed) for c in ("auto", "none")]
        ranks.append([each.fit(table).score_samples(table).argsort().argsort()[is_rare].mean() for each in both])
    boosted, clean = np.mean(ranks, axis=0)
    assert clean > boosted  # more normal
