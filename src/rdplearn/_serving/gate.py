"""What every request passes: the token, the limits on size and time, the count, and faults told as problems."""

from __future__ import annotations

import asyncio
import logging
import time
from hmac import compare_digest
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rdplearn._serving.limits import Limits
from rdplearn._serving.metrics import Metrics
from rdplearn._serving.problems import ProblemError, too_large

LOG = logging.getLogger("rdplearn.serve")
OPEN_TO_ALL = "/v2/health/"
BODIES_AT_ONCE = 8  # of the largest size, over all requests
UNKNOWN_PATH = "other"


class Gate:
    """Stands before the routes, as ASGI middleware."""

    def __init__(self, app: ASGIApp, *, limits: Limits, metrics: Metrics, token: str | None) -> None:
        self.app, self.limits, self.metrics = app, limits, metrics
        self._token = None if token is None else token.encode()
        self._n_bytes_held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = _Request(self, receive, send)
        start = time.perf_counter()
        try:
            await self._answer(scope, request)
        finally:
            self._n_bytes_held -= request.n_bytes
            path = getattr(scope.get("route"), "path", UNKNOWN_PATH)
            self.metrics.count_request(path, request.status, time.perf_counter() - start)

    def hold(self, n_bytes: int) -> None:
        """Take in some bytes of a body, if memory is left for them."""
        self._n_bytes_held += n_bytes
        if self._n_bytes_held > BODIES_AT_ONCE * self.limits.n_bytes:
            raise busy("Too many large requests are being handled.")

    async def _answer(self, scope: Scope, request: _Request) -> None:
        problem: ProblemError
        try:
            headers = dict(scope["headers"])
            self._check_token(scope["path"], headers.get(b"authorization", b""))
            self._check_length(headers.get(b"content-length", b"0"))
            async with asyncio.timeout(self.limits.seconds):
                await self.app(scope, request.receive, request.send)
            return
        except ProblemError as fault:
            problem = fault
        except TimeoutError:
            problem = request.too_slow()
        except Exception:
            LOG.exception("A request could not be answered.")
            problem = ProblemError(
                HTTPStatus.INTERNAL_SERVER_ERROR, "This should not have happened. The log of the service says where."
            )
        if request.has_begun:
            raise ConnectionAbortedError("The answer cannot be finished.")  # the server then ends the connection
        await problem.response()(scope, request.receive, request.send)

    def _check_token(self, path: str, given: bytes) -> None:
        if self._token is None or path.startswith(OPEN_TO_ALL):
            return
        scheme, _, token = given.partition(b" ")
        if scheme.lower() != b"bearer" or not compare_digest(token.strip(), self._token):
            raise ProblemError(
                HTTPStatus.UNAUTHORIZED,
                "The request needs the header 'Authorization: Bearer TOKEN' with the token of this service.",
                {"www-authenticate": "Bearer"},
            )

    def _check_length(self, given: bytes) -> None:
        if given.isdigit() and int(given) > self.limits.n_bytes:
            raise self.body_too_large()

    def body_too_large(self) -> ProblemError:
        return too_large(f"The body has more than {self.limits.n_bytes:,} bytes. Send fewer rows at a time.")


class _Request:
    """One request on its way through: how much of it has come, and what has been sent."""

    def __init__(self, gate: Gate, receive: Receive, send: Send) -> None:
        self._gate, self._receive, self._send = gate, receive, send
        self.n_bytes, self.is_complete = 0, False
        self.has_begun, self.status = False, 499  # as nginx says of a client that has left

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            n_bytes = len(message.get("body", b""))
            self.n_bytes += n_bytes
            self.is_complete = not message.get("more_body", False)
            self._gate.hold(n_bytes)
            if self.n_bytes > self._gate.limits.n_bytes:
                raise self._gate.body_too_large()
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun, self.status = True, message["status"]
        await self._send(message)

    def too_slow(self) -> ProblemError:
        """Whose fault it is that time is up."""
        seconds = self._gate.limits.seconds
        if self.is_complete:
            return busy(f"There was no answer within {seconds:g} seconds.")
        return ProblemError(
            HTTPStatus.REQUEST_TIMEOUT,
            f"The body did not come within {seconds:g} seconds. Send it faster, or fewer rows at a time.",
            {"connection": "close"},
        )


def busy(detail: str) -> ProblemError:
    """The service has too much to do."""
    return ProblemError(
        HTTPStatus.SERVICE_UNAVAILABLE,
        f"{detail} Try again soon, or send fewer rows at a time.",
        {"retry-after": "1", "connection": "close"},
    )
