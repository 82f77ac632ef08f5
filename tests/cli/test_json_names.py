"""What docs/json.md says of `--json` is what the commands print."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from rdplearn.table import example_table
from tests.cli.conftest import Run

PAGE = Path(__file__).parents[2] / "docs" / "json.md"
TABLE = str(example_table())
COMMANDS = {
    "detect": [TABLE, "-o", "scores.csv"],
    "score": ["model", TABLE],
    "explain": ["model", TABLE, "--row", "4"],
    "inspect": [TABLE],
    "cluster": [TABLE, "-k", "3"],
    "embed": [TABLE, "-o", "features.csv"],
    "watch": ["model", TABLE],
    "review": ["model", TABLE, "--answers", "answers.csv"],
    "tell": ["model", "answers.csv", "-o", "answered"],
    "mute": ["answered", "answers.csv", "--row", "4", "-o", "quiet"],
    "inspect MODEL": ["quiet"],
    "export": ["model", "-o", "model.onnx"],
}
ELSEWHERE = {"report", "serve", "fit", "demo"}  # tested in other places, or below


def documented(command: str) -> dict[str, str]:
    """From the names of a command to what is said of them."""
    section = re.split(r"^## rdplearn ", PAGE.read_text(), flags=re.MULTILINE)
    table = next(part for part in section if part.startswith(f"{command}\n"))
    rows = re.findall(r"^\| (`.+?`) \| (.+) \|$", table, flags=re.MULTILINE)
    return {name: said for names, said in rows for name in re.findall(r"`(\w+)`", names)}


def check(command: str, printed: str) -> None:
    names, facts = documented(command), json.loads(printed)
    assert set(facts) <= set(names)
    assert {name for name, said in names.items() if not said.startswith(("with ", "if "))} <= set(facts)
    for name, fact in facts.items():  # names within a list or an object are those of the page, as far as it names any
        inner = fact[0] if isinstance(fact, list) and fact and isinstance(fact[0], dict) else fact
        told = re.findall(r"`(\w+)`", names[name].partition(": ")[2])
        if isinstance(inner, dict):
            assert set(told) <= set(inner), name


@pytest.fixture
def model(run: Run, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    check("fit", run("fit", TABLE, "-m", "model", "--json").stdout)


@pytest.mark.usefixtures("model")
def test_commands_print_the_names_of_the_page(run: Run):
    for command, arguments in COMMANDS.items():
        printed = run(command.split()[0], *arguments, "--json", "-q", stdin="nyq").stdout
        check(command, printed.splitlines()[-1])
    check("fit", run("fit", TABLE, "--update", "model", "--json", "-q").stdout)
    check("score", run("score", "quiet", TABLE, "--json", "-q").stdout)


def test_every_command_that_speaks_json_is_on_the_page(run: Run):
    commands = set(re.findall(r"^  (\w+) ", run("--help").stdout.partition("Commands:")[2], flags=re.MULTILINE))
    assert commands == {command.split()[0] for command in COMMANDS} | ELSEWHERE
