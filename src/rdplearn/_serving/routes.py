"""What is answered: `/score` and `/explain`, the Open Inference Protocol, and what tells of the service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pyarrow as pa
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from rdplearn._serving.arrow_streams import ARROW_STREAM, read_arrow, write_arrow
from rdplearn._serving.bodies import read_records
from rdplearn._serving.gate import Gate
from rdplearn._serving.models import LoadedModel, ServedModel
from rdplearn._serving.problems import ProblemError
from rdplearn._serving.schema import JSON, answers_of, body_of, completed
from rdplearn._serving.service import Service
from rdplearn._serving.tensors import JSON_LENGTH, InferRequest, check_version, describe_model
from rdplearn._version import __version__
from rdplearn.table.wording import shown
from rdplearn.table_model import REPORTED, SCORE, threshold_of

ABOUT = "Scores rows of tables: how unlike the rest they are, whether to report them, and why."


def make_app(service: Service, token: str | None = None) -> FastAPI:
    """The service as an ASGI application. token : that requests must bear, all but those for its health."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        service.start()
        watching = asyncio.create_task(service.watch_files())
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.to_thread(service.stop)

    app = FastAPI(
        title="rdplearn",
        version=__version__,
        description=ABOUT,
        docs_url=None,  # FastAPI's own page fetches its scripts from elsewhere
        redoc_url=None,
        openapi_url=None,
        lifespan=lifespan,
    )
    app.add_middleware(Gate, limits=service.limits, metrics=service.metrics, token=token)
    app.add_exception_handler(HTTPException, _told_as_problem)
    app.add_exception_handler(RequestValidationError, _told_as_problem)
    _add_rows(app, service)
    _add_protocol(app, service)
    _add_descriptions(app, service)
    return app


def _add_rows(app: FastAPI, service: Service) -> None:
    """Requests in the table's own columns."""

    @app.post(
        "/score",
        summary="Score rows",
        openapi_extra=body_of("Rows", arrow=True),
        responses=answers_of("Scores", 400, 404, 408, 413, 415, 422, 503, arrow=True),
    )
    async def score(request: Request, model: str | None = None) -> Response:
        served = service.model(model)
        loaded, scored = await service.score(served, await _read_rows(request, service))
        if ARROW_STREAM in request.headers.get("accept", ""):
            scores = pa.record_batch({SCORE: scored.scores, REPORTED: scored.reported})
            scores = scores.replace_schema_metadata({"notes": "\n".join(scored.notes)})
            headers = {"x-model": served.name, "x-model-version": loaded.version}
            return Response(write_arrow(scores), headers=headers, media_type=ARROW_STREAM)
        pairs = zip(scored.scores.tolist(), scored.reported.tolist(), strict=True)
        rows = [{SCORE: score, REPORTED: reported} for score, reported in pairs]
        return _as_json({**_about(served, loaded), "rows": rows, "notes": scored.notes})

    @app.post(
        "/explain",
        summary="Score rows, and say which columns make them unusual",
        openapi_extra=body_of("Rows", arrow=True),
        responses=answers_of("Explanations", 400, 404, 408, 413, 415, 422, 503),
    )
    async def explain(request: Request, model: str | None = None) -> Response:
        served = service.model(model)
        loaded, explained = await service.explain(served, await _read_rows(request, service))
        reported = explained.scored.reported.tolist()
        rows = [{REPORTED: flag, **row} for flag, row in zip(reported, explained.columns, strict=True)]
        return _as_json({**_about(served, loaded), "rows": rows, "notes": explained.scored.notes})


