"""What becomes of each kind of column, and what happens when a table differs from the one that was fitted."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from rdplearn.errors import ModelFileError, RDPWarning, TableError
from rdplearn.table import TableEncoder

N = 60


def texts(*values: str, n: int = N) -> pa.Array:
    return pa.array([values[i % len(values)] for i in range(n)])


def kind_of(column, **options) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RDPWarning)
        encoder = TableEncoder(**options).fit(pa.table({"column": column, "other": np.arange(len(column)) % 7}))
    return encoder.describe()[0]["kind"]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (texts("1", "2.5", "-3e4"), "number"),
        (pa.array(np.arange(N) * 3 % 7), "number"),
        (pa.array(np.random.default_rng(0).normal(size=N)), "number"),
        (texts("true", "FALSE"), "boolean"),
        (texts("yes", "no", ""), "boolean"),
        (pa.array([True, False] * 30), "boolean"),
        (texts("red", "green", "blue"), "category"),
        (texts("red", "green").dictionary_encode(), "category"),
        (pa.array([1, 2] * 30).dictionary_encode(), "category"),
        (texts("2024-01-31", "2024-02-01T10:00:00Z"), "date"),
        (texts("31.01.2024", "01.02.2024"), "date"),
        (pa.array(np.datetime64("2024-01-01") + np.arange(N)), "date"),
        (texts("10:30", "23:59:59"), "time"),
        (pa.array([f"word {i} of a long sentence number {i * 7}" for i in range(N)]), "text"),
        (pa.array([f"name{i * 3 // 4}" for i in range(N)]), "text"),
        (pa.array([f"{i:08x}-aa" for i in range(N)]), "identifier"),
        (pa.array(np.arange(N) + 1000), "identifier"),
        (pa.array([str(i) for i in range(N)]), "identifier"),
        (texts("same"), "constant"),
        (pa.array([7.5] * N), "constant"),
        (texts("", "NA"), "empty"),
        (pa.nulls(N), "empty"),
    ],
)
def test_the_kind_of_a_column_is_recognised(column, kind):
    assert kind_of(column) == kind


def test_a_key_by_name_is_an_identifier():
    keys = np.random.default_rng(0).permutation(10**6)[:N]
    with pytest.warns(RDPWarning, match=r"Left out of the table: 'customer_id' \(every value is different, as in"):
        encoder = TableEncoder().fit(pa.table({"customer_id": keys, "price": keys}))
    assert [column["kind"] for column in encoder.describe()] == ["identifier", "number"]
    TableEncoder(ignore=["customer_id"]).fit(pa.table({"customer_id": keys, "price": keys}))  # agreed: no warning


def test_a_column_to_ignore_must_be_there():
    with pytest.raises(TableError, match=r"names column 'idd', which the table does not have. Did you mean 'id'\?"):
        TableEncoder(ignore=["idd"]).fit(pa.table({"id": [1, 2], "a": [1, 2]}))


def test_the_user_has_the_last_word():
    assert kind_of(pa.array(np.arange(N) % 3), kinds={"column": "category"}) == "category"
    assert kind_of(pa.array([str(i) for i in range(N)]), kinds={"column": "number"}) == "number"
    assert kind_of(texts("a", "b"), kinds={"column": "text"}) == "text"
    assert kind_of(texts("a", "b"), kinds={"column": "identifier"}) == "identifier"
    with pytest.raises(TableError, match="Column 'column' of the table has text in 60 rows"):
        kind_of(texts("a", "b"), kinds={"column": "number"})
    with pytest.raises(TableError, match="cannot be read as boolean"):
        kind_of(texts("a", "b"), kinds={"column": "boolean"})
    with pytest.raises(TableError, match=r"must be one of .* Got 'numbr' instead. Did you mean 'number'?"):
        kind_of(texts("a", "b"), kinds={"column": "numbr"})
    with pytest.raises(
        TableError, match=r"names column 'colum', which the table does not have. Did you mean 'column'?"
    ):
        kind_of(texts("a", "b"), kinds={"colum": "number"})


def test_missing_values_get_an_indicator_and_the_median():
    table = pa.table({"age": ["31", "", "57", "40", "NA"]})
    encoder = TableEncoder()
    assert encoder.fit_transform(table).tolist() == [[31, 0], [40, 1], [57, 0], [40, 0], [40, 1]]
    assert encoder.feature_names_ == ["age", "age missing"]
    assert encoder.source_columns_ == ["age", "age"]
    assert encoder.groups_ == {"age": [0, 1]}


def test_a_constant_with_holes_leaves_its_indicator():
    encoder = TableEncoder().fit(pa.table({"refund": ["yes please", "", "", "yes please"]}))
    assert encoder.feature_names_ == ["refund missing"]


def test_commas_are_read_as_told():
    table = pa.table({"price": ["1.234,5", "-0,5", "7", "1.000.000"]})
    matrix = TableEncoder(decimal=",", thousands=".").fit_transform(table)
    assert matrix[:, 0].tolist() == [1234.5, -0.5, 7.0, 1e6]
    table = pa.table({"price": ["1,234.5", "-0.5", "7"]})
    assert TableEncoder(thousands=",").fit_transform(table)[:, 0].tolist() == [1234.5, -0.5, 7.0]
    table = pa.table({"price": ["1'234", "12 345", "1'0"]})
    assert kind_of(table["price"].chunk(0), thousands="'") == "category"


def test_numbers_with_commas_are_pointed_out():
    with pytest.warns(RDPWarning, match=r"'price' .* holds numbers such as .*Pass --plain-numbers"):
        TableEncoder().fit(pa.table({"price": ["1,5", "2,25", "13,0"] * 10}))
    with pytest.warns(RDPWarning, match="read as 1500.25|read as 2250"):
        TableEncoder().fit(pa.table({"price": ["1,500.25", "2,250", "13"] * 10}))


def test_missing_markers_are_as_told():
    table = pa.table({"age": ["31", "?", "57", "-"] * 10})
    assert TableEncoder(missing=["?", "-"]).fit(table).feature_names_ == ["age", "age missing"]
    with pytest.warns(RDPWarning, match=r"mixes numbers \(50%\) and text \(first: row 2, '\?'\)"):
        TableEncoder(strict=True).fit(table)
    with pytest.raises(TableError, match=r"must be a list of texts. Got '-'"):
        TableEncoder(missing="-").fit(table)


def test_infinities_are_warned_of_and_count_as_missing():
    table = pa.table({"x": [1.0, np.inf, 3.0, 1.0]})
    encoder = TableEncoder().fit(table)
    with pytest.warns(RDPWarning, match=r"'x' of the table has infinite values in 1 row \(first: row 2, 'inf'\)"):
        assert encoder.transform(table).tolist() == [[1, 0], [1, 1], [3, 0], [1, 0]]


def test_numbers_far_from_zero_keep_their_differences():
    seconds = 1.7e9 + np.arange(100) % 10
    matrix = TableEncoder().fit_transform(pa.table({"unix": seconds}))
    assert np.ptp(matrix) == 9
    assert len(np.unique(matrix)) == 10


def test_dates_become_days_and_circles():
    when = pa.array(["2024-01-01 00:00", "2024-01-01 06:00", "2024-01-01 12:00", None, "2026-01-01 00:00"])
    encoder = TableEncoder()
    matrix = encoder.fit_transform(pa.table({"when": when}))
    parts = {name: matrix[:, place] for place, name in enumerate(encoder.feature_names_)}
    np.testing.assert_allclose(parts["when:days"], [0, 0.25, 0.5, 0.25, 731])
    np.testing.assert_allclose(parts["when:hour_sin"], [0, 1, 0, 0, 0], atol=1e-6)
    np.testing.assert_allclose(parts["when:hour_cos"], [1, 0, -1, 0, 1], atol=1e-6)
    np.testing.assert_allclose(parts["when:weekday_sin"], [0, 0, 0, 0, np.sin(2 * np.pi * 3 / 7)], atol=1e-6)
    np.testing.assert_allclose(parts["when:yearday_cos"], [1, 1, 1, 0, 1], atol=1e-6)
    assert parts["when missing"].tolist() == [0, 0, 0, 1, 0]
    assert set(encoder.source_columns_) == {"when"}


@given(
    st.datetimes(),
    st.sampled_from(["%Y-%m-%d %H:%M:%S", "%d/%m/%Y %H:%M", "%d.%m.%Y", "%d %b %Y", "%B %d, %Y %I:%M %p"]),
)
@settings(max_examples=80, deadline=None)
def test_dates_are_read_as_python_reads_them(moment, form):
    from datetime import UTC, datetime

    from rdplearn.table.moments import read_moments

    written = moment.replace(year=max(moment.year, 1004)).strftime(form)
    expected = datetime.strptime(written, form).replace(tzinfo=UTC).timestamp()
    assert read_moments(pa.array([written, "x"]), day_first=True)[0] == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("1970-01-01T02:00:00+02:00", 0),
        ("1970-01-01 00:00:00.25Z", 0.25),
        ("1969-12-31 19:00 -0500", 0),
        ("Thu, 01 Jan 1970 00:00:10 GMT", 10),
        ("1/2/1970", 86400),
        ("1970/01/02 12:00 AM", 86400),
    ],
)
def test_zones_and_halves_of_the_day_are_understood(written, seconds):
    from rdplearn.table.moments import read_moments

    assert read_moments(pa.array([written, "x"]), day_first=True)[0] == (seconds if written[0:3] != "1/2" else 2678400)


def test_the_order_of_day_and_month_is_decided_by_the_column():
    decided = pa.table({"when": ["01/02/2024", "31/01/2024", "05/02/2024"]})
    assert TableEncoder().fit_transform(decided)[:, 0].tolist() == [1, 0, 5]
    undecided = pa.table({"when": ["01/02/2024", "03/04/2024"]})
    with pytest.warns(RDPWarning, match="can be read with the day or the month first; the month was taken"):
        TableEncoder().fit(undecided)
    assert TableEncoder(day_first=True).fit_transform(undecided)[1, 0] == 62  # 1 February to 3 April
    both = pa.table({"when": ["13/01/2024"] * 20 + ["01/13/2024"]})
    with pytest.raises(TableError, match=r"text that is not a date in 1 row \(first: row 21, '01/13/2024'\)"):
        TableEncoder(strict=True).fit(both)


def test_rare_categories_share_a_column_and_unseen_ones_join_them():
    train = pa.table({"city": ["Oslo"] * 30 + ["Rome"] * 29 + ["Pisa"]})
    encoder = TableEncoder().fit(train)
    assert encoder.feature_names_ == ["city=Oslo", "city=Rome", "city=(rare)"]
    assert encoder.transform(pa.table({"city": ["Rome", "Pisa"]})).tolist() == [[0, 1, 0], [0, 0, 1]]
    with pytest.warns(RDPWarning, match=r"did not see in 2 rows \(first: row 2, 'Bonn'\); they count as rare"):
        matrix = encoder.transform(pa.table({"city": ["Oslo", "Bonn", "Lyon"]}))
    assert matrix.tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 1]]


def test_without_rare_categories_an_unseen_one_has_no_column():
    encoder = TableEncoder().fit(pa.table({"city": ["Oslo", "Rome"] * 20}))
    with pytest.warns(RDPWarning, match="'Bonn'"):
        assert encoder.transform(pa.table({"city": ["Bonn"]})).tolist() == [[0, 0]]


def test_only_the_most_frequent_categories_get_columns():
    column = [f"c{i}" for i in range(20) for _ in range(i + 2)]
    encoder = TableEncoder(max_categories=3).fit(pa.table({"c": column}))
    assert encoder.feature_names_ == ["c=c19", "c=c18", "c=c17", "c=(rare)"]


def test_one_hot_tables_are_sparse_and_equal_to_dense():
    rng = np.random.default_rng(0)
    table = pa.table(
        {name: rng.choice([f"x{i}" for i in range(40)], 500) for name in "abc"} | {"z": rng.normal(size=500)}
    )
    encoder = TableEncoder()
    matrix = encoder.fit_transform(table)
    assert scipy.sparse.issparse(matrix)
    assert matrix.format == "csr"
    dense = TableEncoder(sparse=False).fit_transform(table)
    np.testing.assert_array_equal(matrix.toarray(), dense)
    assert matrix.nnz == 4 * 500


def test_columns_are_found_by_name():
    train = pa.table({"a": [1, 2, 3], "b": ["x", "y", "x"]})
    encoder = TableEncoder().fit(train)
    np.testing.assert_array_equal(encoder.transform(train.select(["b", "a"])), encoder.transform(train))
    with pytest.warns(RDPWarning, match="New in the table and not used: 'c'"):
        encoder.transform(train.append_column("c", pa.array([1, 2, 3])))
    with pytest.raises(TableError, match=r"Column 'a' of the fit is missing from the table. Is it 'aa' now?"):
        encoder.transform(train.rename_columns(["aa", "b"]))


def test_columns_that_were_left_out_may_be_absent():
    train = pa.table({"a": [1, 2, 3], "same": ["x", "x", "x"]})
    encoder = TableEncoder().fit(train)
    assert encoder.transform(train.select(["a"])).shape == (3, 1)
    with pytest.warns(
        RDPWarning, match=r"'same' .* held one value at fit and others now in 1 row \(first: row 1, 'y'\)"
    ):
        encoder.transform(pa.table({"a": [1], "same": ["y"]}))


def test_changed_types_are_read_if_they_can_be():
    encoder = TableEncoder().fit(pa.table({"a": ["1", "2", "3"], "b": ["yes", "no", "no"], "c": ["x1", "x2", "x2"]}))
    changed = pa.table(
        {
            "a": pa.array([2, 3], pa.int8()),
            "b": [True, False],
            "c": pa.array(["x2", "x1"]).dictionary_encode(),
        }
    )
    expected = encoder.transform(pa.table({"a": ["2", "3"], "b": ["yes", "no"], "c": ["x2", "x1"]}))
    np.testing.assert_array_equal(encoder.transform(changed), expected)
    numbers = TableEncoder(kinds={"n": "category"}).fit(pa.table({"n": [1, 2, 2]}))
    np.testing.assert_array_equal(
        numbers.transform(pa.table({"n": ["2", "1"]})), numbers.transform(pa.table({"n": [2.0, 1.0]}))
    )


def test_changed_types_that_cannot_be_read_are_refused():
    encoder = TableEncoder(strict=True).fit(pa.table({"a": [1, 2, 3]}))
    with pytest.raises(
        TableError, match=r"'a' of the table was a number at fit, and is not in 2 rows \(first: row 2, 'x'\)"
    ):
        encoder.transform(pa.table({"a": ["1", "x", "y"]}))
    with pytest.raises(TableError, match="was a number at fit, and is not"):
        encoder.transform(pa.table({"a": np.array(["2024-01-01"], "datetime64[s]")}))


def test_newly_missing_values_are_warned_of():
    encoder = TableEncoder().fit(pa.table({"a": [1, 2, 9]}))
    with pytest.warns(RDPWarning, match=r"missing values in 1 row \(first: row 2\), which it did not have at fit"):
        assert encoder.transform(pa.table({"a": [1, None]})).tolist() == [[1], [2]]


def test_warnings_come_once_for_all_batches(tmp_path):
    encoder = TableEncoder().fit(pa.table({"a": ["x", "y"] * 20}))
    path = tmp_path / "new.csv"
    path.write_text("a\n" + "x\n" * 100_000 + "z\n" * 100_000)
    with pytest.warns(RDPWarning, match=r"in 100,000 rows \(first: row 100001, 'z'\)") as caught:
        sizes = [batch.num_rows for batch, _ in encoder.encode_batches(path)]
    assert len(caught) == 1
    assert sum(sizes) == 200_000
    assert max(sizes) <= 65_536


def frames():
    columns = {"age": [31, 57, None], "city": ["Oslo", None, "Rome"], "member": [True, False, True]}
    arrow = pa.table(columns)
    return {
        "pandas": pd.DataFrame(columns),
        "polars": pl.DataFrame(columns),
        "arrow": arrow,
        "batch": arrow.to_batches()[0],
    }


@pytest.mark.parametrize("library", frames())
def test_all_data_frames_give_the_same_matrix(library):
    expected = TableEncoder().fit_transform(frames()["arrow"])
    np.testing.assert_array_equal(TableEncoder().fit_transform(frames()[library]), expected)
    assert expected.tolist()[0] == [31, 0, 1, 0, 0, 1]


def test_pandas_columns_of_mixed_objects_and_odd_names_are_read():
    frame = pd.DataFrame({0: [1, "x", None, float("nan")] * 10, ("a", 1): [10**30, 2, 3, 4] * 10})
    with pytest.warns(RDPWarning, match="mixes numbers"):
        encoder = TableEncoder().fit(frame)
    assert encoder.feature_names_ == ["0=1", "0=x", "0 missing", "('a', 1)"]
    with pytest.raises(TableError, match="Column name 'a' occurs 2 times in the table"):
        TableEncoder().fit(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(TableError, match="It is lazy: collect it first"):
        TableEncoder().fit(pl.LazyFrame({"a": [1]}))
    with pytest.raises(TableError, match=r"Cannot read a table from builtins.int"):
        TableEncoder().fit(3)


def test_arrays_are_tables():
    array = np.arange(6.0).reshape(3, 2) ** 2
    np.testing.assert_array_equal(TableEncoder().fit_transform(array), array)
    assert TableEncoder().fit(array.astype(object)).feature_names_ == ["column_1", "column_2"]
    with pytest.raises(TableError, match=r"pandas.*Series. Pass a data frame, such as frame.iloc\[\[0\]\] for one row"):
        TableEncoder().fit(pd.DataFrame({"age": [31], "city": ["Oslo"]}).iloc[0])
    with pytest.raises(TableError, match="Got an array with 1 dimensions; pass one with 2"):
        TableEncoder().fit(np.arange(3))


def mixed_table() -> pa.Table:
    return pa.table(
        {
            "n": [1.5, None, 3.0] * 20,
            "c": ["a", "b", None] * 20,
            "d": ["2024-01-01", "2024-05-01 10:00", None] * 20,
            "t": ["10:00", "11:00", "12:30"] * 20,
            "b": ["yes", "no", "no"] * 20,
            "w": [f"the quick brown fox number {i}" for i in range(60)],
            "i": [f"k{i}" for i in range(60)],
            "k": ["x"] * 60,
            "e": pa.nulls(60),
        }
    )


@pytest.fixture
def mixed_encoder() -> TableEncoder:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RDPWarning)
        return TableEncoder(missing=["?"]).fit(mixed_table())


def test_an_encoder_survives_json(mixed_encoder):
    again = TableEncoder.from_dict(json.loads(json.dumps(mixed_encoder.to_dict(), allow_nan=False)))
    assert again.feature_names_ == mixed_encoder.feature_names_
    assert again.describe() == mixed_encoder.describe()
    assert again.to_dict() == mixed_encoder.to_dict()
    np.testing.assert_array_equal(again.transform(mixed_table()), mixed_encoder.transform(mixed_table()))


def damaged(state, path, value):
    copy = json.loads(json.dumps(state))
    place = copy
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return copy


def paths(value, start=()):
    yield start
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths(item, (*start, key))


def test_damaged_states_are_refused(mixed_encoder):
    state = mixed_encoder.to_dict()
    rubbish = [None, -1, float("nan"), "rubbish", {}, [[]], 10**400]
    refused = 0
    for path in list(paths(state))[1:]:
        for value in rubbish:
            try:
                TableEncoder.from_dict(damaged(state, path, value))
            except ModelFileError as fault:
                refused += 1
                assert "\n" not in str(fault)  # noqa: PT017 - most values are refused, some are fine
    assert refused > 300
    for nothing in (None, [], 3, {}, {"format": 2}):
        with pytest.raises(ModelFileError):
            TableEncoder.from_dict(nothing)


def test_typical_values_are_told_in_words(mixed_encoder):
    told = {row["column"]: row for row in mixed_encoder.describe()}
    assert told["n"]["typical"] == "1.5 to 3"
    assert told["c"]["typical"] == "a (33%), b (33%), missing (33%)"
    assert told["d"]["typical"] == "2024-01-01 to 2024-05-01"
    assert told["i"]["note"] == "left out: every value is different"
    assert told["k"]["note"] == "left out: the only value is 'x'"
    assert told["n"]["missing"] == 20
    json.dumps(mixed_encoder.describe())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"max_categories": 0},
            "'max_categories' parameter of TableEncoder must be an integer of at least 1. Got 0",
        ),
        ({"rare_share": 1.5}, r"'rare_share' parameter of TableEncoder must be in \[0, 1\). Got 1.5 instead"),
        ({"text_columns": -1}, "'text_columns' parameter"),
        (
            {"sparse": "perhaps"},
            "'sparse' parameter of TableEncoder must be 'auto', True or False. Got 'perhaps'",
        ),
        ({"decimal": ";"}, "'decimal' option must be '.' or ','. Got ';'"),
        (
            {"thousands": "."},
            "must be one character, no digit and not the decimal mark. Got '.' instead; pass the decimal mark ','",
        ),
        ({"weights": ["a"]}, r"'weights' parameter of TableEncoder must be a mapping, such as .* Got \['a'\] instead"),
        ({"kinds": "a"}, r"'kinds' parameter of TableEncoder must be a mapping, such as .* Got 'a' instead"),
        ({"ignore": "a"}, "'ignore' option must be a list of columns. Got 'a'"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(TableError, match=message):
        TableEncoder(**options).fit(pa.table({"a": [1, 2]}))


def test_an_encoder_must_be_fitted_first():
    with pytest.raises(TableError, match=r"not fitted. Call fit"):
        TableEncoder().transform(pa.table({"a": [1]}))


def test_columns_of_no_use_can_be_ignored():
    table = pa.table({"a": [1, 2], "nested": [[1], [2, 3]]})
    encoder = TableEncoder(ignore=["nested"]).fit(table)
    assert encoder.transform(table).tolist() == [[1], [2]]
    assert encoder.transform(table.select(["a"])).tolist() == [[1], [2]]


def test_an_empty_table_gives_an_empty_matrix():
    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    encoder = TableEncoder().fit(table)
    assert encoder.transform(table.slice(0, 0)).shape == (0, 3)


def test_names_of_matrix_columns_are_all_different():
    table = pa.table({"a": [1, None, 2], "a missing": [1, 2, 3]})
    assert TableEncoder().fit(table).get_feature_names_out().tolist() == ["a", "a missing", "a missing (2)"]


def test_texts_can_be_left_out_aloud():
    with pytest.warns(RDPWarning, match=r"Left out of the table: 'w' \(free text\)"):
        encoder = TableEncoder(text_columns=0).fit(mixed_table().select(["n", "w"]))
    assert encoder.feature_names_ == ["n", "n missing"]


def test_importing_the_package_loads_nothing_heavy():
    heavy = {"pyarrow", "pandas", "polars", "scipy", "sklearn"}
    code = f"import sys, rdplearn.table; print({heavy} & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "set()"


def numbers_with(words: dict[int, str], n_rows: int = 200) -> pa.Table:
    cities = [words.get(row, ["Oslo", "Rome", "Bonn"][row % 3]) for row in range(n_rows)]
    return pa.table({"city": cities, "amount": [5000.0 if row in words else row % 17 for row in range(n_rows)]})


def test_rows_of_sums_are_told():
    with pytest.warns(RDPWarning, match=r"Column 'city' of the table has 'Total' in 1 row\. If this is a sum of other"):
        TableEncoder().fit(numbers_with({199: "Total"}))
    told = r"has words such as 'Oslo Total' in 3 rows\. If these are sums of other rows, leave them out of the table"
    with pytest.warns(RDPWarning, match=told):
        TableEncoder().fit(numbers_with({99: "Oslo Total", 198: "Rome and Bonn total", 199: "Grand Total:"}))


@pytest.mark.parametrize(
    "words",
    [{199: "Totalled"}, {199: "total of all that was sold"}, dict.fromkeys(range(0, 200, 3), "Total"), {199: "Summer"}],
)
def test_words_that_many_rows_have_or_that_mean_something_else_are_no_sums(words: dict[int, str]):
    TableEncoder().fit(numbers_with(words))


def test_a_name_that_is_not_there_says_what_is():
    table = pa.table({"Amount in EUR": [1.5, 2.5], "City": ["Oslo", "Rome"]})
    for name, hint in {
        "AMOUNT IN EUR": "Did you mean 'Amount in EUR'?",
        "amount": "Did you mean 'Amount in EUR'?",
        "city,amount in eur": "Name each column with an option of its own.",
        "x": "It has 'Amount in EUR', 'City'.",
    }.items():
        with pytest.raises(
            TableError, match=re.escape(f"(--ignore) names column '{name}', which the table does")
        ) as fault:
            TableEncoder(ignore=[name]).fit(table)
        assert str(fault.value).endswith(f"does not have. {hint}")


def test_of_very_many_columns_that_are_not_plain_the_first_are_told():
    table = pa.table({f"c{place}": [f"{row}.5 kg" for row in range(30)] for place in range(30)})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        TableEncoder().fit(table)
    assert len(told) == 5
    assert "with 26 more columns of the table: 'c4', 'c5', " in str(told[-1].message)
    assert "'c11' and 18 more. Run rdplearn inspect" in str(told[-1].message)
