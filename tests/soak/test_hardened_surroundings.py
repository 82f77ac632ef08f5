"""Every command that writes, where little is allowed: the same results, and files that nobody else may read."""

from __future__ import annotations

import stat
import tempfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rdplearn.cli.app import app
from tests.cli.conftest import sales
from tests.faults.commands import Command, commands, contents, fresh, inputs
from tests.soak.conftest import Record
from tests.soak.hardened import WORK, run_hardened

LONG = 60_000  # rows, for which scores of many members are worth compiling
MANY = "--paper --members 30 --rounds 8 --steps 5 --jobs 1 -q"
STEPS = "--paper --members 2 --rounds 1 --steps 20000 --jobs 1"  # worth compiling, too


def all_commands() -> dict[str, Command]:
    return {
        **commands(),
        "compiled fit": Command("fit {0}/sales.csv -m {0}/new --ignore order", ("new",), tuple(STEPS.split())),
        "compiled score": Command("score {0}/many {0}/long.csv -o {0}/s.csv", ("s.csv",), ("--jobs", "1")),
    }


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("given")
    inputs(folder)
    (folder / "long.csv").write_text(sales(LONG))
    fit = f"fit {folder}/sales.csv -m {folder}/many --ignore order {MANY}"
    done = CliRunner().invoke(app, fit.split())
    assert done.exit_code == 0, done.output
    return folder


@pytest.mark.parametrize("name", all_commands())
def test_results_are_the_same_where_little_is_allowed(name: str, given: Path, tmp_path: Path, record: Record):
    command = all_commands()[name]
    with tempfile.TemporaryDirectory() as usual:
        fresh(command, given, Path(usual))
        done = CliRunner().invoke(app, command.words(Path(usual)))
        assert done.exit_code == 0, done.output
        expected = contents(Path(usual))
    work, hold = tmp_path / "work", tmp_path / "hold"
    hold.mkdir()
    fresh(command, given, work)
    new = [written for written in command.writes if not (given / written).exists()]
    for written in new:
        (work / written).unlink()
    ended = run_hardened(work, command.words(WORK), hold)
    assert ended.returncode == 0, ended.stderr
    assert contents(work) == expected
    assert {stat.S_IMODE((work / written).stat().st_mode) for written in new} <= {0o600}
    assert ended.stderr.count("NUMBA_CACHE_DIR") == ("compiled" in name), ended.stderr
    record(f"Hardened surroundings, {name}", files=len(command.writes), other_results=0)
