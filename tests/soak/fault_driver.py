"""Run one command again and again, each time with a fault in another call that changes a file, and look what is left.

Started under LD_PRELOAD by test_faults.py: `python -m tests.soak.fault_driver LIBRARY FOLDER COMMAND N_CASES`.
Everything is imported once; each case is a fork. Prints what it has seen, as JSON.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import shutil
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from rdplearn._results import resumable
from rdplearn.cli.app import app
from rdplearn.table import reading
from tests.cli.conftest import QUICK

COUNT, KILL_BEFORE, KILL_AFTER, TORN, DISK_FULL, IO_ERROR = range(6)
KINDS = {
    "kill before": KILL_BEFORE,
    "kill after": KILL_AFTER,
    "torn write": TORN,
    "disk full": DISK_FULL,
    "I/O error": IO_ERROR,
}
ROWS_OF_A_BATCH = 100
READ = ["--jobs", "1", "-q"]


@dataclass(frozen=True)
class Command:
    """A command that writes: its words, its results, and whether --resume continues it."""

    words: Sequence[str]
    results: Sequence[str]
    resumes: bool = False


COMMANDS = {
    "fit": Command(["fit", "t.csv", "-m", "out/m", "-q", *QUICK], ["m"]),
    "score-csv": Command(["score", "model", "t.csv", "-o", "out/s.csv", *READ], ["s.csv"], resumes=True),
    "score-parquet": Command(["score", "model", "t.csv", "-o", "out/s.parquet", *READ], ["s.parquet"]),
    "score-jsonl": Command(["score", "model", "t.csv", "-o", "out/s.jsonl", *READ], ["s.jsonl"], resumes=True),
    "detect": Command(
        ["detect", "t.csv", "-o", "out/s.csv", "-m", "out/m", "--report", "out/r.html", "-q", *QUICK],
        ["s.csv", "m", "r.html"],
    ),
    "report": Command(["report", "model", "t.csv", "-o", "out/r.html", *READ], ["r.html"]),
    "export": Command(["export", "model", "-o", "out/m.onnx", "-q"], ["m.onnx"]),
    "embed": Command(["embed", "t.csv", "-o", "out/e.csv", "-m", "out/f", "--steps", "20", *READ], ["e.csv", "f"]),
    "cluster": Command(["cluster", "t.csv", "-o", "out/c.csv", "-m", "out/f", "--steps", "20", *READ], ["c.csv", "f"]),
}


def in_fork(words: Sequence[str], number: int, kind: int, injector: ctypes.CDLL) -> tuple[int, str, int]:
    """Run a command in a child. Returns its status, what it has said, and how many calls there were."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        injector.fault_arm(number, kind, os.fsencode(os.path.abspath("out")))
        done = CliRunner().invoke(app, list(words))
        told = f"{injector.fault_calls()}\n{done.exit_code}\n{done.output}"
        injector.fault_arm(0, COUNT, b"")
        os.write(write, told.encode()[:4000])
        os._exit(done.exit_code if done.exit_code in (0, 1) else 3)
    os.close(write)
    said = b""
    while part := os.read(read, 65_536):
        said += part
    os.close(read)
    status = os.waitpid(child, 0)[1]
    calls, _, rest = said.decode(errors="replace").partition("\n")
    return status, rest, int(calls or 0)


def contents() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path("out").iterdir()}


def begin(old: dict[str, bytes]) -> None:
    shutil.rmtree("out", ignore_errors=True)
    Path("out").mkdir()
    for name, content in old.items():
        (Path("out") / name).write_bytes(content)


def judge(command: Command, name: str, kind: str, number: int, whole: dict[str, bytes], injector: ctypes.CDLL) -> str:
    """One case. Returns what is wrong, or nothing."""
    old = dict.fromkeys(command.results, b"old")
    begin(old)
    status, said, _ = in_fork(command.words, number, KINDS[kind], injector)
    case = f"{name}, {kind} at call {number}"
    left = contents()
    for result in command.results:
        if left.get(result) not in (b"old", whole[result]):
            return f"{case}: '{result}' is neither old nor whole"
    if os.WIFSIGNALED(status):
        if os.WTERMSIG(status) != signal.SIGKILL:
            return f"{case}: signal {os.WTERMSIG(status)}"
    elif os.WEXITSTATUS(status) not in (0, 1):
        return f"{case}: exit code {os.WEXITSTATUS(status)}: {said}"
    elif os.WEXITSTATUS(status) == 0 and left != whole:
        return f"{case}: exit code 0, and {sorted(left)} of {sorted(whole)} differ"
    elif os.WEXITSTATUS(status) == 1 and ("should not have happened" in said or "rdplearn: " not in said):
        return f"{case}: told badly: {said}"
    again = [*command.words, "--resume"] if command.resumes and ".partial.json" in " ".join(left) else command.words
    status, said, _ = in_fork(again, 0, COUNT, injector)
    if status:
        return f"{case}: the next run ends with {status}: {said}"
    if contents() != whole:
        different = [name for name in {*whole, *contents()} if contents().get(name) != whole.get(name)]
        return f"{case}: after the next run {different} differ"
    return ""


def main() -> None:
    library, folder, name, n_cases = sys.argv[1:]
    os.chdir(folder)
    injector = ctypes.CDLL(library)
    command = COMMANDS[name]
    # Small batches, each noted down: many calls, and many places to go on from.
    reading.FEWEST_ROWS = reading.MOST_ROWS = ROWS_OF_A_BATCH
    resumable.SECONDS_BETWEEN_ENTRIES = 0.0
    begin({})
    CliRunner().invoke(app, list(command.words))  # so that forks find everything imported and compiled
    begin({})
    status, said, n_calls = in_fork(command.words, 0, COUNT, injector)
    assert status == 0, said
    whole = contents()
    assert sorted(whole) == sorted(command.results), sorted(whole)
    begin({})
    in_fork(command.words, 0, COUNT, injector)
    assert contents() == whole, "two runs without faults differ"
    cases = [(kind, number) for number in range(1, n_calls + 1) for kind in KINDS]
    rng = random.Random(name)
    chosen = sorted(rng.sample(cases, min(int(n_cases), len(cases))))
    wrong = [fault for kind, number in chosen if (fault := judge(command, name, kind, number, whole, injector))]
    print(json.dumps({"calls": n_calls, "faults": len(chosen), "wrong": wrong}))  # noqa: T201


if __name__ == "__main__":
    main()
