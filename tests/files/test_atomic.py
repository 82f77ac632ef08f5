"""Files are written whole or not at all, under names that nobody can plant a link at, and leave nothing behind."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import rdplearn
from rdplearn._files.atomic import checked_target, open_own, remove_left_overs, written_whole
from rdplearn._results.resumable import GrowingFile

BATCH = pa.record_batch({"row": list(range(50_000))})


def names_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_the_temporary_name_is_new_every_time_and_ours_alone(tmp_path: Path):
    seen = set()
    for _ in range(3):
        with written_whole(tmp_path / "a.txt") as temporary:
            assert temporary.stat().st_nlink == 1
            seen.add(temporary.name)
            temporary.write_text("a")
    assert len(seen) == 3
    assert not any(str(os.getpid()) == name.split(".")[-2] for name in seen)


def test_a_file_that_is_there_is_never_taken_for_a_new_one(tmp_path: Path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / ".a.txt.0000000000000000.part").symlink_to(victim)
    monkeypatch.setattr("secrets.token_hex", lambda n: "0" * 2 * n)  # as if it had been guessed
    with pytest.raises(FileExistsError), written_whole(tmp_path / "a.txt") as temporary:
        temporary.write_text("x")
    assert victim.read_text() == "precious"


def test_two_that_write_at_once_do_not_mix(tmp_path: Path):
    path = tmp_path / "a.txt"
    with written_whole(path) as first:
        first.write_text("first")
        with written_whole(path) as second:  # nor does it take the first's for left over
            second.write_text("second")
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert names_in(tmp_path) == ["a.txt"]


def test_what_a_killed_program_has_left_is_removed_and_nothing_else(tmp_path: Path):
    others = [".a.txt.1234.part", ".b.txt.0123456789abcdef.part", "a.txt.partial", ".a.txt.0123456789abcdeX.part"]
    for name in [".a.txt.0123456789abcdef.part", *others]:
        (tmp_path / name).write_text("half")
    (tmp_path / "target").write_text("kept")
    (tmp_path / ".a.txt.aaaaaaaaaaaaaaaa.part").symlink_to(tmp_path / "target")
    remove_left_overs(tmp_path / "a.txt")
    assert names_in(tmp_path) == sorted([*others, "target", ".a.txt.aaaaaaaaaaaaaaaa.part"])
    assert (tmp_path / "target").read_text() == "kept"


@pytest.mark.parametrize("plant", ["link", "hard link", "pipe", "link to nothing"])
def test_a_planted_partial_is_refused(plant: str, tmp_path: Path):
    victim, partial = tmp_path / "victim", tmp_path / "scores.csv.partial"
    victim.write_text("precious")
    {
        "link": lambda: partial.symlink_to(victim),
        "hard link": lambda: partial.hardlink_to(victim),
        "pipe": lambda: os.mkfifo(partial),
        "link to nothing": lambda: partial.symlink_to(tmp_path / "nothing"),
    }[plant]()
    before = names_in(tmp_path)
    with pytest.raises(FileExistsError, match="nothing is written there"), GrowingFile(tmp_path / "scores.csv", {}):
        pass
    assert victim.read_text() == "precious"
    assert names_in(tmp_path) == before


def test_a_planted_journal_is_replaced_and_not_followed(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("rdplearn._results.resumable.SECONDS_BETWEEN_ENTRIES", 0.0)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    with GrowingFile(tmp_path / "scores.csv", {}) as file:
        file.journal.symlink_to(victim)
        file.add(BATCH, tally=[])
        assert not file.journal.is_symlink()
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_results_keep_the_mode_of_what_they_replace(ending: str, tmp_path: Path):
    path = tmp_path / f"scores.{ending}"
    path.write_text("old")
    path.chmod(0o640)
    with GrowingFile(path, {}) as file:
        assert stat.S_IMODE(file.partial.stat().st_mode) == 0o600  # nobody reads it meanwhile who could not before
        file.add(BATCH, tally=[])
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_folder_that_may_not_be_written_to_is_told_at_once(tmp_path: Path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    if os.geteuid() != 0:
        with pytest.raises(PermissionError, match="may not be written to"):
            checked_target(folder / "scores.csv")
        return
    with mounted(folder, "ro"), pytest.raises(PermissionError, match="may not be written to"):
        checked_target(folder / "scores.csv")


class mounted:  # noqa: N801 - reads as a phrase: with mounted(folder, "size=64k")
    """A small file system of memory."""

    def __init__(self, folder: Path, options: str) -> None:
        self.folder, self.options = folder, options

    def __enter__(self) -> None:
        command = ["mount", "-t", "tmpfs", "-o", self.options, "tmpfs", str(self.folder)]
        if shutil.which("mount") is None or subprocess.run(command, check=False, capture_output=True).returncode:
            pytest.skip("needs the right to mount")

    def __exit__(self, *_: object) -> None:
        subprocess.run(["umount", str(self.folder)], check=True)


@pytest.fixture(params=["full disk", "limit"])
def little_room(request, tmp_path: Path) -> Iterator[Path]:
    """A folder that takes no more than 64 kB: a full disk where root may mount one, or a limit on files."""
    if request.param == "full disk":
        folder = tmp_path / "full"
        folder.mkdir()
        with mounted(folder, "size=64k"):
            yield folder
        return
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
    try:
        yield tmp_path
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def write_much(path: Path) -> None:
    with GrowingFile(path, None) as file:
        for _ in range(4):
            file.add(BATCH, tally=[])


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_a_full_disk_is_told_with_the_path_and_what_to_do(ending: str, little_room: Path):
    path = little_room / f"scores.{ending}"
    path.write_text("old")
    with pytest.raises(OSError, match=rf"scores\.{ending}.*cannot be written: .*Make room"):
        write_much(path)
    assert path.read_text() == "old"
    assert not list(little_room.glob(".*"))


def test_a_model_that_does_not_fit_on_the_disk_is_told(little_room: Path):
    import numpy as np

    rows = np.random.default_rng(0).normal(size=(50, 600))
    transformer = rdplearn.RDPTransformer(n_components=64, n_steps=2, random_state=0).fit(rows)
    with pytest.raises(
        OSError, match=r"model\.safetensors' cannot be written: .*\. Make room, or pass another place\."
    ):
        rdplearn.save(transformer, little_room / "model.safetensors")
    assert names_in(little_room) == []


def test_a_file_that_cannot_be_made_is_told_by_the_name_of_the_result(tmp_path: Path):
    with pytest.raises(OSError, match=r"/a' cannot be written: no file can be made there\. Pass another place\."):
        open_own(tmp_path / "no" / "a.partial", like=tmp_path / "a")
    with pytest.raises(OSError) as caught:  # noqa: PT011 - the number is looked at
        open_own(tmp_path / ("a" * 300), like=tmp_path / "a")
    assert caught.value.errno == errno.ENAMETOOLONG
