"""The runner and what it prints: resumable, whole lines, time limits, every format."""

from __future__ import annotations

import json
import multiprocessing
import signal
import subprocess
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.__main__ import app
from experiments.tables.layout import Column, Panel, Table
from typer.testing import CliRunner

from experiments import datasets, methods, report, results, runs, show, summary, tables

TABLE = Table(
    name="small",
    title="Small",
    task="detection",
    data=("sklearn/breast_cancer", "ddos"),
    quick_data=("sklearn/breast_cancer",),
    columns=(Column("RDP", "iForest"), Column("half", "iForest", {"n_trees": 5})),
    panels=(Panel("auc_roc", "AUC-ROC", {"sklearn/breast_cancer": {"RDP": summary.Number(0.95, 0.01)}}),),
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Two runs of both columns, done by the runner."""
    folder = tmp_path_factory.mktemp("results")
    said = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RDPLEARN_DATA", str(folder / "none"))
        patch.setenv("RDPLEARN_CACHE", str(folder / "none"))
        done = runs.work(runs.plan(TABLE, n_runs=2), folder / "small.jsonl", n_jobs=2, say=said.append)
    return folder, done, said


def test_a_line_says_all_that_is_needed_to_repeat_it(finished):
    folder, done, said = finished
    assert (done.finished, done.failed, done.no_data) == (4, 0, ("ddos",))
    assert any(message.startswith("no data here: ddos") for message in said)
    for record in results.read(folder):
        assert record["status"] == "done"
        assert set(record["metrics"]) == {"auc_roc", "auc_pr"}
        assert {"config", "seed", "versions", "data_sha256", "fit_seconds", "apply_seconds"} <= set(record)
        assert record["peak_memory_mb"] > 10
        assert "scikit-learn" in record["versions"]


def test_the_runner_resumes_without_repeating_or_losing_a_line(finished, tmp_path):
    folder, _, _ = finished
    lines = (folder / "small.jsonl").read_text().splitlines(keepends=True)
    path = tmp_path / "small.jsonl"
    path.write_text("".join(lines[:3]) + lines[3][:40])  # killed while writing the fourth
    planned = [run for run in runs.plan(TABLE, n_runs=2) if run.data != "ddos"]
    done = runs.work(planned, path)
    assert (done.finished, done.already_there) == (1, 3)
    keys = [results.key_of(json.loads(line)) for line in path.read_text().splitlines()]
    assert sorted(keys) == sorted({run.key for run in planned})


def test_tables_that_share_a_run_share_its_line(finished):
    folder, _, _ = finished
    planned = [run for run in runs.plan(TABLE, n_runs=2) if run.data != "ddos"]
    assert runs.work(planned, folder / "other.jsonl").already_there == 4
    assert not (folder / "other.jsonl").exists()


def test_a_run_out_of_time_says_so_and_is_repeated_only_with_more_time(tmp_path):
    run = runs.Run("detection", "iForest", {"n_trees": 2_000_000}, "sklearn/digits_0", 0, 2.0)
    path = tmp_path / "slow.jsonl"
    assert runs.work([run], path).finished == 1
    (record,) = results.read(tmp_path)
    assert record["status"] == "out of time"
    assert runs.work([run], path).already_there == 1
    assert not runs.is_settled(record, replace(run, time_limit=5.0))


@pytest.mark.parametrize(
    ("exit_signal", "memory_kills", "status"),
    [
        (signal.SIGXCPU, 0, "out of time"),
        (signal.SIGKILL, 1, "out of memory"),
        (signal.SIGSEGV, 0, f"died with exit code {-signal.SIGSEGV}"),
    ],
)
def test_a_line_says_what_stopped_its_run(monkeypatch, exit_signal, memory_kills, status):
    record, _, alive = stopped(monkeypatch, exit_signal, memory_kills)
    assert (record["status"], alive) == (status, False)


def test_a_run_that_somebody_killed_leaves_no_line(monkeypatch):
    record, problem, alive = stopped(monkeypatch, signal.SIGKILL, 0)
    assert (record, alive) == (None, False)
    assert problem.startswith("killed by somebody")


def stopped(monkeypatch, exit_signal, memory_kills):
    """What the runner makes of a process that ends by a signal, while the kernel kills so many for want of memory."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(target=signal.raise_signal, args=(exit_signal,))
    process.start()
    theirs.close()
    start = runs._now()
    monkeypatch.setattr(runs, "_memory_kills", lambda: start.memory_kills + memory_kills)
    run = runs.Run("detection", "iForest", {}, "sklearn/digits_0", 0, 2.0)
    return runs._collect(run, ours, process, start)


def test_a_table_too_large_for_a_method_is_refused_and_says_so_in_its_cell(monkeypatch):
    wide = sp.random_array((2_000, 100_000), density=1e-5, rng=np.random.default_rng(0), dtype=np.float32).tocsr()
    loaded = datasets.LoadedData("wide", wide, np.arange(2_000) % 2, "0")
    monkeypatch.setattr(datasets, "load", lambda name: loaded)
    table = tables.table("ablation_clustering")
    (run,) = runs.plan(table, n_runs=1, data=["20news"], labels=["Org_SS"])
    record = answered(run)
    assert record["status"] == "refused"
    assert "2,000 sparse rows of 100,000 columns are too many" in record["reason"]
    assert runs.is_settled(record, run)
    sheet = show.sheets(table, [record], quick=False, no_data=set())[0]
    (news,) = [line for line in sheet.lines if line[0] == "20news"]
    assert dict(zip(sheet.header, news, strict=True))["Org_SS"].startswith("refused (")


def test_other_complaints_about_a_table_are_not_taken_for_a_refusal(monkeypatch):
    rows = np.full((20, 3), np.nan, dtype=np.float32)
    loaded = datasets.LoadedData("holes", rows, np.arange(20) % 2, "0")
    monkeypatch.setattr(datasets, "load", lambda name: loaded)
    for method, task in (("RDP features from Org", "clustering"), ("Org_SS", "detection")):
        kind, text = runs._answer(runs.Run(task, method, {"mapping": "identity"}, "holes", 0, None))
        assert kind == "problem"
        assert "TableError" in text


def answered(run):
    """The line that the runner makes of a run, worked on in this process."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    theirs.send(runs._answer(run))
    record, problem, alive = runs._collect(run, ours, None, runs._now())
    assert (problem, alive) == ("", True)
    return record


def test_the_time_limit_is_the_methods_and_not_that_of_judging_it(tmp_path):
    run = runs.Run("clustering", "Org", {"evaluation": {"n_kmeans": 500}}, "sklearn/digits", 0, 1.0)
    runs.work([run], tmp_path / "judged.jsonl")
    (record,) = results.read(tmp_path)
    assert record["status"] == "done"
    assert record["cpu_seconds"] > run.time_limit


def test_a_failing_run_leaves_no_line_and_does_not_stop_the_others(tmp_path):
    bad = runs.Run("detection", "iForest", {"n_trees": -1}, "sklearn/digits_0", 0, None)
    good = runs.Run("detection", "iForest", {"n_trees": 2}, "sklearn/digits_0", 0, None)
    said = []
    done = runs.work([bad, good], tmp_path / "x.jsonl", say=said.append)
    assert (done.finished, done.failed) == (1, 1)
    assert "n_estimators" in said[0]
    assert len(list(results.read(tmp_path))) == 1


def test_every_cell_of_every_table_has_a_method_and_paper_numbers_have_a_column():
    for name in tables.NAMES:
        table = tables.table(name)
        labels = {column.label for column in table.columns}
        assert {column.method for column in table.columns} <= set(methods.METHODS)
        for panel in table.panels:
            assert {label for row in panel.paper.values() for label in row} <= labels
            assert set(panel.paper) <= set(table.data)


def test_every_column_can_be_asked_for_on_the_command_line():
    labels = [column.label for name in tables.NAMES for column in tables.table(name).columns]
    assert not [label for label in labels if "," in label]  # --methods parts names at commas


def test_quick_plans_take_small_data_and_members_resize_ensembles_only():
    quick = runs.plan(tables.table("detection"), n_runs=1, quick=True)
    assert {run.data for run in quick} == set(tables.table("detection").quick_data)
    full = runs.plan(tables.table("detection"), n_runs=1, n_members=5)
    assert {run.config["n_members"] for run in full if run.method in ("AE", "RDP", "RND")} == {5}
    assert all("n_members" not in run.config for run in full if run.method == "iForest")
    r8 = next(run for run in full if run.method == "RDP" and run.data == "r8_anomaly")
    assert (r8.config["max_samples"], r8.config["n_steps"], r8.config["n_rounds"]) == (1_024, 6_000, 8)


def test_the_largest_ensemble_counts(finished):
    folder, _, _ = finished
    records = [json.loads(line) for line in (folder / "small.jsonl").read_text().splitlines()]
    small, large = ({**records[0], "config": {**records[0]["config"], "n_members": n}} for n in (5, 30))
    cell = summary._cell([small, large, {**large, "seed": 9}], "auc_roc")
    assert (cell.n_members, len(cell.values)) == (30, 2)


@pytest.mark.parametrize(
    ("form", "parts"),
    [
        ("text", ["(0.950)", "no data here"]),
        ("markdown", ["(0.950)", "|---|---|", "- Runs of a cell: "]),
        ("latex", [r"\begin{tabular}{lcc}", r"$\pm$", "% Runs of a cell: "]),
    ],
)
def test_formats(finished, form, parts):
    folder, _, _ = finished
    (sheet,) = show.sheets(TABLE, results.read(folder), quick=False, no_data={"ddos"})
    printed = show.FORMATS[form](sheet)
    for part in parts:
        assert part in printed


def lines_of(table, auc_roc):
    """A finished run of the first six columns on every set; auc_roc : function of the column's label and the set."""
    return [
        {
            "task": "detection", "method": column.method, "data": data, "seed": 0, "status": "done",
            "config": methods.config_for(column.method, data, column.options),
            "metrics": {"auc_roc": auc_roc(column.label, data), "auc_pr": auc_roc(column.label, data)}, "spread": {},
            "fit_seconds": 1.0, "apply_seconds": 0.1,
        }
        for column in table.columns[:6]
        for data in table.data
    ]  # fmt: skip


def test_notes_name_the_sets_that_do_not_reproduce():
    table = tables.table("detection")
    paper = table.panels[0].paper
    records = lines_of(table, lambda label, data: paper[data][label].mean + (0.05 if data == "bank" else -0.03))
    first, _ = show.sheets(table, records, quick=False, no_data=set())
    (note,) = [note for note in first.notes if note.startswith("RND: ")]
    assert note.startswith("RND: within 0.04 of the paper on 13 of 14 sets, at or above it on 1;")
    assert note.endswith("; not: Bank +0.050.")


def test_notes_count_the_runs_of_a_column_from_least_to_most():
    table = tables.table("detection")
    records = lines_of(table, lambda label, data: 0.5)
    again = [{**record, "seed": 1} for record in records if (record["method"], record["data"]) != ("RND", "bank")]
    first, _ = show.sheets(table, records + again, quick=False, no_data=set())
    (note,) = [note for note in first.notes if note.startswith("Runs of a cell: ")]
    assert "DAGMM: 2, RND: 1-2, RDP: 2" in note


def test_the_page_has_a_reading_and_tables_have_their_own(all_data_here):
    table = tables.table("detection")
    records = lines_of(table, lambda label, data: 0.5)
    assert "## A reading" in report.page(records)
    assert "## Anomaly detection" not in report.page(records)
    assert "## Anomaly detection" in report.tables_page(records)


def test_contest_and_plots(tmp_path, all_data_here):
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    from experiments import plots

    table = tables.table("detection")
    random = np.random.default_rng(0)
    records = lines_of(table, lambda label, data: random.random())
    first, _ = show.sheets(table, records, quick=False, no_data=set())
    assert any("wins/draws/losses on 14 sets, sign test p" in note for note in first.notes)
    files = plots.draw(table, records, tmp_path, quick=False, no_data=set())
    assert [path.name for path in files][:2] == ["detection_auc_roc.svg", "detection_auc_roc_ranks.svg"]
    assert all(path.read_text().startswith("<?xml") for path in files)
    text = report.tables_page(records, tmp_path / "figures")
    assert "](figures/detection_auc_roc_ranks.svg)" in text
    assert "(figures/detection_auc_roc.svg)" not in text
    assert (tmp_path / "figures" / "detection_auc_roc_ranks.svg").exists()


def test_the_same_results_give_the_same_figure(tmp_path):
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    from experiments import plots

    table = tables.table("detection")
    records = lines_of(table, lambda label, data: len(label + data) / 40)
    first, again = (
        plots.draw(table, records, tmp_path / name, quick=False, no_data=set(), bars=False) for name in "ab"
    )
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]


