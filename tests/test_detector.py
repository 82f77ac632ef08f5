"""RDPDetector from outside: it learns, it is the same however it is asked, and it says what is wrong."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rdplearn import KeepRounds, RandomMapping, RDPDetector, RDPWarning
from tests.conftest import SMALL, planted_table

PRESETS = {"paper": SMALL, "default": {name: SMALL[name] for name in ("n_members", "n_rounds", "random_state")}}
paper_only = pytest.mark.paper_only  # what is said of the paper's losses and scores


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test runs with the paper's preset, and with the default unless it is about the paper's alone."""
    is_of_paper = any(marker.name == "paper_only" for marker in metafunc.definition.iter_markers())
    metafunc.parametrize("preset", ["paper"] if is_of_paper else list(PRESETS), indirect=True)


@pytest.fixture(autouse=True)
def preset(request, monkeypatch) -> str:
    monkeypatch.setitem(globals(), "SMALL", PRESETS[request.param])
    return request.param


def fitted(table, **changes) -> RDPDetector:
    return RDPDetector(**{**SMALL, **changes}).fit(table)


# learning


@pytest.mark.parametrize("engine", ["numpy", "numba"])
@paper_only
def test_learning_happens(table, labels, engine):
    detector = fitted(table, engine=engine, n_steps=600)
    history = pd.DataFrame(detector.history_)
    for _, records in history.groupby(["member", "round"]):
        assert records.novelty_loss.iloc[-1] < 0.5 * records.novelty_loss.iloc[0]
    panel = detector.panels_[0]
    assert not np.allclose(panel.weights, panel.mappings.weights, atol=0.1)
    assert len(np.unique(detector.score_samples(table))) > 0.99 * len(table)
    assert roc_auc_score(labels, -detector.score_samples(table)) > 0.99


@paper_only
def test_an_untrained_detector_is_worse_than_a_trained_one():
    """Far rows score high under any random map; rows that break a correlation do so only after learning it."""
    rng = np.random.default_rng(0)
    line = rng.uniform(-1, 1, size=(1000, 1)) * np.ones((1, 6)) + 0.02 * rng.normal(size=(1000, 6))
    line[:20] = rng.permuted(line[:20], axis=0)
    labels = np.arange(1000) < 20
    aucs = [
        roc_auc_score(labels, -fitted(line, n_steps=n_steps, max_samples=1000).score_samples(line))
        for n_steps in (1, 1000)
    ]
    assert aucs[1] > 0.9
    assert aucs[1] > aucs[0] + 0.2


@pytest.mark.parametrize("block", range(4))
def test_planted_anomalies_are_found_for_every_seed(block):
    for seed in range(25 * block, 25 * block + 25):
        table, labels = planted_table(300, seed=seed)
        detector = RDPDetector(n_members=2, n_rounds=2, n_steps=100, max_samples=300, random_state=seed).fit(table)
        assert roc_auc_score(labels, -detector.score_samples(table)) > 0.9, seed


def test_both_engines_give_the_same_scores(table):
    plain, fused = (fitted(table, engine=engine).score_samples(table) for engine in ("numpy", "numba"))
    np.testing.assert_allclose(fused, plain, rtol=1e-2)


def test_both_engines_give_the_same_scores_on_sparse_rows(table):
    rows = sp.csr_array(np.where(np.abs(table) > 2, table, 0))
    plain, fused = (fitted(rows, engine=engine).score_samples(rows) for engine in ("numpy", "numba"))
    np.testing.assert_allclose(fused, plain, rtol=1e-2)


@pytest.mark.parametrize(
    "options",
    [
        {"mapping": "linear"},
        {"mapping": "sparse"},
        {"mapping": "fourier"},
        {"mapping": RandomMapping("fourier", bandwidth=0.5)},
        {"mapping": "identity", "n_components": 6},
        {"mapping": "identity", "novelty_weight": 0.0},
        {"mapping": PCA(4), "n_components": 4},
        {"mapping": np.sin, "n_components": 6},
        {"inner_product": "plain", "distance_weight": 0.001},
        {"distance_weight": 0.0, "n_rounds": 1},
        {"distance_weight": 0.0},
        {"n_rounds": 1},
        {"novelty_weight": 0.0},
        {"novelty_weight": 0.0, "mapping": RandomMapping("leaky", n_targets=9)},
        {"views": "unchanged", "learning_rate": 0.01},
        {"max_samples": 0.5},
        {"filter_fraction": 0.0},
    ],
    ids=str,
)
@paper_only
def test_every_variant_finds_planted_anomalies(table, labels, options):
    detector = fitted(table, **options)
    assert roc_auc_score(labels, -detector.score_samples(table)) > 0.9


# the same result however it is asked for


def test_no_jobs_are_refused(table):
    with pytest.raises(ValueError, match=r"The 'n_jobs' parameter of RDPDetector must be .*Got 0 instead"):
        RDPDetector(n_jobs=0).fit(table)


