"""A row gets the same bits wherever it stands: products, scores, features, groups, however the rows are cut."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from rdplearn import RDPClusterer, RDPDetector, RDPTransformer
from rdplearn._model import products as row_products
from rdplearn._model.threads import one_blas_thread
from rdplearn._scoring import scores as scoring

N_ROWS = 700
DETECTOR = {"n_members": 9, "n_rounds": 1, "n_steps": 5, "random_state": 0}


def wide_table(n_columns: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(N_ROWS, n_columns)) @ rng.normal(size=(n_columns, n_columns)) + 3.0


def mostly_zero_table(n_columns: int) -> sp.csr_array:
    rng = np.random.default_rng(0)
    return sp.csr_array(np.where(rng.random((N_ROWS, n_columns)) < 0.08, rng.random((N_ROWS, n_columns)), 0.0))


TABLES = {"dense": wide_table(29), "few columns": wide_table(3), "wide": wide_table(300), "csr": mostly_zero_table(120)}
ESTIMATORS = {
    "detector": RDPDetector(**DETECTOR),
    "the paper's detector": RDPDetector.paper(**DETECTOR),
    "Fourier mapping": RDPDetector(**DETECTOR, views="unchanged", mapping="fourier"),
    "scored by subsamples": RDPDetector(**DETECTOR, novelty_weight=0, distance_weight=1.0),
    "transformer": RDPTransformer(n_steps=5, random_state=0),
    "transformer, one partner": RDPTransformer(n_steps=5, pairs="one", random_state=0),
    "transformer, min-max": RDPTransformer(n_steps=5, views="minmax", random_state=0),
    "clusterer": RDPClusterer(5, transformer=RDPTransformer(n_steps=5), random_state=0),
}
METHODS = ("score_samples", "member_scores", "decision_function", "predict", "transform")
CUTS = st.lists(st.integers(1, N_ROWS - 1), min_size=1, max_size=6, unique=True).map(sorted)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_results_are_the_same_bits_for_any_parts(table, estimator):
    rows, fitted = TABLES[table], ESTIMATORS[estimator].fit(TABLES[table])
    whole = {name: getattr(fitted, name)(rows) for name in METHODS if hasattr(fitted, name)}

    @given(CUTS)
    @settings(max_examples=4, deadline=None)
    def check(cuts):
        parts = [slice(start, stop) for start, stop in zip([0, *cuts], [*cuts, N_ROWS], strict=True)]
        for name, expected in whole.items():
            joined = np.concatenate([getattr(fitted, name)(rows[part]) for part in parts])
            assert np.array_equal(joined, expected), name

    check()


@pytest.mark.parametrize("table", ["dense", "csr"])
def test_few_rows_that_are_not_worth_compiling_for_score_as_the_whole_table_does(table, monkeypatch):
    rows = TABLES[table]
    fitted = ESTIMATORS["detector"].fit(rows)
    plain = fitted.member_scores(rows[100:140])
    monkeypatch.setattr(scoring, "COMPONENTS_WORTH_COMPILING", 0)
    assert np.array_equal(fitted.member_scores(rows)[100:140], plain)


@pytest.mark.parametrize("n_rows", [1, 7, 8, 9, 303, 304, 305, 700])
def test_products_are_those_of_the_formula(n_rows, rng):
    rows = rng.random((n_rows, 17), dtype=np.float32)
    weights = rng.random((17, 5), dtype=np.float32)
    products = np.empty((n_rows, 5))
    row_products.in_steady_blocks(rows, lambda block: row_products.row_products(block, weights), products)
    np.testing.assert_allclose(products, rows.astype(np.float64) @ weights, rtol=1e-6)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(("start", "stop"), [(0, 8), (8, 24), (32, 40), (0, 48)])
def test_a_block_has_margins_that_repeat_rows_beyond_the_ends(make, start, stop):
    rows = np.arange(45.0)[:, None]
    block = row_products.with_margins(make(rows), slice(start, stop))
    expected = [[min(max(place, 0.0), 44.0)] for place in range(start - 8, stop + 8)]
    assert (block.toarray() if sp.issparse(block) else block).tolist() == expected


def test_where_blas_is_not_steady_products_are_taken_in_double_precision(monkeypatch, rng):
    monkeypatch.setattr(row_products, "is_steady", lambda *_: False)
    rows, weights = rng.random((40, 300), dtype=np.float32), rng.random((300, 8), dtype=np.float32)
    products = row_products.row_products(rows, weights)
    assert products.dtype == np.float32
    assert np.array_equal(products, (rows.astype(np.float64) @ weights).astype(np.float32))


def test_the_check_tells_a_product_that_depends_on_the_place(monkeypatch, rng):
    monkeypatch.setattr(row_products, "MARGIN", 1)  # too narrow for some processors, wide enough for others
    with one_blas_thread():
        narrow = row_products.is_steady.__wrapped__(64, 50, "C")
    row = rng.random(64, dtype=np.float32)
    weights = rng.random((64, 50), dtype=np.float32)
    with one_blas_thread():
        products = weights.T @ np.tile(row, (306, 1)).T
    assert narrow == bool((products[:, 1:-1] == products[:, 100:101]).all())
