"""A disk that is really full: a small file system of memory, filled up to so many bytes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.faults.checking import Trial
from tests.faults.commands import commands, contents, fresh, inputs
from tests.faults.disk import Fault, FaultyDisk
from tests.files.test_atomic import mounted
from tests.soak.conftest import Record

BLOCK, FINE = 4096, 8 * 4096
RESUMABLE = (".partial", ".partial.json")


def fill(disk: Path, room: int) -> Path:
    """Leave so many bytes on a disk."""
    free = os.statvfs(disk)
    filler = disk / "filler"
    with open(filler, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, free.f_bavail * free.f_frsize - room)
    return filler


def wrong_with(room: int, trial: Trial, place: Path) -> tuple[str | None, bool]:
    """What is wrong with a command that finds so much room, if anything; and whether the room was enough."""
    fresh(trial.command, trial.given, trial.folder)
    filler = fill(place, room)
    ended = trial.disk.run(trial.command.words(trial.folder), trial.folder)
    filler.unlink()
    left = {name for name in contents(trial.folder) if not name.endswith(RESUMABLE)} - set(trial.whole)
    if left:
        return f"{room} bytes: it left {left}", False
    if ended.exit_code and "Make room" not in ended.said:
        return f"{room} bytes: it said {ended.said}", False
    what = trial.wrong_after(Fault.FULL, ended)
    return what and f"{room} bytes: {what}", ended.exit_code == 0


@pytest.mark.parametrize("name", commands())
def test_a_full_disk_leaves_old_or_whole_files(name: str, tmp_path: Path, record: Record):
    given, place = tmp_path / "given", tmp_path / "disk"
    given.mkdir()
    place.mkdir()
    inputs(given)
    with mounted(place, "size=64m"), FaultyDisk(tmp_path, [name]) as disk:
        trial = Trial(disk, commands()[name], given, place / "work")
        wrong, n_full, room, is_enough = [], 0, 0, False
        while not is_enough:
            what, is_enough = wrong_with(room, trial, place)
            wrong += [what] if what else []
            n_full += not is_enough
            room = room + BLOCK if room < FINE else 2 * room
            assert room < 2**25, wrong
    assert wrong == []
    assert n_full > 0
    record(f"Full disk, {name}", times_full=n_full, lost_or_mixed=0, left_behind=0)