def test_the_result_does_not_depend_on_n_jobs(table):
    one, two, all_cores = (fitted(table, n_jobs=n_jobs, n_members=5) for n_jobs in (None, 2, -1))
    assert np.array_equal(one.score_samples(table), two.score_samples(table))
    assert np.array_equal(one.score_samples(table), all_cores.score_samples(table))
    assert one.offset_ == two.offset_
    assert one.history_ == two.history_


def test_members_can_be_placed_on_another_backend(table):
    here = fitted(table, n_jobs=2)
    with joblib.parallel_config(backend="loky"):
        elsewhere = fitted(table, n_jobs=2)
    assert np.array_equal(here.score_samples(table), elsewhere.score_samples(table))


def test_sparse_and_dense_tables_give_the_same_result(table):
    rows = np.where(np.abs(table) > 2, table, 0)
    dense = fitted(rows)
    for make in (sp.csr_array, sp.csc_array, sp.csr_matrix):
        np.testing.assert_allclose(fitted(make(rows)).score_samples(make(rows)), dense.score_samples(rows), rtol=1e-2)


def test_order_in_memory_and_type_do_not_matter(table):
    whole = np.round(100 * table)
    expected = fitted(whole).score_samples(whole)
    for other in (np.asfortranarray(whole), whole.astype(np.float32), whole.astype(np.int32)):
        np.testing.assert_allclose(fitted(other).score_samples(other), expected, rtol=1e-5)


def test_rows_keep_their_scores_in_any_order_and_any_batches(table):
    detector = fitted(table)
    whole = detector.score_samples(table)
    order = np.random.default_rng(0).permutation(len(table))
    np.testing.assert_allclose(detector.score_samples(table[order]), whole[order], rtol=1e-5)
    np.testing.assert_allclose(
        np.concatenate([detector.score_samples(row[None]) for row in table[:20]]), whole[:20], rtol=1e-5
    )


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, lambda d: pa.table(dict(d))], ids=["pandas", "polars", "arrow"]
)
def test_frames_score_as_arrays_do(table, make):
    frame = make({f"c{c}": table[:, c] for c in range(table.shape[1])})
    detector = fitted(frame)
    assert detector.feature_names_in_.tolist() == [f"c{c}" for c in range(6)]
    np.testing.assert_allclose(detector.score_samples(frame), fitted(table).score_samples(table))


def test_a_seed_makes_it_repeatable_and_no_seed_does_not(table):
    assert np.array_equal(fitted(table).score_samples(table), fitted(table).score_samples(table))
    assert not np.array_equal(fitted(table).score_samples(table), fitted(table, random_state=1).score_samples(table))
    free = fitted(table, random_state=None)
    assert not np.array_equal(free.score_samples(table), clone(free).fit(table).score_samples(table))


def test_pickles_and_pipelines(table):
    pipeline = make_pipeline(StandardScaler(), RDPDetector(**SMALL)).fit(table)
    again = pickle.loads(pickle.dumps(pipeline))
    assert np.array_equal(again.score_samples(table), pipeline.score_samples(table))


def test_labels_are_ignored(table, labels):
    assert np.array_equal(
        RDPDetector(**SMALL).fit(table, labels).score_samples(table), fitted(table).score_samples(table)
    )


# the parts of the answer


def test_decision_function_and_predict_follow_the_threshold(table):
    detector = fitted(table, contamination=0.1)
    decision = detector.decision_function(table)
    assert np.array_equal(decision, detector.score_samples(table) - detector.offset_)
    assert np.array_equal(detector.predict(table), np.where(decision < 0, -1, 1))
    assert np.mean(detector.predict(table) == -1) == pytest.approx(0.1, abs=0.005)


def test_the_default_threshold_reports_the_planted_rows(table, labels):
    reported = fitted(table, n_steps=300).predict(table) == -1
    assert np.mean(reported[labels]) > 0.8
    assert np.mean(reported[~labels]) < 0.1


@paper_only
def test_the_score_is_the_mean_of_its_members(table):
    detector = fitted(table)
    np.testing.assert_allclose(detector.member_scores(table).mean(axis=1), detector.score_samples(table), rtol=1e-5)


@paper_only
def test_the_scores_of_every_round_can_be_had(table):
    detector = fitted(table, callbacks=[KeepRounds()], n_rounds=3)
    rounds = detector.round_scores(table)
    assert rounds.shape == (len(table), 3)
    np.testing.assert_allclose(rounds[:, -1], detector.score_samples(table), rtol=1e-5)
    with pytest.raises(ValueError, match=r"Fit with callbacks=\[KeepRounds\(\)\]"):
        fitted(table).round_scores(table)


@paper_only
def test_the_last_rounds_that_score_are_averaged(table):
    detector = fitted(table, callbacks=[KeepRounds()], n_rounds=3, score_rounds=2)
    last_two = detector.round_scores(table)[:, -2:].mean(axis=1)
    np.testing.assert_allclose(detector.score_samples(table), last_two, rtol=1e-5)
    alike = fitted(table, n_rounds=3, score_rounds=2)
    assert alike.panels_[0].n_rounds == 2
    np.testing.assert_array_equal(alike.score_samples(table), detector.score_samples(table))


