"""The service as a process: a socket, uvicorn, and an end in good order."""

from __future__ import annotations

import errno
import ipaddress
import socket
from asyncio import TimerHandle, Transport
from http import HTTPStatus
from typing import Any

import uvicorn
from pydantic_core import to_json
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from rdplearn._serving.problems import PROBLEM, problem_document

SECONDS_TO_END = 10


def open_socket(host: str, port: int) -> socket.socket:
    """Take an address to listen at; port 0 is any that is free."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as fault:
        if fault.errno == errno.EADDRINUSE:
            raise OSError(f"Port {port} of {host} is taken by another program. Pass --port with another one.") from None
        raise OSError(f"Cannot listen at {host}, port {port}: {fault.strerror or fault}.") from None


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address.

    Examples
    --------
    >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def server_of(app: Any, *, seconds: float) -> uvicorn.Server:
    """A server that runs until SIGINT or SIGTERM, and then answers what has been asked.

    Parameters
    ----------
    seconds : in which the head of a request must have come
    """
    config = uvicorn.Config(
        app,
        http=impatient(seconds),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=SECONDS_TO_END,
    )
    return uvicorn.Server(config)


def impatient(seconds: float) -> type[HttpToolsProtocol]:
    """HTTP of which each request must have begun and told its head in time: uvicorn itself waits for ever."""

    class Protocol(HttpToolsProtocol):
        _closing: TimerHandle | None = None

        def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._wait()

        def on_message_begin(self) -> None:
            self._wait()
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            self._stop_waiting()
            super().on_headers_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def send_400_response(self, msg: str) -> None:
            """Say in our words that this is no HTTP."""
            body = to_json(problem_document(HTTPStatus.BAD_REQUEST, "The server cannot read this as HTTP."))
            head = f"HTTP/1.1 400 Bad Request\r\ncontent-type: {PROBLEM}\r\ncontent-length: {len(body)}\r\n"
            self.transport.write(f"{head}connection: close\r\n\r\n".encode() + body)
            self.transport.close()

        def _wait(self) -> None:
            if self._closing is None:
                self._closing = self.loop.call_later(seconds, self.transport.close)

        def _stop_waiting(self) -> None:
            if self._closing is not None:
                self._closing.cancel()
                self._closing = None

    return Protocol
