"""A model of orders, another one, and the real server on a loopback port, in a thread of this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import requests

import rdplearn
from rdplearn._serving.limits import Limits
from rdplearn._serving.models import ServedModel
from rdplearn._serving.routes import make_app
from rdplearn._serving.server import open_socket, server_of
from rdplearn._serving.service import Service

N_ROWS = 300


def orders(seed: int = 0) -> pa.Table:
    """Orders with a column of each kind, one of them left out of the model."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "order": [f"A{row:05d}" for row in range(N_ROWS)],
            "amount": rng.uniform(20, 310, N_ROWS).round(2),
            "items": pa.array(rng.integers(1, 9, N_ROWS), mask=rng.random(N_ROWS) < 0.1),
            "city": rng.choice(["Oslo", "Rome", "Paris"], N_ROWS),
            "sold": [f"2024-01-{1 + row % 28:02d}" for row in range(N_ROWS)],
            "new": rng.choice([True, False], N_ROWS),
        }
    )


def fitted(seed: int) -> rdplearn.TableModel:
    detector = rdplearn.RDPDetector(n_members=2, n_rounds=1, n_steps=20, random_state=seed, n_jobs=1)
    return rdplearn.TableModel(detector, rdplearn.TableEncoder(ignore=["order"])).fit(orders())


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
