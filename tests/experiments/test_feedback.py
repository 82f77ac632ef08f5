"""The experiment on answers counts what it says it counts, and its page comes from its lines."""

from __future__ import annotations

import numpy as np
from experiments.feedback import answering, command, page
from experiments.feedback.command import app, key_of
from experiments.feedback.entrants import ENTRANTS, Unmoved
from typer.testing import CliRunner

from experiments import results


def test_without_feedback_the_top_rows_are_counted():
    labels = np.zeros(300, dtype=bool)
    labels[::10] = True
    figures = answering.play(Unmoved(np.arange(300.0)), labels, wrong=0.0, seed=0)
    assert (figures["found_20"], figures["found_60"], figures["found_200"]) == (2, 6, 20)
    assert figures["auc_pr"] == figures["auc_pr_unanswered"]


def test_wrong_answers_are_wrong_and_what_is_found_is_counted_rightly():
    said: list[bool] = []

    class Listening(Unmoved):
        def tell(self, place: int, *, is_anomalous: bool) -> None:
            said.append(is_anomalous)

    labels = np.arange(400) >= 200
    figures = answering.play(Listening(np.arange(400.0)), labels, wrong=0.2, seed=0)
    assert figures["found_200"] == 200
    assert 20 < said.count(False) < 60


def test_a_fifth_fewer_is_clearly_fewer():
    assert page.is_clearly_fewer(4, 5)
    assert not page.is_clearly_fewer(9, 10)
    assert not page.is_clearly_fewer(0, 0)


def test_answers_help_on_a_planted_table_and_the_run_can_be_continued(folders, tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    rows = random.normal(size=(400, 4))
    rows[:40, 0] += 5  # strange and fine
    rows[40:70, 1] -= 4
    (folders / "data" / "adbench").mkdir()
    np.savez(folders / "data" / "adbench" / "planted.npz", X=rows, y=np.isin(np.arange(400), np.arange(40, 70)))
    path = tmp_path / "lines.jsonl"
    arguments = ["run", "--answers", "60", "--results", str(path), "--methods"]
    for methods, wrong in (("RDP;RDP, answered;IsolationForest", "0"), ("RDP, answered", "0.1")):
        outcome = CliRunner().invoke(app, [*arguments, methods, "--wrong", wrong])
        assert outcome.exit_code == 0, outcome.output
    before = lines = list(results.read_file(path))
    found = {key_of(line)[0]: line["found_60"] for line in lines if line["wrong"] == 0}
    assert found["RDP, answered"] > found["RDP"]
    CliRunner().invoke(app, [*arguments, "RDP"])
    assert list(results.read_file(path)) == lines
    # forests of coniferest are not installed for tests: their lines are as RDP's
    as_forests = [{**line, "method": name} for line in lines if line["method"] == "RDP" for name in page.RIVALS]
    for chosen_on, column in ((set(), "judged on"), ({"adbench/planted"}, "chosen on")):
        told = page.page([*lines, *as_forests], chosen_on)
        assert f"| | wanted | all: 1 sets | {column}: 1 sets |" in told
        assert "| found in 60 answers, as a multiple of what is found without answers | 1.9 | " in told
        assert "on average over 1 sets: **" in told
        assert f"## Of these, {column}: 1\n" in told
    assert set(ENTRANTS) >= {line["method"] for line in lines}
    # after a change of RDP its lines are replaced, and no others; what a stopped run has done is not done again
    results.append(path, {**lines[0], "wrong": 0.5})
    monkeypatch.setattr(command, "RENEWED", (("RDP, answered", 0.0, 60, 1), ("RDP, answered", 0.1, 60, 1)))
    for commits in (["new", "new"], ["new", "new"], ["newer", "newer"]):
        monkeypatch.setattr(command.runs, "commit_of", lambda folder, commit=commits[0]: commit)
        written = tmp_path / "page.md"
        outcome = CliRunner().invoke(app, ["renew", "--results", str(path), "--output", str(written)])
        assert outcome.exit_code == 0, outcome.output
        renewed = list(results.read_file(path))
        assert len(renewed) == len(lines) + 1
        assert [line["commit"] for line in renewed if line["method"] == "RDP, answered"] == commits
        assert outcome.output.count("found in 60 answers") == (0 if renewed == before else 2)
        assert written.read_text().startswith("# What answers are worth")
        before = renewed
