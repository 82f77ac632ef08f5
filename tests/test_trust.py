"""What is said without labels holds when labels, or another seed, are looked at."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from rdplearn import RDPDetector, TableModel
from rdplearn._explain.reliability import alarm_table, assess, ranking_stability, score_distribution, view_agreement
from rdplearn._model.combination import geometric_mean, mean_of
from tests.conftest import SMALL, planted_table


def members_of(rng: np.random.Generator, noise: float, n_rows: int = 2000, n_members: int = 20) -> np.ndarray:
    return rng.chisquare(5, size=(n_rows, 1)) + noise * rng.normal(size=(n_rows, n_members))


def test_agreeing_members_are_stable_and_noise_is_not():
    rng = np.random.default_rng(0)
    figures = [ranking_stability(members_of(rng, noise)).figure for noise in (0.0, 1.0, 5.0, 50.0)]
    assert figures[0] == 1.0
    assert figures == sorted(figures, reverse=True)
    assert ranking_stability(rng.normal(size=(2000, 20))).figure < 0.1


@pytest.mark.parametrize("noise", [0.5, 2.0, 4.0, 8.0])
def test_stability_foretells_what_another_seed_gives(noise: float):
    foretold, shared = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        truth = rng.chisquare(5, size=(2000, 1))
        ensembles = [truth + noise * rng.normal(size=(2000, 20)) for _ in range(2)]
        foretold.append(ranking_stability(ensembles[0]).figure)
        tops = [set(np.argsort(-scores.mean(axis=1))[:20].tolist()) for scores in ensembles]
        shared.append(len(tops[0] & tops[1]) / 20)
    assert abs(np.mean(foretold) - np.mean(shared)) < 0.1


def test_words_follow_the_figure():
    rng = np.random.default_rng(0)
    told = [ranking_stability(members_of(rng, noise)).words() for noise in (0.1, 8.0, 50.0)]
    assert "can be trusted" in told[0]
    assert "very top" in told[1]
    assert "do not trust" in told[2]


def test_stability_needs_company():
    with pytest.raises(ValueError, match=r"at least 2 of both\. Got 5 row"):
        ranking_stability(np.ones((5, 1)))
    assert assess(np.random.default_rng(0).random((50, 1)) + 1).stability is None


def test_members_count_by_their_weights():
    rng = np.random.default_rng(0)
    scaled = np.column_stack([members_of(rng, 0.1, n_members=10), 100 * rng.normal(size=(2000, 10))])
    heard = geometric_mean([1e-3] * 10 + [1e9] * 10)
    assert ranking_stability(scaled, heard).figure > 0.4 > ranking_stability(scaled, mean_of(20)).figure


def test_alarms_of_a_table_without_anomalies_are_those_expected():
    scores = np.random.default_rng(0).chisquare(10, size=(20_000, 1)) * np.ones(5)
    for alarms in alarm_table(scores):
        assert alarms.n_alarms <= 1.3 * alarms.n_expected + 10
        assert alarms.fewest <= alarms.n_alarms <= alarms.most
    thresholds = [alarms.threshold for alarms in alarm_table(scores)]
    assert thresholds == sorted(thresholds, reverse=True)


def test_anomalies_are_alarms_beyond_those_expected():
    rng = np.random.default_rng(0)
    scores = rng.chisquare(10, size=(5000, 1)) * np.ones(5)
    scores[:200] += rng.uniform(50, 200, size=(200, 1))  # each odd in its own way: rows that are all alike are a kind
    of_one_percent = next(alarms for alarms in alarm_table(scores) if alarms.false_alarm_rate == 0.01)
    assert of_one_percent.n_alarms >= 200 > 3 * of_one_percent.n_expected


def test_the_interval_holds_what_other_rows_and_members_give():
    rng = np.random.default_rng(0)

    def draw() -> np.ndarray:
        scores = rng.chisquare(10, size=(1000, 1)) + rng.normal(size=(1000, 10))
        scores[:20] += 12
        return np.maximum(scores, 0.1)

    tables = [alarm_table(draw(), false_alarm_rates=[0.02])[0] for _ in range(40)]
    usual = np.median([alarms.n_alarms for alarms in tables])
    assert np.mean([alarms.fewest <= usual <= alarms.most for alarms in tables]) >= 0.8


def test_counts_of_a_sample_are_those_of_the_table():
    scores = np.random.default_rng(0).chisquare(10, size=(1000, 4))
    few, many = alarm_table(scores), alarm_table(scores, n_rows=50_000)
    assert [50 * alarms.n_alarms for alarms in few] == [alarms.n_alarms for alarms in many]
    assert many[-1].n_expected == 5000


def test_rates_that_a_small_table_cannot_show_are_left_out():
    rates = [alarms.false_alarm_rate for alarms in alarm_table(np.random.default_rng(0).random((60, 3)) + 1)]
    assert rates == [0.02, 0.05, 0.1]
    assert len(alarm_table(np.ones((1, 3)))) == 1


def test_the_distribution_counts_every_row():
    scores = np.random.default_rng(0).lognormal(size=777)
    made = score_distribution(scores)
    assert sum(made.counts) == 777
    assert len(made.edges) == len(made.counts) + 1
    assert sum(score_distribution(np.zeros(5)).counts) == 5


def test_a_detector_and_a_table_are_assessed_alike():
    rows, _ = planted_table()
    detector = RDPDetector(**SMALL).fit(rows)
    assessment = detector.assess(rows)
    assert assessment.n_rows == assessment.n_judged == len(rows)
    assert sum(assessment.distribution.counts) == len(rows)
    highest = assessment.alarms[-1]
    assert highest.n_alarms == np.sum(-detector.score_samples(rows) > highest.threshold)
    assert "words" in json.loads(json.dumps(assessment.to_dict()))["stability"]
    names = [f"c{column}" for column in range(rows.shape[1])]
    table = pa.table(dict(zip(names, rows.T, strict=True)))
    model = TableModel(RDPDetector(**SMALL)).fit(table)
    assert model.assess(table).alarms == model.estimator.assess(model.encoder.transform(table)).alarms


def test_a_large_table_is_judged_by_a_sample(monkeypatch):
    rows, _ = planted_table()
    detector = RDPDetector(**SMALL).fit(rows)
    monkeypatch.setattr("rdplearn.detector.SHARE_ROWS", 200)
    assessment = detector.assess(rows)
    assert (assessment.n_rows, assessment.n_judged) == (500, 200)


def test_views_agree_where_rows_stand_out_in_both():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(500, 1))
    scaled = np.hstack([truth + 0.1 * rng.normal(size=(500, 2)), rng.normal(size=(500, 1))])
    assert view_agreement(scaled, ["robust", "rank", "minmax"]) > 0.9
    assert abs(view_agreement(scaled, ["robust", "minmax", "rank"])) < 0.2
    assert view_agreement(scaled, ["robust", "robust", "robust+rank"]) is None
    assert view_agreement(np.ones((5, 2)), ["robust", "rank"]) is None


def test_a_detector_says_how_far_its_views_agree():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 5))
    table[:10] += 6.0
    agreement = RDPDetector(random_state=0).fit(table).assess(table).view_agreement
    assert 0.3 < agreement <= 1.0
    assert RDPDetector(views="robust", n_members=2, random_state=0).fit(table).assess(table).view_agreement is None
