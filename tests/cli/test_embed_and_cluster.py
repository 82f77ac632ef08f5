"""`embed` and `cluster` from end to end, as a user types them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import rdplearn
from rdplearn.cli.app import app
from rdplearn.cli.printing import told_while_read
from rdplearn.table import open_table
from tests.cli.conftest import Run, sales
from tests.cli.test_kills import speak_of_another_table

BRIEF = {
    "embed": ["--components", "6", "--steps", "20", "--jobs", "1"],
    "cluster": ["-k", "3", "--components", "6", "--steps", "20", "--jobs", "1"],
}
OWN_COLUMNS = {"embed": [f"feature_{number}" for number in range(1, 7)], "cluster": ["cluster", "distance"]}


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> dict[str, Path]:
    """A model of each command, fitted on the table of sales, with its first result beside it."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "sales.csv").write_text(sales())
    for command, brief in BRIEF.items():
        left_out = ["--ignore", "order", "--ignore", "fraud", "--strict", "-q"]
        files = ["-m", str(folder / command), "-o", str(folder / f"{command}.csv")]
        result = CliRunner().invoke(app, [command, str(folder / "sales.csv"), *files, *left_out, *brief])
        assert result.exit_code == 0, result.output
    return {command: folder / command for command in BRIEF}


def read(path: Path) -> pa.Table:
    if path.suffix == ".jsonl":
        return pa.Table.from_pylist([json.loads(line) for line in path.read_text().splitlines()])
    return pq.read_table(path) if path.suffix == ".parquet" else pc.read_csv(path)


@pytest.mark.parametrize("command", BRIEF)
def test_a_model_gives_what_its_fit_gave_and_what_python_gives(
    command: str, run: Run, table: Path, models: dict[str, Path], tmp_path: Path
):
    output = tmp_path / "again.csv"
    run(command, models[command], table, "-o", output, "--jobs", 1)
    assert output.read_bytes() == models[command].with_suffix(".csv").read_bytes()
    model, rows = rdplearn.load(models[command]), read(output)
    assert rows.column_names == ["row", *OWN_COLUMNS[command]]
    assert rows["row"].to_pylist() == list(range(1, 301))
    if command == "embed":
        features = np.column_stack([rows[name].to_numpy() for name in OWN_COLUMNS["embed"]])
        np.testing.assert_array_equal(features.astype(np.float32), model.transform(table))
    else:
        np.testing.assert_array_equal(rows["cluster"].to_numpy(), model.predict(table))
        np.testing.assert_allclose(rows["distance"].to_numpy(), model.transform(table).min(axis=1), rtol=1e-4)


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
@pytest.mark.parametrize("command", BRIEF)
def test_all_formats_hold_the_same(
    command: str, ending: str, run: Run, table: Path, models: dict[str, Path], tmp_path: Path
):
    output = tmp_path / f"result.{ending}"
    run(command, models[command], table, "--id", "order", "-o", output)
    printed = run(command, models[command], "-", "--id", "order", "-o", "-", stdin=table.read_text()).stdout
    expected = pc.read_csv(io.BytesIO(printed.encode()))
    rows = read(output)
    assert rows.column_names == expected.column_names == ["row", "order", *OWN_COLUMNS[command]]
    for name in rows.column_names[2:]:
        values, wanted = rows[name].to_numpy(), expected[name].to_numpy()
        np.testing.assert_array_equal(values.astype(np.float32), wanted.astype(np.float32))


@pytest.mark.parametrize("command", BRIEF)
def test_the_label_never_reaches_training(command: str, run: Run, tmp_path: Path):
    made = []
    for labels in ((7, 57), (1, 2, 3, 4)):
        (tmp_path / "sales.csv").write_text(sales(80, labels=labels))
        model, output = tmp_path / "model", tmp_path / "result.csv"
        options = ["--id", "order", "--label", "fraud", "-m", model, "-o", output]
        run(command, tmp_path / "sales.csv", *options, *BRIEF[command])
        made.append((model.read_bytes(), output.read_bytes()))
    assert made[0] == made[1]


def test_embed_is_compared_with_classes(run: Run, table: Path, models: dict[str, Path]):
    facts = json.loads(run("embed", models["embed"], table, "--label", "city", "--json").stdout)
    assert (facts["n_rows"], facts["n_components"]) == (300, 6)
    assert facts["evaluation"]["n_classes"] == 3
    assert facts["evaluation"]["f_score"] > 0.8
    assert "macro F-score" in run("embed", models["embed"], table, "--label", "city").stdout


