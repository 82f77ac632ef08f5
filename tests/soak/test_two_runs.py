"""Two runs of a command at once that write to one name: the result is that of one of them, and never a mixture."""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rdplearn.cli.app import app
from tests.cli.conftest import sales
from tests.cli.test_kills import small_batches  # noqa: F401 - a fixture
from tests.faults.commands import ANSWERS, Command, commands, contents, fresh, inputs
from tests.soak.conftest import Record, sized

PAIRS = 20
TAKEN = "Another run is writing"
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def run_and_note(words: list[str], note: Path) -> None:
    done = CliRunner().invoke(app, words)
    note.write_text(done.output)
    os._exit(done.exit_code)


def started(words: list[str], note: Path) -> multiprocessing.Process:
    child = multiprocessing.get_context("fork").Process(target=run_and_note, args=(words, note))
    child.start()
    return child


def at_once(first: list[str], second: list[str], wait: float, notes: Path) -> list[str]:
    """Run two commands, the second a little later. Returns "done" or "taken" for each."""
    children = [started(first, notes / "first")]
    time.sleep(wait)
    children.append(started(second, notes / "second"))
    told = []
    for child, name in zip(children, ("first", "second"), strict=True):
        child.join()
        said = (notes / name).read_text()
        assert child.exitcode == 0 or (child.exitcode == 1 and TAKEN in said), (child.exitcode, said)
        told.append("done" if child.exitcode == 0 else "taken")
    assert "done" in told
    return told


def on_other_rows(command: Command) -> Command:
    """The same command, which reads other files and writes the same."""
    line = command.line
    for name in ("sales.csv", "answers.csv"):
        line = line.replace(f"{{0}}/{name}", f"{{0}}/other-{name}")
    if "sales.csv" not in line and "answers.csv" not in line:
        line = line.replace("{0}/model", "{0}/other-model")
    return replace(command, line=line)


def one_after_the_other(order: list[Command], given: Path, folder: Path) -> dict[str, bytes]:
    fresh(order[0], given, folder)
    for command in order:
        assert CliRunner().invoke(app, command.words(folder)).exit_code == 0
    return {written: contents(folder)[written] for written in order[0].writes}


@pytest.mark.parametrize("name", commands())
def test_two_runs_at_once_do_not_mix(name: str, tmp_path: Path, record: Record, small_batches: None):  # noqa: F811
    given, folder = tmp_path / "given", tmp_path / "work"
    given.mkdir()
    inputs(given)
    (given / "other-sales.csv").write_text(sales(200, frauds=(7,)).replace("A0", "B0"))
    (given / "other-answers.csv").write_text(ANSWERS.replace("normal", "unsure").replace("Oslo", "Rome"))
    fit = f"fit {given}/other-sales.csv -m {given}/other-model --ignore order --steps 30 --members 2 --jobs 1 -q"
    assert CliRunner().invoke(app, fit.split()).exit_code == 0
    both = [commands()[name], on_other_rows(commands()[name])]
    alone = []
    for command in both:
        fresh(command, given, folder)
        start = time.monotonic()
        assert CliRunner().invoke(app, command.words(folder)).exit_code == 0
        alone.append(contents(folder))
        seconds = time.monotonic() - start
    assert alone[0] != alone[1], "the two write the same: nothing could be mixed"
    possible = [{written: files[written] for written in both[0].writes} for files in alone]
    if any((given / written).exists() for written in both[0].writes):  # the second may go on from what the first wrote
        possible += [one_after_the_other(order, given, folder) for order in (both, both[::-1])]
    tally, rng = Counter(done=0, taken=0), random.Random(0)
    for _ in range(sized(PAIRS)):
        fresh(both[0], given, folder)
        words = [[word for word in command.words(folder) if word != "--resume"] for command in both]
        rng.shuffle(words)
        tally.update(at_once(*words, rng.uniform(0, seconds / 2), tmp_path))
        found = contents(folder)
        assert set(found) == set(alone[0]), "something was left behind, or is missing"
        assert {written: found[written] for written in both[0].writes} in possible, "a mixture of both"
    record(f"Two runs at once, {name}", pairs=sized(PAIRS), **tally, mixed=0)
