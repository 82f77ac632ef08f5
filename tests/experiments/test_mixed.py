"""Errors planted in mixed tables: planting, rivals, repair, lines, page. The tables are made up."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from experiments.__main__ import app
from experiments.mixed import command, loading, measuring, page, planting, repair, rivals
from typer.testing import CliRunner

from experiments import datasets, false_alarms, results

N_ROWS = 400


def shop(n_rows=N_ROWS, seed=0):
    """A shop's sales as they stand in a file."""
    rng = np.random.default_rng(seed)
    size = rng.lognormal(size=n_rows)
    return pd.DataFrame(
        {
            "Invoice ID": [f"{n:05d}" for n in range(n_rows)],
            "price": [f"{1 + value:.2f}" for value in size],
            "tax": [f"{0.2 * (1 + value):.2f}" for value in size],
            "change": [f"{value:.1f}" for value in rng.normal(scale=5, size=n_rows)],
            "written": [f"${value:,.2f}" for value in 2_000 * size],
            "year": rng.integers(1950, 2020, n_rows).astype(str),
            "holes": np.where(rng.random(n_rows) < 0.5, "NA", rng.integers(100, size=n_rows).astype(str)),
            "town": rng.choice(["Oslo", "Rome", "Bonn"], n_rows),
            "paid": rng.choice(["cash", "card"], n_rows),
            "day": [f"2020-01-{1 + n % 28:02d}" for n in range(n_rows)],
        }
    )


def changes(frame, planted):
    """The changed cells: (row, column, before, after), row by row."""
    different = (frame != planted.frame).to_numpy()
    return [
        (int(row), frame.columns[column], frame.iat[row, column], planted.frame.iat[row, column])
        for row, column in zip(*np.nonzero(different), strict=True)
    ]


@pytest.mark.parametrize("kind", [kind for kind in planting.KINDS if kind != planting.DIRTY])
def test_one_row_in_a_hundred_is_changed_in_the_columns_that_are_told(kind):
    frame = shop()
    planted = planting.plant(frame, kind, seed=1)
    told = dict(zip(np.flatnonzero(planted.is_planted).tolist(), planted.columns, strict=True))
    assert len(told) == N_ROWS // 100
    found = changes(frame, planted)
    assert {row for row, *_ in found} == set(told)
    assert all(column in told[row] for row, column, *_ in found)
    assert not {"Invoice ID", "year"} & {column for _, column, *_ in found}
    again = planting.plant(frame, kind, seed=1)
    assert planted.frame.equals(again.frame)
    assert not planted.frame.equals(planting.plant(frame, kind, seed=2).frame)


@pytest.mark.parametrize(
    ("kind", "columns", "is_so"),
    [
        ("times100", {"price", "tax", "change"}, lambda before, after: float(after) == round(100 * float(before), 6)),
        ("sign", {"price", "tax"}, lambda before, after: float(after) == -float(before)),
        ("swap", {"price", "tax"}, lambda before, after: float(before) != float(after)),
        ("newcat", {"town", "paid", "day"}, lambda before, after: after[:-1] == before and after[-1].isalpha()),
        ("mismatch", {"town", "paid", "day"}, lambda before, after: before != after),
        ("missing", set(shop().columns), lambda before, after: after == ""),
    ],
)  # fmt: skip
def test_each_kind_does_what_its_name_says_to_the_columns_that_fit(kind, columns, is_so):
    frame = shop()
    seen = set()
    for seed in range(4):
        for _, column, before, after in changes(frame, planting.plant(frame, kind, seed)):
            assert is_so(before, after)
            assert kind in ("times100", "sign", "newcat", "missing") or after in set(frame[column])
            seen.add(column)
    assert seen <= columns
    assert len(seen) >= 2


def test_a_swapped_number_comes_from_the_other_end_of_its_column():
    frame = shop()
    swapped = list(changes(frame, planting.plant(frame, "swap", seed=0)))
    assert swapped
    for _, column, before, after in swapped:
        low, middle, high = frame[column].astype(float).quantile([0.1, 0.5, 0.9])
        if float(before) <= middle:
            assert float(after) >= high
        else:
            assert float(after) <= low


