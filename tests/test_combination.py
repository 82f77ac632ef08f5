"""How the scores of members become one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rdplearn._model.combination import LEAST, geometric_mean, mean_of, relative_logs

SCORES = np.array([[1.0, 3.0], [5.0, 7.0], [9.0, 11.0]])


def test_the_mean_counts_all_members_alike():
    assert mean_of(2).over_members(SCORES).tolist() == [2.0, 6.0, 10.0]


def test_the_geometric_mean_is_that_of_times_typical():
    combination = geometric_mean([1.0, 1.0])
    scaled = combination.to_scale(np.float32([[2.0, 8.0]]), np.float32([1.0, 2.0]))
    assert combination.over_members(scaled) == pytest.approx(np.sqrt((2 + LEAST) * (4 + LEAST)), rel=1e-5)


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=8), st.floats(0.01, 100))
def test_the_scale_of_a_member_does_not_matter(spreads, factor):
    combination = geometric_mean(spreads)
    scores = np.random.default_rng(0).random((20, len(spreads)), dtype=np.float32)
    typical = np.median(scores, axis=0)
    plain, scaled = (
        combination.over_members(combination.to_scale(scores * f, typical * f)) for f in np.float32([1, factor])
    )
    np.testing.assert_allclose(plain, scaled, rtol=1e-4)


def test_weights_add_up_to_one_and_no_spread_is_no_reason_to_divide_by_zero():
    assert geometric_mean([0.0, 1.0, 2.0]).weights.sum() == pytest.approx(1.0)
    assert np.isfinite(relative_logs(np.float32([0.0]), 0.0)).all()
