"""Scaling: the same for sparse and dense, finite whatever comes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rdplearn._views.minmax import FARTHEST, UnchangedView, fit_min_max

tables = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6),
    elements=st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, 5e-324, -1e308, 1e308]),
)


@given(tables)
@settings(max_examples=200, deadline=None)
def test_any_finite_table_is_scaled_to_finite_numbers(table):
    scaled = fit_min_max(table)(table)
    assert scaled.dtype == np.float32
    assert np.isfinite(scaled).all()
    assert scaled.min() >= -1.0001
    assert scaled.max() <= 2.0001  # 1, but for columns whose range is beyond double precision


@given(tables)
@settings(max_examples=200, deadline=None)
def test_sparse_and_dense_tables_are_scaled_alike(table):
    dense, sparse = fit_min_max(table), fit_min_max(sp.csr_array(table))
    assert np.array_equal(dense.low, sparse.low)
    assert np.array_equal(dense.width, sparse.width)
    np.testing.assert_allclose(sparse(sp.csr_array(table)).toarray(), dense(table), rtol=1e-6, atol=1e-30)


def test_columns_span_zero_to_one():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(100, 3)) * [1, 1e6, 1e-6] + [0, 5e6, 3]
    scaled = fit_min_max(table)(table)
    assert scaled.min(axis=0) == pytest.approx(np.zeros(3), abs=1e-6)
    assert scaled.max(axis=0) == pytest.approx(np.ones(3), abs=1e-6)


def test_a_mostly_zero_column_with_negative_values_keeps_its_zero():
    table = np.zeros((10, 2))
    table[0], table[1] = -2.0, 4.0
    view = fit_min_max(table)
    assert view(table)[:3, 0].tolist() == [-0.5, 1.0, 0.0]
    assert view(sp.csr_array(table)).nnz == 4


def test_a_constant_column_is_zero_and_another_value_is_measured_against_it():
    view = fit_min_max(np.array([[5.0, 0.0], [5.0, 1.0]]))
    assert view(np.array([[5.0, 0.0], [10.0, 0.0]]))[:, 0].tolist() == [0.0, 1.0]


def test_values_far_outside_the_fitted_range_stay_finite():
    view = fit_min_max(np.array([[0.0], [1.0]]))
    assert view(np.array([[1e300], [-1e300], [3.0]]))[:, 0].tolist() == [FARTHEST, -FARTHEST, 3.0]


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int64, np.float32, np.float64])
def test_every_numeric_type_is_scaled_alike(dtype):
    table = np.random.default_rng(0).integers(0, 2, size=(20, 3))
    assert np.array_equal(fit_min_max(table.astype(dtype))(table.astype(dtype)), table.astype(np.float32))


def test_the_table_is_never_copied_whole(monkeypatch):
    from rdplearn._views import minmax as views

    monkeypatch.setattr(views, "row_blocks", lambda n_rows: (slice(s, s + 7) for s in range(0, n_rows, 7)))
    table = np.random.default_rng(0).normal(size=(100, 3))
    view = fit_min_max(table)
    assert np.array_equal(view.low, table.min(axis=0))


def test_unchanged_columns_are_only_converted():
    table = np.array([[1.5, -2.0]])
    assert UnchangedView()(table).tolist() == [[1.5, -2.0]]
    assert UnchangedView()(sp.csr_array(table)).dtype == np.float32
