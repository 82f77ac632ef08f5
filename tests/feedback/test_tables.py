"""Answers about rows of tables, muting rules, model files, and Dask."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rdplearn
from rdplearn import ModelFileError, RDPDetector, TableModel, review
from rdplearn._storage.container import write_model_file
from rdplearn.errors import TableError


@pytest.fixture(scope="module")
def trips() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"km": rng.gamma(4, 2, 400), "tolls": rng.choice([0.0, 5.0], 400), "city": rng.choice(["Oslo", "Rome"], 400)}
    )
    table.loc[:9, "tolls"] = 600.0 + np.arange(10)
    table.loc[:4, "city"], table.loc[5:9, "city"] = "Oslo", "Rome"
    return table


@pytest.fixture(scope="module")
def fitted(trips) -> TableModel:
    return TableModel(RDPDetector(n_members=4, n_rounds=2, contamination=0.1, random_state=0, n_jobs=1)).fit(trips)


def answered(fitted, trips):
    return review(fitted).tell(trips.iloc[[0, 1, 8]], ["normal", "normal", "anomalous"], names=[1, 2, 9])


def test_answers_about_rows_of_a_table_reach_rows_like_them(fitted, trips):
    moved = review(fitted).score_samples(trips) - answered(fitted, trips).score_samples(trips)
    assert moved[2:5].max() < 0 < moved[[5, 6, 7, 9]].min()


def test_answers_are_taken_over_where_the_table_is_read_in_the_same_way(trips):
    model = TableModel(RDPDetector(n_members=2, n_rounds=1, n_steps=20, random_state=0)).fit(trips)
    old = answered(model, trips)
    old.mute(trips.iloc[[3]], "city", name="known")
    model.estimator.set_params(random_state=1)
    model.fit(trips)
    with pytest.raises(ValueError, match="was fitted again"):
        old.score_samples(trips)
    new = review(model).take_over(old)
    assert new.estimator.answers()[1:] == old.estimator.answers()[1:]
    assert [rule.name for rule in new.estimator.rules_] == ["known"]
    model.fit(trips.iloc[:200])
    with pytest.raises(
        TableError, match=r"read in another way now, so the answered rows are not known in it\. Tell the"
    ):
        review(model).take_over(old)
    with pytest.raises(
        TypeError, match=r"'other' parameter of take_over must be a reviewed table model\. Got Reviewed"
    ):
        new.take_over(old.estimator)


def test_a_category_of_many_values_has_the_say_of_one_column():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"amount": rng.normal(size=600), "place": [f"p{n}" for n in rng.integers(50, size=600)]})
    model = review(TableModel(RDPDetector(n_members=2, n_rounds=1, n_steps=20, random_state=0)).fit(table))
    near = model.estimator._columns.scaled(
        model.encoder.transform(pd.DataFrame({"amount": [0.0, 0.0], "place": ["p1", "p2"]}))
    )
    far = model.estimator._columns.scaled(
        model.encoder.transform(pd.DataFrame({"amount": [-1.0, 1.0], "place": ["p1", "p1"]}))
    )
    by_place, by_amount = np.abs(near[0] - near[1]).sum(), np.abs(far[0] - far[1]).sum()
    assert 0.2 < by_place / by_amount < 5


def test_explanations_have_the_tables_own_values(fitted, trips):
    explanation = answered(fitted, trips).explain(trips, rows=[2, 9])
    assert explanation.column_names == ["km", "tolls", "city", "your answers"]
    assert explanation.values[0, 2] == "Oslo"
    assert "normal" in explanation.values[0, 3]
    assert np.allclose(explanation.contributions.sum(axis=1), explanation.anomaly_scores - explanation.baseline)


def test_asking_proposes_rows_of_the_table(fitted, trips):
    model = review(fitted)
    assert model.next(trips)[0] < 10
    assert model.uncertainty(trips).shape == (400,)


def test_muted_rows_are_not_reported_and_still_there(fitted, trips):
    model = review(fitted)
    assert (model.predict(trips[:10]) == -1).all()
    rule = model.mute(trips.iloc[[0]], ["city"], name="tolls of Oslo")
    assert str(rule) == "tolls of Oslo: rows whose first reason is tolls and city is Oslo"
    assert model.predict(trips[:10]).tolist() == [1] * 5 + [-1] * 5
    assert model.muted(trips[:10]).tolist() == ["tolls of Oslo"] * 5 + [None] * 5
    assert (model.decision_function(trips[:5]) == 0).all()
    explanation = model.explain(trips[:1])
    assert "muted by 'tolls of Oslo'" in explanation.values[0, -1]
    assert np.allclose(explanation.contributions.sum(axis=1), explanation.anomaly_scores - explanation.baseline)
    model.unmute("tolls of Oslo")
    assert (model.predict(trips[:10]) == -1).all()


def test_wrong_rules_are_refused(fitted, trips):
    model = review(fitted)
    model.mute(trips.iloc[[0]], name="a")
    with pytest.raises(ValueError, match="There is a muting rule 'a' already"):
        model.mute(trips.iloc[[0]], name="a")
    with pytest.raises(ValueError, match=r"There is no muting rule 'b'. The rules are: 'a'"):
        model.unmute("b")
    with pytest.raises(ValueError, match=r"must name columns of the model, such as 'km'. Got 'town'"):
        model.mute(trips.iloc[[0]], ["town"])
    with pytest.raises(ValueError, match=r"must name columns of the model, such as 'km'. Got 'town'"):
        model.mute(trips.iloc[[0]], "town")
    assert model.mute(trips.iloc[[0]], "city", name="c").words.keys() == {"city"}
    with pytest.raises(ValueError, match=r"must be one line of printable letters\. Got 'two\\nlines' instead"):
        model.mute(trips.iloc[[0]], name="two\nlines")
    model.tell(trips.iloc[[1]], "anomalous")
    with pytest.raises(ValueError, match=r"The row was told as anomalous.*are fine\. Take the answer back first"):
        model.mute(trips.iloc[[1]])
    with pytest.raises(TableError, match=r"made of one row. Got 2 instead"):
        model.mute(trips.iloc[:2])
    with pytest.raises(TypeError, match="fitted already"):
        model.fit(trips)


def test_a_model_file_keeps_answers_and_rules(fitted, trips, tmp_path: Path):
    model = answered(fitted, trips)
    model.mute(trips.iloc[[5]], ["city"], name="Rome")
    rdplearn.save(model, tmp_path / "model")
    again = rdplearn.load(tmp_path / "model")
    assert np.array_equal(again.score_samples(trips), model.score_samples(trips))
    assert again.muted(trips).tolist() == model.muted(trips).tolist()
    assert again.explain(trips[:2]).to_dicts() == model.explain(trips[:2]).to_dicts()
    again.take_back(trips.iloc[[0, 1, 8]]).unmute("Rome")
    assert np.array_equal(again.score_samples(trips), review(fitted).score_samples(trips))


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_detector_without_a_table_is_kept_too(is_sparse, tmp_path: Path):
    import scipy.sparse as sp

    rows = sp.random_array((100, 20), density=0.2, rng=np.random.default_rng(0), format="csr")
    rows = rows if is_sparse else rows.toarray()
    reviewed = review(RDPDetector(n_members=2, n_rounds=1, n_steps=20, random_state=0).fit(rows))
    for answers in ([], ["normal", "anomalous", "unsure"]):
        reviewed.tell(rows[: len(answers)], answers) if answers else None
        rdplearn.save(reviewed, tmp_path / "model")
        again = rdplearn.load(tmp_path / "model")
        assert np.array_equal(again.score_samples(rows), reviewed.score_samples(rows))
        assert again.answers()[1] == reviewed.answers()[1]


def test_a_file_of_before_the_trees_scores_as_it_did(detector, strange, tmp_path: Path):
    """Nearness by columns alone and no shared error, against the formula of that time."""
    from rdplearn._storage import reviewed as stored

    rows = strange
    words = ["normal", "normal", "anomalous", "anomalous", "normal"]
    reviewed = review(detector).tell(rows[[0, 1, 12, 13, 300]], words)
    description, arrays = stored.describe(reviewed)
    del description["learning"]
    header = {"estimator": "Reviewed", "model": description, "training": [], "encoder": None}
    write_model_file(tmp_path / "model", header, arrays)
    again = rdplearn.load(tmp_path / "model")
    opinions, seen, process = again._opinions(rows), again._columns(rows).columns, again._process
    variances = np.array([0.3, *[1 / (opinions.shape[1] - 1)] * (opinions.shape[1] - 1)])
    near = np.exp(-np.abs(seen[:, None] - process.points.columns[None]).sum(axis=2))
    covariance = 16.0 * near + opinions * variances @ process.opinions.T
    of_points = 16.0 * np.exp(-np.abs(process.points.columns[:, None] - process.points.columns[None]).sum(axis=2))
    of_points = of_points + process.opinions * variances @ process.opinions.T
    told = [5.0 if word == "anomalous" else -2.0 for word in again.answers()[1]]
    surprise = told - process.opinions[:, 0]
    inverse = np.linalg.inv(of_points + 6.0 * np.eye(5))
    left_out = inverse @ surprise / np.diag(inverse)
    error = 6.0 * (1 + 0.5 * np.maximum(left_out**2 * np.diag(inverse) - 1, 0.0))
    weights = np.linalg.solve(of_points + np.diag(error), surprise)
    assert np.allclose(
        -again.score_samples(rows), again._scale.with_gap(opinions[:, 0]) + covariance @ weights, atol=1e-4
    )
    assert not np.allclose(again.score_samples(rows), reviewed.score_samples(rows), atol=0.1)
    rdplearn.save(again, tmp_path / "second")  # and stays so
    assert np.array_equal(rdplearn.load(tmp_path / "second").score_samples(rows), again.score_samples(rows))


DAMAGED = {
    "learning": (lambda model: model.__setitem__("learning", 3), "impossible 'learning'"),
    "answers": (lambda model: model["answers"].__setitem__(0, "maybe"), "impossible 'answers'"),
    "names": (lambda model: model["names"].pop(), "impossible 'names'"),
    "columns": (lambda model: model.__setitem__("n_columns", 7), "n_columns"),
    "rule": (lambda model: model["rules"][0].__setitem__("places", [0, 1]), "impossible muting rule"),
    "place": (lambda model: model["rules"][0].__setitem__("places", [99]), "impossible muting rule"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_files_with_impossible_answers_are_refused(damage, fitted, trips, tmp_path: Path):
    from rdplearn._storage import reviewed as stored

    model = answered(fitted, trips)
    model.mute(trips.iloc[[5]], name="all")
    model.estimator.rules_[0] = type(model.estimator.rules_[0])("all", "tolls", {}, (0,), (1.0,))
    description, arrays = stored.describe(model.estimator)
    description = json.loads(json.dumps(description))
    change, told = DAMAGED[damage]
    change(description)
    header = {"estimator": "Reviewed", "model": description, "training": [], "encoder": None}
    write_model_file(tmp_path / "model", header, arrays)
    with pytest.raises(ModelFileError, match=told):
        rdplearn.load(tmp_path / "model")


def test_dask_frames_are_scored_as_frames_are(fitted, trips):
    dd = pytest.importorskip("dask.dataframe")
    model = answered(fitted, trips)
    parts = dd.from_pandas(trips, npartitions=3)
    lazily = model.score_samples(parts).compute(scheduler="synchronous")
    assert np.allclose(lazily, model.score_samples(trips), atol=1e-6)
    numbers = trips[["km", "tolls"]]
    reviewed = review(RDPDetector(n_members=2, n_rounds=1, n_steps=20, random_state=0).fit(numbers))
    reviewed.tell(numbers[:2], "normal")
    of_parts = reviewed.predict(dd.from_pandas(numbers, npartitions=2)).compute(scheduler="synchronous")
    assert np.array_equal(of_parts, reviewed.predict(numbers))
    assert np.allclose(model.uncertainty(parts).compute(scheduler="synchronous"), model.uncertainty(trips), atol=1e-6)
    model.mute(trips[:1], name="ferries")
    muted = model.muted(parts).compute(scheduler="synchronous")  # in a series, no name is a missing one
    assert muted.where(muted.notna(), None).tolist() == model.muted(trips).tolist()
    assert muted.notna().any()
    with pytest.raises(TableError, match=r"'asking' method of ReviewedTable takes rows in memory.*compute\(\)"):
        model.asking(parts)


def test_an_update_keeps_answers_and_rules(tmp_path):
    frame = pd.DataFrame(
        {"amount": np.random.default_rng(0).normal(100, 10, 400), "city": ["Oslo", "Rome", "Lima", "Rome"] * 100}
    )
    frame.loc[[3, 4], "amount"] = 400.0
    model = rdplearn.TableModel(rdplearn.RDPDetector(n_members=4, n_rounds=2, random_state=0)).fit(frame)
    reviewed = rdplearn.review(model).tell(frame.iloc[[3]], "normal")
    reviewed.mute(frame.iloc[[4]], name="large amounts")
    before = reviewed.estimator.n_renewed_
    assert reviewed.partial_fit(frame) is reviewed
    assert reviewed.estimator.n_renewed_ > before
    assert [rule.name for rule in reviewed.estimator.rules_] == ["large amounts"]
    rdplearn.save(reviewed, tmp_path / "model")
    again = rdplearn.load(tmp_path / "model")
    assert len(again.estimator.answers()[1]) == 1
    np.testing.assert_array_equal(again.score_samples(frame), reviewed.score_samples(frame))
    plain = rdplearn.TableModel(reviewed.estimator.detector, reviewed.encoder)
    ranks = [(-scores).argsort().argsort()[3] for scores in (reviewed.score_samples(frame), plain.score_samples(frame))]
    assert ranks[0] < ranks[1]  # the answer still makes it more normal