def test_new_categories_occur_once_however_many_are_planted():
    frame = pd.DataFrame({"town": ["Oslo"] * 5_999 + ["Rome"]})
    planted = planting.plant(frame, "newcat", seed=0)
    counts = planted.frame["town"].value_counts()
    new = [after for *_, after in changes(frame, planted)]
    assert new
    assert all(counts[after] == 1 for after in new)


def test_a_dirty_table_has_errors_of_three_kinds_in_three_rows_of_a_hundred():
    frame = shop()
    planted = planting.plant(frame, planting.DIRTY, seed=0)
    assert 0.027 * N_ROWS <= planted.is_planted.sum() <= 0.03 * N_ROWS
    told = {column for columns in planted.columns for column in columns}
    assert {"town", "paid"} & told
    assert 0 < sum(len(columns) == 3 for columns in planted.columns) < len(planted.columns)


def test_where_no_column_fits_nothing_is_planted():
    texts = pd.DataFrame({"name": [f"name {n}" for n in range(200)], "zip": ["12345"] * 200})
    assert all(planting.plant(texts, kind, seed=0) is None for kind in planting.KINDS)


def test_a_row_has_three_cells_emptied():
    frame = shop()
    planted = planting.plant(frame, "missing", seed=0)
    assert [len(columns) for columns in planted.columns] == [3] * len(planted.columns)
    assert "holes" not in {column for columns in planted.columns for column in columns}


@pytest.mark.parametrize("name", rivals.RIVALS)
def test_rivals_find_an_impossible_number_and_a_new_category(name):
    frame = shop()
    frame.loc[7, ["price", "town"]] = ["99999999", "Romee"]
    scores = rivals.RIVALS[name](frame, seed=0)
    assert np.all(np.isfinite(scores))
    assert 7 in np.argsort(-scores)[: 40 if name == "IsolationForest" else 4]


def test_rivals_take_tables_of_one_kind_of_column():
    for columns in (["price", "tax"], ["town", "paid"], ["Invoice ID", "holes"]):
        for rival in rivals.RIVALS.values():
            assert np.all(np.isfinite(rival(shop()[columns], seed=0)))


def test_the_best_repair_is_that_of_the_broken_cell():
    frame = shop()
    frame.loc[3, "tax"] = "500"
    frame.loc[5, "town"] = "Nowhere"

    def score(rows):
        return (rows["tax"].astype(float) > 100) * 5.0 + (rows["town"] == "Nowhere") * 2.0

    lowered = repair.drops(frame, np.array([5, 3]), score)
    assert lowered.loc[3].idxmax() == "tax"
    assert lowered.loc[5].idxmax() == "town"
    assert lowered.loc[3, "tax"] == 5.0
    assert lowered.loc[5, "tax"] == 0.0
    by_more = repair.drops(frame, np.array([5, 3]), score, n_random=5)
    assert (by_more >= lowered).all(axis=None)


def test_the_best_pair_is_that_of_two_broken_cells():
    frame = shop()
    frame.loc[3, ["tax", "town"]] = ["500", "Nowhere"]

    def score(rows):
        return ((rows["tax"].astype(float) > 100) | (rows["town"] == "Nowhere")) * 5.0

    assert not repair.drops(frame, np.array([3]), score).to_numpy().any()
    lowered = repair.pair_drops(frame, 3, score)
    assert max(lowered, key=lowered.__getitem__) == {"tax", "town"}
    assert lowered[frozenset({"tax", "town"})] == 5.0
    assert lowered[frozenset({"tax", "price"})] == 0.0


def test_what_no_repair_helps_lowers_nothing():
    lowered = repair.drops(shop(), np.array([0]), lambda rows: np.ones(len(rows)))
    assert not lowered.to_numpy().any()


