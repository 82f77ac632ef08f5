"""`rdplearn serve` as a process: what it says, how it ends, and what clients see when it is killed."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest
import requests

import rdplearn
from rdplearn.cli.serve import warn_if_open
from tests.cli.conftest import Run, run  # noqa: F401 - a fixture


@contextmanager
def serving(*arguments: object, **environment: str):
    """The command in a process of its own, killed at the latest when the block ends."""
    command = [sys.executable, "-m", "rdplearn.cli", "serve", *map(str, arguments)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def address_of(process: subprocess.Popen[str]) -> str:
    line = process.stdout.readline()
    found = re.search(r"at (http://127.0.0.1:\d+), see /docs", line)
    assert found, line + process.stderr.read()
    return found[1]


def test_it_says_where_it_serves_and_ends_in_good_order_with_answers_for_all(files, table):
    body = json.dumps(table.slice(0, 1).to_pylist()).encode()
    head = f"POST /score HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    with serving(files[0], "--port", 0) as process:
        address = address_of(process)
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=20) as client:
            client.sendall(head.encode() + body[:-1])
            time.sleep(0.3)
            process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            with pytest.raises(requests.ConnectionError):
                requests.get(f"{address}/v2", timeout=5)
            client.sendall(body[-1:])  # what was asked before is answered
            assert client.recv(15) == b"HTTP/1.1 200 OK"
        assert process.wait(20) == 0
        assert process.stderr.read() == ""


def test_the_token_comes_from_the_environment_and_a_broken_file_is_told_of(files, table, tmp_path):
    path = tmp_path / "orders.safetensors"
    path.write_bytes(files[0].read_bytes())
    with serving(f"shop={path}", "--port", 0, RDPLEARN_TOKEN="a-secret") as process:
        address = address_of(process)
        rows = table.slice(0, 1).to_pylist()
        assert requests.post(f"{address}/score", json=rows, timeout=20).status_code == 401
        headers = {"authorization": "Bearer a-secret"}
        told = requests.post(f"{address}/score", json=rows, headers=headers, timeout=20).json()
        assert told["model"] == "shop"
        path.write_bytes(b"no model")
        line = process.stderr.readline()
        assert line.startswith(f"rdplearn: Model 'shop' cannot be replaced. '{path}' cannot be read as a model.")
        path.write_bytes(files[1].read_bytes())
        assert process.stderr.readline().startswith("rdplearn: Model 'shop' was replaced: version ")
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


def test_killed_at_any_moment_no_client_gets_a_wrong_score(files, models, table):
    """Clients ask on while the service is killed and started anew with the other model: an answer is right, or none."""
    assert ask_while_it_is_killed(files, models, table, n_kills=3) >= 3


def ask_while_it_is_killed(files, models, table, *, n_kills: int) -> int:
    """How many answers there were, all of them right."""
    rows = table.slice(0, 2)
    expected = [(-model.score_samples(rows)).tolist() for model in models]
    rng, answers, place = random.Random(0), [], ""
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            try:
                answer = requests.post(f"{place}/score", json=rows.to_pylist(), timeout=20)
            except (requests.RequestException, ValueError):
                time.sleep(0.01)
                continue
            answers.append([row["anomaly_score"] for row in answer.json()["rows"]])

    clients = [threading.Thread(target=ask) for _ in range(3)]
    try:
        for number in range(n_kills):
            with serving(files[number % 2], "--port", 0) as process:
                place = address_of(process)
                if number == 0:
                    for client in clients:
                        client.start()
                n_before = len(answers)
                while len(answers) == n_before:
                    time.sleep(0.01)
                time.sleep(rng.uniform(0, 0.3))
                process.send_signal(signal.SIGKILL)
                process.wait()
    finally:
        stop.set()
        for client in clients:
            client.join()
    assert all(answer in expected for answer in answers)
    assert [answer in answers for answer in expected] == [True, True]
    return len(answers)


def test_what_cannot_be_served_is_said_at_once(run: Run, files, tmp_path, monkeypatch):  # noqa: F811
    run("serve", tmp_path / "none.safetensors", exit_code=1)
    assert "Cannot read" in run("serve", tmp_path / "none.safetensors", exit_code=1).output
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    assert (
        f"'{tmp_path / 'table.csv'}' cannot be read as a model"
        in run("serve", tmp_path / "table.csv", exit_code=1).output
    )
    bare = tmp_path / "bare.safetensors"
    rdplearn.save(rdplearn.RDPTransformer(n_steps=5, random_state=0).fit([[0.0, 1.0], [1.0, 0.0]]), bare)
    assert "holds a model without a table encoder" in run("serve", bare, exit_code=1).output
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = run("serve", files[0], "--port", port, exit_code=1).output
        assert f"Port {port} of 127.0.0.1 is taken by another program. Pass --port with another one." in told
    monkeypatch.setenv("RDPLEARN_TOKEN", "with a blank")
    assert "$RDPLEARN_TOKEN must hold a token of printable" in run("serve", files[0], exit_code=2).output
    (tmp_path / "token").write_text("\n")
    told = run("serve", files[0], "--token-file", tmp_path / "token", exit_code=2).output
    assert "must hold a token" in told


def test_an_open_address_without_a_token_is_warned_of(recwarn):
    warn_if_open("127.0.0.1", None)
    warn_if_open("0.0.0.0", "a-secret")
    assert not recwarn
    with pytest.warns(
        rdplearn.RDPWarning, match=r"Anyone who can reach 0.0.0.0 can send requests. Set \$RDPLEARN_TOKEN"
    ):
        warn_if_open("0.0.0.0", None)