@paper_only
def test_history_has_a_record_of_every_member_and_round(table):
    history = pd.DataFrame(fitted(table).history_)
    assert set(zip(history.member, history["round"], strict=True)) == {(m, r) for m in range(3) for r in range(2)}
    assert history.groupby(["member", "round"]).step.max().eq(100).all()


# odd tables


def test_fewer_rows_than_a_batch_are_drawn_again(labels):
    table, labels = planted_table(40, n_anomalies=2)
    assert roc_auc_score(labels, -fitted(table, n_steps=300).score_samples(table)) > 0.9


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_more_columns_than_rows(engine):
    rng = np.random.default_rng(0)
    detector = fitted(rng.normal(size=(30, 200)), engine=engine)
    fresh = rng.normal(size=(20, 200))
    fresh[3] += 3
    assert np.argmin(detector.score_samples(fresh)) == 3


def test_a_constant_table_warns_and_scores_all_rows_alike():
    with pytest.warns(RDPWarning, match=r"All 3 column\(s\) of the table are constant"):
        detector = fitted(np.full((50, 3), 4.0))
    scores = detector.score_samples(np.full((50, 3), 4.0))
    assert np.isfinite(scores).all()
    assert len(np.unique(scores)) == 1
    assert np.all(detector.predict(np.full((5, 3), 4.0)) == 1)


def test_another_value_in_a_constant_column_is_anomalous(table):
    constant = np.column_stack([table, np.full(len(table), 3.0)])
    detector = fitted(constant)
    odd = constant[:1].copy()
    odd[0, -1] = 9.0
    assert detector.score_samples(odd)[0] < detector.score_samples(constant[:1])[0]


@pytest.mark.filterwarnings("ignore:.*below 1e-290, which count as zero")
@pytest.mark.parametrize("scale", [1e-310, 1e-30, 1e30, 1e300])
@paper_only
def test_magnitudes_do_not_matter(table, scale):
    np.testing.assert_allclose(
        fitted(table * scale).score_samples(table * scale), fitted(table).score_samples(table), rtol=0.05
    )


@paper_only
def test_values_far_outside_stay_finite_and_anomalous(table):
    detector = fitted(table)
    far = table[:2].copy()
    far[:, 0] = [1e30, -1e300]
    scores = detector.score_samples(far)
    assert np.isfinite(scores).all()
    assert np.all(scores < detector.score_samples(table).min())


def test_one_column_is_enough():
    column = np.random.default_rng(0).normal(size=(200, 1))
    column[5] = 12.0
    assert np.argmin(fitted(column).score_samples(column)) == 5


# bad parameters


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"filter_fraction": 0.8},
            r"The 'filter_fraction' parameter of RDPDetector must be .*\[0.0, 0.5\).* Got 0.8 instead",
        ),
        (
            {"n_members": 0},
            r"The 'n_members' parameter of RDPDetector must be an int in the range \[1, inf\) or None. Got 0 instead",
        ),
        ({"dropout": 1.0}, r"The 'dropout' parameter of RDPDetector .* Got 1.0 instead"),
        ({"momentum": 1.0}, r"The 'momentum' parameter of RDPDetector .* Got 1.0 instead"),
        ({"batch_size": 1}, r"The 'batch_size' parameter of RDPDetector .* Got 1 instead"),
        (
            {"mapping": "leeky"},
            r"The 'mapping' parameter of RDPDetector must be .*'leaky'.* Got 'leeky' instead",
        ),
        ({"engine": "cuda"}, r"The 'engine' parameter of RDPDetector must be .* Got 'cuda' instead"),
        ({"contamination": 0.7}, r"The 'contamination' parameter of RDPDetector .* Got 0.7 instead"),
        ({"false_alarm_rate": 0.0}, r"The 'false_alarm_rate' parameter of RDPDetector .* Got 0.0 instead"),
        (
            {"distance_weight": 0.0, "novelty_weight": 0.0},
            "At least one of .* must be positive. Got 0 for both",
        ),
        (
            {"contamination": 0.1, "false_alarm_rate": 0.1},
            "set the same threshold. Got 0.1 and 0.1: leave one",
        ),
        ({"mapping": RandomMapping("leaky", n_targets=7)}, "must equal 'n_components' of RDPDetector .* Got 7 and 50"),
        (
            {"filter_fraction": 0.49, "n_rounds": 20},
            r"must leave at least 2 rows for the last round. Got 0.49, which leaves 0.0 of 500 after 19 rounds: pass a",
        ),
        ({"mapping": PCA(3)}, "3 targets where 'n_components' is 50"),
    ],
    ids=str,
)
@paper_only
def test_bad_parameters_are_named(table, options, message):
    with pytest.raises(ValueError, match=message):
        fitted(table, **options)


def test_a_member_that_fails_raises_in_the_caller(table):
    def broken(rows):
        raise RuntimeError("no mapping today")

    with pytest.raises(RuntimeError, match="no mapping today"):
        fitted(table, mapping=broken, n_jobs=2)
