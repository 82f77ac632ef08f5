"""The rotation for tables with more columns than rows is the same algorithm."""

from __future__ import annotations

import numpy as np
import pytest

from rdplearn._model.mapping import draw_mapping
from rdplearn._model.representation import Representation, draw_representation
from rdplearn._training.row_space import row_space
from rdplearn._training.settings import TrainingSettings, TrainingTask
from tests.conftest import assert_same_to_rounding, train_task


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_training_in_the_span_equals_training_in_the_full_space(engine):
    rng = np.random.default_rng(0)
    rows = rng.random((12, 80), dtype=np.float32)
    targets = draw_mapping("leaky", rows, np.arange(12), 10, rng)(rows)
    start = draw_representation(80, 10, rng)
    how = TrainingSettings(200, 16, 0.1, 0.9, 0.1, 0.1, 1.0, 1.0, "l1")
    full = Representation(start.weights.copy(), start.bias.copy())
    train_task(engine, TrainingTask(rows, targets, np.arange(12), full, 3), how)
    span = row_space(rows)
    inner = Representation(span.enter(start.weights), start.bias.copy())
    train_task(engine, TrainingTask(span.rows, targets, np.arange(12), inner, 3), how)
    assert_same_to_rounding(span.leave(start.weights, inner.weights), full.weights, after_steps=200)
    assert_same_to_rounding(inner.bias, full.bias, after_steps=200)
    assert np.abs(full.weights - start.weights).max() > 0.01


def test_the_basis_is_orthonormal_and_spans_the_rows():
    rows = np.random.default_rng(1).random((6, 30), dtype=np.float32)
    rows[5] = rows[0]  # rank 5
    span = row_space(rows)
    assert span.basis.shape == (30, 5)
    assert span.basis.T @ span.basis == pytest.approx(np.eye(5), abs=1e-5)
    assert span.rows @ span.basis.T == pytest.approx(rows, abs=1e-5)


def test_rows_of_zeros_have_a_span_too():
    span = row_space(np.zeros((3, 9), dtype=np.float32))
    assert span.rows.shape == (3, 1)
    assert np.all(span.rows == 0)
