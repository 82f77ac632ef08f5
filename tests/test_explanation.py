"""Explanations add up, name the columns that were changed, and mean the same for every form of a table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.exceptions import NotFittedError

import rdplearn
from rdplearn import RDPDetector, TableModel
from rdplearn import detector as detector_module
from rdplearn._explain import company
from rdplearn._explain.attribution import RepairedPairs, most_deviating, n_tried
from rdplearn._explain.borrowed_values import BorrowedPairs, BorrowedValues
from rdplearn._explain.explanation import Explanation
from rdplearn._explain.shared_out import best_repair_first
from rdplearn._explain.typical_rows import N_NEAREST, column_quantiles, learn_typical_rows, mean_distances
from rdplearn.errors import TableError
from rdplearn.table import TableEncoder
from rdplearn.table.typical import Typical
from tests.conftest import SMALL

KINDS = {
    "default": {"random_state": 0},
    "the paper's": SMALL,
    "no novelty": {**SMALL, "novelty_weight": 0.0},
    "a mapping of one's own": {**SMALL, "mapping": np.tanh, "n_components": 6},
}


def assert_adds_up(explanation: Explanation) -> None:
    """Contributions are sums and differences in double precision: what is left over is their rounding."""
    contributions = explanation.contributions
    contributions = contributions.toarray() if sp.issparse(contributions) else contributions
    scores, baseline = explanation.anomaly_scores, explanation.baseline
    left_over = np.abs(contributions.sum(axis=1) - (scores - baseline))
    assert np.all(left_over <= 1e-12 * (np.abs(contributions).sum(axis=1) + np.abs(scores) + abs(baseline)))


@pytest.fixture(scope="module")
def detector(table) -> RDPDetector:
    return RDPDetector(**SMALL).fit(table)


@pytest.mark.parametrize("kind", KINDS)
def test_contributions_add_up_for_every_detector(kind: str, table):
    explanation = RDPDetector(**KINDS[kind]).fit(table).explain(table)
    assert explanation.contributions.shape == table.shape
    assert len(np.unique(explanation.contributions)) > table.size / 2
    assert_adds_up(explanation)


@given(
    rows=hnp.arrays(
        np.float64, st.tuples(st.integers(1, 6), st.just(6)), elements=st.floats(-1e300, 1e300) | st.floats(-5, 5)
    )
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_contributions_of_any_numbers_add_up(detector: RDPDetector, rows):
    explanation = detector.explain(rows)
    np.testing.assert_array_equal(explanation.anomaly_scores, -detector.score_samples(rows))
    assert_adds_up(explanation)
    grouped = detector.explain(rows, groups={"a": [0, 3], "b": [1], "c": [5, 4, 2]})
    assert_adds_up(grouped)
    assert grouped.baseline == explanation.baseline


@given(
    rows=hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 5), st.just(30)),
        elements=st.just(0.0) | st.floats(-1e9, 1e9),
        fill=st.just(0.0),
    )
)
@settings(max_examples=60, deadline=None)
def test_contributions_of_any_sparse_rows_add_up(rows):
    explanation = SPARSE_DETECTOR.explain(sp.csr_array(rows))
    assert sp.issparse(explanation.contributions)
    assert_adds_up(explanation)
    halves = {"left": list(range(15)), "right": list(range(15, 30))}
    assert_adds_up(SPARSE_DETECTOR.explain(sp.csr_array(rows), groups=halves))


def sparse_table(n_rows: int = 400, n_columns: int = 30) -> np.ndarray:
    rng = np.random.default_rng(0)
    return (rng.random((n_rows, n_columns)) < 0.15) * rng.exponential(size=(n_rows, n_columns))


SPARSE_DETECTOR = RDPDetector(**SMALL).fit(sp.csr_array(sparse_table()))


def test_sparse_rows_are_explained_like_dense_ones():
    rows = sparse_table()[:50]
    sparse = SPARSE_DETECTOR.explain(sp.csr_array(rows)).contributions.toarray()
    dense = RDPDetector(**SMALL).fit(sparse_table())
    dense.panels_, dense.typical_rows_ = SPARSE_DETECTOR.panels_, SPARSE_DETECTOR.typical_rows_
    again = dense.explain(rows).contributions
    # where two typical rows are equally near, rounding chooses between them
    agrees = np.isclose(sparse, again, rtol=1e-3, atol=1e-3 * np.abs(again).max(axis=1, keepdims=True)).all(axis=1)
    assert np.mean(agrees) > 0.9


def test_a_row_is_explained_alike_wherever_it_stands(detector: RDPDetector, table):
    whole = detector.explain(table).contributions
    np.testing.assert_array_equal(detector.explain(table[37:38]).contributions, whole[37:38])
    np.testing.assert_array_equal(detector.explain(table[::-1]).contributions, whole[::-1])
    np.testing.assert_array_equal(detector.set_params(n_jobs=2).explain(table).contributions, whole)
    detector.set_params(n_jobs=None)


def test_blocks_do_not_show(detector: RDPDetector, table, monkeypatch):
    whole = detector.explain(table).contributions
    monkeypatch.setattr("rdplearn._explain.attribution.CELLS_AT_ONCE", 1)
    monkeypatch.setattr("rdplearn._explain.attribution.FEWEST_ROWS", 7)
    monkeypatch.setattr("rdplearn._explain.company.CELLS_AT_ONCE", 1)
    np.testing.assert_array_equal(detector.explain(table).contributions, whole)


def test_changed_columns_are_named():
    from experiments import planted_explanations as planted

    named = [
        plant for kind in planted.NORMAL_ROWS for seed in (0, 1) for plant in planted.judged(kind, 6.0, seed, "default")
    ]
    for is_single, wanted in ((True, 0.95), (False, 0.85)):
        of_top = [plant["is_named"] for plant in named if plant["is_top"] and plant["is_single"] == is_single]
        assert len(of_top) >= 40
        assert np.mean(of_top) >= wanted


def test_of_a_broken_correlation_the_broken_column_is_named():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1000, 1)) @ np.ones((1, 5)) + 0.1 * rng.normal(size=(1000, 5))
    detector = RDPDetector(random_state=0).fit(rows)
    odd = np.full((1, 5), 1.5)
    odd[0, 2] = -1.5  # each value is common, all together are not
    assert detector.explain(odd).columns_of(0)[0]["column"] == "x2"


def test_a_typical_row_has_nothing_to_explain(detector: RDPDetector):
    explanation = detector.explain(detector.typical_rows_.rows[:1])
    assert explanation.anomaly_scores[0] == explanation.baseline
    assert np.abs(explanation.contributions).max() < explanation.baseline / 2  # of similar rows, which are no copies


def test_groups_are_explained_as_one(detector: RDPDetector, table):
    alone = detector.explain(table, groups={f"c{column}": [column] for column in range(6)})
    np.testing.assert_array_equal(alone.contributions, detector.explain(table).contributions)
    groups = {"first": [0, 1, 2], "last": [5], "middle": [4, 3]}
    explanation = detector.explain(table, groups=groups)
    assert explanation.column_names == list(groups)
    assert explanation.values[3, 1] == table[3, 5]
    assert explanation.values[3, 2] == (table[3, 3], table[3, 4])
    assert explanation.typical[0].words() == ""
    assert explanation.typical[1].words() != ""


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ({"a": [0, 1, 2, 3, 4]}, "Got none for column 5"),
        ({"a": [0, 1, 2, 3, 4, 5], "b": [5]}, "column 5 in group 'b', that is in another group"),
        ({"a": [0, 1, 2, 3, 4, 6]}, "column 6 in group 'a', that the table does not have"),
        ({"a": [0, 1, 2, 3, 4, 5], "b": []}, "Got none for 'b'"),
    ],
)
def test_impossible_groups_are_refused(groups, reason, detector: RDPDetector, table):
    with pytest.raises(ValueError, match=reason):
        detector.explain(table, groups=groups)


def test_dicts_and_sentences_say_the_same(detector: RDPDetector, table):
    explanation = detector.explain(table)
    told = explanation.to_dicts()
    assert len(told) == len(explanation) == len(table)
    for row, facts in enumerate(told[:20]):
        contributions = [column["contribution"] for column in facts["columns"]]
        assert contributions == sorted(contributions, reverse=True)
        if facts["anomaly_score"] > facts["baseline"]:
            assert sum(column["share"] for column in facts["columns"]) == pytest.approx(1.0)
        assert len(explanation.sentences(row, n_columns=2)) <= 2
    highest = int(np.argmax(explanation.anomaly_scores))
    first = told[highest]["columns"][0]
    assert f"{first['column']} " in explanation.sentences(highest)[0]
    assert f"{first['share']:.0%} of the score" in explanation.sentences(highest)[0]
    assert explanation.column_shares().sum() == pytest.approx(1.0)


TABLE = pa.table(
    {
        "amount": [f"{20 + 3 * (i % 97)}.50" if i % 10 else "" for i in range(300)],
        "city": [("Oslo", "Rome", "Paris")[i % 3] for i in range(300)],
        "sold": [f"2024-0{1 + i % 9}-1{i % 7} 1{i % 9}:00" for i in range(300)],
        "paid": [("yes", "no")[i % 5 == 0] for i in range(300)],
        "note": [f"a note with words, number {i * 7919 % 1009} in it" for i in range(300)],
        "key": [f"K{i:05d}" for i in range(300)],
    }
)


@pytest.fixture(scope="module")
def model() -> TableModel:
    with pytest.warns(rdplearn.RDPWarning, match="Left out"):
        return TableModel(RDPDetector(**{**SMALL, "n_members": 5, "n_steps": 300})).fit(TABLE)


def test_tables_are_explained_by_their_own_columns_and_values(model: TableModel):
    explanation = model.explain(TABLE)
    assert explanation.column_names == ["amount", "city", "sold", "paid", "note"]
    assert explanation.contributions.shape == (300, 5)
    assert_adds_up(explanation)
    assert explanation.values[1].tolist() == [23.5, "Rome", "2024-02-11 11:00", "yes", TABLE["note"][1].as_py()]
    assert explanation.values[0, 0] is None
    typical = [typical.words() for typical in explanation.typical]
    assert typical[1] == "Oslo (33%), Paris (33%), Rome (33%)"
    assert typical[2].startswith("2024-01-1")
    np.testing.assert_array_equal(explanation.anomaly_scores, -model.score_samples(TABLE))


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("amount", "98000", "amount 98,000 (typical"),
        ("sold", "2031-06-01 12:00", "sold 2031-06-01 12:00 (typical 2024"),
        ("note", "x" * 400, "note " + "x" * 39 + "… (typical 34 to 35 letters) accounts"),
    ],
)
def test_a_changed_cell_is_named_in_words(model: TableModel, column: str, value: str, words: str):
    rows = TABLE.slice(20, 5)
    cells = rows[column].to_pylist()
    cells[2] = value
    rows = rows.set_column(rows.column_names.index(column), column, pa.array(cells))
    assert model.explain(rows).sentences(2)[0].startswith(words)


def test_midnight_is_left_out_of_dates_that_came_as_dates():
    days = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=200), "x": np.arange(200) % 7})
    days.loc[199, "day"] = pd.Timestamp("2031-06-01")
    model = TableModel(RDPDetector(**SMALL)).fit(days)
    assert model.explain(days, rows=[199]).sentences(0)[0].startswith("day 2031-06-01 (typical 2024-01-")
    days["day"] += pd.Timedelta("90min")
    assert (
        "day 2031-06-01 01:30:00 ("
        in TableModel(RDPDetector(**SMALL)).fit(days).explain(days, rows=[199]).sentences(0)[0]
    )


def test_some_rows_of_a_table(model: TableModel):
    whole = model.explain(TABLE)
    some = model.explain(TABLE, rows=[200, 3, 3])
    np.testing.assert_array_equal(some.contributions, whole.contributions[[200, 3, 3]])
    assert some.values[0].tolist() == whole.values[200].tolist()
    with pytest.raises(
        TableError, match=r"counts from 0, and the table has 300 rows: the last is 299\. Got 300 instead\."
    ):
        model.explain(TABLE, rows=[300])
    with pytest.raises(TableError, match=r"counts from 0\. Got -1"):
        model.explain(TABLE, rows=[-1])
    mask = np.arange(300) < 3
    with pytest.raises(
        TableError, match=r"must be a list of places\. Got a mask of True and False; pass its places, as"
    ):
        model.explain(TABLE, rows=mask)
    for odd in (["a"], [1.5], [None]):
        with pytest.raises(TableError, match=r"must be a list of places, from 0\. Got .* instead\."):
            model.explain(TABLE, rows=odd)
    assert len(model.explain(TABLE, rows=np.flatnonzero(mask).astype(np.uint8))) == 3
    with pytest.raises(TableError, match=r"must be a list of places\. Got 5; pass \[5\]\."):
        model.explain(TABLE, rows=5)
    with pytest.raises(TableError, match="no rows"):
        model.explain(TABLE.slice(0, 0))
    with pytest.raises(TableError, match="There are no rows in the table to explain"):
        model.explain(TABLE.slice(0, 0), rows=[0])


def test_explanations_survive_a_model_file(model: TableModel, tmp_path):
    rdplearn.save(model, tmp_path / "model")
    again = rdplearn.load(tmp_path / "model")
    np.testing.assert_array_equal(again.explain(TABLE).contributions, model.explain(TABLE).contributions)
    assert again.explain(TABLE).typical == model.explain(TABLE).typical
    rdplearn.save(SPARSE_DETECTOR, tmp_path / "sparse")
    rows = sp.csr_array(sparse_table())
    loaded = rdplearn.load(tmp_path / "sparse").explain(rows)
    assert abs(loaded.contributions - SPARSE_DETECTOR.explain(rows).contributions).max() == 0


@pytest.mark.parametrize("n_rows", [2, 3, 5])
def test_tiny_and_constant_tables(n_rows: int):
    rows = np.arange(n_rows * 2.0).reshape(n_rows, 2)
    assert_adds_up(RDPDetector(**{**SMALL, "n_rounds": 1}).fit(rows).explain(rows + 100))
    with pytest.warns(rdplearn.RDPWarning, match="constant"):
        constant = RDPDetector(**{**SMALL, "n_rounds": 1}).fit(np.ones((n_rows, 1)))
    assert_adds_up(constant.explain([[1.0], [7.0]]))


def test_an_unfitted_detector_explains_nothing(table):
    with pytest.raises(NotFittedError, match="not fitted"):
        RDPDetector().explain(table)


def test_cost_is_a_score_for_each_column_and_row_to_mend_it_by(detector: RDPDetector, table, monkeypatch):
    scored = []
    anomaly_scores = detector_module.anomaly_scores
    monkeypatch.setattr(
        detector_module,
        "anomaly_scores",
        lambda detector, rows: scored.append(rows.shape[0]) or anomaly_scores(detector, rows),
    )
    wide = RDPDetector(**SMALL).fit(np.random.default_rng(0).normal(size=(500, 20)))
    scored.clear()
    wide.explain(np.random.default_rng(1).normal(size=(1000, 20)))
    n_others = 2 + company.N_NEAREST + company.N_SPREAD  # medians of similar rows, usual values, and the company's
    assert sum(scored) <= 1000 * ((n_others + 1) * 20 + 2)
    assert n_tried(1) == 1
    assert n_tried(3) == 3


@given(st.integers(1, 40), st.integers(1, 6), st.floats(0, 1), st.integers(0, 2**31))
@settings(max_examples=60, deadline=None)
def test_statistics_of_columns_are_those_of_plain_loops(n_rows: int, n_columns: int, share: float, seed: int):
    rng = np.random.default_rng(seed)
    rows = np.round(rng.normal(size=(n_rows, n_columns)), 1) * (rng.random((n_rows, n_columns)) < 0.6)
    expected = [np.sort(column)[round(share * (n_rows - 1))] for column in rows.T]
    for form in (rows, sp.csr_array(rows)):
        np.testing.assert_array_equal(column_quantiles(form, [share]), [expected])
        middle = rng.normal(size=n_columns) * (rng.random(n_columns) < 0.5)
        distances = [np.abs(column - value).mean() for column, value in zip(rows.T, middle, strict=True)]
        np.testing.assert_allclose(mean_distances(form, middle), distances, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_nearest_rows_are_those_of_a_plain_loop(seed: int):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(300, 4)) * (rng.random((300, 4)) < 0.7)
    weights, together = rng.random(4), np.array([False, True, False, True])
    for form in (rows, sp.csr_array(rows)):
        typical_rows = learn_typical_rows(form, np.asarray(abs(form).sum(axis=1)).ravel(), seed=0)
        typical, nearest = typical_rows.similar_rows(form[:20], together, weights)
        typical = typical.toarray() if sp.issparse(typical) else typical
        kept = typical_rows.rows.toarray() if sp.issparse(form) else typical_rows.rows
        for row, found, places in zip(rows[:20], typical, nearest, strict=True):
            distances = (np.minimum(np.abs(row - kept) / typical_rows.spread, 1.0) * weights).sum(axis=1)
            nearest_few = np.sort(distances)[:N_NEAREST]
            np.testing.assert_allclose(distances[places], nearest_few, atol=1e-5)
            expected = np.where(together, kept[places[0]], np.median(kept[places], axis=0))
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_cells_are_mended_by_rows_that_are_alike_in_all_other_columns(form):
    rng = np.random.default_rng(1)
    rows = np.round(rng.normal(size=(200, 4)), 1)
    rows[:, 2:] = rng.integers(2, size=(200, 1)) == [[0, 1]]  # a category of two values: one group
    groups, weights = np.array([0, 1, 2, 2]), np.array([1.0, 2.0, 1.0, 1.0])
    typical_rows = learn_typical_rows(form(rows), np.abs(rows).sum(axis=1), seed=0)
    others = company.Company(typical_rows, groups, weights)
    tried = np.repeat(np.arange(5), 3), np.tile(np.arange(3), 5)
    cells, sources = others.sources(form(rows[:5]), *tried)
    kept = typical_rows.company.toarray() if sp.issparse(typical_rows.company) else typical_rows.company
    assert len(kept) == 190  # fewer than the company may have: all but the oddest
    for cell, (row, group) in enumerate(zip(*tried, strict=True)):
        found = kept[sources[cells == cell]][:, groups == group]
        apart = (np.minimum(np.abs(rows[row] - kept) / typical_rows.spread, 1.0) * weights * (groups != group)).sum(1)
        apart[(kept == rows[row])[:, groups == group].all(axis=1)] = np.inf  # they mend nothing
        sure = kept[apart < np.sort(apart)[company.N_NEAREST - 1] - 1e-9][:, groups == group]
        assert {tuple(value) for value in sure} <= {tuple(value) for value in found}
        assert len(np.unique(found, axis=0)) == len(found) <= company.N_NEAREST + company.N_SPREAD
        assert len(found) == 2 or group < 2


def test_a_reason_that_would_be_zero_percent_is_not_told():
    typical = [Typical(low=0.0, high=1.0)] * 2
    parts, values = np.array([[5.0, 0.01]]), np.array([[9.0, 0.5]])
    explanation = Explanation(["a", "b"], parts, parts.sum(axis=1), 0.0, values, typical)
    assert explanation.sentences(0) == ["a 9 (typical 0 to 1) accounts for 100% of the score"]


def test_a_column_that_is_as_in_similar_rows_is_mended_too():
    rng = np.random.default_rng(0)
    which = rng.integers(3, size=1000)
    table = pd.DataFrame(
        {"city": np.array(["Oslo", "Rome", "Lima"])[which], "country": np.array(["N", "I", "P"])[which]}
    )
    table["amount"], table["size"] = rng.normal(size=(2, 1000))
    table.loc[0, ["city", "country"]] = ["Oslo", "P"]
    explanation = TableModel(RDPDetector(random_state=0)).fit(table).explain(table, rows=[0])
    assert_adds_up(explanation)
    first_two = np.argsort(-explanation.contributions[0])[:2]
    assert {explanation.column_names[place] for place in first_two} == {"city", "country"}  # either may be wrong


def twins(n_rows: int = 1000) -> pd.DataFrame:
    """A table with a column and its number, which vouch for each other, and one row that has a rare one of both."""
    rng = np.random.default_rng(0)
    which = rng.integers(3, size=n_rows)
    which[0] = 3
    states, numbers = np.array(["TX", "FL", "CA", "ND"])[which], np.array([48, 12, 6, 38])[which]
    others = {
        "sort": rng.choice(["a", "b"], n_rows),
        "amount": rng.normal(size=n_rows),
        "size": rng.normal(size=n_rows),
    }
    return pd.DataFrame({"state": states, "number": numbers, **others})


def test_two_columns_that_vouch_for_each_other_are_told_together():
    table = twins()
    model = TableModel(RDPDetector(random_state=0), TableEncoder(kinds={"number": "category"})).fit(table)
    explanation = model.explain(table, rows=[0, 1])
    assert_adds_up(explanation)
    assert {explanation.column_names[place] for place in explanation.pairs[0]} == {"state", "number"}
    assert explanation.pairs[1].tolist() == [-1, -1]
    first, second = explanation.columns_of(0)[:2]
    assert {first["column"], second["column"]} == {"state", "number"}
    assert first["only_together"]
    assert first["shared_with"] == [second["column"]]
    said = explanation.sentences(0)[0]
    assert " and " in said
    assert ") together account for " in said
    np.testing.assert_array_equal(explanation.of_rows(np.array([1])).pairs, [[-1, -1]])
    assert explanation.of_rows(np.array([0])).kinds()[0].title in (
        "state = ND with number = 38",
        "number = 38 with state = ND",
    )


def test_a_row_that_one_repair_mends_has_no_pair():
    table = twins()
    table.loc[1, "amount"] = 1e6
    model = TableModel(RDPDetector(random_state=0), TableEncoder(kinds={"number": "category"})).fit(table)
    explanation = model.explain(table, rows=[1])
    assert explanation.columns_of(0)[0]["column"] == "amount"
    assert explanation.pairs.tolist() == [[-1, -1]]


@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_pairs_are_borrowed_from_one_row(form):
    rng = np.random.default_rng(0)
    groups = np.array([2, 0, 1, 0, 2])
    actual, other = rng.normal(size=(4, 5)), rng.normal(size=(6, 5))
    rows, sources, pairs = np.array([0, 0, 3]), np.array([5, 1, 2]), np.array([[0, 1], [2, 0], [1, 2]])
    expected = [
        np.where(np.isin(groups, pair), other[source], actual[row])
        for row, source, pair in zip(rows, sources, pairs, strict=True)
    ]
    made = BorrowedPairs(form(actual), form(other), rows, pairs, groups, sources)[1:3]
    np.testing.assert_array_equal(made.toarray() if sp.issparse(made) else made, expected[1:])


def test_two_columns_share_what_mending_both_takes_off():
    mended, totals = sp.csr_array(np.array([[0.1, 0.0, 0.0], [0.0, 0.0, 0.0]])), np.array([4.0, 4.0])
    pairs = RepairedPairs(np.array([0, 0, 1]), np.array([[0, 1], [1, 2], [0, 1]]), np.array([3.0, 1.0, 0.5]))
    credited, together = pairs.credited(mended, totals)
    np.testing.assert_allclose(credited.toarray(), [[1.55, 1.45, 0.0], [0.0, 0.0, 0.0]])
    assert together.tolist() == [[0, 1], [-1, -1]]  # half of a nat of four is too little


def test_the_best_repair_comes_first_also_where_two_columns_carry_a_row():
    contributions, mended = np.array([[0.1, 4.0, 3.0, -1.0], [2.0, 1.0, 0.0, 0.0]]), np.zeros((2, 4))
    mended[0, [0, 2]] = 0.5, 0.1
    for form in (np.array, sp.csr_array):
        made = best_repair_first(form(contributions), sp.csr_array(mended))
        made = made.toarray() if sp.issparse(made) else made
        assert made.argmax(axis=1).tolist() == [0, 0]
        np.testing.assert_allclose(made.sum(axis=1), contributions.sum(axis=1), rtol=1e-12)
        np.testing.assert_allclose(made, [[7.1 / 3] * 3 + [-1.0], contributions[1]], rtol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_borrowed_values_are_those_of_a_plain_loop(seed: int):
    rng = np.random.default_rng(seed)
    groups = np.array([2, 0, 1, 0, 2])
    actual, typical = (rng.normal(size=(6, 5)) * (rng.random((6, 5)) < 0.6) for _ in range(2))
    rows, tried = rng.integers(6, size=20), rng.integers(4, size=20)  # 3 is no group
    expected = np.array(
        [np.where(groups == group, actual[row], typical[row]) for row, group in zip(rows, tried, strict=True)]
    )
    np.testing.assert_array_equal(BorrowedValues(typical, actual, rows, tried, groups)[2:15], expected[2:15])
    sparse = BorrowedValues(sp.csr_array(typical), sp.csr_array(actual), rows, tried, groups)[2:15]
    np.testing.assert_array_equal(sparse.toarray(), expected[2:15])


@pytest.mark.parametrize("n_most", [1, 2, 5])
def test_the_most_deviating_groups_are_those_of_a_plain_loop(n_most: int):
    rng = np.random.default_rng(0)
    deviations = rng.random((30, 8)) * (rng.random((30, 8)) < 0.5)
    groups = np.array([0, 3, 1, 3, 2, 4, 4, 1])
    expected = []
    for row, of_row in enumerate(deviations):
        sizes = {group: of_row[groups == group].max() for group in range(5)}
        chosen = sorted((group for group in sizes if sizes[group] > 0), key=lambda group: -sizes[group])[:n_most]
        expected += [(row, group) for group in sorted(chosen)]
    for form in (deviations, sp.csr_array(deviations)):
        rows, found = most_deviating(form, groups, n_most)
        assert list(zip(rows.tolist(), found.tolist(), strict=True)) == expected
