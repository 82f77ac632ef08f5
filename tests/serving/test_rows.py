"""Rows as JSON or Arrow get the scores, alarms and reasons that the model gives them in Python, to the bit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest

import rdplearn
from rdplearn._serving.arrow_streams import ARROW_STREAM, write_arrow
from rdplearn._serving.service import MOST_CELLS
from tests.serving.conftest import problem, running


def records(table: pa.Table) -> list[dict[str, object]]:
    return table.to_pylist()


def scores_of(answer) -> list[float]:
    assert answer.status_code == 200, answer.text
    return [row["anomaly_score"] for row in answer.json()["rows"]]


@pytest.mark.parametrize("n_rows", [1, 7, 300])
def test_records_get_the_scores_of_the_model(server, models, table, n_rows):
    some = table.slice(0, n_rows)
    assert (some.num_rows * some.num_columns > MOST_CELLS) == (n_rows == 300)  # done on the loop, and on a thread
    told = server.post("/score?model=orders", records(some)).json()
    assert [row["anomaly_score"] for row in told["rows"]] == (-models[0].score_samples(some)).tolist()
    assert [row["anomalous"] for row in told["rows"]] == (models[0].predict(some) == -1).tolist()
    assert told["threshold"] == -models[0].estimator.offset_
    assert told["version"] == server.service.models["orders"].current.version
    assert told["notes"] == []


def test_each_model_answers_under_its_name(server, models, table):
    some = table.slice(0, 5)
    for name, model in zip(["orders", "others"], models, strict=True):
        assert scores_of(server.post(f"/score?model={name}", records(some))) == (-model.score_samples(some)).tolist()


def test_columns_may_come_in_any_order_and_those_not_used_may_be_left_out(server, models, table):
    some = table.slice(0, 5)
    other = some.select(["new", "city", "sold", "items", "amount"])
    assert scores_of(server.post("/score?model=orders", records(other))) == (-models[0].score_samples(some)).tolist()


def test_arrow_comes_in_and_goes_out(server, models, table):
    some = table.slice(0, 50).set_column(3, "city", table.slice(0, 50).column("city").dictionary_encode())
    body = write_arrow(some.combine_chunks().to_batches()[0])
    headers = {"content-type": ARROW_STREAM, "accept": ARROW_STREAM}
    answer = server.post("/score?model=orders", data=body, headers=headers)
    assert answer.headers["content-type"] == ARROW_STREAM
    assert answer.headers["x-model-version"] == server.service.models["orders"].current.version
    found = pa.ipc.open_stream(answer.content).read_all()
    assert found.column("anomaly_score").to_pylist() == (-models[0].score_samples(some)).tolist()
    assert found.column("anomalous").to_pylist() == (models[0].predict(some) == -1).tolist()
    assert found.schema.metadata[b"notes"] == b""


def test_reasons_are_those_of_the_model(server, models, table):
    some = table.slice(0, 3).set_column(1, "amount", pa.array([9000.0, 25.0, 26.0]))
    told = server.post("/explain?model=orders", records(some)).json()["rows"]
    expected = models[0].explain(some)
    assert [row["sentences"] for row in told] == [expected.sentences(row, n_columns=9) for row in range(3)]
    assert [row["columns"] for row in told] == [row["columns"] for row in expected.to_dicts()]
    assert told[0]["anomalous"]
    assert told[0]["sentences"][0].startswith("amount 9,000")


def test_what_is_unusual_is_noted_and_counted(server, table):
    before = server.metric('rdplearn_rows_total{model="others"}')
    strange = {**records(table)[0], "city": "Atlantis"}
    told = server.post("/score?model=others", [strange, records(table)[1]]).json()
    assert told["notes"] == [
        "Column 'city' of the request has values that the fit did not see in 1 row (first: row 1, 'Atlantis'); they "
        "count as rare."
    ]
    assert server.metric('rdplearn_unseen_categories_total{column="city",model="others"}') == 1
    assert server.metric('rdplearn_rows_total{model="others"}') - before == 2


def test_requests_that_come_together_do_not_touch_each_other(server, models, table):
    """Good rows, rows with new values and rows that are refused, at the same time: each gets what it gets alone."""
    rng = np.random.default_rng(0)
    places = rng.integers(0, len(table), 200).tolist()
    alone = dict(enumerate(-models[0].score_samples(table)))

    def ask(number: int) -> None:
        place, row = places[number], dict(records(table)[places[number]])
        if number % 10 == 3:
            del row["city"]
            assert "Column 'city' of the fit is missing" in problem(server.post("/score?model=orders", [row]), 422)
        elif number % 10 == 6:
            row["city"] = "Atlantis"
            assert len(server.post("/score?model=orders", [row]).json()["notes"]) == 1
        else:
            answer = server.post("/score?model=orders", [row])
            assert scores_of(answer) == [alone[place]]
            assert answer.json()["notes"] == []

    with ThreadPoolExecutor(8) as clients:
        list(clients.map(ask, range(len(places))))


def test_a_model_with_answers_is_served_as_it_is(models, table, tmp_path):
    reviewed = rdplearn.review(models[0]).tell(table.slice(0, 3), ["normal", "anomalous", "normal"])
    rdplearn.save(reviewed, tmp_path / "reviewed.safetensors")
    some = table.slice(0, 6)
    with running(tmp_path / "reviewed.safetensors") as server, ThreadPoolExecutor(6) as clients:
        assert scores_of(server.post("/score", records(some))) == (-reviewed.score_samples(some)).tolist()
        alone = clients.map(lambda row: scores_of(server.post("/score", [row])), records(some))
        assert list(alone) == [(-reviewed.score_samples(some.slice(row, 1))).tolist() for row in range(6)]
        told = server.post("/explain", records(some)).json()["rows"]
    expected = reviewed.explain(some)
    assert [row["sentences"] for row in told] == [expected.sentences(row, n_columns=9) for row in range(6)]
    assert any(column["column"] == "your answers" for column in told[1]["columns"])


def test_numbers_and_truth_values_may_be_written_as_texts(server, table):
    row = records(table)[0]
    as_texts = {name: value if value is None else str(value) for name, value in row.items()}
    expected = scores_of(server.post("/score?model=orders", [row]))
    assert scores_of(server.post("/score?model=orders", [as_texts])) == expected
