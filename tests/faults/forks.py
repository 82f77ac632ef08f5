"""Forks for each command: python -m tests.faults.forks, with `faulty_disk.c` loaded before all else."""

from __future__ import annotations

import ctypes
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

import rdplearn._results.resumable
import rdplearn.table.reading
from rdplearn.cli.app import app
from tests.faults.commands import commands, inputs


def main() -> None:
    """Read requests, a line of JSON each; answer with the status of the process that did it."""
    rdplearn.table.reading.FEWEST_ROWS = rdplearn.table.reading.MOST_ROWS = 50  # several batches, and
    rdplearn._results.resumable.SECONDS_BETWEEN_ENTRIES = 0.0  # an entry in the journal after each
    with tempfile.TemporaryDirectory() as folder:
        inputs(Path(folder))
        for name in sys.argv[1:]:  # so that forks find everything imported and compiled
            CliRunner().invoke(app, commands()[name].words(Path(folder)))
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            run_and_leave(request)
        sys.stdout.write(f"{os.waitpid(child, 0)[1]}\n")
        sys.stdout.flush()


def run_and_leave(request: dict[str, Any]) -> None:
    said = Path(request["said"])
    said.unlink(missing_ok=True)
    ctypes.CDLL(None).faulty_disk_arm(
        request["folder"].encode(), ctypes.c_long(request["at"]), request["fault"], request["log"].encode()
    )
    done = CliRunner().invoke(app, request["words"])
    said.write_text(done.output)
    os._exit(done.exit_code)


if __name__ == "__main__":
    main()
