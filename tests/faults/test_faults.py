"""Faults of the disk at calls of commands that write: some of them here, all of them in `make soak PART=faults`."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.checking import Trial
from tests.faults.commands import commands, inputs
from tests.faults.disk import Fault, FaultyDisk

N_CASES = {"score csv": 16, "tell": 8, "watch": 8}


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyDisk]:
    with FaultyDisk(tmp_path_factory.mktemp("disk"), list(N_CASES)) as disk:
        yield disk


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("given")
    inputs(folder)
    return folder


@pytest.mark.xdist_group("faults")
@pytest.mark.parametrize("name", N_CASES)
def test_a_fault_leaves_old_or_whole_files_and_the_second_try_is_exact(
    name: str, disk: FaultyDisk, given: Path, tmp_path: Path
):
    trial = Trial(disk, commands()[name], given, tmp_path / "work")
    drawn = random.Random(0).sample(trial.cases(), N_CASES[name])
    assert {fault for _, _, fault in trial.cases()} == set(Fault) - {Fault.NONE}
    assert [what for case in drawn if (what := trial.wrong(*case))] == []


@pytest.mark.xdist_group("faults")
def test_a_table_that_cannot_be_read_in_the_middle_gives_no_verdict(disk: FaultyDisk, given: Path, tmp_path: Path):
    trial = Trial(disk, commands()["watch"], given, tmp_path / "work")
    reads = [case for case in trial.cases() if case[1].name == "read"]
    assert len(reads) > 3
    assert [what for case in reads if (what := trial.wrong(*case))] == []
