"""All pairs of a batch: kernels in the limit, gradients by finite differences, steps without a scale, learning."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from rdplearn._model import losses
from rdplearn._model.inner_products import limit_products, products_of
from rdplearn._model.mapping import draw_mapping
from rdplearn._model.representation import Representation
from rdplearn._training.engines.plain import Layer, activate, weighted_losses
from rdplearn._training.random_stream import AllPairs
from rdplearn._training.settings import TrainingSettings, TrainingTask
from rdplearn._views.unit_rows import unit_normalise
from tests.conftest import train_task, training_settings


def settings(*, unit=True, **changes) -> TrainingSettings:
    all_pairs = {"pairs": "all", "inner_product": "unit" if unit else "plain", "novelty_weight": 0.0, "dropout": 0.0}
    return training_settings(**{"n_steps": 100, "recorded": ("distance",), **all_pairs, **changes})


def learn(rows, kernel, phi, how, rng):
    """Train φ on all pairs of these rows. Returns the records of its loss."""
    return train_task("numpy", TrainingTask(rows, kernel, np.arange(rows.shape[0]), phi, rng), how)


def gram_gradient(rows, kernel, phi, how):
    """Loss of one batch, and its gradients by W and b, as a step of the plain engine has them."""
    layer = Layer(TrainingTask(rows, kernel, np.arange(len(rows)), phi, None))
    features, slopes = activate(layer.product(rows), None, how)
    loss, _, gradient = weighted_losses(features, kernel, None, how)
    (weights,), ((bias,),) = layer.gradients(rows, gradient * slopes, how)
    return float(loss[0]), weights, bias


def small_phi(n_columns: int, n_components: int, dtype=np.float32, scale: float = 0.1) -> Representation:
    rng = np.random.default_rng(5)
    weights = (scale * rng.normal(size=(n_columns, n_components))).astype(dtype)
    return Representation(weights, np.zeros(n_components, dtype=dtype))


def test_all_pairs_loss_is_a_mean_over_pairs():
    rng = np.random.default_rng(0)
    phi, kernel = rng.normal(size=(6, 3)), rng.normal(size=(6, 6))
    pairs = [(i, j) for i in range(6) for j in range(6) if i != j]
    expected = np.mean([(phi[i] @ phi[j] - kernel[i, j]) ** 2 for i, j in pairs])
    assert losses.all_pairs_loss(phi, kernel)[0] == pytest.approx(expected)


def test_reconstruction_is_equation_3_averaged_over_columns():
    rng = np.random.default_rng(0)
    decoded, rows = rng.normal(size=(4, 7)), rng.normal(size=(4, 7))
    assert losses.reconstruction_loss(decoded, rows, np.ones(7), 7)[0] == pytest.approx(np.mean((decoded - rows) ** 2))


@given(seed=st.integers(0, 1000), slope=st.sampled_from([0.2, 1.0]), unit=st.booleans())
@effort(max_examples=20, deadline=None)
def test_gradients_agree_with_finite_differences(seed, slope, unit):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(6, 4))
    kernel = limit_products("fourier", 1.0)(rows)
    phi = Representation(rng.normal(size=(4, 3)), np.zeros(3) if slope == 1 else 0.1 * rng.normal(size=3))
    how = settings(slope=slope, unit=unit)
    _, weight_gradient, bias_gradient = gram_gradient(rows, kernel, phi, how)
    for parameter, gradient in ((phi.weights, weight_gradient), (phi.bias, bias_gradient)):
        if parameter is phi.bias and slope == 1:
            assert np.all(gradient == 0)  # a linear φ has no bias
            continue
        for index in np.ndindex(parameter.shape):
            values = []
            for step in (1e-6, -1e-6):
                parameter[index] += step
                values.append(gram_gradient(rows, kernel, phi, how)[0])
                parameter[index] -= step
            # a corner of the rectifier may lie within the step
            assert gradient[index] == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-3, abs=1e-5)


def test_gradients_agree_with_autograd():
    torch = pytest.importorskip("torch", reason="the reference needs PyTorch")
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(8, 5))
    kernel = limit_products("fourier", 2.0)(rows)
    phi = Representation(rng.normal(size=(5, 3)), rng.normal(size=3))
    _, weight_gradient, bias_gradient = gram_gradient(rows, kernel, phi, settings())
    weights, bias = (torch.tensor(value, requires_grad=True) for value in (phi.weights, phi.bias))
    features = torch.nn.functional.leaky_relu(torch.from_numpy(rows) @ weights + bias, 0.2)
    features = torch.nn.functional.normalize(features, dim=1)
    errors = (features @ features.T - torch.from_numpy(kernel)) * (1 - torch.eye(8))
    errors.square().sum().div(8 * 7).backward()
    # the slope 0.2 is in single precision
    np.testing.assert_allclose(weight_gradient, weights.grad.numpy(), rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(bias_gradient, bias.grad.numpy(), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("kind", ["linear", "sparse", "fourier", "leaky", "orthogonal"])
def test_kernels_are_the_limit_of_many_targets(kind):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5, 8)).astype(np.float32)
    n_targets = 200_000
    drawn = products_of(draw_mapping(kind, rows, np.arange(5), n_targets, rng, bandwidth=2.0))(rows)
    limit = limit_products(kind, 2.0)(rows)
    if kind in ("leaky", "orthogonal"):  # their targets are not divided by the square root of their number
        drawn = drawn / (n_targets * 2.0 / 8)
    np.testing.assert_allclose(drawn, limit, atol=0.02 * np.abs(limit).max())


def test_sparse_rows_have_the_same_kernel():
    rows = np.random.default_rng(0).normal(size=(6, 9))
    rows[rows < 0.5] = 0
    for kind in ("linear", "fourier", "leaky"):
        np.testing.assert_allclose(limit_products(kind, 0.7)(sp.csr_array(rows)), limit_products(kind, 0.7)(rows))


def test_no_row_comes_twice_in_a_batch_and_all_come():
    drawn = [draw.places[0] for draw in AllPairs([50], 16, [np.random.default_rng(0)]).draws(0, 30)]
    assert all(len(set(batch.tolist())) == 16 for batch in drawn)
    assert set(np.concatenate(drawn).tolist()) == set(range(50))


def test_steps_do_not_depend_on_the_scale_of_the_loss():
    """A linear φ of rows a hundredth as long has a loss that is 1e8 times smaller, and learns the same weights."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(64, 6)).astype(np.float32)
    trained = []
    for scale in (1.0, 1e-2):
        phi = small_phi(6, 4)
        how = settings(slope=1.0, unit=False, n_steps=20)
        scaled = (scale * rows).astype(np.float32)
        kernel = limit_products("linear", 1.0)
        learn(scaled, kernel, phi, how, np.random.default_rng(1))
        trained.append(phi.weights)
    np.testing.assert_allclose(trained[0], trained[1], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_learning_happens(sparse):
    rng = np.random.default_rng(0)
    rows = unit_normalise(rng.normal(size=(200, 3)) @ rng.normal(size=(3, 12)))[0].astype(np.float32)
    table = sp.csr_array(rows) if sparse else rows
    phi, kernel = small_phi(12, 32), limit_products("fourier", 1.0)
    before = unit_normalise(np.maximum(rows @ phi.weights, 0.2 * (rows @ phi.weights)))[0]
    how = settings(n_steps=400)
    records = learn(table, kernel, phi, how, np.random.default_rng(1))
    assert records[-1]["distance_loss"] < 0.25 * records[0]["distance_loss"]
    values = rows @ phi.weights + phi.bias
    after = unit_normalise(np.maximum(values, 0.2 * values))[0]
    wanted = kernel(rows)
    assert np.mean((after @ after.T - wanted) ** 2) < 0.25 * np.mean((before @ before.T - wanted) ** 2)
