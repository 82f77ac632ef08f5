"""Whatever is sent, the answer is a problem document that says what to do, and the service goes on."""

from __future__ import annotations

import json
import socket
import struct
import time

import numpy as np
import pyarrow as pa
import pytest
import requests

from rdplearn._serving.arrow_streams import ARROW_STREAM, write_arrow
from rdplearn._serving.limits import Limits
from tests.serving.conftest import problem, running

JSON = {"content-type": "application/json"}
HEAD = "POST /score HTTP/1.1\r\nhost: here\r\ncontent-type: application/json\r\n"


@pytest.fixture(autouse=True)
def still_served(server, table):
    """After each of these requests the next one is answered."""
    yield
    assert server.post("/score?model=orders", table.slice(0, 1).to_pylist()).status_code == 200


def row_of(table, **changes):
    return {**table.slice(0, 1).to_pylist()[0], **changes}


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        (b"", 400, "The body is not JSON"),
        (b"\xff\xfe", 400, "The body is not JSON"),
        (b'[{"amount": NaN}]', 400, "Write null for a missing value"),
        (b'[{"amount": -Infinity}]', 400, "Write null for a missing value"),
        (b"[" * 100_000, 400, "The body is not JSON"),
        (b'{"amount": 1}', 400, r"Put it into a list"),
        (b"[1, 2]", 400, "must be a list of JSON objects"),
        (b"null", 400, "must be a list of JSON objects"),
        (b"[]", 422, "There are no rows in the request"),
        (b"[{}]", 422, "There are no columns"),
        (b'[{"amount": 1}, {"price": 1}]', 422, "Row 2 of the request lacks 'amount'"),
        (b'[{"amount": 1}]', 422, "Column 'items' and 3 more of the fit are missing from the request"),
        (b'[{"\\ud800": 1}]', 400, "The body is not JSON"),
    ],
)
def test_bodies_that_are_no_rows_are_problems(server, body, status, told):
    assert told in problem(server.post("/score?model=orders", data=body, headers=JSON), status)


def test_columns_that_the_fit_had_not_are_named(server, table):
    told = problem(server.post("/score?model=orders", [row_of(table, price=1)]), 422)
    assert told == "Column 'price' of the request was not in the fit. Leave it out."


@pytest.mark.parametrize(
    "changes",
    [
        {"amount": None},
        {"amount": 10**400},
        {"amount": 1e308},
        {"amount": "a word"},
        {"amount": [1, 2]},
        {"city": {"a": 1}},
        {"city": "x" * 100_000},
        {"new": 5},
        {"sold": "never"},
        {"sold": 20240101},
    ],
)
@pytest.mark.parametrize("path", ["/score", "/explain"])
def test_odd_cells_get_a_score_or_words(server, table, changes, path):
    answer = server.post(f"{path}?model=orders", [row_of(table, **changes)])
    if answer.status_code == 200:
        assert np.isfinite(answer.json()["rows"][0]["anomaly_score"])
    else:
        problem(answer, 422)


def test_a_column_of_words_that_was_one_of_numbers_is_refused(server, table):
    rows = [row_of(table, amount="a word") for _ in range(11)]
    assert "Column 'amount' of the request was a number at fit" in problem(
        server.post("/score?model=orders", rows), 422
    )


def test_paths_methods_and_types_that_are_not_there(server, table):
    assert "/docs" in problem(server.get("/nowhere"), 404)
    answer = server.get("/score")
    problem(answer, 405)
    assert answer.headers["allow"] == "POST"
    assert "must be application/json" in problem(server.post("/score?model=orders", data="a=1"), 415)
    assert "There is no model 'x'" in problem(server.post("/score?model=x", []), 404)
    assert "Say which model with ?model=NAME. There are orders, others" in problem(server.post("/score", []), 400)