def test_who_lacks_a_set_is_not_ranked(tmp_path, monkeypatch):
    from experiments import plots

    ranked = []
    monkeypatch.setattr(plots, "draw_critical_difference", lambda values, labels, path: ranked.append(labels))
    table = tables.table("detection")
    records = lines_of(table, lambda label, data: 0.5)
    contestants = sorted({record["method"] for record in records})
    late = [record for record in records if (record["method"], record["data"]) != ("RND", "bank")]
    plots.draw(table, late, tmp_path, quick=False, no_data=set(), bars=False)
    assert [sorted(labels) for labels in ranked] == [[label for label in contestants if label != "RND"]] * 2


def test_a_set_without_its_texts_is_no_data_for_methods_that_read_them(folders, monkeypatch):
    monkeypatch.setattr(datasets, "load", lambda name: None)

    def refuse(name):
        raise datasets.NoDataError("not to be had")

    monkeypatch.setattr(datasets, "load_texts", refuse)
    said = []
    table = tables.table("raw_text")
    planned = runs.plan(table, n_runs=1, data=["20news"], labels=["Doc2Vec"])
    done = runs.work(planned, folders / "raw_text.jsonl", say=said.append)
    assert (done.finished, done.failed, done.no_data) == (0, 0, ("20news",))
    assert said == ["no data here: 20news (texts): not to be had"]
    for sheet in show.sheets(table, [], quick=False, no_data=set()):
        (news,) = [line for line in sheet.lines if line[0] == "20news"]
        cells = dict(zip(sheet.header, news, strict=True))
        assert cells["Doc2Vec"].startswith("no data here")
        assert cells["RDP"].startswith("not run (")


