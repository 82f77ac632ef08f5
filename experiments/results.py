"""Result files: one JSON line a finished run. A line is whole or it is not there."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"


def append(path: Path, record: dict[str, Any]) -> None:
    """Add one line; a torn line that a killed process may have left is cut off first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = (json.dumps(record, sort_keys=True) + "\n").encode()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with contextlib.closing(os.fdopen(os.dup(descriptor), "rb")) as file:
            os.ftruncate(descriptor, file.read().rfind(b"\n") + 1)
        os.write(descriptor, line)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace(path: Path, record: dict[str, Any], is_old: Callable[[dict[str, Any]], bool]) -> None:
    """Add one line and drop the old ones about the same, at once; nobody else may be writing."""
    kept = [line for line in read_file(path) if not is_old(line)] if path.exists() else []
    temporary = path.with_suffix(".new")
    temporary.write_text("".join(json.dumps(line, sort_keys=True) + "\n" for line in [*kept, record]))
    os.replace(temporary, path)


def read(folder: Path) -> Iterator[dict[str, Any]]:
    """Read the whole lines of all result files of a folder: tables that share a run share its line."""
    for path in sorted(folder.glob("*.jsonl")):
        yield from read_file(path)


def read_file(path: Path) -> Iterator[dict[str, Any]]:
    """Read the whole lines of one result file."""
    content = path.read_text()
    for line in content[: content.rfind("\n") + 1].splitlines():
        yield json.loads(line)


def run_key(task: str, method: str, config: dict[str, Any], data: str, seed: int) -> str:
    """Name a run: what was done, to what, with which seed."""
    return json.dumps([task, method, canonical(config), data, seed], sort_keys=True)


def canonical(config: dict[str, Any]) -> dict[str, Any]:
    """Give one form to configurations that ask for the same: the last three of one round are that round.

    Examples
    --------
    >>> canonical({"n_rounds": 1, "score_rounds": 3})
    {'n_rounds': 1, 'score_rounds': 1}
    """
    if "score_rounds" not in config or "n_rounds" not in config:
        return config
    return {**config, "score_rounds": min(config["score_rounds"], config["n_rounds"])}


def key_of(record: dict[str, Any]) -> str:
    """Give the name of the run that a line records."""
    return run_key(record["task"], record["method"], record["config"], record["data"], record["seed"])
