"""One command for everything: an estimate, the runs, the page; and lines that can be had again."""

from __future__ import annotations

import math

import numpy as np
import pytest
from experiments.__main__ import app
from experiments.evaluation import evaluate
from experiments.machine import describe_machine
from typer.testing import CliRunner

from experiments import datasets, framework_figure, reproduction, results, runs, tables


def test_quick_reproduction_in_under_two_minutes_of_processor_time(tmp_path):
    arguments = ["reproduce", "--budget", "quick", "--results", str(tmp_path)]
    outcome = CliRunner().invoke(app, arguments)
    assert outcome.exit_code == 0, outcome.output
    lines = list(results.read(tmp_path))
    assert {line["task"] for line in lines} == {"detection", "clustering", "classification"}
    assert {line["status"] for line in lines} == {"done"}
    assert sum(line["cpu_seconds"] for line in lines) < 90  # beside imports and statements
    page = (tmp_path / "results.md").read_text()
    assert "sklearn/breast_cancer" in page
    assert "## Statements" in page
    again = CliRunner().invoke(app, arguments)
    assert "0 of" in again.output
    assert len(list(results.read(tmp_path))) == len(lines)


def test_the_estimate_is_of_what_is_missing_and_by_what_runs_took():
    run = runs.Run("detection", "AE", {"n_members": 30}, "bank", 0, None)
    line = {"task": "detection", "method": "AE", "data": "bank", "seed": 5, "status": "done", "cpu_seconds": 60.0,
            "config": {"n_members": 5}, "time_limit": None}  # fmt: skip
    stage = reproduction.Stage(
        "detection", [run, runs.Run("detection", "AE", {"n_members": 30}, "bank", 1, None)], None
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets, "is_here", lambda name: True)
        told = reproduction.estimate([stage], [line])
        assert (told.n_planned, told.n_missing, told.n_unknown) == (2, 2, 0)
        assert told.hours == pytest.approx(2 * 6 * 60 / 3600)
        done = {**line, "seed": 0, "config": {"n_members": 30}, "cpu_seconds": 360.0}
        assert reproduction.estimate([stage], [line, done]).n_missing == 1
    assert str(told).startswith("2 of 2 runs are missing, about 12 minutes of processor time")


def test_the_estimate_reckons_with_steps_where_no_run_had_as_many():
    """The page said 34 minutes for what takes hours: ten times the steps cost ten times as much."""
    short = {"preset": "paper", "n_components": 1_024, "n_steps": 3_000, "learning_rate": 1.0}
    full = {"preset": "paper", "n_components": 1_024}  # the preset's own 30,000

    def line(config, seconds, method="RDP features without L_rdp"):
        return {"task": "clustering", "method": method, "data": "olivetti", "cpu_seconds": seconds, "config": config}

    def run(config, method="RDP features without L_rdp", data="olivetti"):
        return runs.Run("clustering", method, config, data, 1, None)

    assert reproduction.Costs([line(short, 40.0)]).seconds(run(full)) == pytest.approx(400)
    both = reproduction.Costs([line(short, 40.0), line(full, 390.0)])
    assert (both.seconds(run(full)), both.seconds(run(short))) == (390, 40)  # a run like it tells best
    wide = reproduction.Costs([line({"n_wide": 5_120, "n_steps": 3_000}, 500.0, "Doc2Vec+RDP")])
    assert wide.seconds(run({"n_wide": 10_240, "n_steps": 3_000}, "Doc2Vec+RDP", "20news")) == pytest.approx(1_000)


