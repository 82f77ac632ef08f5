"""Tables in, scores out, in Python: TableModel and detect."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

import rdplearn
from rdplearn import RDPClusterer, RDPDetector, RDPTransformer, TableEncoder, TableError, TableModel
from rdplearn._scoring import scores as scoring
from tests.conftest import SMALL, assert_same_to_rounding


def people(n_rows: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 70, n_rows).astype(float),
            "city": rng.choice(["Oslo", "Rome"], n_rows),
            "name": [f"person {i}" for i in range(n_rows)],
        },
        index=[f"p{i}" for i in range(n_rows)],
    )
    frame.loc["p17", "age"] = 250.0
    return frame


def test_a_small_table_is_used_whole():
    frame = people()
    encoder = TableEncoder(ignore=["name"])
    matrix = encoder.fit_transform(frame)
    by_hand = RDPDetector(**SMALL).fit(matrix)
    model = TableModel(RDPDetector(**SMALL), TableEncoder(ignore=["name"])).fit(frame)
    np.testing.assert_array_equal(model.score_samples(frame), by_hand.score_samples(matrix))
    np.testing.assert_array_equal(model.predict(frame), by_hand.predict(matrix))
    np.testing.assert_array_equal(model.decision_function(frame), by_hand.decision_function(matrix))


@pytest.mark.parametrize("estimator", [3, RDPDetector, TableEncoder()])
def test_an_estimator_that_is_none_is_told(estimator):
    with pytest.raises(
        TypeError, match=r"'estimator' parameter of TableModel must be an RDPDetector, .*Got .* instead"
    ):
        TableModel(estimator).fit(people())


def test_fit_predict_and_fit_transform_read_a_table_that_can_be_read_once():
    frame = people().drop(columns="name")
    stream = pa.RecordBatchReader.from_batches
    batches = pa.Table.from_pandas(frame, preserve_index=False).to_batches()
    told = TableModel(RDPDetector(**SMALL)).fit_predict(stream(batches[0].schema, batches))
    np.testing.assert_array_equal(told, TableModel(RDPDetector(**SMALL)).fit(frame).predict(frame))
    features = TableModel(RDPTransformer(n_components=2, n_steps=20, random_state=0))
    np.testing.assert_array_equal(features.fit_transform(frame), features.transform(frame))
    with pytest.raises(AttributeError, match="'RDPTransformer' object has no attribute 'predict'"):
        clone(features).fit_predict(frame)


def test_a_large_table_is_sampled_reproducibly_and_all_rows_count_for_the_columns(monkeypatch):
    monkeypatch.setattr("rdplearn.table_model.FEWEST_SAMPLED_ROWS", 60)
    monkeypatch.setattr("rdplearn.table_model.SAMPLED_CELLS", 120)
    seen = []
    original = RDPDetector.fit

    def fit(self, X, y=None, **told):
        seen.append(X.shape)
        return original(self, X, y, **told)

    monkeypatch.setattr(RDPDetector, "fit", fit)
    frame = people().drop(columns="name")
    first, same = (TableModel(RDPDetector(**SMALL)).fit(frame) for _ in range(2))
    assert seen[0] == (60, 3)
    assert first.encoder.n_rows_ == 200
    np.testing.assert_array_equal(first.score_samples(frame), same.score_samples(frame))


def test_the_table_is_read_once(tmp_path: Path):
    opened = rdplearn.table.open_table(people())
    passes = []

    def read():
        passes.append(1)
        return opened.read()

    counted = rdplearn.table.Table(opened.name, opened.column_names, read)
    TableModel(RDPDetector(**SMALL), TableEncoder(ignore=["name"])).fit(counted)
    assert len(passes) == 1


def test_batches_of_rows_come_with_their_results_and_can_be_passed_over(monkeypatch):
    monkeypatch.setattr("rdplearn.table.reading.MOST_ROWS", 50)
    monkeypatch.setattr("rdplearn.table.reading.FEWEST_ROWS", 50)
    frame = people()
    model = TableModel(RDPDetector(**SMALL), TableEncoder(ignore=["name"])).fit(frame)
    parts = list(model.apply_batches(frame, model.estimator.score_samples))
    assert [batch.num_rows for batch, _ in parts] == [50] * 4
    rest = list(model.apply_batches(frame, model.estimator.score_samples, skip_rows=100))
    np.testing.assert_array_equal(rest[0][1], parts[2][1])
    assert len(rest) == 2


def test_long_tables_are_scored_by_the_compiled_kernel_from_the_same_row_on(monkeypatch):
    monkeypatch.setattr("rdplearn.table.reading.MOST_ROWS", 50)
    monkeypatch.setattr("rdplearn.table.reading.FEWEST_ROWS", 50)
    frame = people()
    model = TableModel(RDPDetector(**SMALL), TableEncoder(ignore=["name"])).fit(frame)
    plain = model.score_samples(frame)
    compiled = []
    original = scoring.mean_over_rounds

    def watched(*of_panel, is_long):
        compiled.append(is_long)
        return original(*of_panel, is_long=is_long)

    n_components = sum(panel.bias.size for panel in model.estimator.panels_)
    monkeypatch.setattr(scoring, "COMPONENTS_WORTH_COMPILING", 101 * n_components)
    monkeypatch.setattr(scoring, "mean_over_rounds", watched)
    whole = model.score_samples(frame)
    n_panels = len(model.estimator.panels_)
    assert compiled == [False] * 2 * n_panels + [True] * 2 * n_panels  # rows 1-100, rows 101-200
    assert_same_to_rounding(whole, plain)
    rest = list(model.apply_batches(frame, model.estimator.score_samples, skip_rows=100))
    np.testing.assert_array_equal(np.concatenate([scores for _, scores in rest]), whole[100:])


def test_detect_keeps_the_pandas_index_and_columns():
    frame = people()
    before = frame.copy()
    found = rdplearn.detect(frame, ignore=["name"], **SMALL)
    assert isinstance(found, pd.DataFrame)
    pd.testing.assert_frame_equal(found[["age", "city", "name"]], before)
    pd.testing.assert_frame_equal(frame, before)
    assert found["anomaly_score"].idxmax() == "p17"
    assert found.loc["p17", "anomalous"]
    assert found.columns.tolist() == ["age", "city", "name", "anomaly_score", "rank", "anomalous"]


def test_no_score_is_minus_nought():
    scores = rdplearn.detect(people(), ignore=["name"], n_members=2, random_state=0)["anomaly_score"].to_numpy()
    assert (scores == 0).any()
    assert not np.signbit(scores).any()


@pytest.mark.parametrize("kind", ["polars", "arrow", "path", "array"])
def test_detect_returns_the_type_that_came_in(kind: str, tmp_path: Path):
    frame = people().drop(columns="name")
    frame.to_csv(tmp_path / "people.csv", index=False)
    table, returned = {
        "polars": (pl.from_pandas(frame), pl.DataFrame),
        "arrow": (pa.Table.from_pandas(frame, preserve_index=False), pa.Table),
        "path": (tmp_path / "people.csv", pa.Table),
        "array": (frame[["age", "age"]].to_numpy(), pa.Table),
    }[kind]
    found = rdplearn.detect(table, **SMALL)
    assert isinstance(found, returned)
    assert int(np.argmax(np.asarray(found["anomaly_score"]))) == 17
    assert len(found) == 200


def test_detect_gives_the_same_scores_for_every_kind_of_frame():
    frame = people().drop(columns="name")
    from_pandas = rdplearn.detect(frame, **SMALL)["anomaly_score"].to_numpy()
    from_polars = rdplearn.detect(pl.from_pandas(frame), **SMALL)["anomaly_score"].to_numpy()
    np.testing.assert_array_equal(from_pandas, from_polars)


def test_an_ignored_column_changes_nothing():
    frame = people()
    scores = rdplearn.detect(frame, ignore=["name"], **SMALL)["anomaly_score"]
    frame["name"] = "other"
    np.testing.assert_array_equal(rdplearn.detect(frame, ignore=["name"], **SMALL)["anomaly_score"], scores)


def test_columns_of_ours_are_not_overwritten():
    with pytest.raises(TableError, match="Column 'anomalous' is in the table already"):
        rdplearn.detect(people().rename(columns={"city": "anomalous"}))


def test_public_names_are_all_there():
    assert all(getattr(rdplearn, name) is not None for name in rdplearn.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = rdplearn.nothing


def test_detect_says_why_in_frames_of_every_kind():
    frame = people().drop(columns="name")
    for table in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame, preserve_index=False)):
        found = rdplearn.detect(table, reasons=True, contamination=0.01, **SMALL)
        assert type(found) is type(table)
        rows = pa.table(found).to_pylist() if not isinstance(found, pd.DataFrame) else found.to_dict("records")
        assert rows[17]["rank"] == 1
        assert (rows[17]["reason_1"], rows[17]["value_1"]) == ("age", "250")
        assert rows[17]["typical_1"].startswith("2")
        told = [
            row["row"] for row in (row | {"row": n} for n, row in enumerate(rows)) if isinstance(row["reason_1"], str)
        ]
        assert told == [n for n, row in enumerate(rows) if row["anomalous"]]


def test_reasons_of_a_table_without_reported_rows_are_empty(monkeypatch):
    frame = people().drop(columns="name")
    monkeypatch.setattr(RDPDetector, "offset_", property(lambda self: -np.inf, lambda self, value: None), raising=False)
    found = rdplearn.detect(pl.from_pandas(frame), reasons=True, **SMALL)
    assert not found["anomalous"].any()
    assert found["reason_1"].null_count() == len(frame)
    assert found["reason_1"].dtype == pl.String


@pytest.mark.parametrize(
    ("option", "meant"),
    [("n_memebers", "n_members"), ("seed", "random_state"), ("members", "n_members"), ("kind", "kinds")],
)
def test_an_option_that_detect_does_not_have_is_told_with_what_was_meant(option: str, meant: str):
    with pytest.raises(TypeError, match=f"rdplearn.detect has no option '{option}'. Did you mean '{meant}'\\?"):
        rdplearn.detect(people(), **{option: 1})


def test_detect_refuses_columns_that_bear_its_names():
    frame = people().rename(columns={"city": "reason_1"})
    with pytest.raises(TableError, match="Column 'reason_1' is in the table already"):
        rdplearn.detect(frame, reasons=True, ignore=["name"], **SMALL)
    assert "rank" in rdplearn.detect(frame, ignore=["name"], **SMALL)


def test_models_and_encoders_are_cloned_unfitted_with_the_same_parameters():
    frame = people()
    model = TableModel(RDPDetector(**SMALL), TableEncoder(ignore=["name"], missing=["n/a"]))
    before = {name: value for name, value in model.get_params().items() if name not in ("estimator", "encoder")}
    parts = model.estimator, model.encoder
    model.fit(frame)
    assert {name: value for name, value in model.get_params().items() if name in before} == before
    assert (model.estimator, model.encoder) == parts
    copy = clone(model)
    assert not hasattr(copy.encoder, "columns_")
    assert not hasattr(copy.estimator, "offset_")
    with pytest.raises(NotFittedError):
        check_is_fitted(copy)
    check_is_fitted(model)
    np.testing.assert_array_equal(copy.fit(frame).score_samples(frame), model.score_samples(frame))
    changed = clone(model).set_params(estimator__n_members=1, encoder__ignore=["name", "city"]).fit(frame)
    assert changed.encoder.feature_names_ == ["age"]
    assert changed.estimator.member_scores(np.ones((1, 1))).shape == (1, 1)


def test_models_say_what_they_are_to_scikit_learn():
    tags = get_tags(TableModel(RDPDetector()))
    assert tags.estimator_type == "outlier_detector"
    assert tags.input_tags.string
    assert tags.input_tags.allow_nan
    assert not tags.input_tags.sparse
    assert get_tags(TableModel(RDPClusterer(2))).estimator_type == "clusterer"
    assert get_tags(TableEncoder()).transformer_tags is not None


def test_pipelines_take_models_and_encoders():
    frame = people().drop(columns="name")
    for pipeline in (
        make_pipeline(TableEncoder(), RDPDetector(**SMALL)),
        make_pipeline(TableModel(RDPDetector(**SMALL))),
    ):
        fitted = clone(pipeline).fit(frame)
        assert np.argmin(fitted.score_samples(frame)) == 17
        assert fitted.predict(frame)[17] == -1


def test_grid_search_compares_parameters_of_both_parts():
    frame = people().drop(columns="name").reset_index(drop=True)
    frame.loc[::20, "age"] = 250.0
    normal = np.where(frame["age"] > 200, -1, 1)
    grid = {"estimator__n_members": [1, 2], "encoder__max_categories": [1, 10]}
    model = TableModel(RDPDetector(**SMALL))
    found = GridSearchCV(model, grid, scoring="roc_auc", cv=2).fit(frame, normal)
    assert set(found.best_params_) == set(grid)
    assert found.best_score_ > 0.9
    assert found.best_estimator_.decision_function(frame).shape == (200,)
