"""The service described for programs: OpenAPI, with the columns of the models that are served now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rdplearn._serving.arrow_streams import ARROW_STREAM
from rdplearn._serving.models import ServedModel
from rdplearn._serving.problems import PROBLEM
from rdplearn._serving.tensors import DATATYPES
from rdplearn.table.encoded_column import EncodedColumn
from rdplearn.table_model import REPORTED, SCORE

Schema = dict[str, Any]
JSON = "application/json"
CELL_TYPES = {"number": ["number", "string", "null"], "year": ["number", "string", "null"]}
ARROW_BODY: Schema = {"schema": {"type": "string", "format": "binary"}}
ANY_CELL = ["string", "number", "boolean", "null"]
STATUSES = {
    400: "The body is not what it says it is.",
    401: "The token is missing or wrong.",
    404: "There is no such model or version.",
    408: "The body came too slowly.",
    413: "Too many bytes or rows.",
    415: "The body is of a type that is not taken.",
    422: "The rows do not have the columns of the fit, or cells that cannot be read.",
    503: "The service has too much to do.",
}


def reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def body_of(schema: str, *, arrow: bool = False) -> Schema:
    """What a route takes, as `openapi_extra`."""
    content: Schema = {JSON: {"schema": reference(schema)}}
    if arrow:
        content[ARROW_STREAM] = ARROW_BODY
    return {"requestBody": {"required": True, "content": content}}


def answers_of(schema: str | None, *statuses: int, arrow: bool = False) -> dict[int | str, Schema]:
    """What a route answers, as `responses`: a schema when all is well, problems otherwise."""
    content = {} if schema is None else {JSON: {"schema": reference(schema)}}
    if arrow:
        content[ARROW_STREAM] = ARROW_BODY
    problems: dict[int | str, Schema] = {
        status: {"description": STATUSES[status], "content": {PROBLEM: {"schema": reference("Problem")}}}
        for status in (*statuses, 401)
    }
    return {200: {"description": "Well.", "content": content}, **problems}


def completed(document: Schema, models: Sequence[ServedModel]) -> Schema:
    """What FastAPI knows of the routes, with the names and columns of the models."""
    for operation in (each for of_path in document["paths"].values() for each in of_path.values()):
        for parameter in operation.get("parameters", ()):
            if parameter["name"] == "model":
                parameter["schema"] = {"enum": [served.name for served in models]}
        if "HTTPValidationError" in str(operation["responses"].get("422")):
            del operation["responses"]["422"]  # FastAPI promises it wherever the path has a name in it
    return {**document, "components": {"schemas": components(models)}}


def components(models: Iterable[ServedModel]) -> Schema:
    """All schemas that routes refer to."""
    return {
        "Rows": {
            "description": "A JSON object for each row, with the columns of the table that the model was fitted on.",
            "anyOf": [
                {"type": "array", "title": served.name, "minItems": 1, "items": record_of(served)} for served in models
            ],
        },
        "Scores": _object(
            **_about_model(), rows=_list(_object(**_scored_row())), notes=_list({"type": "string"})
        ),
        "Explanations": _object(**_about_model(), rows=_list(_explained_row()), notes=_list({"type": "string"})),
        "Problem": _object(
            type={"type": "string"},
            title={"type": "string"},
            status={"type": "integer"},
            detail={"type": "string"},
            error={"type": "string"},
        ),
        **_protocol(),
    }  # fmt: skip


def record_of(served: ServedModel) -> Schema:
    """A row of the model's table."""
    encoder = served.current.model.encoder
    used = [column for column in encoder.columns_ if column.names()]
    others = sorted({column.source for column in encoder.columns_ if not column.names()} | set(encoder.ignore))
    return {
        "type": "object",
        "required": [column.source for column in used],
        "properties": {column.source: _cell(column) for column in used}
        | {name: {"type": ANY_CELL, "description": "not used by the model"} for name in others},
        "additionalProperties": False,
    }


def _cell(column: EncodedColumn) -> Schema:
    typical = column.typical.words()
    told = f"{column.kind}, typical {typical}" if typical else column.kind
    return {"type": CELL_TYPES.get(column.kind, ANY_CELL), "description": told}


def _about_model() -> Schema:
    version = {"type": "string", "description": "first digits of the model file's SHA-256"}
    return {"model": {"type": "string"}, "version": version, "threshold": {"type": "number"}}


def _scored_row() -> Schema:
    score = {"type": "number", "description": "the higher, the less normal"}
    return {SCORE: score, REPORTED: {"type": "boolean", "description": "whether the score is above the threshold"}}


def _explained_row() -> Schema:
    column = _object(
        column={"type": "string"},
        value={},
        typical={"type": ["string", "null"]},
        is_usual={"type": "boolean"},
        contribution={"type": "number"},
        share={"type": "number"},
        shared_with=_list({"type": "string"}),
        only_together={"type": "boolean"},
    )
    return _object(
        **_scored_row(),
        baseline={"type": "number", "description": "the score of the most typical row"},
        columns=_list(column),
        sentences=_list({"type": "string"}),
    )


def _protocol() -> Schema:
    """Messages of the Open Inference Protocol, version 2."""
    shape: Schema = {"type": "array", "items": {"type": "integer"}}
    about: Schema = {"name": {"type": "string"}, "datatype": {"enum": list(DATATYPES)}, "shape": shape}
    data = {"type": "array", "description": "values, row by row; null is a missing one"}
    parameters = {"type": "object"}
    return {
        "ServerMetadata": _object(
            name={"type": "string"}, version={"type": "string"}, extensions=_list({"type": "string"})
        ),
        "Models": _object(models=_list({"type": "string"})),
        "ModelMetadata": _object(
            name={"type": "string"},
            versions=_list({"type": "string"}),
            platform={"type": "string"},
            inputs=_list(_object(**about)),
            outputs=_list(_object(**about)),
        ),
        "InferRequest": _object(
            inputs=_list(_object(**about, data=data)),
            optional={
                "id": {"type": "string"},
                "parameters": parameters,
                "outputs": _list(_object(name={"enum": [SCORE, REPORTED]}, optional={"parameters": parameters})),
            },
        ),
        "InferResponse": _object(
            model_name={"type": "string"},
            model_version={"type": "string"},
            outputs=_list(_object(**about, optional={"data": data, "parameters": parameters})),
        ),
    }


def _object(optional: Schema | None = None, **required: Any) -> Schema:
    return {"type": "object", "required": list(required), "properties": {**required, **(optional or {})}}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}
