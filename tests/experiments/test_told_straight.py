"""What a line, a ± and a note claim is so: the lines that are committed, and how tables are made of them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from experiments.__main__ import app
from experiments.machine import describe_machine, processor
from experiments.summary import STD_MARKS, Cell
from typer.testing import CliRunner

from experiments import rereading, results, runs, show, summary, tables

PLAIN = re.compile(r"\x1b\[[0-9;]*m")


def line(method="RDP", data="bank", seed=0, **changes):
    """A finished run of a boosted detector that tells what its last rounds would have given."""
    rounds = {"auc_roc": [0.5, 0.6, 0.7], "auc_pr": [0.1, 0.2, 0.3]}
    return {
        "task": "detection", "method": method, "data": data, "seed": seed, "status": "done", "commit": "abc",
        "config": {"n_members": 4, "n_rounds": 3, "score_rounds": 1}, "fit_seconds": 1.0, "apply_seconds": 0.1,
        "metrics": {"auc_roc": 0.5, "auc_pr": 0.1},
        "spread": {"last_rounds": rounds, "member": {"auc_roc": [0.4, 0.5, 0.6, 0.9]}, "round": rounds},
        **changes,
    }  # fmt: skip


def test_no_committed_line_claims_a_score_that_its_code_did_not_have():
    # at 1d4a110 `score_rounds` was 2 and no option of the protocol: fifteen lines had been relabelled as 3
    lines = [record for record in results.read(results.RESULTS) if record.get("commit") == "1d4a110"]
    assert not [record for record in lines if "score_rounds" in record["config"]]


def test_the_headline_of_rdp_is_the_preset_as_it_is():
    from rdplearn import RDPDetector

    (run,) = runs.plan(tables.table("detection"), n_runs=1, data=["bank"], labels=["RDP"])
    preset = RDPDetector.paper().get_params()
    assert {name: preset[name] for name in run.config} == run.config
    assert run.config["score_rounds"] == 1


def test_another_score_of_a_fit_is_a_line_of_its_own_that_says_so(tmp_path):
    path = tmp_path / "detection.jsonl"
    results.append(path, line())
    before = path.read_text()
    assert rereading.reread_file(path, 3, "def") == 1
    assert path.read_text().startswith(before)
    _, again = results.read_file(path)
    assert again["config"]["score_rounds"] == 3
    assert again["metrics"] == {"auc_roc": 0.7, "auc_pr": 0.3}
    assert again["read_from"] == {"commit": "abc", "score_rounds": 1, "digits": 5}
    assert again["commit"] == "def"
    assert not {"fit_seconds", "apply_seconds", "cpu_seconds"} & set(again)
    assert "member" not in again["spread"]  # members were scored by the other rounds
    assert rereading.reread_file(path, 3, "def") == 0


def test_a_run_counts_before_what_was_read_off_another():
    run = line(config={"n_members": 4, "n_rounds": 3, "score_rounds": 3}, metrics={"auc_roc": 0.8, "auc_pr": 0.4})
    (again,) = rereading.reread([line()], 3)
    for order in ([run, again], [again, run]):
        assert summary._cell(order, "auc_roc").values == (0.8,)
    assert summary._cell([again], "fit_seconds").values == ()


def test_plus_minus_is_over_runs_or_members_and_never_over_rounds():
    one = summary._cell([line()], "auc_roc")
    assert one.std_is_over == "members"
    assert one.std == pytest.approx(np.std([0.4, 0.5, 0.6, 0.9], ddof=1))
    assert one.text(3) == "0.500±0.216m"
    two = summary._cell([line(), line(seed=1, metrics={"auc_roc": 0.7, "auc_pr": 0.1})], "auc_roc")
    assert (two.std_is_over, two.text(3)) == ("runs", "0.600±0.141")
    starts = line(spread={"kmeans": {"auc_roc": [0.4, 0.6]}})
    assert summary._cell([starts], "auc_roc").text(2) == "0.50±0.14k"
    assert Cell((0.5,)).text(3) == "0.500"


def test_every_table_with_a_plus_minus_says_what_it_is_over():
    records = list(results.read(results.RESULTS))
    for name in tables.NAMES:
        for sheet in show.sheets(tables.table(name), records, quick=False, no_data=set()):
            cells = [cell for row in sheet.lines for cell in row[1:] if "±" in cell]
            notes = [note for note in sheet.notes if note.startswith("±: ")]
            assert len(notes) == bool(cells)
            for mark, letter in ((over, letter) for over, letter in STD_MARKS.items()):
                marked = any(re.search(rf"±[0-9.]+{letter}", cell) for cell in cells)
                assert marked == any(f"over the {mark} of one run" in note for note in notes)


def test_a_line_names_processor_blas_and_threads():
    from experiments.evaluation import evaluate

    record = evaluate("detection", "iForest", {"n_trees": 2}, "sklearn/digits_0", 0)
    machine = record["machine"]
    assert machine["processor"] == processor()
    assert machine["blas"]
    assert {"library", "version", "kernels", "threads"} == set(machine["blas"][0])
    unfinished = runs._unfinished(runs.Run("detection", "iForest", {}, "bank", 0, None), "out of time", 1.0)
    assert unfinished["machine"]["processor"] == processor()


def test_a_processor_is_named_with_its_model(tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: AMD EPYC\n\nprocessor\t: 1\n")
    assert processor(cpuinfo) == "AMD EPYC (family 25, model 1)"
    assert describe_machine()["threads"] >= 1


def test_configurations_that_differ_in_order_alone_are_the_same():
    one = {"evaluation": {"n_kmeans": 3, "max_rows": 300}, "n_components": 32}
    other = {"n_components": 32, "evaluation": {"max_rows": 300, "n_kmeans": 3}}
    assert summary._comparable(one) == summary._comparable(other)


def test_an_unknown_data_set_is_an_error_that_lists_the_names():
    outcome = CliRunner().invoke(app, ["run", "detection", "--data", "foo"], env={"COLUMNS": "300"})
    said = PLAIN.sub("", outcome.output)
    assert outcome.exit_code == 2
    assert "ddos, donors" in said
    assert "Got 'foo' instead." in said


def test_help_starts_with_what_the_program_does():
    said = PLAIN.sub("", CliRunner().invoke(app, ["--help"]).output)
    assert "Run the experiments of the paper" in " ".join(said.split())[:200]


def test_show_fits_a_terminal():
    records = list(results.read(results.RESULTS))
    for name in tables.NAMES:
        for sheet in show.sheets(tables.table(name), records, quick=False, no_data={"ddos"}):
            printed = show.as_text(sheet)
            assert max(map(len, printed.splitlines())) <= 120
            for label in sheet.header[1:]:
                assert label in printed


def test_the_paper_s_rows_of_wins_contradict_its_cells_in_eight_of_ten_places():
    table = tables.table("ablation_detection")
    wrong = [show.contradictions(panel, "RDP") for panel in table.panels]
    assert [len(panel.paper_wins) for panel in table.panels] == [5, 5]
    assert sum(map(len, wrong)) == 8
    notes = [note for sheet in show.sheets(table, [], quick=False, no_data=set()) for note in sheet.notes]
    assert sum(note.startswith("The paper's own row of wins/draws/losses contradicts its cells") for note in notes) == 2


def test_a_table_that_has_not_been_run_says_how_to():
    for sheet in show.sheets(tables.table("raw_images"), [], quick=True, no_data=set()):
        assert "Nothing of it has been run yet: python -m experiments run raw_images" in show.as_text(sheet)


def test_raw_images_of_the_quick_budget_are_shown(tmp_path):
    table = tables.table("raw_images")
    (run,) = runs.plan(table, n_runs=1, quick=True, labels=["Org"])
    results.append(tmp_path / "raw_images.jsonl", {
        "task": "clustering", "method": "Org", "config": run.config, "data": run.data, "seed": 0, "status": "done",
        "metrics": {"mapped_nmi": 0.7, "f_score": 0.6}, "spread": {},
    })  # fmt: skip
    shown = CliRunner().invoke(app, ["show", "raw_images", "--budget", "quick", "--results", str(tmp_path)])
    assert "0.700" in shown.output


def test_equation_numbers_are_those_of_the_paper():
    """LaTeX has L_rdp as 2, L_aux of clustering as 3 and of detection as 4, projections as 5 to 7, the kernel as 8."""
    root = tables_folder().parent
    for path in (path for folder in ("experiments", "src", "tests") for path in (root / folder).rglob("*.py")):
        text = path.read_text().lower()
        assert not re.search(r"equations 6 to [89]", text), path
        assert not re.search(r"(fourier|kernel)[^.]*\(equation 9\)", text), path
    losses = (root / "src/rdplearn/_model/losses.py").read_text()
    named = re.findall(r"^    L_\{(\w+)\}(?:\^\{(\w+)\})? = .*\n.*equation (\d)", losses, re.MULTILINE)
    assert named == [("rdp", "", "2"), ("aux", "ad", "4"), ("aux", "clu", "3")]
    mapping = (root / "src/rdplearn/_model/mapping.py").read_text()
    assert re.search(r"inner\s+products.*?\(equations 5 to 7\)", mapping, re.DOTALL)
    assert re.search(r"fourier.*?\(equation 8\)", mapping, re.DOTALL)


def tables_folder():
    return results.RESULTS.parent


def test_wherever_default_features_stand_the_page_says_what_they_were_tuned_on():
    for name in ("clustering", "default_features"):
        assert "tuned on R8, 20news and Olivetti with these scores in sight" in tables.table(name).note
    reading = " ".join((tables_folder() / "reading.md").read_text().split())
    praise = reading[reading.index("**Our default features**") :]
    assert "tuned on R8, 20news and Olivetti with the scores in sight" in praise[:600]


def test_an_option_of_none_leaves_the_library_s_own_value():
    (full,) = runs.plan(tables.table("ablation_clustering"), n_runs=1, data=["olivetti"], labels=["RDP\\L_rdp full"])
    assert full.config == {"preset": "paper", "n_components": 1_024, "distance_weight": 0.0}
    (short,) = runs.plan(tables.table("ablation_clustering"), n_runs=1, data=["olivetti"], labels=["RDP\\L_rdp"])
    assert short.config == {**full.config, "n_steps": 3_000, "learning_rate": 1.0}


def test_times_are_of_the_processor_and_of_ensembles_of_one_size():
    from experiments.evaluation import evaluate

    table = tables.table("runtime_detection")
    sizes = {run.config.get("n_members", 30) for run in runs.plan(table, n_runs=1)}
    assert sizes == {30}
    (run,) = runs.plan(table, n_runs=1, quick=True, data=["sklearn/digits_0"], labels=["RDP"])
    record = evaluate(run.task, run.method, run.config, run.data, 0)
    repeats = record["spread"]["repeat"]["apply_cpu_seconds"]
    assert 1 <= len(repeats) <= 5
    assert record["metrics"]["apply_cpu_seconds"] == pytest.approx(np.median(repeats), abs=1e-5)
    assert summary._cell([record], "apply_cpu_seconds").std_is_over == "repeats"


def test_hlle_declines_a_table_that_would_fill_the_memory():
    import scipy.sparse as sp
    from experiments.baselines import TooLargeError
    from experiments.baselines.hlle import HLLE

    with pytest.raises(TooLargeError, match=r"at most 10 GB. Got 20 GB instead"):
        HLLE().fit(sp.csr_array((18_846, 130_107), dtype=np.float32))