def test_command_line(tmp_path, folders):
    cli = CliRunner()
    arguments = ["detection", "--budget", "quick", "--results", str(tmp_path / "r")]
    outcome = cli.invoke(app, ["run", *arguments, "--methods", "iForest"])
    assert outcome.exit_code == 0, outcome.output
    shown = cli.invoke(app, ["show", *arguments, "--format", "markdown"])
    assert "sklearn/breast_cancer" in shown.output
    page = cli.invoke(app, ["results", "--results", str(tmp_path / "r"), "--output", str(tmp_path / "results.md")])
    assert page.exit_code == 0
    assert (tmp_path / "results.md").read_text().startswith("# The paper, run again")


def test_command_line_refuses_unknown_names(folders):
    cli = CliRunner()
    assert cli.invoke(app, ["run", "nonsense"]).exit_code == 2
    assert cli.invoke(app, ["run", "detection", "--methods", "nonsense"]).exit_code == 2


def test_rdp_is_called_with_the_paper_s_protocol():
    from experiments.evaluation import evaluate

    for name in ("RDP", "RND", "RDP without L_rdp", "RDP without L_aux", "Org_SS", "SRP_SS"):
        config = methods.config_for(name, "sklearn/breast_cancer", {"n_steps": 20, "n_members": 2}, quick=True)
        record = evaluate("detection", name, config, "sklearn/breast_cancer", 0)
        assert record["metrics"]["auc_roc"] > 0.6
        assert len(record["spread"]["member"]["auc_roc"]) == 2


def test_a_line_says_whether_the_code_was_changed_since_its_commit(tmp_path):
    def git(*arguments):
        identity = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True)

    assert runs.commit_of(tmp_path) is None
    git("init")
    (tmp_path / "experiments" / "results").mkdir(parents=True)
    (tmp_path / "code.py").write_text("one")
    git("add", ".")
    git("commit", "-m", "first")
    clean = runs.commit_of(tmp_path)
    assert clean is not None
    assert clean.isalnum()
    (tmp_path / "experiments" / "results" / "new.jsonl").write_text("a line")
    assert runs.commit_of(tmp_path) == clean
    (tmp_path / "code.py").write_text("two")
    assert runs.commit_of(tmp_path) == f"{clean}, changed"
