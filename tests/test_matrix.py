"""Tables of every kind come in; bad ones get an error that names column, rule, value and remedy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from rdplearn import RDPDetector, TableError
from rdplearn._views.matrix import read_matrix

VALUES = np.arange(12.0).reshape(4, 3)
NAMES = ["a", "b", "c"]


def read(X, reset=True, estimator=None, min_rows=1):
    return read_matrix(estimator or RDPDetector(), X, reset=reset, min_rows=min_rows)


@pytest.mark.parametrize(
    "make",
    [
        lambda: pd.DataFrame(VALUES, columns=NAMES),
        lambda: pl.DataFrame(VALUES, schema=NAMES),
        lambda: pa.table({name: VALUES[:, c] for c, name in enumerate(NAMES)}),
    ],
    ids=["pandas", "polars", "arrow"],
)
def test_frames_bring_their_numbers_and_names(make):
    detector = RDPDetector()
    assert np.array_equal(read(make(), estimator=detector), VALUES)
    assert detector.feature_names_in_.tolist() == NAMES


@pytest.mark.parametrize(
    "X",
    [
        VALUES.astype(np.float32),
        VALUES.astype(int),
        VALUES > 3,
        VALUES.tolist(),
        VALUES.astype(object),
        VALUES.astype(str),
    ],
    ids=["float32", "int", "bool", "list", "object", "digits as text"],
)
def test_arrays_of_numbers_are_taken(X):
    assert np.array_equal(np.asarray(read(X), dtype=float), np.asarray(X, dtype=float))


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix])
def test_sparse_tables_become_csr(make):
    matrix = read(make(VALUES))
    assert matrix.format == "csr"
    assert np.array_equal(matrix.toarray(), VALUES)


def test_mixed_columns_of_a_frame_are_numbers():
    frame = pd.DataFrame({"n": [1, 2], "yes": [True, False], "x": [0.5, 1.5], "o": pd.Series([1, 2.5], dtype=object)})
    assert read(frame).tolist() == [[1, 1, 0.5, 1], [2, 0, 1.5, 2.5]]
    nullable = pd.DataFrame({"n": pd.array([1, 2], dtype="Int64"), "f": pd.array([1.5, 2.5], dtype="Float64")})
    assert read(nullable).tolist() == [[1, 1.5], [2, 2.5]]


def test_duplicate_and_unsorted_sparse_indices_are_put_right_in_a_copy():
    messy = sp.csr_array((np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    assert read(messy).toarray().tolist() == [[2.0, 0.0, 4.0]]
    assert messy.indices.tolist() == [2, 0, 2]


def test_a_large_table_is_not_copied():
    table = np.zeros((10, 3), dtype=np.float32)
    assert np.shares_memory(read(table), table)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (
            pd.DataFrame({"age": [1.0, 2.0], "city": ["Rome", "Oslo"]}),
            r"Column 'city' has text in 2 row\(s\) \(first: row 0, 'Rome'\)\. Turn it into numbers",
        ),
        (
            pl.DataFrame({"age": ["1", "2", "n/a"]}),
            r"Column 'age' has text in 1 row\(s\) \(first: row 2, 'n/a'\)",
        ),
        (
            pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2021-01-01"])}),
            r"Column 'when' holds Datetime.*, not numbers",
        ),
        (
            np.array([[1.0, "x"], [2.0, "y"]], dtype=object),
            r"Column 1 has text in 2 row\(s\) \(first: row 0, 'x'\)",
        ),
        (
            pd.DataFrame({"a": [1.0, np.nan, np.nan], "b": [1.0, 2.0, np.inf]}),
            r"NaN or infinity: column 'a' in 2 row\(s\) \(first: row 1\) and 1 other column\(s\)\. Fill or drop",
        ),
        (
            np.array([[1.0], [np.inf]]),
            r"NaN or infinity: column 0 in 1 row\(s\) \(first: row 1\)\. Fill or drop",
        ),
        (sp.csr_array([[0.0, np.nan]]), r"NaN or infinity: column 1 in 1 row\(s\) \(first: row 0\)"),
        (pl.DataFrame({"a": [1, None]}), r"NaN or infinity: column 'a' in 1 row"),
        (pd.DataFrame(index=[1, 2]), r"2 row\(s\) and no columns"),
        (np.empty((0, 3)), r"Found array with 0 sample\(s\).*minimum of 1 is required"),
        (np.arange(3.0), "Expected 2D array, got 1D array"),
    ],
    ids=[
        "text",
        "one text",
        "dates",
        "objects",
        "two columns",
        "inf",
        "sparse",
        "null",
        "no columns",
        "no rows",
        "1-d",
    ],
)
def test_bad_tables_are_named(X, message):
    with pytest.raises(ValueError, match=message):
        read(X)


def test_table_errors_are_value_errors():
    with pytest.raises(TableError):
        read(np.array([[np.nan]]))


def test_other_columns_than_at_fit_are_refused():
    detector = RDPDetector()
    read(pd.DataFrame(VALUES, columns=NAMES), estimator=detector)
    with pytest.raises(ValueError, match="in the same order"):
        read(pd.DataFrame(VALUES, columns=["b", "a", "c"]), reset=False, estimator=detector)
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- z"):
        read(pd.DataFrame(VALUES, columns=["a", "b", "z"]), reset=False, estimator=detector)


def test_another_number_of_columns_than_at_fit_is_refused():
    detector = RDPDetector()
    read(VALUES, estimator=detector)
    with pytest.raises(ValueError, match="X has 2 features, but RDPDetector is expecting 3"):
        read(VALUES[:, :2], reset=False, estimator=detector)


def test_one_row_is_too_few_to_learn_from():
    with pytest.raises(ValueError, match=r"Found array with 1 sample\(s\).*minimum of 2 is required by RDPDetector"):
        RDPDetector().fit(VALUES[:1])
