"""Bits flipped in checkpoints and in what a stopped run has left: refused, or the result is the same to the bit."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest

from rdplearn import Checkpoint, CheckpointError, RDPDetector
from tests.cli.conftest import Run, model, run  # noqa: F401 - fixtures
from tests.cli.test_resume_state import small_batches, stopped  # noqa: F401 - fixtures
from tests.soak.conftest import Record, sized
from tests.soak.forks import in_fork
from tests.test_callbacks import QUICK, Interrupt, InterruptedFitError

FLIPS = 1000
ROWS = np.random.default_rng(0).normal(size=(200, 4)).astype(np.float32)


def fitted(folder: Path, *others: object) -> RDPDetector:
    callbacks = [Checkpoint(folder, every=1), *others]
    return RDPDetector(**QUICK, engine="numpy", callbacks=callbacks).fit(ROWS)


def flip(path: Path, rng: np.random.Generator) -> None:
    content = bytearray(path.read_bytes())
    content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
    path.write_bytes(content)


def go_on(folder: Path, expected: bytes) -> str:
    try:
        scores = fitted(folder).score_samples(ROWS).tobytes()
    except CheckpointError as fault:
        return "refused" if "\n" not in str(fault) else "an error of several lines"
    assert scores == expected, "it went on to something else"
    return "same"


def test_flipped_bits_of_a_checkpoint(tmp_path: Path, record: Record):
    warnings.simplefilter("ignore")
    expected = fitted(tmp_path / "whole").score_samples(ROWS).tobytes()
    with pytest.raises(InterruptedFitError):
        fitted(tmp_path / "begun", Interrupt(member=2, round=1))
    files = sorted(path.name for path in (tmp_path / "begun").iterdir() if path.stat().st_size)
    assert len(files) > 2
    rng, tally = np.random.default_rng(0), {"refused": 0, "same": 0}
    for number in range(sized(FLIPS)):
        folder = tmp_path / "flipped"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(tmp_path / "begun", folder)
        flip(folder / files[number % len(files)], rng)
        outcome = in_fork(lambda folder=folder: go_on(folder, expected), seconds=20)
        assert outcome.exit_code == 0, outcome
        tally[outcome.said] += 1
    assert tally["refused"] > 0
    record("Flipped bits, checkpoints", flips=sum(tally.values()), **tally, other_results=0, signals=0)


def test_flipped_bits_of_resume_state(
    stopped: tuple[list[object], bytes],  # noqa: F811
    tmp_path: Path,
    record: Record,
):
    from typer.testing import CliRunner

    from rdplearn.cli.app import app

    words, whole = [str(word) for word in stopped[0]], stopped[1]
    files = [tmp_path / "scores.csv.partial.json", tmp_path / "scores.csv.partial"]
    before = [file.read_bytes() for file in files]

    def resume() -> str:
        done = CliRunner().invoke(app, words)
        if done.exit_code == 1:
            assert "Start again" in done.stderr, done.stderr
            return "refused"
        assert (tmp_path / "scores.csv").read_bytes() == whole, "another result"
        return "same"

    rng, tally = np.random.default_rng(0), {"refused": 0, "same": 0}
    for number in range(sized(FLIPS)):
        (tmp_path / "scores.csv").unlink(missing_ok=True)
        for file, content in zip(files, before, strict=True):
            file.write_bytes(content)
        flip(files[number % 2], rng)
        outcome = in_fork(resume, seconds=20)
        assert outcome.exit_code == 0, outcome
        tally[outcome.said] += 1
    assert tally["refused"] > 0
    record("Flipped bits, resume state", flips=sum(tally.values()), **tally, other_results=0, signals=0)
