"""What goes wrong in a request, told as a problem document (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from pydantic_core import to_json
from starlette.responses import Response

PROBLEM = "application/problem+json"


class ProblemError(Exception):
    """A request that is answered with a fault.

    Parameters
    ----------
    status : of HTTP
    detail : what is wrong, and what to do
    headers : to send along
    """

    def __init__(self, status: HTTPStatus, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, dict(headers or {})

    def response(self) -> Response:
        """The answer. Its ``error`` is where clients of the inference protocol look for words."""
        return Response(
            to_json(problem_document(self.status, self.detail)), self.status.value, self.headers, media_type=PROBLEM
        )


def problem_document(status: HTTPStatus, detail: str) -> dict[str, Any]:
    """The members of a problem document.

    Examples
    --------
    >>> problem_document(HTTPStatus.NOT_FOUND, "There is no model 'x'.")["title"]
    'Not Found'
    """
    return {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "detail": detail,
        "error": detail,
    }


def bad_request(detail: str) -> ProblemError:
    """The body is not what it says it is."""
    return ProblemError(HTTPStatus.BAD_REQUEST, detail)


def unusable_rows(detail: str) -> ProblemError:
    """The body can be read, and the model cannot use its rows."""
    return ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail)


def too_large(detail: str) -> ProblemError:
    """More than the service takes at once. The connection ends: what is left of the body is not read."""
    return ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail, {"connection": "close"})
