"""The voice of single cells: one impossible value is enough, in any column, for new rows, and from a file."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import rdplearn
from rdplearn import RDPDetector, TableModel
from rdplearn._model.cells import UNLIMITED, dense
from rdplearn._training.cells import points_beside
from rdplearn._types import TableColumns
from rdplearn._views.curves import Distinct, distinct_columns, fit_curves, rank_curve
from rdplearn._views.tails import RESIDUAL_POINTS, VOICE_POINTS, score_curve, tail_curve
from rdplearn._views.view import SeenRows, fit_views
from rdplearn.errors import TableError
from rdplearn.table import TableEncoder

QUICK = {"n_members": 2, "n_rounds": 1, "n_steps": 30, "random_state": 0}


def orders(n_rows=600, seed=0):
    """Amounts that go with items, a category, another with many values, and a few holes."""
    rng = np.random.default_rng(seed)
    items = rng.integers(1, 30, n_rows)
    frame = pd.DataFrame(
        {
            "items": items,
            "amount": (items * rng.lognormal(2.0, 0.2, n_rows)).round(2),
            "city": rng.choice(["Oslo", "Rome", "Lima"], n_rows, p=[0.6, 0.3, 0.1]),
            "product": rng.choice([f"p{number}" for number in range(40)], n_rows),
            "paid": rng.choice(["yes", "no"], n_rows),
        }
    )
    frame.loc[rng.choice(n_rows, 6, replace=False), "amount"] = np.nan
    return frame


@pytest.fixture(scope="module")
def model():
    return TableModel(RDPDetector(**QUICK)).fit(orders())


SPOILED = {
    "a hundred times as much": {"amount": 9_000.0, "items": 20},
    "a sign": {"amount": -160.0, "items": 20},
    "usual by itself, odd beside the others": {"amount": 12.0, "items": 29},
    "a category nobody has": {"city": "Atlantis"},
    "all missing": {"amount": np.nan, "city": None, "items": np.nan},
}


@pytest.mark.parametrize("what", SPOILED)
def test_one_spoiled_row_is_on_top_and_the_column_is_named(what):
    frame = orders()
    for column, value in SPOILED[what].items():
        frame[column] = frame[column].astype(object)
        frame.loc[77, column] = value
    fitted = TableModel(RDPDetector(**QUICK)).fit(frame)
    scores = -fitted.score_samples(frame)
    assert np.sum(scores > scores[77]) <= 6
    assert fitted.explain(frame, rows=[77]).columns_of(0)[0]["column"] in SPOILED[what]


def test_a_category_that_the_fit_had_not_is_odd_in_new_rows_too(model):
    usual = orders().iloc[[5]]
    odd = usual.assign(city="Atlantis")
    with pytest.warns(UserWarning, match="values that the fit did not see"):
        assert model.score_samples(odd)[0] < model.score_samples(usual)[0] - 1


def test_far_out_is_not_as_far_as_ten_times_farther(model):
    usual = orders().dropna().iloc[[0]]
    scores = [model.score_samples(usual.assign(amount=amount))[0] for amount in (1e3, 1e4, 1e5, 1e7)]
    assert np.all(np.diff(scores) < -0.1)


def test_columns_have_the_same_say_however_many_matrix_columns_they_became():
    encoder = TableEncoder().fit(orders())
    matrix = encoder.transform(orders())
    table = encoder.table_columns_
    seen = dense(fit_views(["rank"], matrix, 0, table)["rank"](matrix))
    variances = table.reduced(np.add, np.where(table.is_mark, 0, seen.var(axis=0))[None])[0]
    assert np.all((variances > 0.3) & (variances < 1.5)), variances


def test_weights_make_columns_count_more_or_not_at_all():
    frame = orders()
    frame.loc[3, "amount"], frame.loc[4, "city"] = 5_000.0, "Atlantis"
    plain, none = (rdplearn.detect(frame, weights=weights, **QUICK) for weights in (None, {"amount": 0}))
    without = rdplearn.detect(frame.drop(columns="amount"), **QUICK)
    assert plain["rank"][3] <= 2
    assert none["rank"][3] > 50
    assert np.corrcoef(none["anomaly_score"], without["anomaly_score"])[0, 1] > 0.6
    more = rdplearn.detect(frame, weights={"city": 50}, **QUICK)
    assert more["rank"][4] < more["rank"][3]
    most = rdplearn.detect(frame, weights={"city": 1000}, **QUICK)
    assert np.isfinite(most["anomaly_score"]).all()


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ({"amount": -1}, "numbers from 0 to 1,000. Got -1 for 'amount'"),
        ({"amount": 1e300}, r"numbers from 0 to 1,000. Got 1e\+300 for 'amount'"),
        ({"amount": "much"}, "Got 'much' for 'amount'"),
        ({"amuont": 1}, "names column 'amuont'.*Did you mean 'amount'"),
        (dict.fromkeys(orders().columns, 0), "every column that is used 0"),
    ],
)
def test_impossible_weights_are_refused(weights, words):
    with pytest.raises(TableError, match=words):
        TableEncoder(weights=weights).fit(orders())


def test_a_model_file_keeps_the_voice_to_the_bit(model, tmp_path):
    rdplearn.save(model, tmp_path / "model")
    again = rdplearn.load(tmp_path / "model")
    assert np.array_equal(again.score_samples(orders(seed=1)), model.score_samples(orders(seed=1)))
    voice = again.estimator.cells_
    assert voice.companions.view.parts[0] is next(
        part
        for panel in again.estimator.panels_
        for part in panel.view.parts
        if np.array_equal(part.knots, voice.companions.view.parts[0].knots)
    )


def test_sparse_rows_say_the_same_as_dense_ones(model):
    matrix = model.encoder.transform(orders())
    matrix = matrix.toarray() if sp.issparse(matrix) else matrix
    dense_scores, sparse_scores = (model.estimator.score_samples(form(matrix)) for form in (np.asarray, sp.csr_array))
    np.testing.assert_allclose(dense_scores, sparse_scores, atol=1e-5)


def test_a_bare_matrix_has_no_cells_to_speak():
    assert RDPDetector(**QUICK).fit(np.random.default_rng(0).normal(size=(100, 3))).cells_ is None


def test_what_companions_say_is_what_least_squares_says():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4000, 4)) @ rng.normal(size=(4, 4))
    table = TableColumns(list("abcd"), np.arange(4), np.zeros(4, bool), np.ones(4))
    ranks = fit_views(["rank"], rows, 0, table)["rank"]
    from rdplearn._training.cells import RIDGE, learn_companions

    seen = ranks(rows).astype(np.float64)
    companions = learn_companions(seen, table, ranks, np.full(4, UNLIMITED))
    left = np.exp(companions.log_residuals(seen.astype(np.float32), table))
    unit = (seen - seen.mean(axis=0)) / seen.std(axis=0)
    for column in range(4):
        others = np.delete(unit, column, axis=1)
        gram = others.T @ others / len(unit) + RIDGE * np.eye(3)
        predicted = others @ np.linalg.solve(gram, others.T @ unit[:, column] / len(unit))
        residual = np.abs(unit[:, column] - predicted)
        assert np.corrcoef(left[:, column], residual)[0, 1] > 0.999


def shared(n_rows=3000, n_sharing=21):
    """Orders of which a few have no city, and as many another city than all others, in common."""
    frame = orders(n_rows)
    frame.loc[: n_sharing - 1, "city"] = None
    frame.loc[n_sharing : 2 * n_sharing - 1, "city"] = "Bonn"
    return frame, np.arange(2 * n_sharing)


def test_what_a_share_of_the_rows_have_in_common_is_not_rarer_than_that():
    frame, rows = shared()
    model = TableModel(RDPDetector(**QUICK)).fit(frame)
    voice, matrix = model.estimator.cells_, np.asarray(dense(model.encoder.transform(frame)))
    seen = SeenRows(matrix, voice.views)
    beside = voice.companions.surprises(seen.through(voice.companions.view), matrix, voice.table)
    city = voice.table.names.index("city")
    assert np.all(beside[rows, city] <= -np.log(21 / 3000) + 1e-5)
    free = replace(voice.companions, ceilings=np.full(matrix.shape[1], UNLIMITED))
    unlimited = free.surprises(seen.through(free.view), matrix, voice.table)
    assert np.all(unlimited[rows, city] > beside[rows, city])
    np.testing.assert_array_equal(np.delete(unlimited[:, city], rows), np.delete(beside[:, city], rows))


def test_rare_values_that_all_differ_are_as_odd_beside_the_others_as_before():
    frame, _ = shared()
    frame.loc[:9, "city"] = [f"nowhere {number}" for number in range(10)]
    encoder = TableEncoder().fit(frame)
    rest = [
        name for name, is_rest in zip(encoder.feature_names_, encoder.table_columns_.is_rest, strict=True) if is_rest
    ]
    assert rest == ["city=(rare)"]
    ceilings = TableModel(RDPDetector(**QUICK)).fit(frame).estimator.cells_.companions.ceilings
    limited = [encoder.feature_names_[place] for place in np.flatnonzero(ceilings < UNLIMITED)]
    assert {"city=Bonn", "city missing", "amount missing"} <= set(limited)
    assert "city=(rare)" not in limited


def test_the_tail_counts_rows_and_goes_on_as_a_power():
    sample = np.sort(np.random.default_rng(0).pareto(2.0, 20_000) + 1)
    knots, heights = tail_curve(Distinct(sample, np.ones(len(sample), dtype=np.int64)))
    assert np.all(np.diff(knots) > 0)
    for share in (0.2, 0.05, 0.02):  # of all rows; the upper side has half of them
        value = np.quantile(sample, 1 - share)
        assert np.interp(value, knots, heights) == pytest.approx(-np.log(2 * share), abs=0.1)
    far = np.interp([100.0, 200.0], knots, heights)
    assert 0.5 < (far[1] - far[0]) / np.log(2) < 2.5


def test_no_tail_begins_in_the_gap_before_a_few_wrong_values():
    ages = np.repeat(np.arange(35.0, 70.0), [*([10] * 25), *([60] * 10)])  # many are 69, and nobody is older
    values, counts = np.unique([*ages, *np.linspace(5_500, 6_900, 9)], return_counts=True)
    knots, heights = tail_curve(Distinct(values, counts))
    usual, wrong = np.interp([69.0, 6_000.0], knots, heights)
    assert usual < 3.0
    assert wrong > 15.0


@pytest.mark.parametrize("n_wrong", [3, 5, 10, 20, 40])
def test_amounts_a_hundred_times_too_large_come_first_also_in_a_few_per_cent_of_the_rows(n_wrong):
    frame = orders(1_000)
    wrong = np.random.default_rng(1).choice(1_000, n_wrong, replace=False)
    frame.loc[wrong, "amount"] = 100 * (frame["amount"].fillna(50.0) + 50.0)
    scores = TableModel(RDPDetector(**QUICK)).fit(frame).score_samples(frame)
    assert set(np.argsort(scores)[:n_wrong]) == set(wrong)


def test_years_a_hundred_times_too_large_come_first_though_many_rows_share_a_year():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"year": rng.integers(1975, 2014, 900), "fell": rng.choice(["yes", "no"], 900)})
    wrong = rng.choice(900, 27, replace=False)
    frame.loc[wrong, "year"] *= 100
    scores = TableModel(RDPDetector(**QUICK)).fit(frame).score_samples(frame)
    assert set(np.argsort(scores)[:27]) == set(wrong)


def test_a_pile_the_steps_of_a_count_and_a_long_tail_are_no_gap():
    low, ones = np.arange(1.0, 951.0), np.ones(950, dtype=np.int64)
    pile = Distinct(np.append(low, 90_000.0), np.append(ones, 30))
    steps = Distinct(np.array([0.0, 1.0, 4.0]), np.array([500, 460, 40]))
    long_tail = Distinct(np.append(low, 3_000.0 * 1.25 ** np.arange(30)), np.append(ones, ones[:30]))
    for column, value in ((pile, 90_000.0), (steps, 4.0), (long_tail, 90_000.0)):
        assert np.interp(value, *tail_curve(column)) < 5.0


def test_an_impossible_cell_is_odder_than_what_a_few_per_cent_of_the_rows_have_in_common():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"balance": rng.normal(800, 250, 1_500).round(), "income": rng.normal(3e4, 1e4, 1_500).round()}
    )
    frame["student"] = rng.choice(["yes", "no"], 1_500)
    frame["default"] = np.where(np.arange(1_500) % 33 == 0, "yes", "no")
    frame.loc[frame["default"] == "yes", "balance"] += 1_400
    frame.loc[[101, 202, 303], "balance"] *= 100
    scores = TableModel(RDPDetector(random_state=0)).fit(frame).score_samples(frame)
    assert set(np.argsort(scores)[:3]) == {101, 202, 303}


def test_members_are_counted_farther_the_sooner_cells_are_believed(model):
    assert points_beside(None) == VOICE_POINTS
    assert points_beside(model.estimator.cells_) == pytest.approx(RESIDUAL_POINTS)
    between = points_beside(replace(model.estimator.cells_, odds=0.5))
    assert VOICE_POINTS < between < RESIDUAL_POINTS


@pytest.mark.parametrize("points", [VOICE_POINTS, RESIDUAL_POINTS])
def test_the_surprise_of_scores_rises_with_them(points):
    scores = np.random.default_rng(0).lognormal(size=500)
    knots, heights = score_curve(scores, points)
    assert np.all(np.diff(knots) > 0)
    assert np.all(np.diff(heights) >= 0)
    assert np.interp(np.log(np.median(scores)), knots, heights) == pytest.approx(np.log(2), abs=0.05)


def test_constant_scores_have_no_surprise():
    knots, heights = score_curve(np.full(50, 3.0), VOICE_POINTS)
    assert np.interp(np.log(3.0), knots, heights) == 0.0


def test_curves_that_are_not_balanced_stay_as_they_were():
    rows = np.random.default_rng(0).normal(size=(300, 2))
    expected = fit_curves(distinct_columns(rows), rank_curve)(rows)
    np.testing.assert_array_equal(fit_views(["rank"], rows, 0)["rank"](rows), expected)
    seen = SeenRows(rows, [])
    assert seen.block is rows


def test_a_text_is_no_odder_for_having_many_components():
    # of thirty components of letters one is always far out: names at random must not drown odd amounts
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    names = ["".join(rng.choice(letters, rng.integers(3, 16))) for _ in range(1500)]
    names += names[:500]  # or they would be identifiers
    table = pd.DataFrame({"name": names, "amount": rng.normal(100.0, 10.0, 2000), "size": rng.normal(size=2000)})
    table.loc[:9, "amount"] = 100.0 + rng.choice([-1.0, 1.0], 10) * rng.uniform(40.0, 48.0, 10)
    model = TableModel(RDPDetector(random_state=0)).fit(table)
    top = np.argsort(model.score_samples(table))[:20]
    assert len(set(top) & set(range(10))) >= 8
    explanation = model.explain(table, rows=top.tolist())
    assert all(explanation.columns_of(row)[0]["column"] != "name" for row in range(5))


def test_an_impossible_number_comes_first_in_a_table_of_a_few_rows():
    """Of twenty rows above the median, one wrong one is a twentieth: the tail begins below it."""
    table = pd.DataFrame({"n": [*range(40), 9000], "name": [f"x{number % 3}" for number in range(41)]})
    scores = -TableModel(RDPDetector(random_state=0)).fit(table).score_samples(table)
    assert np.argmax(scores) == 40
