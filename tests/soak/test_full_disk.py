"""A disk that is really full, and two runs at once on one target: an error that says so, and nothing half-written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import sales
from tests.soak.conftest import Record
from tests.soak.fault_driver import COMMANDS

PROGRAM = [sys.executable, "-W", "ignore", "-m", "rdplearn.cli"]
ROOM = 64 * 1024


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "out"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", place], capture_output=True)
    if mounted.returncode:
        pytest.skip("needs the right to mount a small disk")
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


def prepare(folder: Path, model: Path) -> None:
    (folder / "t.csv").write_text(sales(3000))
    shutil.copy(model, folder / "model")


def test_a_disk_that_is_full_is_told_and_leaves_nothing(model: Path, tmp_path: Path, small_disk: Path, record: Record):
    prepare(tmp_path, model)
    n_full = 0
    for name, command in COMMANDS.items():
        (small_disk / "ballast").write_bytes(b"x" * (ROOM - 4096))
        done = subprocess.run([*PROGRAM, *command.words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 1, name
        assert "the disk is full. Make room" in done.stderr, name
        assert done.stderr.count("\n") == 1, done.stderr
        assert not set(command.results) & set(os.listdir(small_disk)), name
        n_full += 1
        for left in small_disk.iterdir():
            left.unlink()
    record("A disk that is full", commands=n_full, half_written=0)


def test_two_runs_on_one_target_end_as_one(model: Path, tmp_path: Path, record: Record):
    prepare(tmp_path, model)
    (tmp_path / "out").mkdir()
    refused = 0
    for name, command in COMMANDS.items():
        words = [*PROGRAM, *command.words]
        subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
        whole = {result: (tmp_path / "out" / result).read_bytes() for result in command.results}
        both = [subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        told = [run.communicate()[1] for run in both]
        codes = [run.returncode for run in both]
        assert 0 in codes, (name, told)
        assert all(code == 0 or "Another run" in text for code, text in zip(codes, told, strict=True)), (name, told)
        refused += codes.count(1)
        assert {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()} == whole, name
        for left in (tmp_path / "out").iterdir():
            left.unlink()
    record("Two runs on one target", commands=len(COMMANDS), refused=refused, mixed=0)