def test_first_runs_of_every_table_come_first_and_cheap_ones_before_dear_ones():
    def run(data, seed):
        return runs.Run("detection", "AE", {"n_members": 30}, data, seed, None)

    lines = [{"task": "detection", "method": "AE", "data": data, "cpu_seconds": seconds, "config": {"n_members": 5}}
             for data, seconds in (("census", 50.0), ("bank", 10.0))]  # fmt: skip
    costs = reproduction.Costs(lines)
    assert costs.seconds(run("census", 0)) == pytest.approx(300)
    assert costs.seconds(run("lung", 0)) == pytest.approx(180)  # of a set without a line: the method's median
    stages = [
        reproduction.Stage("a", [run(data, seed) for seed in (0, 1) for data in ("census", "bank")], None),
        reproduction.Stage("b", [run("lung", 0)], None),
    ]
    turns = reproduction.in_turns(stages, costs)
    assert [turn.name for turn in turns] == ["a, run 1", "b, run 1", "a, run 2"]
    assert [one.data for one in turns[0].planned] == ["bank", "census"]
    assert sum(len(turn.planned) for turn in turns) == 5


def test_the_paper_s_budget_has_ten_runs_of_every_table(tmp_path):
    stages = reproduction.stages(tmp_path, quick=False, n_runs=reproduction.PAPER_RUNS)
    planned = [run for stage in stages for run in stage.planned]
    assert {run.seed for run in planned} == set(range(10))
    assert len({run.key for run in planned}) == len(planned)


@pytest.mark.data
def test_what_is_missing_is_counted_by_cell():
    """Every cell has no run of the paper's size, one, or more; what has none costs less than what has not ten."""
    gaps = reproduction.gaps(results.read(results.RESULTS))
    assert [gap.name for gap in gaps] == list(tables.NAMES)
    for gap in gaps:
        assert sum(gap.n_by_runs) == gap.n_cells
        assert bool(gap.hours_for_one) == bool(gap.n_by_runs[0])
        assert gap.hours_for_one <= gap.hours_for_all


CHEAP = (("detection", "RDP, 1 layer", "u2r"), ("clustering", "SRP", "sector_part"), ("detection", "iForest", "lung"))


@pytest.mark.data
@pytest.mark.parametrize(("task", "method", "data"), CHEAP)
def test_a_line_can_be_had_again_to_the_last_digit(task, method, data):
    if not datasets.is_here(data):
        pytest.skip(f"{data} is not in RDPLEARN_DATA")
    lines = [
        line for line in results.read(results.RESULTS)
        if (line["task"], line["method"], line["data"], line["status"]) == (task, method, data, "done")
    ]  # fmt: skip
    # a line of another kind of processor agrees less far; those before machines were recorded may be of any
    here = describe_machine()["processor"]
    line = max(lines, key=lambda line: line.get("machine", {}).get("processor") == here)
    same = line.get("machine", {}).get("processor") == here
    again = evaluate(task, method, line["config"], data, line["seed"])
    assert again["data_sha256"] == line["data_sha256"]
    for name, value in line["metrics"].items():
        assert math.isclose(again["metrics"][name], value, rel_tol=0 if same else 1e-6, abs_tol=0)


def test_the_framework_is_drawn_as_svg(tmp_path):
    framework_figure.draw_framework(tmp_path / "framework.svg")
    text = (tmp_path / "framework.svg").read_text()
    assert text.startswith("<svg")
    for words in ("φ(xᵢ; Θ)", "η(xⱼ)", "L_rdp", "L_aux"):
        assert words in text


def test_the_voices_of_the_default_are_drawn(tmp_path):
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    framework_figure.draw_members(tmp_path / "members.svg")
    assert "never trained" in (tmp_path / "members.svg").read_text()
    framework_figure.draw_voices(tmp_path / "voices.png", n_rows=200, n_places=10)
    assert (tmp_path / "voices.png").stat().st_size > 10_000


def test_distances_find_the_hole_of_a_ring():
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 500)
    ring = np.c_[np.cos(angle), np.sin(angle)]
    ranks = framework_figure.voice_ranks(ring, np.vstack([[[0.0, 0.0]], ring[:99]]))
    assert ranks["distance"][0] == ranks["both"][0] == 99


def test_digits_are_mapped_by_three_spaces(tmp_path):
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    shares = framework_figure.draw_digits(tmp_path / "digits.svg", n_rows=300, n_steps=100)
    assert list(shares) == ["raw pixels", "RDPTransformer.paper()", "RDPTransformer()"]
    assert min(shares.values()) > 0.7
