"""Curved views of the columns: what they promise, on new rows, on sparse rows, and at the edge of numbers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import ndtri
from scipy.stats import rankdata

from rdplearn._views.curves import (
    Distinct,
    distinct_columns,
    fit_curves,
    look_through,
    rank_curve,
    robust_curve,
    surprise_curve,
)
from rdplearn._views.robust_columns import fit_robust_curves
from rdplearn._views.view import CURVE_ROWS, SeenRows, fit_views, names_in

CURVES = {"robust": robust_curve, "rank": rank_curve, "surprise": surprise_curve}
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def view_of(table, name):
    return fit_curves(distinct_columns(table), CURVES[name])


def test_the_robust_view_does_not_care_for_outliers(rng):
    table = rng.normal(5.0, 2.0, size=(2000, 1))
    spoilt = table.copy()
    spoilt[:20] = 1e9
    plain, after = view_of(table, "robust")(table), view_of(spoilt, "robust")(table)
    assert plain.std() == pytest.approx(0.8, rel=0.05)
    np.testing.assert_allclose(after, plain, atol=0.2)
    assert view_of(spoilt, "robust")(spoilt).max() == 8.0


def test_the_rank_view_is_the_normal_quantile_of_the_rank(rng):
    table = np.exp(rng.normal(size=(120, 1)))
    expected = 0.8 * ndtri((rankdata(table) - 0.5) / 120)
    np.testing.assert_allclose(view_of(table, "rank")(table).ravel(), expected, atol=1e-5)


@pytest.mark.parametrize("name", ["robust", "rank"])
@pytest.mark.parametrize("n_ones", [2, 200, 500])
def test_two_values_are_equally_far_apart_however_rare_one_is(name, n_ones):
    table = np.repeat([3.0, 7.0], [1000 - n_ones, n_ones])[:, None]
    low, high = view_of(table, name)(np.array([[3.0], [7.0]])).ravel()
    assert high - low == pytest.approx(0.8 * 3.3)


@pytest.mark.parametrize("seed", range(10))
def test_many_distinct_values_need_few_knots(seed):
    table = np.exp(3 * np.random.default_rng(seed).normal(size=(5000, 1)))
    view = view_of(table, "rank")
    assert len(view.knots) <= 128
    expected = 0.8 * ndtri((rankdata(table) - 0.5) / 5000)
    off = np.abs(view(table).ravel() - expected)
    assert off.mean() < 0.005
    assert np.quantile(off, 0.999) < 0.05
    assert off.max() < 0.1  # where the tail is thinnest: 64 of the knots cut ±0.8 * 3.7 into steps of 0.09


def test_rare_values_surprise_and_so_do_unseen_ones():
    table = np.repeat([0.0, 1.0, 2.0], [60, 39, 1])[:, None]
    heights = view_of(table, "surprise")(np.array([[0.0], [1.0], [2.0], [1.5], [7.0]])).ravel()
    assert heights[0] < heights[1] < heights[2] < heights[3] == heights[4]
    assert heights[2] - heights[1] == pytest.approx(0.8 * np.log(39), rel=1e-4)


def test_a_gap_in_the_middle_surprises(rng):
    table = np.concatenate([rng.normal(-5, 1, 500), rng.normal(5, 1, 500), [0.0]])[:, None]
    at = view_of(table, "surprise")(np.array([[-5.0], [0.0], [5.0]])).ravel()
    assert at[1] > at[0] + 1
    assert at[1] > at[2] + 1


@pytest.mark.parametrize("name", CURVES)
@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=12), elements=NUMBERS))
@example(np.array([[2.2e-309]]))
@example(np.array([[1e-300], [1.0000000000000002e-300], [0.0]]))
@example(np.array([[1e-290], [1.0000000000000002e-290], [0.0]]))
@settings(max_examples=60, deadline=None)
def test_any_numbers_give_finite_views(name, table):
    view = view_of(table, name)
    assert np.isfinite(view(table)).all()
    between = 0.5 * table[:-1] + 0.5 * table[1:]
    assert np.isfinite(view(np.vstack([between, np.full((1, table.shape[1]), 1e308)]))).all()
    assert np.all(np.diff(view.knots[: view.starts[1]]) >= 0)


@pytest.mark.parametrize("name", CURVES)
@given(hnp.arrays(np.float64, (15, 3), elements=st.sampled_from([0.0, 0.0, 0.0, -1.0, 2.5, 1e6])))
@settings(max_examples=60, deadline=None)
def test_sparse_rows_are_seen_as_dense_ones_are(name, table):
    dense, sparse = view_of(table, name), view_of(sp.csr_array(table), name)
    new = np.vstack([table, [[0.0, 7.0, -3.0]]])
    np.testing.assert_allclose(sparse(sp.csr_array(new)).toarray(), dense(new), atol=1e-6)


@pytest.mark.parametrize("name", CURVES)
def test_a_sparse_table_stays_sparse(name, rng):
    table = sp.random_array((500, 40), density=0.05, rng=rng, format="csr")
    assert view_of(table, name)(table).nnz <= table.nnz


def test_a_constant_column_is_level_and_another_value_is_not():
    for curve in CURVES.values():
        knots, heights = curve(Distinct(np.array([5.0]), np.array([10])))
        assert np.interp(5.0, knots, heights) == pytest.approx(0.0, abs=1e-6)
    assert view_of(np.full((9, 1), 5.0), "robust")(np.array([[10.0]])) == pytest.approx(0.8)


@given(hnp.arrays(np.float64, st.integers(1, 40), elements=st.integers(-5, 5)), st.floats(0, 1))
def test_quantiles_of_distinct_values_are_those_of_the_rows(values, share):
    (column,) = distinct_columns(values[:, None])
    assert column.quantile(share) == pytest.approx(np.quantile(values, share), abs=1e-9)


def test_views_stand_side_by_side_and_are_learned_once(rng):
    table = rng.normal(size=(300, 4))
    views = fit_views(["robust", "robust+rank", "robust"], table, seed=0)
    assert list(views) == ["robust", "robust+rank"]
    assert views["robust"].parts[0] is views["robust+rank"].parts[0]
    both = views["robust+rank"](table)
    assert both.shape == (300, 8)
    np.testing.assert_array_equal(both[:, :4], views["robust"](table))
    np.testing.assert_allclose(views["robust+rank"](sp.csr_array(table)).toarray(), both, atol=1e-6)
    assert names_in("robust+rank") == ["robust", "rank"]


def test_curves_of_a_long_table_are_learned_from_a_sample_of_it(rng):
    table = rng.normal(size=(3 * CURVE_ROWS, 1))
    (part,) = fit_views(["rank"], table, seed=0)["rank"].parts
    (whole,) = fit_views(["rank"], table[:CURVE_ROWS], seed=0)["rank"].parts
    grid = np.linspace(-2, 2, 50)[:, None]
    np.testing.assert_allclose(part(grid), whole(grid), atol=0.1)


def test_views_that_share_knots_show_together_what_each_shows_alone(rng):
    table = np.column_stack(
        [rng.normal(size=500), rng.integers(0, 3, 500), rng.integers(0, 2, 500), np.repeat(rng.normal(size=50), 10)]
    )
    new = np.vstack([table, rng.normal(scale=5, size=(100, 4))]).astype(np.float32)
    views = [view_of(table, name) for name in ("rank", "surprise", "robust")]
    for together, view in zip(look_through(views, new), views, strict=True):
        np.testing.assert_array_equal(together, look_through([view], new)[0])


def test_rows_are_seen_once_however_many_members_look(rng):
    table = rng.normal(size=(300, 4))
    views = fit_views(["robust", "rank", "rank+surprise"], table, seed=0)
    seen = SeenRows(table, views.values())
    for view in views.values():
        np.testing.assert_array_equal(seen.through(view), view(table))
        np.testing.assert_array_equal(seen.through(view, np.array([5, 2])), view(table[[5, 2]]))
    sparse = sp.csr_array(np.where(rng.random((300, 4)) < 0.1, table, 0.0))
    of_sparse = fit_views(["rank", "rank+surprise"], sparse, seed=0)
    for view in of_sparse.values():
        both = SeenRows(sparse, of_sparse.values()).through(view), view(sparse)
        np.testing.assert_array_equal(*(rows.toarray() for rows in both))


def columns_of_all_kinds(rng, n_rows=300):
    """Columns that differ in what their robust curve needs: ties, two values, mostly zero, constant, huge, tiny."""
    normal = rng.normal(size=n_rows)
    rare = rng.random(n_rows)
    return np.column_stack(
        [
            normal,
            np.round(normal),
            normal * 1e200,
            normal * 1e-295,
            np.full(n_rows, 3.0),
            np.zeros(n_rows),
            normal > 0,
            rare > 0.98,
            -2.5 * (rare > 0.9),
            np.where(rare > 0.98, normal, 0.0),
            np.where(rare > 0.98, np.abs(normal), 0.0),
            np.where(rare > 0.7, -np.abs(normal), 0.0),
            np.where(rare > 0.95, np.round(3 * normal), 0.0),
            np.where(rare > 0.98, normal, 7.0),
        ]
    )


@pytest.mark.parametrize("n_rows", [2, 3, 21, 300, 301])
@pytest.mark.parametrize("of_columns", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_robust_curves_of_all_columns_at_once_are_those_of_each(of_columns, n_rows, rng):
    table = of_columns(np.tile(columns_of_all_kinds(rng, n_rows), 30).astype(np.float64))
    expected, found = view_of(table, "robust"), fit_robust_curves(table)
    np.testing.assert_array_equal(found.starts, expected.starts)
    np.testing.assert_allclose(found.knots, expected.knots, rtol=1e-12, atol=0)
    np.testing.assert_array_equal(found.heights, expected.heights)
