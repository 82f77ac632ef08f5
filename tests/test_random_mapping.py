"""η by its statistics: what the paper's equations 5 to 8 promise."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import kstest
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from rdplearn._model.mapping import LARGEST_IDENTITY, at_right_angles, draw_mapping, many_normal, median_distance
from rdplearn.errors import TableError


def unit_rows(n_rows: int, n_columns: int, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(n_rows, n_columns)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def draw(kind, rows, n_targets=4000, seed=0, bandwidth=None):
    return draw_mapping(kind, rows, np.arange(rows.shape[0]), n_targets, np.random.default_rng(seed), bandwidth)


@pytest.mark.parametrize("kind", ["linear", "sparse"])
def test_projections_preserve_inner_products(kind):
    rows = unit_rows(30, 60)
    targets = draw(kind, rows)(rows)
    # equation 7: the error is of the order of 1/sqrt(K)
    assert np.abs(targets @ targets.T - rows @ rows.T).max() < 5 / np.sqrt(4000)


def test_projection_errors_shrink_with_the_number_of_targets():
    rows = unit_rows(30, 60)
    exact = rows @ rows.T
    errors = []
    for n_targets in (50, 800):
        targets = draw("linear", rows, n_targets)(rows)
        errors.append(np.sqrt(np.mean((targets @ targets.T - exact) ** 2)))
    assert 2.5 < errors[0] / errors[1] < 6.0  # 4 expected


def test_fourier_features_approximate_the_rbf_kernel():
    rows = np.random.default_rng(1).random((30, 5), dtype=np.float32)
    squared = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    targets = draw("fourier", rows, bandwidth=0.7)(rows)
    assert np.abs(targets @ targets.T - np.exp(-squared / (2 * 0.7**2))).max() < 5 / np.sqrt(4000)


def test_fourier_bandwidth_is_the_median_distance_by_default():
    rows = np.random.default_rng(2).random((200, 5), dtype=np.float32)
    mapping = draw("fourier", rows)
    assert 1 / mapping.weights.std() == pytest.approx(median_distance(rows), rel=0.1)


def test_leaky_mapping_has_the_papers_variance_and_slope():
    rows = unit_rows(50, 40)
    mapping = draw("leaky", rows)
    assert mapping.weights.var() == pytest.approx(2 / 40, rel=0.02)
    before = rows @ mapping.weights
    assert mapping(rows) == pytest.approx(np.where(before > 0, before, 0.25 * before), abs=1e-5)


def test_orthogonal_components_are_drawn_as_leaky_ones_and_stand_at_right_angles():
    rows = unit_rows(50, 40)
    mapping = draw("orthogonal", rows)
    lengths = np.linalg.norm(mapping.weights, axis=0)
    assert mapping.weights.var() == pytest.approx(2 / 40, rel=0.02)
    assert lengths.std() == pytest.approx(np.linalg.norm(draw("leaky", rows).weights, axis=0).std(), rel=0.1)
    for first in range(0, 4000, 40):
        some = mapping.weights[:, first : first + 40] / lengths[first : first + 40]
        np.testing.assert_allclose(some.T @ some, np.eye(40), atol=1e-5)
    assert abs(np.corrcoef(mapping.weights[:, 0], mapping.weights[:, 40])[0, 1]) > 1e-3  # the next 40 begin anew
    assert mapping.activation == "leaky"


def test_orthogonal_components_of_many_columns_are_what_gram_and_schmidt_make_of_the_same_numbers():
    drawn = many_normal((2_000, 32), 0.5, np.random.default_rng(0)).astype(np.float64)
    basis, triangle = np.linalg.qr(drawn)
    expected = basis * np.sign(np.diagonal(triangle)) * np.linalg.norm(drawn, axis=0)
    turned = at_right_angles((2_000, 32), 0.5, np.random.default_rng(0))
    assert turned.dtype == np.float32
    np.testing.assert_allclose(turned, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(30_000, 32), (7, 3)], ids=str)
def test_many_normal_numbers_are_normal_and_independent(shape):
    drawn = many_normal(shape, 4.0, np.random.default_rng(0))
    assert drawn.shape == shape
    assert np.isfinite(drawn).all()
    if drawn.size > 1_000:
        halves = drawn.ravel()[: drawn.size // 2], drawn.ravel()[drawn.size // 2 :]
        assert [kstest(half / 2.0, "norm").pvalue > 0.01 for half in halves] == [True, True]
        for one, other in (halves, np.abs(halves), (drawn[:, 0], drawn[:, 1]), (drawn[:-1, 0], drawn[1:, 0])):
            assert abs(np.corrcoef(one, other)[0, 1]) < 4 / np.sqrt(len(one))


@pytest.mark.parametrize("n_columns", [1, 3, 500])
def test_orthogonal_components_of_any_number_of_columns(n_columns):
    weights = draw("orthogonal", unit_rows(5, n_columns), 32).weights
    assert weights.shape == (n_columns, 32)
    assert np.isfinite(weights).all()
    assert len(np.unique(np.abs(weights[0]))) == 32


def test_rows_are_as_long_to_one_draw_of_orthogonal_components_as_to_the_next():
    rows = unit_rows(200, 8)

    def spread(kind):
        lengths = [np.linalg.norm(draw(kind, rows, 32, seed)(rows), axis=1) for seed in range(30)]
        centred = [of_draw / of_draw.mean() for of_draw in lengths]  # how long a draw is on the whole says nothing
        return np.std(centred, axis=0).mean()

    assert spread("orthogonal") < 0.9 * spread("leaky")


def test_sparse_mapping_has_scikit_learns_density():
    mapping = draw("sparse", unit_rows(5, 400), 1000)
    assert np.mean(mapping.weights != 0) == pytest.approx(1 / np.sqrt(400), rel=0.05)
    assert len(np.unique(np.abs(mapping.weights))) == 2


@pytest.mark.parametrize("kind", ["leaky", "orthogonal", "linear", "sparse", "fourier", "identity"])
def test_sparse_and_dense_rows_have_the_same_targets(kind):
    rows = unit_rows(20, 30)
    rows[np.abs(rows) < 0.1] = 0
    mapping = draw(kind, rows, 16)
    assert mapping(sp.csr_array(rows)) == pytest.approx(mapping(rows), abs=1e-5)


def test_a_transformer_is_cloned_seeded_and_fitted_on_the_kept_rows():
    rows = unit_rows(40, 8)
    own = StandardScaler()
    mapping = draw_mapping(own, rows, np.arange(10), 0, np.random.default_rng(0))
    assert not hasattr(own, "mean_")
    assert mapping(rows)[:10].mean(axis=0) == pytest.approx(np.zeros(8), abs=1e-5)
    randomised = PCA(3, svd_solver="randomized")
    assert draw(randomised, rows, 0)(rows).shape == (40, 3)
    assert randomised.random_state is None


def test_a_function_serves_as_a_mapping():
    rows = unit_rows(6, 4)
    assert draw(np.square, rows)(rows) == pytest.approx(rows**2)


@pytest.mark.parametrize("answer", [np.zeros(6), np.zeros((5, 2)), np.full((6, 2), np.nan)])
def test_a_function_that_answers_wrongly_is_named(answer):
    with pytest.raises(ValueError, match=r"'mapping' must return one finite vector .* shape \(6, n_targets\)"):
        draw(lambda rows: answer, unit_rows(6, 4))(unit_rows(6, 4))


def test_the_original_space_of_very_wide_sparse_rows_is_refused():
    rows = sp.csr_array((1000, LARGEST_IDENTITY // 1000), dtype=np.float32)
    with pytest.raises(TableError, match="Use mapping='linear' or 'sparse'"):
        draw("identity", rows, 0)(rows)
