"""The study of the default: plan, arrays, comparison, trial, page."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from experiments.__main__ import app
from experiments.study import comparison, page, plan, trial, values
from experiments.study.entrants import (
    CHOSEN,
    DEFAULT,
    FOREST,
    NEIGHBOURS,
    PEERS,
    TRIED,
    Entrant,
    forest_beside,
    trial_of,
)
from typer.testing import CliRunner

from experiments import clean_tables, datasets, gallery, runs

SETS = ["sklearn/breast_cancer", "sklearn/digits_0"]
OURS = replace(trial_of(CHOSEN, 3), label=DEFAULT)


@pytest.fixture
def six_sets(monkeypatch):
    """Six small sets in place of 484, of four sources."""
    sources = {name: list(page.SOURCES)[place % 4] for place, name in enumerate(datasets.names("sklearn")[:6])}
    monkeypatch.setattr(plan, "development_sets", lambda: list(sources))
    monkeypatch.setattr(plan, "source_of", lambda name: sources.get(name, "gallery"))


@pytest.fixture
def own_lines(monkeypatch, tmp_path):
    """A folder for result lines that nobody else has."""
    monkeypatch.setattr(plan, "FOLDER", tmp_path / "study")
    monkeypatch.setattr(plan, "TRIALS", tmp_path / "study" / "trials")
    (tmp_path / "study" / "trials").mkdir(parents=True)
    return tmp_path / "study"


def _record(run: runs.Run, auc_roc: float, auc_pr: float, **more):
    return {
        "task": run.task, "method": run.method, "config": run.config, "data": run.data, "seed": run.seed,
        "status": "done", "n_rows": 100, "n_anomalies": 10, "metrics": {"auc_roc": auc_roc, "auc_pr": auc_pr},
        "work_cpu_seconds": 0.5, "machine": {}, **more,
    }  # fmt: skip


def _made_up(planned, ahead=0.0):
    rng = np.random.default_rng(0)
    return [_record(run, *(rng.uniform(0.6, 0.7, size=2) + ahead)) for run in planned]


def _records_of_all():
    """Made-up results: the default is ahead of everyone, everywhere, by a different distance on each set."""
    sets = plan.development_sets()
    ours = [*plan.plan([OURS], sets), *plan.plan_gallery([OURS])]
    theirs = [*plan.plan(PEERS, sets), *plan.plan_gallery(PEERS)]
    beside = [_record(run, 0.6, 0.6, work_cpu_seconds=1.0) for run in plan.plan([forest_beside(CHOSEN)], sets)]
    return [*_made_up(ours, ahead=0.1), *_made_up(theirs), *beside]


def _written(folder, records):
    (folder / "all.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))


def test_no_run_is_planned_twice_and_every_entrant_has_a_name_of_its_own():
    labels = [peer.label for peer in PEERS]
    assert len(set(labels)) == len(labels) == 15
    keys = [run.key for run in (*plan.plan([OURS, *PEERS], SETS), *plan.plan_gallery([OURS, *PEERS]))]
    assert len(set(keys)) == len(keys)


def test_a_trial_is_the_default_as_it_is_and_its_lines_are_its_own():
    run = plan.run_of(trial_of("one-idea"), "bank", 0)
    assert run.config == {"evaluation": {"max_rows": 5_000, "trial": "one-idea"}}
    assert run.key != plan.run_of(trial_of("another"), "bank", 0).key
    assert plan.run_of(PEERS[0], "bank", 0).config["evaluation"]["scaling"] == "standard"
    assert CHOSEN in TRIED


def test_runs_of_a_method_share_a_process_and_all_are_recorded(tmp_path, monkeypatch):
    monkeypatch.setenv("RDPLEARN_DATA", str(tmp_path))
    planned = plan.plan([PEERS[0], OURS], SETS, n_seeds=1)
    slow = runs.Run("detection", "iForest", {"n_trees": 2_000_000}, SETS[1], 0, 1.0)
    done = runs.work([planned[0], slow, *planned[1:]], tmp_path / "study.jsonl", together=True)
    assert (done.finished, done.failed) == (5, 0)
    records = [json.loads(line) for line in (tmp_path / "study.jsonl").read_text().splitlines()]
    assert [record["status"] for record in records] == ["done", "out of time", "done", "done", "done"]
    ours = [record for record in records if record["method"] == DEFAULT]
    assert all(record["chosen"]["n_members"] > 1 for record in ours)
    assert all(record["work_cpu_seconds"] > 0 for record in records if record["status"] == "done")


def test_means_and_spread_are_over_seeds_and_incomplete_seeds_are_left_out():
    entrant, other = Entrant("two seeds", "iForest", {}, 3), Entrant("half done", "ECOD")
    records = [_record(plan.run_of(entrant, name, seed), 0.6 + 0.2 * seed, 0.5) for seed in (0, 1) for name in SETS]
    records.append(_record(plan.run_of(entrant, SETS[0], 2), 0.0, 0.0))
    records.append(_record(plan.run_of(other, SETS[1], 0), 0.9, 0.9))
    found = values.table([entrant, other], records, SETS)
    np.testing.assert_allclose(found.of("two seeds"), [[0.7, 0.5], [0.7, 0.5]])
    np.testing.assert_allclose(found.spread[0, :, 0], np.sqrt(0.02) * np.sqrt(np.pi / 2))
    assert found.is_done("half done").tolist() == [False, True]
    assert found.where([False, True]).of("half done").tolist() == [[0.9, 0.9]]


def test_a_run_that_did_not_finish_counts_as_chance():
    fast, slow = Entrant("fast", "iForest"), Entrant("slow", "MCD")
    records = [_record(plan.run_of(fast, name, 0), 0.9, 0.9) for name in SETS]
    late = {"status": "out of time", "metrics": {}, "n_anomalies": None}
    for name in SETS:
        record = _record(plan.run_of(slow, name, 0), 0.8, 0.8)
        del record["work_cpu_seconds"]
        records.append({**record, **late} if name == SETS[0] else record)
    found = values.table([fast, slow], records, SETS)
    np.testing.assert_allclose(found.of("slow"), [[0.5, 0.1], [0.8, 0.8]])
    assert found.n_unfinished.tolist() == [0, 1]


def test_sets_are_parted_by_source_columns_and_rows():
    parts = values.groups(["bank", "secom", "donors"])
    assert parts["all"].tolist() == [True, True, True]
    assert parts["8 to 40 columns"].tolist() == [False, False, True]
    assert parts["over 40 columns"].tolist() == [True, True, False]
    assert parts["1,001 to 4,999 rows"].tolist() == [False, True, False]


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


def test_a_trial_says_how_far_it_is_ahead_and_which_shapes_are_short(six_sets, own_lines):
    new = trial_of("new-idea")
    forest, neighbours = (next(peer for peer in PEERS if peer.label == label) for label in (FOREST, NEIGHBOURS))
    sets = plan.development_sets()
    records = _made_up(plan.plan([replace(forest, n_seeds=1), trial_of(CHOSEN)], sets))
    records += [_record(plan.run_of(new, name, 0), 0.9, 0.8) for name in sets]
    records += [_record(run, 0.93, 0.5) for run in plan.plan_gallery([forest, neighbours, trial_of(CHOSEN)])]
    records += [
        _record(run, 0.9 if "ring" in run.data else 0.87 if "binary" in run.data else 0.96, 0.5)
        for run in plan.plan_gallery([new])
    ]
    _written(own_lines, records)
    said = trial.said("new-idea", CHOSEN, [0])
    found = values.table([new, forest], records, sets, [0])
    assert str(comparison.paired(found.of("new-idea")[:, 0], found.of(FOREST)[:, 0])) in said[1]
    assert [line.split()[0] for line in said if "below" in line] == ["ring", "binary"]
    assert any(line.startswith("processor time") and "new-idea 3.0 s" in line for line in said)


def test_a_trial_that_has_nothing_to_be_compared_with_says_what_to_run(six_sets, own_lines):
    assert "Run first: python -m experiments study run peers" in trial.said("new-idea", CHOSEN, [0])[0]


def test_a_trial_runs_the_default_as_it_is(own_lines, monkeypatch, tmp_path):
    monkeypatch.setenv("RDPLEARN_DATA", str(tmp_path))
    monkeypatch.setattr(plan, "development_sets", lambda: list(SETS))
    monkeypatch.setattr(datasets, "names", lambda group: {"gallery": ["gallery/ring_0"]}[group])
    answer = CliRunner().invoke(app, ["study", "trial", "as-it-is", "--every", "2"])
    assert answer.exit_code == 0, answer.output
    lines = [json.loads(line) for line in (own_lines / "trials" / "as-it-is.jsonl").read_text().splitlines()]
    done = [(line["method"], line["data"]) for line in lines]
    assert done == [(DEFAULT, SETS[0]), ("iForest", SETS[0]), (DEFAULT, "gallery/ring_0")]
    assert all(line["status"] == "done" for line in lines)


def test_a_name_that_cannot_be_a_file_is_refused():
    answer = CliRunner().invoke(app, ["study", "trial", "../up"])
    assert answer.exit_code == 2
    assert "letters, digits, - and _ alone" in " ".join(answer.output.replace("│", " ").split())


def test_the_page_says_who_is_ahead_and_by_how_much(six_sets, own_lines, tmp_path):
    records = _records_of_all()
    found = values.table([OURS, *PEERS, forest_beside(CHOSEN)], records, plan.development_sets())
    shapes = values.table([OURS, *PEERS], records, datasets.names("gallery"))
    given = (found, shapes, [_whole("lung", 0.9), _whole("bank", 0.8)], _clean_lines())
    text, tables = page.page(*given), page.tables_page(*given)
    ours = found.of(DEFAULT).mean(axis=0)
    assert f"**{ours[0]:.3f} / {ours[1]:.3f}**" in text
    assert "Among 16 methods its place is 1 by mean rank of AUC-ROC and 1 by that of AUC-PR" in text
    assert "Fit and score take 0.50x of IsolationForest's processor time" in text  # of the lines beside it
    ahead = comparison.paired(found.of(DEFAULT)[:, 0], found.of(FOREST)[:, 0])
    assert str(ahead) in text.split("## Against")[0]
    for heading in ("By kind of table", "How it was measured", "How it was chosen"):
        assert f"## {heading}" in text
    for heading in ("Each method on each collection", "A gallery of 20 shapes", "Where it loses"):
        assert f"## {heading}" in tables
    assert "0.850 / 0.850 on average over 2 sets" in text
    assert "| Lung | 145 | 0.900 / 0.900 | 0.982 / 0.705 |" in tables
    assert '("RDP, clean") 0.900 / 0.800 on 1 sets' in text
    assert "| RDP, clean | 0.900 / 0.800 |" in tables
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    _written(own_lines, records)
    answer = CliRunner().invoke(app, ["study", "report", "--output", str(tmp_path / "default.md")])
    assert answer.exit_code == 0, answer.output
    assert (tmp_path / "default.md").read_text().split("## By kind")[0] == text.split("## By kind")[0]
    assert (tmp_path / "default_tables.md").read_text().split("## A gallery")[0] == tables.split("## A gallery")[0]
    assert len(list((tmp_path / "figures").glob("*.svg"))) == 2


def test_a_peer_that_is_not_done_is_compared_on_its_sets_and_has_no_rank(six_sets):
    records = [r for r in _records_of_all() if not (r["method"] == "MCD" and r["data"] == "sklearn/wine")]
    found = values.table([OURS, *PEERS, forest_beside(CHOSEN)], records, plan.development_sets())
    assert "MCD" not in page.rivals(found)
    line = next(line for line in page._peers(found).splitlines() if line.startswith("| MCD"))
    assert "(on 5 sets)" in line


def test_the_page_names_shapes_that_the_default_misses():
    entrants = [OURS, *(peer for peer in PEERS if peer.label in (FOREST, NEIGHBOURS))]
    records = [_record(run, 0.96, 0.5) for run in plan.plan_gallery(entrants)]
    for record in records:
        if record["method"] == OURS.method and gallery.title(record["data"]) == "lattice":
            record["metrics"]["auc_roc"] = 0.9
    text = page._gallery(values.table(entrants, records, datasets.names("gallery")))
    assert "It does not on: lattice (0.90, wanted 0.91)." in text


def _whole(name, value):
    return {"data": name, "n_rows": datasets.DETECTION[name].n_rows, "metrics": {"auc_roc": value, "auc_pr": value}}


def _clean_lines():
    metrics = {"auc_roc": 0.9, "auc_pr": 0.8}
    return [{"data": "bank", "method": method, "metrics": metrics} for method in clean_tables.METHODS]


def test_an_unknown_part_is_refused_with_the_known_ones():
    answer = CliRunner().invoke(app, ["study", "run", "friends"])
    assert answer.exit_code == 2
    assert "one of peers, gallery, default, whole" in " ".join(answer.output.replace("│", " ").split())


def test_a_page_without_the_default_s_results_is_refused(six_sets, own_lines, tmp_path):
    answer = CliRunner().invoke(app, ["study", "report", "--output", str(tmp_path / "default.md")])
    assert answer.exit_code == 2
    assert "study run default" in " ".join(answer.output.replace("│", " ").split())
    assert not (tmp_path / "default.md").exists()
