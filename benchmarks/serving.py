"""`rdplearn serve` on loopback: one row a request against an empty FastAPI endpoint, and batches against memory."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import rdplearn

N_CLIENTS = 8
SECONDS = 4.0  # of one turn
N_TURNS = 3
EMPTY = """
import socket, sys, fastapi
from rdplearn._serving.server import open_socket, server_of
app = fastapi.FastAPI()
@app.post("/score")
async def empty():
    return {}
listening = open_socket("127.0.0.1", 0)
print(f"http://127.0.0.1:{listening.getsockname()[1]},", flush=True)
server_of(app, seconds=30).run(sockets=[listening])
"""


def orders(n_rows: int) -> pa.Table:
    """A table of eight columns of all kinds."""
    rng = np.random.default_rng(0)
    days = np.datetime64("2024-01-01") + rng.integers(0, 300, n_rows).astype("timedelta64[D]")
    return pa.table(
        {
            "age": rng.integers(18, 80, n_rows),
            "amount": rng.gamma(2, 100, n_rows),
            "city": rng.choice(["Oslo", "Rome", "Paris"], n_rows),
            "when": days.astype(str),
            "new": rng.choice([True, False], n_rows),
            "items": rng.integers(1, 9, n_rows),
            "weight": rng.normal(70, 10, n_rows),
            "kind": rng.choice(list("abcdefgh"), n_rows),
        }
    )


def serving() -> list[dict[str, object]]:
    """Requests of one row by eight clients at once."""
    table = orders(2_000)
    sent = request("/score", json.dumps(table.slice(0, 1).to_pylist()).encode())
    turns: dict[str, list[Turn]] = {"serve": [], "empty": []}
    with served(table) as serve, serving_empty() as empty:
        for _ in range(N_TURNS):
            for name, of in (("serve", serve), ("empty", empty)):
                turns[name].append(take_turn(*of, sent, N_CLIENTS))
    best = {name: max(of, key=lambda turn: turn.rate) for name, of in turns.items()}
    return [
        {
            "requests per second": best["serve"].rate,
            "empty FastAPI": best["empty"].rate,
            "share": best["serve"].rate / best["empty"].rate,
            "wanted": "1,000 a second, or 0.6",
            "processor ms a request": 1e3 * min(turn.processor for turn in turns["serve"]),
            "empty, ms": 1e3 * min(turn.processor for turn in turns["empty"]),
            "p99 / median": min(turn.p99 / turn.median for turn in turns["serve"]),
            "at most": 10,
            "memory after each turn, MB": " ".join(f"{turn.memory:.0f}" for turn in turns["serve"]),
        }
    ]


def serving_batches() -> list[dict[str, object]]:
    """Requests of 1,000 rows, as JSON and as Arrow, against the same rows in memory."""
    from rdplearn._serving.arrow_streams import ARROW_STREAM, write_arrow

    table = orders(2_000)
    rows = table.slice(0, 1_000).combine_chunks()
    model = fitted(table)
    requests = {
        "JSON": request("/score", json.dumps(rows.to_pylist()).encode()),
        "Arrow": request("/score", write_arrow(rows.to_batches()[0]), content_type=ARROW_STREAM, accept=ARROW_STREAM),
    }
    turns: dict[str, list[Turn]] = {name: [] for name in requests}
    rates, seconds = [], []
    with served(table) as serve:
        for _ in range(N_TURNS):
            start, used, n_done = time.perf_counter(), time.process_time(), 0
            while time.perf_counter() - start < SECONDS:
                model.score_samples(rows)
                n_done += 1
            rates.append(1e3 * n_done / (time.perf_counter() - start))
            seconds.append((time.process_time() - used) / n_done)
            for name, sent in requests.items():
                turns[name].append(take_turn(*serve, sent, 4))
    return [
        {
            "body": name,
            "rows per second": 1e3 * max(turn.rate for turn in turns[name]),
            "in memory": max(rates),
            "share": 1e3 * max(turn.rate for turn in turns[name]) / max(rates),
            "share wanted": 0.7,
            "processor ms a batch": 1e3 * min(turn.processor for turn in turns[name]),
            "in memory, ms": 1e3 * min(seconds),
            "share by the processor": min(seconds) / min(turn.processor for turn in turns[name]),
        }
        for name in requests
    ]


@dataclass(frozen=True)
class Turn:
    """What a service did in one turn: requests per second, seconds of an answer and of the processor for it, MB."""

    rate: float
    median: float
    p99: float
    processor: float
    memory: float


def take_turn(address: str, process: int, sent: bytes, n_clients: int) -> Turn:
    """Send a request again and again for a turn."""
    used = processor_seconds(process)
    took = asyncio.run(load(address, sent, n_clients, SECONDS))
    processor = (processor_seconds(process) - used) / len(took)
    median, p99 = np.percentile(took, [50, 99])
    return Turn(len(took) / SECONDS, float(median), float(p99), processor, resident(process))


def fitted(table: pa.Table) -> Any:
    return rdplearn.TableModel(rdplearn.RDPDetector(random_state=0, n_jobs=1)).fit(table)


@contextmanager
def served(table: pa.Table) -> Iterator[tuple[str, int]]:
    """`rdplearn serve` with a model of the table, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "orders.safetensors"
        rdplearn.save(fitted(table), path)
        with started([sys.executable, "-m", "rdplearn.cli", "serve", str(path), "--port", "0"]) as running:
            yield running


@contextmanager
def serving_empty() -> Iterator[tuple[str, int]]:
    """An endpoint that does nothing, on the same server."""
    with started([sys.executable, "-c", EMPTY]) as running:
        yield running


@contextmanager
def started(command: list[str]) -> Iterator[tuple[str, int]]:
    """Run a service; its address and its process."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://([^,]+),", process.stdout.readline())
            assert found is not None
            yield found[1], process.pid
        finally:
            process.terminate()


def request(path: str, body: bytes, *, content_type: str = "application/json", accept: str = "*/*") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {content_type}\r\naccept: {accept}\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


async def load(address: str, sent: bytes, n_clients: int, seconds: float) -> list[float]:
    """Send a request again and again, by so many clients at once; how long each answer took."""
    await send_until(address, sent, time.perf_counter() + 0.3)  # warm
    end = time.perf_counter() + seconds
    of_clients = await asyncio.gather(*(send_until(address, sent, end) for _ in range(n_clients)))
    return [each for of_client in of_clients for each in of_client]


async def send_until(address: str, sent: bytes, end: float) -> list[float]:
    host, port = address.split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 22)
    took = []
    while (start := time.perf_counter()) < end:
        writer.write(sent)
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        assert head.startswith(b"HTTP/1.1 200")
        assert length is not None
        await reader.readexactly(int(length[1]))
        took.append(time.perf_counter() - start)
    writer.close()
    await writer.wait_closed()
    return took


def processor_seconds(process: int) -> float:
    """What a process has used so far."""
    times = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


def resident(process: int) -> float:
    """Memory of a process, in MB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


ALL = {"serving": serving, "serving_batches": serving_batches}
