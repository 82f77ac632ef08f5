"""Commands on a disk that fails when it is told to, one process each.

`FaultyDisk` starts one Python with `faulty_disk.c` loaded before the C library. It has everything imported, and forks
for each command, so that a case costs its own work alone. The calls counted are those of all code in the process:
Python's, Arrow's, and that of safetensors.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("faulty_disk.c")
ROOT = Path(__file__).parents[2]


class Fault(IntEnum):
    """What happens at a call, as in `faulty_disk.c`."""

    NONE = 0
    KILL_BEFORE = 1
    KILL_AFTER = 2
    TORN = 3  # half is written, and the process dies
    SHORT = 4  # half is written, as the system may do
    FULL = 5  # from here on there is no room
    BROKEN = 6  # this one call is answered with an I/O error


KILLS = (Fault.KILL_BEFORE, Fault.KILL_AFTER, Fault.TORN)


@dataclass(frozen=True)
class Call:
    """One call of the system that touches the folder."""

    name: str
    needs_room: bool
    changes: bool
    path: str

    def faults(self) -> list[Fault]:
        """The faults that can happen at it. A process that dies while it reads dies before the next change, too."""
        if not self.changes:
            return [Fault.BROKEN]
        found = [Fault.KILL_BEFORE, Fault.KILL_AFTER, Fault.BROKEN]
        if self.needs_room:
            found.append(Fault.FULL)
        return [*found, Fault.TORN, Fault.SHORT] if self.name == "write" else found


@dataclass(frozen=True)
class Ended:
    """How a command has ended: its exit code, or the signal, and what it said."""

    exit_code: int
    signal: int
    said: str


class FaultyDisk:
    """Runs commands.

    Parameters
    ----------
    scratch : a folder for the library, logs and messages
    names : of the commands that will be run, which are tried once before
    """

    def __init__(self, scratch: Path, names: Sequence[str]) -> None:
        compiler = shutil.which("gcc") or shutil.which("cc")
        if compiler is None or not sys.platform.startswith("linux"):
            pytest.skip("needs Linux and a C compiler")
        self.scratch = scratch
        library = scratch / "faulty_disk.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
        variables = {**os.environ, "LD_PRELOAD": str(library), "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.faults.forks", *names],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=variables,
            cwd=ROOT,
            text=True,
        )

    def __enter__(self) -> FaultyDisk:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def run(self, words: Sequence[object], folder: Path, at: int = -1, fault: Fault = Fault.NONE) -> Ended:
        """Run a command in which the call number `at` to a file of the folder meets a fault."""
        asked = {
            "words": [str(word) for word in words],
            "folder": str(folder),
            "at": at,
            "fault": int(fault),
            "log": str(self.scratch / "log"),
            "said": str(self.scratch / "said"),
        }
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the process that forks has died"
        status = int(answer)
        said = self.scratch / "said"
        signal = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        return Ended(-1 if signal else os.WEXITSTATUS(status), signal, said.read_text() if said.exists() else "")

    def calls(self) -> list[Call]:
        """The calls of the last command."""
        lines = [line.split(" ", 2) for line in (self.scratch / "log").read_text().splitlines()]
        return [Call(name, touch == "2", touch != "0", path) for name, touch, path in lines]
