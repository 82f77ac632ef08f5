"""Every nasty table, through the command line: a result, or one line on stderr and exit code 1. Never a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import QUICK, Run
from tests.table.nasty_tables import NASTY


@pytest.mark.parametrize("name", NASTY)
def test_detect_on_a_nasty_table_ends_well(name: str, run: Run, tmp_path: Path):
    make, outcome = NASTY[name]
    path = tmp_path / name
    make(path)
    if not isinstance(outcome, list):
        result = run("detect", path, "-q", exit_code=1)  # `inspect` shows what it can
        assert result.stderr.startswith("rdplearn: ")
        assert result.stderr.count("\n") == 1
        return
    assert json.loads(run("inspect", path, "-q", "--json").stdout)["n_features"] == len(outcome)
    if len(outcome) < 200:  # the widest take long to train
        facts = json.loads(run("detect", path, "-q", "--json", *QUICK).stdout)
        assert facts["n_rows"] > 0
        assert facts["top"]
