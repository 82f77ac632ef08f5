"""The plain dictionary of a report: what it counts, lists and says."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pyarrow as pa
import pytest

from rdplearn import RDPClusterer, RDPDetector, RDPTransformer, TableModel, write_report
from rdplearn.errors import RDPWarning, TableError
from rdplearn.report import cluster_report, detection_report, figures, page, place_on_map
from rdplearn.report.score_line import lines_to_draw
from tests.report.conftest import fitted, orders


def test_findings_are_plain_values(orders_found):
    assert json.loads(json.dumps(orders_found, allow_nan=False)) == orders_found


def test_the_highest_rows_come_first_and_are_explained(orders_found, orders_model):
    scores = -orders_model.score_samples(orders())
    expected = np.argsort(-scores, kind="stable")[:60] + 1
    top = orders_found["rows"][:60]
    assert [row["row"] for row in top] == expected.tolist()
    np.testing.assert_allclose([row["score"] for row in top], scores[expected - 1], rtol=1e-5)
    for row in top:
        reasons = row["reasons"]
        told = sum(column["contribution"] for column in reasons["columns"]) + reasons["others"]
        assert told == pytest.approx(row["score"] - reasons["baseline"], rel=1e-4)
    assert all(row["reasons"] is None for row in orders_found["rows"][60:])


@pytest.mark.parametrize(
    ("model", "told"), [(RDPDetector(), "RDPDetector"), (TableModel(RDPTransformer()), "TableModel of RDPTransformer")]
)
def test_a_report_of_something_else_is_refused(model, told, tmp_path):
    with pytest.raises(TypeError, match=f"needs a TableModel of an RDPDetector or an RDPClusterer. Got {told} instead"):
        write_report(model, orders(), tmp_path / "report.html")
    assert not list(tmp_path.iterdir())


def test_every_row_of_a_small_table_is_on_the_map_once(orders_found):
    assert sorted(row["row"] for row in orders_found["rows"]) == list(range(1, 401))


def test_planted_rows_lead_and_their_columns_are_named(orders_found):
    leading = {row["row"]: row["reasons"]["columns"][0]["column"] for row in orders_found["rows"][:60]}
    assert leading[18] == "amount"
    assert leading[31] == "country"


def test_the_summary_tells_the_counts_and_the_first_row(orders_found):
    told = " ".join(orders_found["summary"])
    assert "The table has 400 rows and 6 columns." in told
    assert f"{orders_found['scores']['n_reported']} of them" in told
    assert f"row {orders_found['rows'][0]['row']}" in told


def test_lines_report_exactly_as_many_rows_as_they_say():
    rng = np.random.default_rng(0)
    scores = rng.gamma(1.0, size=5000).round(3)  # with ties
    lines = lines_to_draw(scores, threshold=2.5)
    assert [count for _, count in lines] == [int(np.sum(scores > threshold)) for threshold, _ in lines]
    assert (2.5, int(np.sum(scores > 2.5))) in lines
    thresholds = [threshold for threshold, _ in lines]
    assert thresholds == sorted(thresholds, reverse=True)
    assert lines[0][1] == 0
    assert lines[-1][1] == 5000
    assert len(lines) < 450


def test_labels_are_compared_apart_and_kept_out_of_the_list(orders_found):
    evaluation = orders_found["evaluation"]
    assert evaluation["label"] == "fraud"
    assert (evaluation["n_labelled"], evaluation["n_anomalies"]) == (400, 2)
    assert evaluation["roc"]["false_alarms"][0] == 0.0
    assert evaluation["roc"]["found"][-1] == 1.0
    assert "fraud" not in orders_found["shown_columns"]


def test_without_labels_there_is_no_evaluation(orders_model):
    found = detection_report(orders_model, orders(), n_top=5)
    assert "evaluation" not in found
    assert 'id="evaluation"' not in page(found)
    assert "roc" not in figures(found)


def test_numbers_of_a_csv_are_numbers_in_the_list(tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text("price;kind\n" + "".join(f"{value},5;{'ab'[value % 2]}\n" for value in range(1, 60)))
    from rdplearn import RDPDetector, TableEncoder
    from tests.report.conftest import QUICK

    model = TableModel(RDPDetector(**QUICK), TableEncoder(decimal=",")).fit(path)
    found = detection_report(model, path)
    assert found["table"]["name"] == "numbers.csv"
    assert {row["values"][0] for row in found["rows"]} == {value + 0.5 for value in range(1, 60)}


def test_what_is_odd_about_a_table_is_told_once_with_its_own_row_numbers(orders_model):
    table = orders().set_column(1, "country", pa.array(["Norway"] * 399 + ["Mars"]))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", RDPWarning)
        detection_report(orders_model, table, n_top=10)
    messages = [str(one.message) for one in told]
    assert len(messages) == 1
    assert "row 400" in messages[0]


def test_a_table_without_rows_is_an_error(orders_model):
    with pytest.raises(TableError, match="There are no rows in the table"):
        detection_report(orders_model, orders().slice(0, 0))


def test_long_texts_are_shortened_and_missing_values_are_null():
    table = pa.table({"note": ["x" * 5000, "y"] * 50, "size": [1.0, None, 3.0, 4.0] * 25})
    found = detection_report(fitted(table), table)
    assert max(len(row["values"][0]) for row in found["rows"]) == 200
    assert None in {row["values"][1] for row in found["rows"]}


def test_a_map_of_equal_rows_is_a_point():
    table = np.tile([[1.0, 2.0, 3.0]], (50, 1))
    table[0] += 1e-3
    model = fitted(pa.table({"a": table[:, 0], "b": table[:, 1], "c": table[:, 2]}))
    points = place_on_map(model.estimator, model.encoder.transform(pa.table({"a": [1.0], "b": [2.0], "c": [3.0]})))
    assert points.tolist() == [[0.0, 0.0]]


def test_the_map_is_the_same_every_time(orders_model):
    matrix = orders_model.encoder.transform(orders())
    first, second = (place_on_map(orders_model.estimator, matrix) for _ in range(2))
    assert np.array_equal(first, second)


def test_the_map_keeps_what_is_far_apart_apart(orders_found, orders_model):
    from scipy.spatial.distance import pdist

    from rdplearn.report.learned_map import learned_features

    matrix = orders_model.encoder.transform(orders())
    features = learned_features(orders_model.estimator, matrix)
    points = place_on_map(orders_model.estimator, matrix)
    assert np.corrcoef(pdist(features), pdist(points))[0, 1] > 0.6


@pytest.fixture(scope="module")
def clusters():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], [100, 200, 50])
    table = pa.table(
        {
            "size": np.array([1.0, 50.0, 100.0])[group] + rng.normal(size=350),
            "colour": np.array(["red", "green", "blue"], dtype=object)[group],
            "noise": rng.normal(size=350),
            "kind": group.astype(str),
        }
    )
    from rdplearn import TableEncoder

    model = TableModel(RDPClusterer(3, random_state=0), TableEncoder(ignore=["kind"])).fit(table)
    return cluster_report(model, table, label="kind")


def test_clusters_have_sizes_and_typical_values(clusters):
    assert sorted(cluster["n_rows"] for cluster in clusters["clusters"]) == [50, 100, 200]
    smallest = min(clusters["clusters"], key=lambda cluster: cluster["n_rows"])
    by_column = {column["column"]: column for column in smallest["typical"]}
    assert by_column["colour"]["typical"] == "blue (100%)"
    assert by_column["colour"]["overall"].startswith("green (57%)")
    assert "noise" not in by_column
    assert clusters["evaluation"]["nmi"] == pytest.approx(1.0)


def test_clusters_have_a_page_and_figures(clusters):
    text = page(json.loads(json.dumps(clusters, allow_nan=False)))
    assert "350 rows in 3 clusters" in text
    drawn = figures(clusters)
    assert {trace.name for trace in drawn["map"].data} == {"cluster 0", "cluster 1", "cluster 2"}
    assert sum(bar.x[0] for bar in drawn["sizes"].data) == 350


def test_clusters_lie_apart_on_the_map(clusters):
    points = np.array([[row["x"], row["y"]] for row in clusters["rows"]])
    of_row = np.array([row["cluster"] for row in clusters["rows"]])
    centres = np.array([points[of_row == cluster].mean(axis=0) for cluster in range(3)])
    nearest = np.argmin(((points[:, None] - centres) ** 2).sum(axis=2), axis=1)
    assert np.mean(nearest == of_row) > 0.95
