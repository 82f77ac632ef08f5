"""The formulas: values against a plain loop, gradients against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rdplearn._model import losses

LOSSES = {
    "distance": lambda phi, eta, shift: losses.distance_prediction_loss(phi, eta, shift),
    "l1 distance": lambda phi, eta, shift: losses.l1_distance_prediction_loss(phi, eta, shift),
    "novelty": lambda phi, eta, shift: losses.novelty_loss(phi, eta),
}


def vectors(seed: int, n_rows: int = 7, n_units: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_units)), rng.normal(size=(n_rows, n_units))


@pytest.mark.parametrize("name", LOSSES)
@given(seed=st.integers(0, 1000), shift=st.integers(1, 6))
@settings(max_examples=20, deadline=None)
def test_gradients_agree_with_finite_differences(name, seed, shift):
    phi, eta = vectors(seed)
    # the L1 norm has a corner at zero, where no finite difference means anything
    phi = np.where(np.abs(phi) < 1e-3, 1e-2, phi)
    _, gradient = LOSSES[name](phi, eta, shift)
    step = 1e-6
    for index in np.ndindex(phi.shape):
        up, down = phi.copy(), phi.copy()
        up[index] += step
        down[index] -= step
        slope = (LOSSES[name](up, eta, shift)[0] - LOSSES[name](down, eta, shift)[0]) / (2 * step)
        assert gradient[index] == pytest.approx(slope, rel=1e-4, abs=1e-7)


def test_distance_prediction_is_equation_2():
    phi, eta = vectors(0)
    expected = 0.0
    for i in range(7):
        j = (i + 3) % 7
        expected += (phi[i] @ phi[j] - eta[i] @ eta[j]) ** 2 / 7
    assert losses.distance_prediction_loss(phi, eta, 3)[0] == pytest.approx(expected)


def test_l1_distance_prediction_divides_by_the_l1_norm():
    phi, eta = vectors(1)
    scaled = losses.l1_distance_prediction_loss(5.0 * phi, 0.1 * eta, 2)[0]
    assert scaled == pytest.approx(losses.l1_distance_prediction_loss(phi, eta, 2)[0])
    assert np.abs(losses.l1_normalise(phi)[0]).sum(axis=1) == pytest.approx(np.ones(7))


def test_novelty_is_equation_4_averaged_over_units():
    phi, eta = vectors(2)
    assert losses.novelty_loss(phi, eta)[0] == pytest.approx(((phi - eta) ** 2).mean())


def test_losses_vanish_where_phi_equals_eta():
    phi, _ = vectors(3)
    for loss in LOSSES.values():
        value, gradient = loss(phi, phi, 1)
        assert value == 0
        assert np.all(gradient == 0)


def test_a_row_of_zeros_stays_finite():
    phi, eta = vectors(4)
    phi[2] = 0.0
    value, gradient = losses.l1_distance_prediction_loss(phi, eta, 1)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    assert np.all(gradient[2] == 0)


@given(st.integers(2, 50), st.data())
def test_no_row_is_its_own_partner(n_rows, data):
    shift = data.draw(st.integers(1, n_rows - 1))
    partner = losses.partners(n_rows, shift)
    assert sorted(partner) == list(range(n_rows))
    assert np.all(partner != np.arange(n_rows))
