"""What is remembered of a column: cells as the encoder reads them, few counts, and files that are checked."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from rdplearn import TableEncoder
from rdplearn.errors import ModelFileError, RDPWarning
from rdplearn.table.memory import TableMemory, count_memory, faded, learn_memory
from rdplearn.table.profiles import MOST_PLACES, places_for


def mixed(n_rows: int = 400, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    days = np.datetime64("2024-01-01T08", "s") + rng.integers(0, 90 * 24, n_rows) * np.timedelta64(3600, "s")
    texts = [" ".join(["word"] * int(rng.integers(6, 20))) + str(row) for row in range(n_rows)]
    return pa.table(
        {
            "amount": [
                None if row % 10 == 0 else f"${value:,.2f}" for row, value in enumerate(rng.lognormal(6, 1, n_rows))
            ],
            "count": rng.poisson(2, n_rows),
            "paid": rng.random(n_rows) < 0.8,
            "city": rng.choice(["Oslo", "Rome", "Paris"], n_rows, p=[0.6, 0.3, 0.1]),
            "when": pa.array(days),
            "note": texts,
            "currency": ["EUR"] * n_rows,
            "nothing": pa.array([None] * n_rows, pa.string()),
            "id": [f"A{row:05d}" for row in range(n_rows)],
        }
    )


@pytest.fixture(scope="module")
def encoder():
    with pytest.warns(RDPWarning, match="holds numbers such as"):
        return TableEncoder(ignore=["id"]).fit(mixed())


@pytest.fixture(scope="module")
def memory(encoder):
    return learn_memory(mixed(), encoder)


def test_every_kind_of_column_is_remembered(memory):
    counted = {profile.column: [histogram.what for histogram in profile.histograms] for profile in memory.columns}
    assert counted == {
        "amount": ["values"],
        "count": ["values"],
        "paid": ["values"],
        "city": ["values"],
        "when": ["values", "hours", "weekdays"],
        "note": ["letters"],
        "currency": ["values"],
        "nothing": [],
    }
    by_name = {profile.column: profile for profile in memory.columns}
    assert by_name["amount"].n_missing == 40
    assert by_name["nothing"].n_missing == 400
    assert by_name["city"].histograms[0].words == ["Oslo", "Rome", "Paris"]
    assert by_name["paid"].histograms[0].counts[1] > 280


def test_the_same_rows_are_counted_the_same(memory, encoder):
    for known, again in zip(memory.columns, count_memory(memory, mixed(), encoder), strict=True):
        assert [h.counts for h in again.histograms] == [h.counts for h in known.histograms]
        assert (again.n_missing, again.n_unread) == (known.n_missing, known.n_unread)


def test_what_is_new_is_counted_with_an_example(memory, encoder):
    rows = pa.table(
        {"city": ["Bergen", "Bergen", "Oslo"], "amount": ["12", "plenty", "99999999"], "currency": ["USD"] * 3}
    )
    found = {profile.column: profile for profile in count_memory(memory, rows, encoder)}
    assert set(found) == {"city", "amount", "currency"}
    assert (found["city"].histograms[0].n_new, found["city"].examples["new"]) == (2, "Bergen")
    assert (found["amount"].n_unread, found["amount"].examples["unread"]) == (1, "plenty")
    assert found["amount"].histograms[0].n_new == 1  # 99999999 is beyond the range
    assert found["currency"].histograms[0].counts == [0, 3]


def test_a_constant_number_in_another_dress_is_the_same():
    encoder = TableEncoder().fit(pa.table({"version": ["1"] * 30, "x": np.arange(30.0) % 7}))
    memory = learn_memory(pa.table({"version": ["1"] * 30, "x": np.arange(30.0) % 7}), encoder)
    (version,) = count_memory(memory, pa.table({"version": ["1.0", "1", "2"]}), encoder)
    assert (version.histograms[0].counts, version.histograms[0].n_new) == ([2, 1], 1)


def test_what_fades_can_be_stored(memory, encoder):
    for share in (0.9, 0.5, 0.01, 0.0):
        state = json.loads(json.dumps(faded(memory, share, mixed(30), encoder).to_dict()))
        assert TableMemory.from_dict(state).columns[0].n_rows == int(400 * share) + 30


def test_cells_of_a_strange_type_cannot_be_read(memory, encoder):
    (city,) = count_memory(memory, pa.table({"city": [[1], [2, 3]]}), encoder)
    assert city.n_unread == 2


def test_a_memory_is_small_whatever_the_table(encoder):
    large = learn_memory(mixed(5000), encoder)
    assert all(len(h.counts) <= MOST_PLACES for profile in large.columns for h in profile.histograms)
    assert places_for(100_000) == 4
    assert len(json.dumps(large.to_dict())) < 10_000


def test_a_memory_comes_back_from_json(memory):
    again = TableMemory.from_dict(json.loads(json.dumps(memory.to_dict())))
    assert again == memory


@pytest.mark.parametrize(
    "damage",
    [
        lambda state: state.update(columns=None),
        lambda state: state["columns"][0].update(n_missing=10**9),
        lambda state: state["columns"][0].update(n_rows="many"),
        lambda state: state["columns"][0]["histograms"][0].update(counts=[1]),
        lambda state: state["columns"][0]["histograms"][0].update(counts=[-1] * 20),
        lambda state: state["columns"][0]["histograms"][0]["edges"].reverse(),
        lambda state: state["columns"][0]["histograms"][0].update(low=None),
        lambda state: state["columns"][0].update(code="import os"),
        lambda state: state.update(
            scores={"n_rows": 1, "n_beyond": 2, "histogram": state["columns"][0]["histograms"][0]}
        ),
    ],
)
def test_a_damaged_memory_is_refused(memory, damage):
    state = json.loads(json.dumps(memory.to_dict()))
    damage(state)
    with pytest.raises(ModelFileError, match="memory"):
        TableMemory.from_dict(state)
