"""The Open Inference Protocol, version 2: columns as tensors, in JSON and as bytes behind it."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

from tests.serving.conftest import problem

INFER = "/v2/models/orders/infer"


def tensors(some):
    """The rows of a table, column by column."""
    made = []
    for name in ("amount", "items", "city", "sold", "new"):
        values = some.column(name).to_pylist()
        datatype = {"amount": "FP64", "items": "INT64", "new": "BOOL"}.get(name, "BYTES")
        made.append({"name": name, "datatype": datatype, "shape": [len(values)], "data": values})
    return made


def test_the_server_and_its_models_describe_themselves(server):
    assert server.get("/v2/health/live").content == server.get("/v2/health/ready").content == b""
    assert server.get("/v2").json()["extensions"] == ["binary_tensor_data"]
    assert server.get("/v2/models").json() == {"models": ["orders", "others"]}
    assert server.get("/v2/models/orders/ready").status_code == 200
    told = server.get("/v2/models/orders").json()
    assert told["inputs"][0] == {"name": "amount", "datatype": "FP64", "shape": [-1]}
    assert [entry["name"] for entry in told["inputs"]] == ["amount", "items", "city", "sold", "new"]
    assert told["outputs"] == [
        {"name": "anomaly_score", "datatype": "FP64", "shape": [-1]},
        {"name": "anomalous", "datatype": "BOOL", "shape": [-1]},
    ]
    of_version = f"/v2/models/orders/versions/{told['versions'][0]}"
    assert server.get(of_version).json() == told
    assert server.get(f"{of_version}/ready").status_code == 200
    for path in (
        "/v2/models/x",
        "/v2/models/x/ready",
        "/v2/models/orders/versions/1",
        "/v2/models/orders/versions/1/ready",
    ):
        problem(server.get(path), 404)


def test_tensors_get_the_scores_of_the_model(server, models, table):
    some = table.slice(0, 20)
    version = server.service.models["orders"].current.version
    message = {"id": "42", "inputs": tensors(some)}
    for path in (INFER, f"/v2/models/orders/versions/{version}/infer"):
        told = server.post(path, message).json()
        assert (told["id"], told["model_name"], told["model_version"]) == ("42", "orders", version)
        assert [output["shape"] for output in told["outputs"]] == [[20], [20]]
        assert told["outputs"][0]["data"] == (-models[0].score_samples(some)).tolist()
        assert told["outputs"][1]["data"] == (models[0].predict(some) == -1).tolist()


def test_tensors_may_have_two_dimensions_and_outputs_be_chosen(server, table):
    inputs = [
        {**tensor, "shape": [3, 1], "data": [[value] for value in tensor["data"]]}
        for tensor in tensors(table.slice(0, 3))
    ]
    told = server.post(INFER, {"inputs": inputs, "outputs": [{"name": "anomalous"}]}).json()
    assert [output["name"] for output in told["outputs"]] == ["anomalous"]


def as_bytes(some) -> tuple[bytes, dict[str, str]]:
    """As clients of Triton send it."""
    inputs, behind = [], b""
    for tensor in tensors(some):
        if tensor["datatype"] == "BYTES":
            raw = b"".join(struct.pack("<I", len(text)) + text for text in (each.encode() for each in tensor["data"]))
        else:
            raw = np.array(tensor["data"], {"FP64": "f8", "INT64": "i8", "BOOL": "?"}[tensor["datatype"]]).tobytes()
        about = {name: tensor[name] for name in ("name", "datatype", "shape")}
        inputs.append({**about, "parameters": {"binary_data_size": len(raw)}})
        behind += raw
    message = json.dumps({"inputs": inputs, "parameters": {"binary_data_output": True}}).encode()
    return message + behind, {"inference-header-content-length": str(len(message))}


def test_tensors_may_come_and_go_as_bytes(server, models, table):
    some = table.filter(table.column("items").is_valid()).slice(0, 20)
    body, headers = as_bytes(some)
    answer = server.post(INFER, data=body, headers=headers)
    n_json = int(answer.headers["inference-header-content-length"])
    outputs = json.loads(answer.content[:n_json])["outputs"]
    assert [output["parameters"]["binary_data_size"] for output in outputs] == [160, 20]
    scores = np.frombuffer(answer.content[n_json : n_json + 160])
    np.testing.assert_array_equal(scores, -models[0].score_samples(some))
    np.testing.assert_array_equal(np.frombuffer(answer.content[n_json + 160 :], bool), models[0].predict(some) == -1)


def changed(some, place=0, **changes):
    inputs = tensors(some)
    inputs[place] = {**inputs[place], **changes}
    return {"inputs": inputs}


@pytest.mark.parametrize(
    ("changes", "status", "told"),
    [
        ({"datatype": "FP8"}, 400, "has datatype 'FP8'. Known are"),
        ({"datatype": []}, 400, "has datatype"),
        ({"shape": [2, 2]}, 400, r"must have shape [rows] or [rows, 1]"),
        ({"shape": [-1]}, 400, "must have shape"),
        ({"shape": "2"}, 400, "must have shape"),
        ({"shape": [3]}, 400, r"has shape [3] and 2 values"),
        ({"data": "abc"}, 400, "must have its values in a list"),
        ({"data": ["a", "b"]}, 400, "is said to be FP64 and has a value of type str"),
        ({"data": [1.0], "shape": [1]}, 422, "Give all inputs equally many"),
        ({"name": 5}, 400, "must have a name"),
        ({"name": "city"}, 422, "occurs 2 times"),
        ({"name": "price"}, 422, "Column 'amount' of the fit is missing"),
        ({"parameters": {"binary_data_size": 5}}, 400, "bytes are left"),
        ({"parameters": {"binary_data_size": True}}, 400, "bytes are left"),
    ],
)
def test_tensors_that_cannot_be_read_are_problems(server, table, changes, status, told):
    assert told in problem(server.post(INFER, changed(table.slice(0, 2), **changes)), status)


def test_messages_that_cannot_be_read_are_problems(server, table):
    body, headers = as_bytes(table.filter(table.column("items").is_valid()).slice(0, 2))
    cut_short = body[:-2].replace(b'"binary_data_size": 2}', b'"binary_data_size": 0}')
    assert "and 0 values" in problem(server.post(INFER, data=cut_short, headers=headers), 400)
    no_text = body.replace(struct.pack("<I", 10) + b"2024", struct.pack("<I", 99) + b"2024")
    assert "the last text is cut short" in problem(server.post(INFER, data=no_text, headers=headers), 400)
    assert "length of the JSON" in problem(
        server.post(INFER, data=body, headers={"inference-header-content-length": "x"}), 400
    )
    assert "list of 'inputs'" in problem(server.post(INFER, []), 400)
    assert "'inputs' must be a list" in problem(server.post(INFER, {}), 400)
    assert "no rows" in problem(server.post(INFER, {"inputs": []}), 422)
    for name in ("price", ["price"]):
        message = {**changed(table.slice(0, 2)), "outputs": [{"name": name}]}
        told = problem(server.post(INFER, message), 400)
        assert f"There is no output {name!r}. Outputs are anomaly_score and anomalous" in told
