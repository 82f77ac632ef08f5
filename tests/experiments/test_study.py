"""The study of the default: plan, arrays, comparison, page."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from experiments.__main__ import app
from experiments.baselines.rdp import NAMES_OF_LINES
from experiments.study import comparison, page, plan, values
from experiments.study.entrants import (
    AS_IF_NARROW,
    AS_IF_TALL,
    CANDIDATES,
    DEFAULT,
    FOREST,
    GROUPS,
    PEERS,
    Entrant,
    Group,
    in_short,
)
from typer.testing import CliRunner

from experiments import datasets, runs
from rdplearn import RDPDetector

SETS = ("sklearn/breast_cancer", "sklearn/digits_0")


@pytest.fixture
def two_sets(monkeypatch):
    """A study of two small sets in place of 132."""
    monkeypatch.setattr(plan, "development_sets", lambda: list(SETS))


@pytest.fixture
def three_groups_of_sets(monkeypatch):
    """Two small sets for each group of the study."""
    groups = {name: list(page.GROUPS)[place % 3] for place, name in enumerate(datasets.names("sklearn")[:6])}
    monkeypatch.setattr(plan, "development_sets", lambda: list(groups))
    monkeypatch.setattr(plan, "group_of", groups.get)


def _record(run: runs.Run, auc_roc: float, auc_pr: float, **more):
    return {
        "task": run.task, "method": run.method, "config": run.config, "data": run.data, "seed": run.seed,
        "status": "done", "n_rows": 100, "n_anomalies": 10, "metrics": {"auc_roc": auc_roc, "auc_pr": auc_pr},
        "work_cpu_seconds": 0.5, **more,
    }  # fmt: skip


def _records_of_all(entrants):
    """Made-up results: the default is ahead of everyone, everywhere, by a different distance on each set."""
    rng = np.random.default_rng(0)
    records = []
    for entrant in entrants:
        ahead = 0.1 if entrant.label == DEFAULT else 0.0
        for seed in range(entrant.n_seeds):
            for run in (plan.run_of(entrant, name, seed) for name in plan.development_sets()):
                roc, pr = rng.uniform(0.6, 0.7, size=2) + ahead
                records.append(
                    _record(run, roc, pr, trust={"view_agreement": rng.uniform(), "stability": rng.uniform()})
                )
    return records


def _whole(name, value):
    return {"data": name, "n_rows": datasets.DETECTION[name].n_rows, "metrics": {"auc_roc": value, "auc_pr": value}}


def test_members_of_narrow_tables_are_the_default_on_narrow_tables():
    narrow, default = AS_IF_NARROW[0], CANDIDATES[1]  # the members with the novelty loss
    assert plan.run_of(narrow, "bank", 0).key == plan.run_of(default, "bank", 0).key
    assert plan.run_of(narrow, "lung", 0).key != plan.run_of(default, "lung", 0).key


def test_the_members_of_tall_tables_take_part_where_all_rows_do():
    default = CANDIDATES[1]  # the members with the novelty loss
    assert AS_IF_TALL in CANDIDATES
    assert plan.run_of(default, "bank", 0, whole=True).key == plan.run_of(AS_IF_TALL, "bank", 0, whole=True).key
    assert plan.run_of(default, "bank", 0).key != plan.run_of(AS_IF_TALL, "bank", 0).key


def test_every_entrant_has_a_name_of_its_own_and_none_runs_twice(two_sets):
    labels = [entrant.label for entrant in in_short()]
    assert len(set(labels)) == len(labels)
    for group in GROUPS.values():
        keys = [run.key for run in plan.plan(group, list(SETS))]
        assert len(set(keys)) == len(keys)


def test_a_line_of_rdp_names_all_parameters_that_matter():
    run = plan.run_of(Entrant("more", DEFAULT, {"n_members": 10}), "bank", 0)
    left_out = set(RDPDetector().get_params()) - set(run.config)
    assert left_out == {
        "contamination",
        "false_alarm_rate",
        "engine",
        "n_jobs",
        "random_state",
        "torch",  # under the names that it had when the lines were written
        "verbose",
    }
    assert set(NAMES_OF_LINES) <= set(run.config)
    assert run.config["n_members"] == 10
    assert json.loads(json.dumps(run.config)) == run.config


def test_runs_of_a_method_share_a_process_and_all_are_recorded(tmp_path, monkeypatch):
    monkeypatch.setenv("RDPLEARN_DATA", str(tmp_path))
    group = Group((PEERS[0], CANDIDATES[0]))
    planned = plan.plan(group, list(SETS), n_seeds=1)
    slow = runs.Run("detection", "iForest", {"n_trees": 2_000_000}, SETS[1], 0, 1.0)
    done = runs.work([planned[0], slow, *planned[1:]], tmp_path / "study.jsonl", together=True)
    assert (done.finished, done.failed) == (5, 0)
    records = [json.loads(line) for line in (tmp_path / "study.jsonl").read_text().splitlines()]
    assert [record["status"] for record in records] == ["done", "out of time", "done", "done", "done"]
    ours = [record for record in records if record["method"] == DEFAULT]
    assert all(-1 <= record["trust"]["view_agreement"] <= 1 for record in ours)
    assert all(record["work_cpu_seconds"] > 0 for record in records if record["status"] == "done")


def test_means_and_spread_are_over_seeds_and_incomplete_seeds_are_left_out(two_sets):
    entrant = Entrant("two seeds", "iForest", {}, 3)
    records = [_record(plan.run_of(entrant, name, seed), 0.6 + 0.2 * seed, 0.5) for seed in (0, 1) for name in SETS]
    records.append(_record(plan.run_of(entrant, SETS[0], 2), 0.0, 0.0))
    found = values.table([entrant, Entrant("not run", "ECOD")], records)
    assert [one.label for one in found.entrants] == ["two seeds"]
    np.testing.assert_allclose(found.of("two seeds"), [[0.7, 0.5], [0.7, 0.5]])
    np.testing.assert_allclose(found.spread[0, :, 0], np.sqrt(0.02) * np.sqrt(np.pi / 2))


def test_a_run_that_did_not_finish_counts_as_chance(two_sets):
    fast, slow = Entrant("fast", "iForest"), Entrant("slow", "MCD")
    records = [_record(plan.run_of(fast, name, 0), 0.9, 0.9) for name in SETS]
    for name in SETS:
        record = _record(plan.run_of(slow, name, 0), 0.8, 0.8)
        late = {"status": "out of time", "metrics": {}, "work_cpu_seconds": None, "n_anomalies": None}
        records.append({**record, **late} if name == SETS[0] else record)
    found = values.table([fast, slow], records)
    np.testing.assert_allclose(found.of("slow"), [[0.5, 0.1], [0.8, 0.8]])
    assert found.n_unfinished.tolist() == [0, 1]


def test_a_choice_by_luck_gains_nothing_where_it_was_not_made():
    luck = np.random.default_rng(0).normal(size=(40, 60, 2))
    corrected = comparison.selection_corrected(luck)
    assert corrected.seen.mean() > 0.2
    assert abs(corrected.unseen.mean()) < 0.1
    better = luck.copy()
    better[3] += 1.0
    corrected = comparison.selection_corrected(better)
    assert corrected.choices[3] > 0.95
    assert corrected.unseen.mean() > 0.7


def test_the_page_says_who_is_ahead_and_by_how_much(three_groups_of_sets, tmp_path, monkeypatch):
    records = _records_of_all(in_short())
    found = values.table(in_short(), records)
    text = page.page(found, [], [])
    ours = found.of(DEFAULT).mean(axis=0)
    assert f"| {DEFAULT} |" in text
    assert f"{ours[0]:.3f} / {ours[1]:.3f}" in text
    assert str(comparison.paired(found.of(DEFAULT)[:, 0], found.of(FOREST)[:, 0])) in text
    for heading in ("What is left of the choice", "Each number", "What predicting distances adds", "Spread over seeds"):
        assert f"## {heading}" in text
    spread = text.split("## Spread over seeds")[1].split("##")[0]
    assert [line.split("|")[1].strip() for line in spread.splitlines() if "x |" in line] == [
        FOREST, DEFAULT, "n_members=20", "n_members=40",
    ]  # fmt: skip
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    monkeypatch.setattr(plan, "FOLDER", tmp_path / "study")
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "all.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    answer = CliRunner().invoke(app, ["study", "report", "--output", str(tmp_path / "default.md")])
    assert answer.exit_code == 0, answer.output
    assert (tmp_path / "default.md").read_text() == text
    assert len(list((tmp_path / "figures").glob("*.svg"))) == 4


def test_the_page_names_the_kind_of_table_where_the_default_is_far_behind():
    found = SimpleNamespace(sets=["adbench/optdigits", "oddbench/near", "oddbench/new"])
    words = page._far_behind(found, np.array([-0.16, -0.15, -0.3]))
    assert words == (
        "Behind by more than 0.15: adbench/optdigits (pixels of handwritten digits), "
        "oddbench/new (a kind that nobody has looked at yet)."
    )
    assert page._far_behind(found, np.zeros(3)) == "Behind by more than 0.15: none."


def test_the_page_shows_what_members_of_their_own_give_wide_tables(three_groups_of_sets):
    found = values.table(in_short(), _records_of_all(in_short()))
    text = page.page(found, [_whole("lung", 0.9), _whole("bank", 0.8)], [_whole("lung", 0.7), _whole("bank", 0.8)])
    wide = text.split("## Wide tables")[1].split("##")[0]
    assert "| Lung | 145 x 3,312 | 0.900 / 0.900 | 0.700 / 0.700 | 0.982 / 0.705 |" in wide
    assert "Bank" not in wide


def test_the_page_shows_what_members_of_their_own_give_tall_tables(three_groups_of_sets):
    found = values.table(in_short(), _records_of_all(in_short()))
    lines = [[_whole("bank", value), _whole("celeba", value), _whole("lung", 0.5)] for value in (0.9, 0.8)]
    tall = page.page(found, *lines).split("## Tall tables")[1].split("##")[0]
    assert "| Bank | 41,188 x 62 | 0.900 / 0.900 | 0.800 / 0.800 | 0.758 / 0.364 |" in tall
    assert "| mean |  | 0.900 / 0.900 | 0.800 / 0.800 |  |" in tall
    assert "Lung" not in tall
    assert "sets with as many columns and fewer rows" in tall


def test_the_page_says_what_wide_tables_cost_beside_the_others(monkeypatch):
    monkeypatch.setattr(plan, "development_sets", lambda: ["bank", "lung"])
    entrants = [PEERS[0], CANDIDATES[0]]
    records = _records_of_all(entrants)
    for record in records:
        if record["data"] == "lung" and record["method"] == CANDIDATES[0].method:
            record["work_cpu_seconds"] = 6.0
    said = page._cost_by_width(values.table(entrants, records))
    assert "these 1 tables take 12 times IsolationForest's processor time, the other 1 together 1.00 times" in said


def test_an_unknown_group_is_refused_with_the_known_ones():
    answer = CliRunner().invoke(app, ["study", "run", "friends"])
    assert answer.exit_code == 2
    assert "all or one of peers, candidates" in " ".join(answer.output.replace("│", " ").split())


def test_a_page_without_the_default_s_results_is_refused(two_sets, tmp_path, monkeypatch):
    monkeypatch.setattr(plan, "FOLDER", tmp_path)
    answer = CliRunner().invoke(app, ["study", "report", "--output", str(tmp_path / "default.md")])
    assert answer.exit_code == 2
    assert "study run candidates" in " ".join(answer.output.replace("│", " ").split())
    assert not (tmp_path / "default.md").exists()
