"""Faults at every call that changes a file, of every command that writes: old or whole, and the next run is exact."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import sales
from tests.soak.conftest import Record, sized
from tests.soak.fault_driver import COMMANDS

SOURCE = Path(__file__).parent / "faults.c"
FAULTS = 1200  # of all commands


@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("cc"), reason="needs Linux and a C compiler")
def test_faults_leave_the_old_or_the_whole_and_the_next_run_is_exact(model: Path, tmp_path: Path, record: Record):
    library = tmp_path / "faults.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, SOURCE, "-ldl"], check=True)
    total, seen = 0, {}
    wrong: list[str] = []
    for name in COMMANDS:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "t.csv").write_text(sales(400))
        shutil.copy(model, folder / "model")
        driver = [sys.executable, "-W", "ignore", "-m", "tests.soak.fault_driver", library, folder, name]
        done = subprocess.run(
            [*driver, str(sized(FAULTS // len(COMMANDS)))],
            env={**os.environ, "LD_PRELOAD": str(library)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        seen[name] = told["calls"]
        total += told["faults"]
        wrong += told["wrong"]
    assert wrong == []
    record("Faults in calls that change a file", commands=len(COMMANDS), calls=sum(seen.values()), faults=total, lost=0)
