"""The plain dictionary of a report: what it counts, lists and says."""

from __future__ import annotations

import json
import warnings
from copy import copy

import numpy as np
import pyarrow as pa
import pytest

import rdplearn
from rdplearn import RDPClusterer, RDPDetector, RDPTransformer, TableEncoder, TableModel, write_report
from rdplearn.errors import RDPWarning, TableError
from rdplearn.report import cluster_report, detection_report, figures, page, place_on_map
from rdplearn.report.score_line import lines_to_draw
from rdplearn.report.summary import _kinds, explained_alarms, summarise_detection
from rdplearn.report.verdict import verdict_on_ranking
from tests.report.conftest import QUICK, arch, fitted, orders


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


def test_answers_are_told_in_the_plural(orders_found):
    answered = {**orders_found, "drivers": [{"column": "your answers", "share": 0.43}, {"column": "tip", "share": 0.1}]}
    assert "your answers account for 43% and tip for 10% of what sets them apart" in " ".join(
        summarise_detection(answered)
    )


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
    assert f"{orders_found['scores']['n_reported']} rows (1%) are unusual enough to be reported." in told
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


def test_kinds_and_columns_are_those_of_all_reported_rows_however_few_are_listed(orders_model):
    scores = np.sort(-orders_model.score_samples(orders()))
    estimator = copy(orders_model.estimator)
    estimator.offset_ = -float(scores[-31])
    model = copy(orders_model)
    model.estimator = estimator
    found = detection_report(model, orders(), n_top=5)
    assert (found["scores"]["n_reported"], found["n_alarms_explained"], found["n_explained"]) == (30, 30, 5)
    assert sum(kind["n_rows"] for kind in found["kinds"]) == 30
    assert sum(driver["n_rows"] for driver in found["drivers"]) == 30
    highest = {row["row"] for row in found["rows"][:5]}
    assert highest <= {row for kind in found["kinds"] for row in kind["rows"]}
    told = " ".join(found["summary"])
    assert f"All 30 reported rows are of {len(found['kinds'])} kinds." in told
    assert "Over all 30 reported rows, " in told
    assert "kinds of all 30 reported rows" in page(found)


def test_where_not_all_reported_rows_are_meant_the_report_says_so(orders_found):
    many = orders_found | {"scores": orders_found["scores"] | {"n_reported": 5000}, "n_alarms_explained": 1000}
    assert explained_alarms(many) == "the 1,000 highest of the 5,000 reported rows"
    text = page(many)
    assert "all 5,000 reported" not in text
    assert "the kinds of the 1,000 highest of the 5,000 reported rows" in text


def test_a_report_of_nothing_reported_has_no_kinds(orders_model):
    ordinary = np.argsort(-orders_model.score_samples(orders()))[:100]
    found = detection_report(orders_model, orders().take(ordinary), n_top=5)
    assert (found["scores"]["n_reported"], found["kinds"], found["n_alarms_explained"]) == (0, [], 0)
    assert 'id="kinds"' not in page(found)


@pytest.mark.parametrize(
    ("figure", "level", "title"),
    [
        (0.93, "good", "The ranking can be trusted"),
        (0.6, "partly", "Trust the rows at the very top"),
        (0.2, "poor", "Do not rely on this ranking yet"),
    ],
)
def test_the_verdict_follows_the_stability(figure, level, title):
    verdict = verdict_on_ranking({"figure": figure, "n_top": 50}, 5000)
    assert (verdict["level"], verdict["title"]) == (level, title)
    much = "nearly all" if figure >= 0.995 else f"about {100 * figure:.0f}%"
    assert f"{much} of the 50 most unusual rows would be the same" in verdict["words"]


@pytest.mark.parametrize(("n_rows", "why"), [(100, "a single member"), (1, "the table has one row")])
def test_a_ranking_with_nothing_to_compare_is_not_judged(n_rows, why):
    verdict = verdict_on_ranking(None, n_rows)
    assert verdict["level"] == "unknown"
    assert why in verdict["words"]


