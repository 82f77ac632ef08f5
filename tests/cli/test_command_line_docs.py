"""The sessions of docs/command_line.md and docs/sql.md, and the blocks of docs/model_files.md run as they stand."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
# Scores and estimates differ in their last digits between processors; columns are aligned by what stands in them.
NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?:e-?\d+)?(?![\w])|(?<=about )\d+(?=%)")


def sessions(page: str) -> list[tuple[str, str]]:
    """Commands and what they print."""
    found = []
    for block in re.findall(r"```\n(\$ .*?)```", page, flags=re.DOTALL):
        for part in block.split("$ ")[1:]:
            command, _, printed = part.partition("\n")
            found.append((command, printed))
    return found


def simplified(text: str) -> list[str]:
    """Lines without rules and surplus blanks, scores as X."""
    lines = [" ".join(NUMBER.sub("X", line).split()) for line in text.splitlines()]
    return sorted(line for line in lines if line.strip("─ "))


@pytest.mark.parametrize("page", ["command_line.md", "sql.md"])
def test_the_sessions_run_as_they_stand(page: str, tmp_path: Path):
    if page == "sql.md":
        pytest.importorskip("adbc_driver_sqlite", reason="databases need rdplearn[sql]")
    commands = sessions((DOCS / page).read_text())
    assert len(commands) >= 8
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    for name, arguments in {"rdplearn": "-m rdplearn.cli", "python": ""}.items():
        program = bin_folder / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {arguments} "$@"\n')
        program.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    surroundings = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "COLUMNS": "160"}
    for command, printed in commands:
        done = subprocess.run(
            ["bash", "-c", command], cwd=work, env=surroundings, capture_output=True, text=True, check=False
        )
        assert simplified(done.stdout + done.stderr) == simplified(printed), command


def test_the_page_on_model_files_runs():
    results = doctest.testfile(str(DOCS / "model_files.md"), module_relative=False)
    assert results.attempted > 15
    assert results.failed == 0