def _add_protocol(app: FastAPI, service: Service) -> None:
    """The Open Inference Protocol, version 2."""

    @app.get("/v2", summary="About the server", responses=answers_of("ServerMetadata"))
    async def about_server() -> Response:
        return _as_json({"name": "rdplearn", "version": __version__, "extensions": ["binary_tensor_data"]})

    @app.get("/v2/health/live", summary="Whether the server runs", responses=answers_of(None))
    @app.get("/v2/health/ready", summary="Whether all models are loaded", responses=answers_of(None))
    async def healthy() -> Response:
        return Response()

    @app.get("/v2/models", summary="Names of the models", responses=answers_of("Models"))
    async def names() -> Response:
        return _as_json({"models": list(service.models)})

    @app.get("/v2/models/{model}", summary="About a model", responses=answers_of("ModelMetadata", 404))
    async def about(model: str) -> Response:
        return _as_json(describe_model(service.model(model)))

    @app.get(
        "/v2/models/{model}/versions/{version}",
        summary="About a version of a model",
        responses=answers_of("ModelMetadata", 404),
    )
    async def about_version(model: str, version: str) -> Response:
        check_version(service.model(model), version)
        return await about(model)

    @app.get("/v2/models/{model}/ready", summary="Whether a model is loaded", responses=answers_of(None, 404))
    async def ready(model: str) -> Response:
        service.model(model)
        return Response()

    @app.get(
        "/v2/models/{model}/versions/{version}/ready",
        summary="Whether a version of a model is loaded",
        responses=answers_of(None, 404),
    )
    async def version_ready(model: str, version: str) -> Response:
        check_version(service.model(model), version)
        return Response()

    @app.post(
        "/v2/models/{model}/infer",
        summary="Score rows given as tensors",
        openapi_extra=body_of("InferRequest"),
        responses=answers_of("InferResponse", 400, 404, 408, 413, 422, 503),
    )
    async def infer(request: Request, model: str) -> Response:
        served = service.model(model)
        asked = InferRequest(await request.body(), request.headers.get(JSON_LENGTH))
        loaded, scored = await service.score(served, asked.batch)
        body, headers = asked.answer(served.name, loaded, scored)
        return Response(body, headers=headers)

    @app.post(
        "/v2/models/{model}/versions/{version}/infer",
        summary="Score rows given as tensors, with a version of a model",
        openapi_extra=body_of("InferRequest"),
        responses=answers_of("InferResponse", 400, 404, 408, 413, 422, 503),
    )
    async def infer_with_version(request: Request, model: str, version: str) -> Response:
        check_version(service.model(model), version)
        return await infer(request, model)


def _add_descriptions(app: FastAPI, service: Service) -> None:
    """What tells of the service: to people, to programs, to Prometheus."""

    def document() -> dict[str, Any]:
        found = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        return completed(found, list(service.models.values()))

    app.openapi = document  # type: ignore[method-assign]

    @app.get("/openapi.json", summary="This service, for programs", responses=answers_of(None))
    async def openapi() -> Response:
        return _as_json(document())

    @app.get("/docs", summary="This service, for people", response_class=HTMLResponse)
    async def page() -> Response:
        from jinja2 import Environment, FileSystemLoader

        templates = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
        return HTMLResponse(templates.get_template("page.html.j2").render(document=document()))

    @app.get("/metrics", summary="Counters for Prometheus", responses=answers_of(None))
    async def metrics() -> Response:
        return Response(service.metrics.page(), headers={"content-type": CONTENT_TYPE_LATEST})


async def _read_rows(request: Request, service: Service) -> pa.RecordBatch:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == JSON:
        return read_records(await request.body())
    if kind == ARROW_STREAM:
        return read_arrow(await request.body(), service.limits)
    raise ProblemError(
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        f"The header 'Content-Type' must be {JSON} or {ARROW_STREAM}. Got {kind!r:.60} instead.",
    )


def _about(served: ServedModel, loaded: LoadedModel) -> dict[str, Any]:
    return {"model": served.name, "version": loaded.version, "threshold": threshold_of(loaded.model.estimator)}


def _as_json(told: Any) -> Response:
    return Response(to_json(told, inf_nan_mode="null"), media_type=JSON)


async def _told_as_problem(request: Request, fault: Exception) -> Response:
    """Faults that FastAPI finds itself, such as a path or a method that is not there."""
    if not isinstance(fault, HTTPException):
        return ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, "A parameter of the request cannot be read.").response()
    told = f"There is no {request.method} {shown(request.url.path)} here. The page /docs lists what there is."
    return ProblemError(HTTPStatus(fault.status_code), told, fault.headers).response()