def test_columns_spread_over_all_rows_and_rows_lie_among_them():
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "amount": [*rng.normal(100, 10, 299).round(1), 5000.0],
            "year": [1990 + number % 30 for number in range(299)] + [1850],
            "paid": ["cash"] * 200 + ["card"] * 99 + ["gold"],
            "when": [f"2024-{1 + number % 12:02d}-01" for number in range(300)],
        }
    )
    found = detection_report(fitted(table, contamination=0.01), table, n_top=10)
    spreads = found["spreads"]["columns"]
    assert found["spreads"]["n_rows"] == 300
    assert 70 < spreads["amount"]["low"] < spreads["amount"]["high"] < 140  # the odd one does not squeeze the others
    assert sum(spreads["amount"]["counts"]) >= 0.97 * 300
    assert spreads["year"]["words"] == ["1990", "2019"]
    assert spreads["when"]["words"] == ["2024-01-01", "2024-12-01"]
    assert spreads["paid"] == {"values": ["cash", "card", "gold"], "counts": [200, 99, 1], "n_values": 3}
    row = next(row for row in found["rows"] if row["row"] == 300)
    marks = {column["column"]: column for column in row["reasons"]["columns"]}
    assert marks["amount"]["at"] == 5000.0
    assert marks["year"]["at"] == 1850.0
    assert (marks["paid"]["text"], marks["paid"]["same"]) == ("gold", 1)
    assert row["cells"] == ["5000", "1850", "gold", "2024-12-01"]
    assert row["values"][found["shown_columns"].index("year")] == "1850"  # years have no comma
    json.dumps(found, allow_nan=False)


def test_all_cells_of_listed_rows_are_there_as_the_table_has_them(tmp_path):
    path = tmp_path / "prices.csv"
    long = "x" * 500
    sizes = np.random.default_rng(0).normal(size=60)
    lines = [f'"${n},000",{size:.3f},{long if n == 7 else "short"}' for n, size in enumerate(sizes, 1)]
    path.write_text("price,size,note\n" + "\n".join(lines))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RDPWarning)  # prices are read as numbers
        model = TableModel(RDPDetector(**QUICK)).fit(path)
    found = detection_report(model, path)
    assert found["table"]["columns"] == ["price", "size", "note"]
    by_row = {row["row"]: row for row in found["rows"]}
    assert by_row[7]["cells"] == ["$7,000", f"{sizes[6]:.3f}", long]
    assert by_row[7]["values"][0] == 7000.0


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


def test_clusters_that_are_apart_are_called_clear(clusters):
    assert clusters["verdict"]["level"] == "good"
    assert clusters["trust"]["n_groups"] == 3
    assert "They fall into 3 clusters" in clusters["summary"][0]


def test_one_whole_that_was_cut_is_said_to_be_one():
    found = cluster_report(TableModel(RDPClusterer(4, random_state=0)).fit(arch()), arch())
    assert found["verdict"]["title"] == "There are no clusters"
    assert "There are no clusters here." in found["verdict"]["words"]
    assert "They were cut into 4 parts" in found["summary"][0]


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


def test_arguments_in_another_order_are_told():
    with pytest.raises(TypeError, match=r"A report needs a TableModel of an RDPDetector or an RDPClusterer. Got str"):
        rdplearn.write_report("report.html", None, [1])


def test_kinds_of_one_row_each_have_no_largest():
    kinds = [{"kind": f"amount = {value}", "n_rows": 1} for value in (9, 8)]
    found = {"kinds": kinds, "scores": {"n_reported": 2}, "n_alarms_explained": 2}
    assert _kinds(found) == "All 2 reported rows are of 2 kinds, one row each."
    assert _kinds({**found, "kinds": [kinds[0] | {"n_rows": 2}, kinds[1]]}).endswith(
        "The largest is amount = 9 (2 rows)."
    )
