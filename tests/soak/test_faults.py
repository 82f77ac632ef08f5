"""Every fault of the disk at every call of every command that writes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.faults.checking import Trial
from tests.faults.commands import commands, inputs
from tests.faults.disk import KILLS, Fault, FaultyDisk
from tests.soak.conftest import Record, sized


@pytest.mark.parametrize("name", commands())
def test_faults_at_every_call(name: str, tmp_path: Path, record: Record):
    given = tmp_path / "given"
    given.mkdir()
    inputs(given)
    with FaultyDisk(tmp_path, [name]) as disk:
        trial = Trial(disk, commands()[name], given, tmp_path / "work")
        cases = trial.cases()
        drawn = [cases[place] for place in np.random.default_rng(0).permutation(len(cases))[: sized(len(cases))]]
        wrong = [what for case in drawn if (what := trial.wrong(*case))]
    assert wrong == []
    counts = Counter("kills" if fault in KILLS else fault.name.lower() for _, _, fault in drawn)
    assert set(counts) <= {"kills", *(fault.name.lower() for fault in Fault)}
    record(f"Faults of the disk, {name}", calls=len(trial.calls), faults=len(drawn), **counts, lost_or_mixed=0)
