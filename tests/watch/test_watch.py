"""When the world has changed, `watch` says that a refit is due, and why; else it does not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rdplearn
from rdplearn import RDPDetector, RDPTransformer, TableEncoder, TableModel, remember_scores, watch
from rdplearn.errors import TableError
from rdplearn.report import changes_report, page

QUICK = {"n_members": 3, "n_rounds": 1, "n_steps": 60, "random_state": 0}


def orders(seed: int, n_rows: int = 500) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    country = rng.choice(["Norway", "Italy", "France"], n_rows, p=[0.5, 0.3, 0.2])
    level = pd.Series(country).map({"Norway": 5.0, "Italy": 3.0, "France": 1.0}).to_numpy()
    return pd.DataFrame(
        {
            "amount": np.exp(rng.normal(level, 0.2)).round(2),
            "items": rng.poisson(4, n_rows),
            "country": country,
            "paid": rng.random(n_rows) < 0.7,
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n_rows), unit="D"),
            "currency": "EUR",
            "discount": np.where(rng.random(n_rows) < 0.5, np.nan, rng.random(n_rows)),
        }
    )


@pytest.fixture(scope="module")
def model() -> TableModel:
    fitted = TableModel(RDPDetector(**QUICK, false_alarm_rate=0.02)).fit(orders(0))
    return remember_scores(fitted, orders(0))


def reasons(model: TableModel, table: pd.DataFrame) -> set[tuple[str | None, str]]:
    verdict = watch(model, table)
    assert verdict.due
    return {(change.column, change.matter) for change in verdict.reasons()}


def test_tables_of_the_same_source_are_not_called_changed(model):
    assert sum(watch(model, orders(seed)).due for seed in range(1, 26)) <= 1


def test_a_large_table_does_not_cry_wolf(model):
    slightly = orders(1, 30_000)
    slightly["items"] = np.where(np.arange(30_000) % 20 == 0, 3, slightly["items"])
    verdict = watch(model, slightly)
    change = next(change for change in verdict.changes if change.column == "items" and change.matter == "values")
    assert not verdict.due, verdict.sentences()
    assert 0 < change.effect < change.least


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda t: t.assign(amount=t["amount"] * 1.5), ("amount", "values")),
        (lambda t: t.assign(items=t["items"].mask(t.index % 5 == 0)), ("items", "missing")),
        (lambda t: t.assign(discount=0.5), ("discount", "missing")),
        (lambda t: t.assign(country=t["country"].mask(t.index % 8 == 0, "Spain")), ("country", "new")),
        (lambda t: t.assign(paid=~t["paid"]), ("paid", "values")),
        (lambda t: t.assign(when=t["when"] + pd.Timedelta(days=60)), ("when", "values")),
        (lambda t: t[t["when"].dt.day_of_week < 5].reset_index(drop=True), ("when", "weekdays")),
        (lambda t: t.assign(currency="USD"), ("currency", "values")),
        (lambda t: t.assign(items=t["items"].astype(str).mask(t.index % 9 == 0, "a few")), ("items", "unread")),
        (lambda t: t.assign(items=[[1]] * len(t)), ("items", "unread")),
        (lambda t: t.drop(columns="amount"), ("amount", "gone")),
    ],
)
def test_a_change_is_found_where_it_is(model, change, expected):
    found = reasons(model, change(orders(50)))
    assert expected in found
    assert {column for column, _ in found} <= {expected[0], None}


def test_rows_that_are_odd_only_as_a_whole_are_found_by_their_scores(model):
    table = orders(50)
    table["amount"] = np.random.default_rng(0).permutation(table["amount"])
    assert reasons(model, table) <= {(None, "scores"), (None, "alarms")}


def test_more_alarms_than_promised_make_a_refit_due(model):
    table = orders(51)
    table.loc[::12, ["amount", "items"]] = [9.0, 40]
    found = {change.matter: change for change in watch(model, table).reasons()}
    assert "2% were promised" in found["alarms"].words


def test_the_verdict_is_told_in_words_and_plain_values(model):
    table = orders(52).assign(amount=lambda t: t["amount"] * 3, colour="red")
    verdict = watch(model, table)
    sentences = verdict.sentences()
    assert sentences[0].startswith("A refit is due: 1 column has changed")
    assert any(sentence.startswith("amount ") and "at fit" in sentence for sentence in sentences)
    assert "New columns, which the model does not use: colour." in sentences
    told = verdict.to_dict()
    assert told["columns"][0]["column"] == "amount"
    assert told["due"] is True
    assert told["alarms"]["matter"] == "alarms"
    assert "amount" in verdict._repr_html_()
    assert repr(verdict) == "\n".join(verdict.sentences())


def test_a_column_that_the_model_does_not_use_may_go(model):
    assert not watch(model, orders(53).drop(columns="currency")).due


def test_the_level_says_how_sure_to_be(model):
    table = orders(54, 60).assign(items=lambda t: t["items"] + 1)
    changes = {level: watch(model, table, level=level).due for level in (1e-9, 0.5)}
    assert changes == {1e-9: False, 0.5: True}
    with pytest.raises(ValueError, match=r"'level' parameter of watch must be in \(0, 0.5\]. Got 2"):
        watch(model, table, level=2)


def test_a_model_file_remembers_the_same(model, tmp_path):
    rdplearn.save(model, tmp_path / "model.safetensors")
    again = rdplearn.load(tmp_path / "model.safetensors")
    assert again.memory_ == model.memory_
    assert watch(again, orders(55)).to_dict() == watch(model, orders(55)).to_dict()


def test_a_model_that_remembers_nothing_says_what_to_do(model, tmp_path):
    forgetful = TableModel(model.estimator, model.encoder)
    rdplearn.save(forgetful, tmp_path / "model.safetensors")
    with pytest.raises(TableError, match=r"written by an earlier version. Fit it again"):
        watch(rdplearn.load(tmp_path / "model.safetensors"), orders(1))
    with pytest.raises(TypeError, match=r"watch needs a TableModel.*Got RDPDetector"):
        watch(model.estimator, orders(1))


def test_without_scores_the_columns_are_compared_and_the_verdict_says_so():
    table = orders(0)[["amount", "country"]]
    model = TableModel(RDPDetector(**QUICK)).fit(table)
    verdict = watch(model, table)
    assert not verdict.due
    assert "the model remembers no scores" in verdict.sentences()[-1]
    features = TableModel(RDPTransformer(n_steps=20, random_state=0)).fit(table)
    assert watch(features, table.assign(amount=1.0)).due
    assert watch(features, table).not_compared == []
    with pytest.raises(TypeError, match=r"Scores are those of an RDPDetector. Got RDPTransformer"):
        remember_scores(features, table)


def test_a_table_without_rows_is_a_fault(model):
    with pytest.raises(TableError, match="There are no rows in"):
        watch(model, orders(1).iloc[:0])


def test_one_row_decides_nothing(model):
    assert not watch(model, orders(1).iloc[:1]).due


def test_ignored_columns_are_neither_remembered_nor_new():
    table = orders(0).assign(order=range(500))
    model = TableModel(RDPDetector(**QUICK), TableEncoder(ignore=["order"])).fit(table)
    assert "order" not in [profile.column for profile in model.memory_.columns]
    assert watch(model, table).new_columns == []


def test_scores_that_cannot_be_remembered_are_told_of():
    table = pd.DataFrame({"x": np.r_[np.zeros(59), 1.0], "y": 1.0})
    model = TableModel(RDPDetector(**QUICK)).fit(table)
    with pytest.warns(rdplearn.RDPWarning, match="'watch' will compare columns only"):
        remember_scores(model, table)
    assert model.memory_.scores is None


def test_names_and_values_are_no_markup_on_the_page(model):
    nasty = "<script>window.hacked=1</script>"
    table = orders(56).rename(columns={"country": "country"}).assign(country=nasty)
    text = page(changes_report(model, watch(model, table)))
    assert nasty not in text
    assert 'id="chart-change-0"' in text
    assert "A refit is due" in text


def test_the_page_of_an_unchanged_table(model):
    text = page(changes_report(model, watch(model, orders(57))))
    assert "No refit is due" in text
    assert "What differs most" in text
