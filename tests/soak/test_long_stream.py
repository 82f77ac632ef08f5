"""Five million rows through a pipe: memory stays flat, and every row comes out."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from tests.cli.conftest import sales
from tests.soak.conftest import Record, sized

ROWS = 5_000_000
BLOCK = 10_000


def score(model: Path, output: Path, n_blocks: int) -> int:
    """Score a stream. Returns the most memory it took, in megabytes."""
    head, _, body = sales(BLOCK).partition("\n")
    child = subprocess.Popen(
        [sys.executable, "-m", "rdplearn.cli", "score", model, "-", "-o", output, "-q", "--jobs", "1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )

    def feed() -> None:
        assert child.stdin is not None
        child.stdin.write(f"{head}\n".encode())
        for _ in range(n_blocks):
            child.stdin.write(body.encode())
        child.stdin.close()

    feeder = threading.Thread(target=feed)
    feeder.start()
    _, status, usage = os.wait4(child.pid, 0)
    feeder.join()
    assert status == 0
    return usage.ru_maxrss // 1024


def test_a_long_stream_takes_no_more_memory_than_a_short_one(model: Path, tmp_path: Path, record: Record):
    n_blocks = max(60, sized(ROWS) // BLOCK)
    short = score(model, tmp_path / "short.csv", n_blocks // 10 + 20)
    long = score(model, tmp_path / "long.csv", n_blocks)
    with open(tmp_path / "long.csv", "rb") as lines:
        assert sum(1 for _ in lines) == n_blocks * BLOCK + 1
    assert long < 1.1 * short + 20
    record("A long stream", rows=n_blocks * BLOCK, megabytes=long, megabytes_of_a_tenth=short)
