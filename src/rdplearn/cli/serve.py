"""`rdplearn serve`."""

from __future__ import annotations

import logging
import os
import signal
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from rdplearn.cli.framework import TalkOptions, in_one_line

TOKEN = "RDPLEARN_TOKEN"
NEEDED = ("fastapi", "uvicorn", "httptools", "prometheus_client")


def serve(
    *,
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]MODEL...",
            help="Model files that fit wrote. A model has the name of its file, unless NAME= gives another.",
        ),
    ],
    host: Annotated[
        str, typer.Option(help="Address to listen on. 0.0.0.0 listens on all addresses of this machine.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on. 0 takes any free port.")] = 8000,
    token_file: Annotated[
        str | None,
        typer.Option(metavar="FILE", help=f"Accept only requests with the token in this file (or in ${TOKEN})."),
    ] = None,
    max_mb: Annotated[float, typer.Option(min=0.001, help="Largest request, in MB.")] = 16.0,
    max_rows: Annotated[
        int, typer.Option(min=1, help="Most rows in a request to score. To explain, 1,000 at most.")
    ] = 100_000,
    timeout: Annotated[float, typer.Option(min=0.1, help="Most seconds that a request may take.")] = 30.0,
    talk: TalkOptions,
) -> None:
    """Answer requests for scores over HTTP, with one or more models.

    Send rows as JSON or Arrow to /score or /explain, or as tensors to /v2 (Open Inference Protocol). The page /docs
    describes all requests. When a model file changes, it is loaded again; if the new file is broken, the old model
    stays in use.

    \b
    Examples:
      rdplearn serve model.safetensors
      rdplearn serve shop=orders.safetensors web=clicks.safetensors --port 9000
      RDPLEARN_TOKEN=... rdplearn serve model.safetensors --host 0.0.0.0
    """
    _require_extra()
    from rdplearn._serving.limits import Limits
    from rdplearn._serving.models import ServedModel, named_paths
    from rdplearn._serving.routes import make_app
    from rdplearn._serving.server import open_socket, server_of
    from rdplearn._serving.service import Service
    from rdplearn.cli.checks import load_table_model

    token = read_token(token_file)
    load = partial(load_table_model, estimators=["RDPDetector"], n_jobs=1)
    served = [ServedModel(name, path, load) for name, path in named_paths(models).items()]
    limits = Limits(n_bytes=int(max_mb * 1e6), n_rows=max_rows, seconds=timeout)
    app = make_app(Service(served, limits), token)
    with open_socket(host, port) as listening:
        warn_if_open(host, token)
        _talk_on_stderr(quiet=talk.quiet)
        address = listening.getsockname()
        facts = {"models": {model.name: model.current.version for model in served}, "port": address[1]}
        reached_as = f"[{address[0]}]" if ":" in address[0] else address[0]
        listed = ", ".join(f"{name} (version {version})" for name, version in facts["models"].items())
        talk.tell(facts, lambda _: typer.echo(f"Serving {listed} at http://{reached_as}:{address[1]}, see /docs."))
        _end_well()
        server_of(app, seconds=timeout).run(sockets=[listening])


def warn_if_open(host: str, token: str | None) -> None:
    """Say that an address which others reach is served without a token."""
    from rdplearn._serving.server import is_loopback
    from rdplearn.errors import warn_user

    if token is None and not is_loopback(host):
        warn_user(
            f"Anyone who can reach {host} can send requests. Set ${TOKEN} or pass --token-file to require a token."
        )


def read_token(path: str | None) -> str | None:
    """The token of a file, or of the environment: the words of a command are seen by all users of a machine."""
    if path is None:
        token = os.environ.get(TOKEN)
        source = f"${TOKEN}"
    else:
        token = Path(path).read_text(encoding="utf-8")
        source = f"'{path}'"
    if token is None:
        return None
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise typer.BadParameter(
            f"{source} must hold a token of printable ASCII letters without blanks.", param_hint="--token-file"
        )
    return token


def _require_extra() -> None:
    from importlib.util import find_spec

    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise ModuleNotFoundError(
            f"'serve' needs {missing[0]}, which is not installed. Run: pip install 'rdplearn[serve]'."
        )


def _talk_on_stderr(*, quiet: bool) -> None:
    class OneLine(logging.Formatter):
        def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - as logging calls it
            return in_one_line(super().formatMessage(record))

    told = logging.StreamHandler()
    told.setFormatter(OneLine("rdplearn: %(message)s"))
    log = logging.getLogger("rdplearn.serve")
    log.addHandler(told)
    log.propagate = False
    log.setLevel(logging.ERROR if quiet else logging.INFO)


def _end_well() -> None:
    """Signals end the service with exit code 0: before uvicorn takes them, and when it hands them on after the end."""

    def end(*_: Any) -> None:
        raise SystemExit(0)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