def test_cluster_tells_of_its_groups(run: Run, table: Path, models: dict[str, Path]):
    facts = json.loads(run("cluster", models["cluster"], table, "--label", "city", "--json").stdout)
    assert [group["cluster"] for group in facts["clusters"]] == [0, 1, 2]
    assert sum(group["rows"] for group in facts["clusters"]) == facts["n_rows"] == 300
    assert {"nmi", "ari", "f_score", "n_classes", "n_labelled"} <= set(facts["evaluation"])
    clusters = rdplearn.load(models["cluster"]).predict(table)
    for group in facts["clusters"]:
        assert clusters[group["typical"]["row"] - 1] == group["cluster"]
        assert group["typical"]["order"] == f"A{group['typical']['row'] - 1:05d}"
    assert facts["trust"]["level"] in ("clear", "some", "shaky", "none")
    assert facts["trust"]["n_judged"] == 300
    told = run("cluster", models["cluster"], table, "--label", "city").stdout
    assert facts["trust"]["words"] in told
    assert "typical amount" in told
    assert "300 rows in 3 clusters." in told
    assert "NMI" in told


def test_rows_without_a_class_are_left_out_of_the_comparison(run: Run, models: dict[str, Path], tmp_path: Path):
    lines = sales().splitlines()
    (tmp_path / "some.csv").write_text("\n".join([*lines[:201], *(line[:-1] for line in lines[201:])]))
    for command, model in models.items():
        facts = json.loads(run(command, model, tmp_path / "some.csv", "--label", "fraud", "--json").stdout)
        assert facts["evaluation"]["n_labelled"] == 200


def test_a_model_can_be_kept_without_writing_features(run: Run, table: Path, tmp_path: Path):
    told = run("embed", table, "-m", tmp_path / "model", "-q", *BRIEF["embed"]).stdout
    assert told == f"300 rows, 6 features each.\nModel: {tmp_path / 'model'}\n"


@pytest.mark.parametrize("command", BRIEF)
def test_inspect_shows_such_models(command: str, run: Run, models: dict[str, Path]):
    told = run("inspect", models[command]).stdout
    assert "6 features per row" in told
    assert ("in 3 clusters" in told) == (command == "cluster")
    facts = json.loads(run("inspect", models[command], "--json").stdout)
    assert facts["n_components"] == 6
    assert facts["training"][0]["steps"] == 20


@pytest.mark.parametrize("command", BRIEF)
def test_resume_goes_on_where_the_journal_ends(
    command: str, run: Run, table: Path, models: dict[str, Path], tmp_path: Path, monkeypatch
):
    monkeypatch.setattr("rdplearn.table.reading.FEWEST_ROWS", 50)
    monkeypatch.setattr("rdplearn.table.reading.MOST_ROWS", 50)
    output = tmp_path / "result.csv"
    apply = [command, models[command], table, "-o", output, "--jobs", 1]
    whole_facts = json.loads(run(*apply, "--json").stdout)
    whole = output.read_bytes()
    output.write_text("old")
    good = table.read_text()
    table.write_text(good.replace("A00201,", "A00201,x", 1))
    assert "row 202" in run(*apply, exit_code=1).stderr
    assert output.read_text() == "old"
    table.write_text(good)
    assert "begun with another table" in run(*apply, "--resume", exit_code=1).stderr
    journal = tmp_path / "result.csv.partial.json"
    assert json.loads(journal.read_text())["entry"]["n_rows"] == 200
    speak_of_another_table(journal, table)
    facts = json.loads(run(*apply, "--resume", "--json").stdout)
    assert facts["n_rows"] == 300
    if command == "cluster":
        sizes = [group["rows"] for group in whole_facts["clusters"]]
        assert [group["rows"] for group in facts["clusters"]] == sizes
        assert "typical" not in facts["clusters"][0]
        assert "trust" not in facts
    assert output.read_bytes() == whole


def test_a_stopped_first_run_is_continued_with_the_model_that_it_kept(run: Run, table: Path, tmp_path: Path):
    output, model = tmp_path / "features.csv", tmp_path / "model"
    run("embed", table, "-o", output, "-m", model, "--id", "order", "-q", *BRIEF["embed"])
    whole = output.read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rdplearn.table.reading.FEWEST_ROWS", 50)
        patch.setattr("rdplearn.table.reading.MOST_ROWS", 50)
        patch.setattr("rdplearn._results.formats.publish", lambda *_: (_ for _ in ()).throw(OSError("stopped")))
        run("embed", table, "-o", output, "-m", model, "--id", "order", "-q", *BRIEF["embed"], exit_code=1)
    assert (tmp_path / "features.csv.partial").exists()
    run("embed", model, table, "-o", output, "--id", "order", "--resume", "--jobs", 1)
    assert output.read_bytes() == whole