def test_ours_finds_and_names_what_is_planted():
    frame = shop()
    planted = planting.plant(frame, "missing", seed=0)
    line = measuring.measure_planted(measuring.OURS, planted, seed=0)
    assert line["metrics"]["auc_roc"] > 0.95
    assert 0 < line["named"]["first"] <= line["named"]["in_top"] <= planted.is_planted.sum()


def test_a_table_that_cannot_be_read_is_a_line_too():
    only_identifiers = pd.DataFrame({"a": ["x"] * 50})
    planted = planting.Planting(only_identifiers, np.arange(50) < 1, [("a",)])
    line = measuring.measure_planted(measuring.OURS, planted, seed=0)
    assert line["status"] == "refused"
    assert line["reason"]
    assert page.quality([{**line, "kind": "sign"}]).tolist() == [0.5, 0.01]


@pytest.fixture
def two_tables(folders):
    """A data folder with two mixed tables."""
    (folders / "data" / "mixed").mkdir()
    for seed, name in enumerate(("shop", "other")):
        shop(200, seed).to_csv(folders / "data" / "mixed" / f"{name}.csv", index=False)
    return folders


def test_cells_stay_as_they_stand_and_names_lose_spaces(tmp_path):
    (tmp_path / "table.csv").write_text("price ,zip\n1.50,00501\nNA,\n")
    assert loading.read(tmp_path / "table.csv").to_dict("list") == {"price": ["1.50", "NA"], "zip": ["00501", ""]}


def test_lines_are_written_once_and_make_the_page(two_tables, monkeypatch):
    monkeypatch.setattr(command, "KINDS", ("times100", "mismatch"))
    assert loading.names() == ["mixed/other", "mixed/shop"]
    lines, alarms, output = two_tables / "lines", two_tables / "alarms.jsonl", two_tables / "mixed.md"
    run = ["mixed", "run", "rdplearn", "--results", str(lines)]
    for _ in range(2):
        assert CliRunner().invoke(app, [*run, "--as", "rdplearn, before", "--data", "mixed/shop"]).exit_code == 0
    records = list(results.read(lines))
    assert [record["kind"] for record in records] == ["times100", "mismatch", page.AS_IT_IS]
    assert {record["label"] for record in records} == {"rdplearn, before"}
    assert all(record["status"] == "done" and record["commit"] and record["data_sha256"] for record in records)
    assert CliRunner().invoke(app, ["mixed", "run", "rarity", "--results", str(lines)]).exit_code == 0
    fits = {"table": "binary", "anomalies": 0.0, "asked": 0.01, "normal_reported": 0.02, "anomalies_reported": 1.0}
    results.append(alarms, {**fits, "label": "rdplearn"})
    answer = CliRunner().invoke(
        app, ["mixed", "report", "--results", str(lines), "--alarms", str(alarms), "--output", str(output)]
    )
    assert answer.exit_code == 0
    text = output.read_text()
    assert text.index("| rdplearn, before (3 of 6 lines) |") < text.index("| rarity |")
    assert "1 of 1, 0 above" in text


def test_unknown_methods_and_one_name_for_all_are_refused():
    answer = CliRunner().invoke(app, ["mixed", "run", "guessing"])
    assert "must be all or one of rdplearn, rarity" in " ".join(answer.output.split())
    answer = CliRunner().invoke(app, ["mixed", "run", "all", "--as", "x"])
    assert "cannot have one name" in " ".join(answer.output.split())
    assert answer.exit_code == 2


def test_lines_of_today_come_after_those_before_and_before_rivals():
    labels = [("trial b", "trial b"), ("rdplearn", "rdplearn"), ("rdplearn", "rdplearn, November 17")]
    records = [{"method": method, "label": label} for method, label in labels]
    assert list(page.in_order(records)) == ["rdplearn, November 17", "rdplearn", "trial b"]
    assert "rdplearn (1 of 2 lines)" in page.in_order([*records, *records[2:], *records[:1]])


def test_the_page_is_that_of_the_committed_lines():
    made = page.page(list(results.read(command.FOLDER)), list(results.read_file(false_alarms.PATH)))
    assert (datasets.REPOSITORY / "docs" / "mixed.md").read_text() == made
