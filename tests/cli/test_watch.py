"""`rdplearn watch`: words, JSON, a page, and exit code 3 when a refit is due."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import QUICK, sales


def test_the_same_table_is_not_called_changed(run, model, table):
    result = run("watch", model, table)
    assert "No refit is due" in result.stdout
    assert "amount" in result.stdout


def test_a_changed_table_ends_with_exit_code_3(run, model, tmp_path):
    changed = tmp_path / "changed.csv"
    changed.write_text(sales().replace("Oslo", "Bergen"))
    result = run("watch", model, changed, "--report", tmp_path / "changes.html", exit_code=3)
    assert "A refit is due: 1 column has changed" in result.stdout
    assert "such as 'Bergen'" in result.stdout
    assert "A refit is due" in (tmp_path / "changes.html").read_text()


def test_json_is_for_programs(run, model, table):
    told = json.loads(run("watch", model, table, "--json").stdout)
    assert told["due"] is False
    assert {"alarms", "scores", "columns", "summary", "level"} <= set(told)
    assert told["alarms"]["p_value"] > 0.01


def test_a_column_gone_is_a_verdict_and_no_fault(run, model, tmp_path):
    short = tmp_path / "short.csv"
    short.write_text("\n".join(line.rpartition(",")[0].rpartition(",")[0] for line in sales().splitlines()))
    result = run("watch", model, short, exit_code=3)
    assert "sold is not there any more" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(["--report", "page.txt"], "must end in .html"), (["--level", "2"], "--level")],
)
def test_wrong_options_are_told(run, model, table, arguments, told):
    code = 2 if "--level" in arguments else 1
    assert told in run("watch", model, table, *arguments, exit_code=code).output


def test_long_training_is_not_repeated(run, table, tmp_path):
    target = tmp_path / "long.safetensors"
    run("fit", table, "-m", target, "--members", "1", "--rounds", "1", "--steps", "1001", "--id", "order")
    assert "remembers no scores" in run("watch", target, table).stdout


def test_a_model_goes_on_with_a_new_table(run, table, tmp_path):
    first, changed = tmp_path / "model.safetensors", tmp_path / "changed.csv"
    run("fit", table, "-m", first, "--id", "order", "--ignore", "fraud", *QUICK)
    changed.write_text(sales().replace("Oslo", "Bergen"))
    before = first.read_bytes()
    told = run("fit", changed, "--update", first, "-m", tmp_path / "second.safetensors", "--jobs", "1").stdout
    assert "1 members have been renewed" not in told
    assert "1 member has been replaced so far." in told
    assert "600 rows" in told
    assert first.read_bytes() == before
    run("fit", changed, "--update", first, "--jobs", "1")
    assert first.read_bytes() == (tmp_path / "second.safetensors").read_bytes()
    assert json.loads(run("watch", first, changed, "--json", exit_code=3).stdout)["alarms"] is not None


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "--model"),
        (["--update", "MODEL", "--members", "3"], "is fixed in the model that --update names"),
        (["--update", "MODEL", "--id", "order"], "has no effect with --update"),
    ],
)
def test_what_cannot_be_updated_is_told(run, model, table, arguments, told):
    named = [model if argument == "MODEL" else argument for argument in arguments]
    assert told in " ".join(run("fit", table, *named, exit_code=2).output.split())