def test_batches_are_small_where_features_are_many(table: Path, models: dict[str, Path], monkeypatch):
    from rdplearn._results.embedded import embedded_rows

    monkeypatch.setattr("rdplearn._results.embedded.FEWEST_ROWS", 1)
    monkeypatch.setattr("rdplearn._results.embedded.CELLS_PER_BATCH", 600)
    model = rdplearn.load(models["embed"])
    batches = list(embedded_rows(model, open_table(table)))
    assert [len(batch.features) for batch in batches] == [100, 100, 100]
    assert [batch.first_row for batch in batches] == [1, 101, 201]
    rest = list(embedded_rows(model, open_table(table), skip_rows=100))
    np.testing.assert_array_equal(rest[0].features, batches[1].features)


WRONG: dict[str, tuple[list[str], int, str]] = {
    "nowhere to go": (["embed", "sales.csv"], 2, "Say where to write the features"),
    "a model alone": (["embed", "EMBED", "-o", "f.csv"], 2, "is a model. Name the table after it"),
    "a model of another kind": (["embed", "CLUSTER", "sales.csv", "-o", "f.csv"], 1, "Use 'rdplearn cluster'"),
    "another model of another kind": (["score", "EMBED", "sales.csv"], 1, "Use 'rdplearn embed'"),
    "a detector": (["cluster", "DETECTOR", "sales.csv"], 1, "Use 'rdplearn score'"),
    "no model": (["cluster", "modle", "sales.csv"], 1, "There is no file 'modle'"),
    "training a fitted model": (["embed", "EMBED", "sales.csv", "-o", "f.csv", "--seed", "1"], 2, "--seed: has no"),
    "grouping a fitted model": (["cluster", "CLUSTER", "sales.csv", "-k", "2"], 2, "--clusters: has no effect"),
    "columns of a fitted model": (["cluster", "CLUSTER", "sales.csv", "--ignore", "city"], 2, "--ignore: has no"),
    "keeping a model twice": (["cluster", "CLUSTER", "sales.csv", "-m", "x"], 2, "--model: has no effect"),
    "resuming a fit": (["embed", "sales.csv", "-o", "f.csv", "--resume"], 2, "needs the MODEL"),
    "resuming to stdout": (["cluster", "CLUSTER", "sales.csv", "-o", "-", "--resume"], 2, "a file to write"),
    "no clusters": (["cluster", "sales.csv", "-k", "0"], 2, "--clusters"),
    "more clusters than rows": (["cluster", "sales.csv", "-k", "301", "-q"], 1, "pass a smaller number"),
    "no such class": (["cluster", "sales.csv", "--label", "town"], 1, "--label names column 'town'"),
    "our own name": (["cluster", "ours.csv", "--id", "cluster"], 1, "cannot be carried along"),
    "our own feature": (["embed", "EMBED", "feature.csv", "--id", "feature_1", "-o", "f.csv"], 1, "be carried along"),
    "one class": (["cluster", "CLUSTER", "one.csv", "--label", "fraud"], 1, "at least two classes"),
    "one row of a class": (["embed", "EMBED", "few.csv", "--label", "fraud"], 1, "several rows each"),
    "no rows": (["embed", "EMBED", "empty.csv", "-o", "f.csv"], 1, "There are no rows in 'empty.csv'"),
    "the table itself": (["cluster", "CLUSTER", "sales.csv", "-o", "sales.csv"], 1, "is the table itself"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_told_in_one_line(
    name: str, run: Run, table: Path, model: Path, models: dict[str, Path], tmp_path: Path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ours.csv").write_text(sales().replace("order", "cluster"))
    (tmp_path / "feature.csv").write_text(sales().replace("order", "feature_1"))
    (tmp_path / "one.csv").write_text(sales(labels=()))
    (tmp_path / "few.csv").write_text(sales(labels=(1,)))
    (tmp_path / "empty.csv").write_text(sales(0))
    before = sorted(file.name for file in tmp_path.iterdir())
    known = {"EMBED": str(models["embed"]), "CLUSTER": str(models["cluster"]), "DETECTOR": str(model)}
    arguments, exit_code, reason = WRONG[name]
    result = run(*[known.get(word, word) for word in arguments], exit_code=exit_code)
    assert reason in " ".join(result.stderr.split())
    assert result.stdout == ""
    if exit_code == 1:
        assert len([line for line in result.stderr.splitlines() if "warning" not in line]) == 1
    assert sorted(file.name for file in tmp_path.iterdir()) == before


def test_rows_are_counted_while_they_are_read(table: Path, capsys):
    told = told_while_read(open_table(table), visible=True)
    assert sum(batch.num_rows for batch in told.batches()) == 300
    printed = capsys.readouterr()
    assert "300 rows read" in printed.err
    assert printed.out == ""
    list(told_while_read(open_table(table), visible=False).batches())
    assert capsys.readouterr().err == ""