def compressed(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def test_arrow_that_stands_for_more_than_it_is_gets_refused(server):
    zeros = pa.record_batch({"amount": np.zeros(1000)})
    dictionary = pa.DictionaryArray.from_arrays(pa.array(np.zeros(1000, np.int32)), pa.array(["x" * 100_000]))
    views = pa.record_batch({"city": pa.array(["x" * 100] * 10, pa.string_view())})
    runs = pa.record_batch({"amount": pa.RunEndEncodedArray.from_arrays([100], [1.0])})
    for body, status, told in (
        (compressed(zeros), 400, "The Arrow stream is compressed"),
        (compressed(pa.record_batch({"city": dictionary})), 400, "The Arrow stream is compressed"),
        (write_arrow(pa.record_batch({"city": dictionary})), 413, "written out has 100,000,000 bytes"),
        (write_arrow(views), 422, "Cast it to a plain type first"),
        (write_arrow(runs), 422, "Cast it to a plain type first"),
        (write_arrow(zeros.slice(0, 0)), 422, "There are no rows"),
        (write_arrow(pa.record_batch({"amount": [[1.0]]})), 422, "missing from the request"),
        (b"ARROW1 it is not", 400, "cannot be read as an Arrow IPC stream"),
        (b"", 400, "cannot be read as an Arrow IPC stream"),
    ):
        answer = server.post("/score?model=orders", data=body, headers={"content-type": ARROW_STREAM})
        assert told in problem(answer, status)


def test_damaged_arrow_is_refused_or_scored(server, table):
    body = bytearray(write_arrow(table.slice(0, 20).combine_chunks().to_batches()[0]))
    rng = np.random.default_rng(0)
    for _ in range(150):
        changed = bytearray(body)
        for place in rng.integers(0, len(body), rng.integers(1, 4)):
            changed[place] = rng.integers(256)
        answer = server.post("/score?model=orders", data=bytes(changed), headers={"content-type": ARROW_STREAM})
        assert answer.status_code in (200, 400, 413, 422), answer.text


def test_too_many_bytes_and_rows(files, table):
    with running(files[0], limits=Limits(n_bytes=20_000, n_rows=40, n_explained=3)) as small:
        rows = table.to_pylist()
        assert "The request has 41 rows, and at most 40 are accepted" in problem(small.post("/score", rows[:41]), 413)
        assert "at most 3 are accepted" in problem(small.post("/explain", rows[:4]), 413)
        huge = json.dumps(rows).encode()
        assert "more than 20,000 bytes" in problem(small.post("/score", data=huge, headers=JSON), 413)
        in_chunks = (huge[start : start + 1000] for start in range(0, len(huge), 1000))  # their number is not told
        try:
            answer = small.post("/score", data=in_chunks, headers=JSON)
            assert "more than 20,000 bytes" in problem(answer, 413)
        except requests.ConnectionError:  # the connection was closed while the rest was sent
            pass
        assert small.post("/score", rows[:40]).status_code == 200


def test_slow_clients_are_sent_away(files, table):
    body = json.dumps(table.slice(0, 1).to_pylist()).encode()
    head = f"{HEAD}content-length: {len(body)}\r\n"
    with running(files[0], limits=Limits(seconds=0.5)) as hasty:
        host, port = hasty.address.split(":")
        for sent, answered in ((b"", b""), (b"POST /sco", b""), (f"{head}\r\n".encode() + body[:5], b"HTTP/1.1 408")):
            start = time.monotonic()
            with socket.create_connection((host, int(port)), timeout=10) as client:
                client.sendall(sent)
                received = b"".join(iter(lambda client=client: client.recv(65536), b""))
            assert received[:12] == answered
            assert 0.3 < time.monotonic() - start < 5
        assert hasty.post("/score", data=body, headers=JSON).status_code == 200


def test_what_takes_too_long_is_given_up(files, table, monkeypatch):
    with running(files[0], limits=Limits(seconds=0.3)) as hasty:
        monkeypatch.setattr("rdplearn._serving.service.explain", lambda _: time.sleep(1))
        answer = hasty.post("/explain", table.slice(0, 1).to_pylist())
        assert "There was no answer within 0.3 seconds" in problem(answer, 503)
        assert answer.headers["retry-after"] == "1"


def test_many_large_bodies_at_once_are_refused_before_memory_runs_out(files, table):
    body = json.dumps(table.to_pylist()).encode()
    with running(files[0], limits=Limits(n_bytes=len(body))) as busy:
        host, port = busy.address.split(":")
        head = f"{HEAD}content-length: {len(body)}\r\n\r\n"
        waiting = [socket.create_connection((host, int(port)), timeout=10) for _ in range(9)]
        try:
            for client in waiting:
                client.sendall(head.encode() + body[:-1])  # and the last byte never comes
            answers = []
            for client in waiting:
                client.settimeout(1)
                try:
                    answers.append(client.recv(12))
                except TimeoutError:
                    answers.append(b"")
            assert answers.count(b"HTTP/1.1 503") == 1
        finally:
            for client in waiting:
                client.close()
        time.sleep(0.2)
        assert busy.post("/score", data=body, headers=JSON).status_code == 200


def test_a_fault_of_ours_is_told_without_its_traceback(files, table, monkeypatch, caplog):
    def fail(_):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr("rdplearn._serving.service.explain", fail)
    with running(files[0]) as broken:
        told = problem(broken.post("/explain", table.slice(0, 1).to_pylist()), 500)
        assert "secret" not in told
        assert broken.post("/score", table.slice(0, 1).to_pylist()).status_code == 200
    assert "A request could not be answered" in caplog.text


def test_a_token_is_asked_for_everywhere_but_at_the_health(files, table):
    rows = table.slice(0, 1).to_pylist()
    with running(files[0], token="a-secret") as closed:
        for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Basic a-secret"}):
            for path in ("/v2", "/docs", "/openapi.json", "/metrics"):
                problem(closed.get(path, headers=headers), 401)
            answer = closed.post("/score", rows, headers=headers)
            assert "Authorization: Bearer TOKEN" in problem(answer, 401)
            assert answer.headers["www-authenticate"] == "Bearer"
        assert closed.post("/score", rows, headers={"authorization": "bearer a-secret"}).status_code == 200
        assert closed.get("/v2/health/live").status_code == 200
        assert closed.get("/v2/health/ready").status_code == 200


def test_what_is_no_http_gets_a_problem_document(server):
    host, port = server.address.split(":")
    with socket.create_connection((host, int(port)), timeout=10) as client:
        client.sendall(struct.pack("<QQ", 1, 2) + b"\r\n\r\n")
        received = b"".join(iter(lambda: client.recv(65536), b""))
    assert received.startswith(b"HTTP/1.1 400")
    assert b"application/problem+json" in received
