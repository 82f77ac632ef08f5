"""What tells of the service: the OpenAPI document, its page, the counters; and requests made from the document."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings

from tests.serving.conftest import running

schemathesis = pytest.importorskip("schemathesis")
PROMISED = {
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
}
PATHS = [
    "/score",
    "/explain",
    "/v2/models/{model}/infer",
    "/v2/models/{model}",
    "/v2/models/{model}/versions/{version}",
]


@pytest.fixture(scope="module")
def one(files):
    """One model, which needs no name."""
    with running(files[0]) as started:
        yield started


def test_the_document_has_the_columns_of_the_models(server):
    document = server.get("/openapi.json").json()
    rows = document["components"]["schemas"]["Rows"]["anyOf"]
    assert [entry["title"] for entry in rows] == ["orders", "others"]
    record = rows[0]["items"]
    assert record["required"] == ["amount", "items", "city", "sold", "new"]
    assert record["properties"]["order"]["description"] == "not used by the model"
    assert record["properties"]["amount"]["type"] == ["number", "string", "null"]
    assert re.fullmatch(r"number, typical [\d.]+ to [\d.]+", record["properties"]["amount"]["description"])


def test_every_reference_leads_somewhere(server):
    text = server.get("/openapi.json").text
    schemas = server.get("/openapi.json").json()["components"]["schemas"]
    named = set(re.findall(r'"#/components/schemas/(\w+)"', text))
    assert named == set(schemas)


def test_the_page_needs_nothing_from_elsewhere(server):
    page = server.get("/docs")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "http" not in page.text.replace("<!doctype html>", "")
    for told in ("/score", "/v2/models/{model}/infer", "amount", "others"):
        assert f"<code>{told}</code>" in page.text


def test_requests_are_counted_by_path_and_status(one, table):
    for _ in range(3):
        one.post("/score", table.slice(0, 4).to_pylist())
    one.post("/score", [])
    one.get("/some/where")
    assert one.metric('rdplearn_requests_total{path="/score",status="200"}') == 3
    assert one.metric('rdplearn_requests_total{path="/score",status="422"}') == 1
    assert one.metric('rdplearn_requests_total{path="other",status="404"}') == 1
    assert one.metric('rdplearn_rows_total{model="orders"}') == 12
    assert one.metric('rdplearn_request_seconds_count{path="/score"}') == 4
    alarms = sum(row["anomalous"] for row in one.post("/score", table.to_pylist()).json()["rows"])
    assert one.metric('rdplearn_alarms_total{model="orders"}') >= alarms > 0


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
@pytest.mark.parametrize("path", PATHS)
def test_requests_made_from_the_document_get_what_it_promises(one, path, mode):
    """Fuzzed with schemathesis, with rows that fit the document and with others."""
    statuses = fuzz(one.address, path, mode, n_examples=10)
    assert statuses
    if mode == schemathesis.GenerationMode.POSITIVE and path in ("/score", "/explain"):
        assert statuses.count(200) > 1


def fuzz(address: str, path: str, mode, *, n_examples: int) -> list[int]:
    """The status of each answer, when all of them were as promised."""
    document = schemathesis.openapi.from_url(f"http://{address}/openapi.json")
    operation = document[path]["GET" if "get" in document.raw_schema["paths"][path] else "POST"]
    checks = [check for check in schemathesis.checks.CHECKS.get_all() if check.__name__ in PROMISED]
    assert len(checks) == len(PROMISED)
    statuses: list[int] = []

    def ask(case) -> None:
        statuses.append(case.call_and_validate(checks=checks).status_code)

    drawn = settings(max_examples=n_examples, deadline=None, suppress_health_check=list(HealthCheck))
    drawn(given(case=operation.as_strategy(generation_mode=mode))(ask))()
    return statuses
