"""A model of orders, another one, and the real server on a loopback port, in a thread of this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import requests

import rdplearn
from rdplearn._serving.limits import Limits
from rdplearn._serving.models import ServedModel
from rdplearn._serving.routes import make_app
from rdplearn._serving.server import open_socket, server_of
from rdplearn._serving.service import Service
from tests.serving.tables import fitted, orders


@pytest.fixture(scope="session")
def table() -> pa.Table:
    return orders()


@pytest.fixture(scope="session")
def models() -> list[rdplearn.TableModel]:
    """Two models of the same orders, whose scores differ."""
    return [fitted(0), fitted(1)]


@pytest.fixture(scope="session")
def files(models, tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("models")
    paths = [folder / "orders.safetensors", folder / "others.safetensors"]
    for model, path in zip(models, paths, strict=True):
        rdplearn.save(model, path)
    return paths


@dataclass(frozen=True)
class Running:
    """A server that runs."""

    address: str
    service: Service

    def post(self, path: str, json: Any = None, **rest: Any) -> requests.Response:
        return requests.post(f"http://{self.address}{path}", json=json, timeout=20, **rest)

    def get(self, path: str, **rest: Any) -> requests.Response:
        return requests.get(f"http://{self.address}{path}", timeout=20, **rest)

    def metric(self, line: str) -> float:
        found = [each for each in self.get("/metrics").text.splitlines() if each.startswith(f"{line} ")]
        return float(found[0].split()[-1])


Serve = Callable[..., Any]


@contextmanager
def running(*paths: Path, limits: Limits | None = None, token: str | None = None) -> Iterator[Running]:
    """Serve models until the block ends, however it ends."""
    limits = limits or Limits()
    service = Service([ServedModel(path.stem, str(path), rdplearn.load) for path in paths], limits)
    server = server_of(make_app(service, token), seconds=limits.seconds)
    with open_socket("127.0.0.1", 0) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            yield Running(f"127.0.0.1:{listening.getsockname()[1]}", service)
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def server(files) -> Iterator[Running]:
    """Both models, with the usual limits."""
    with running(*files) as started:
        yield started


def problem(answer: requests.Response, status: int) -> str:
    """What a problem document says."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert told["status"] == status
    assert told["error"] == told["detail"]
    assert "Traceback" not in answer.text
    return told["detail"]
