"""The engines: kernels against the plain formulas, both against autograd, lazy momentum against plain momentum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from rdplearn._model import losses
from rdplearn._model.mapping import draw_mapping
from rdplearn._model.representation import Representation, draw_representation
from rdplearn._training import random_stream
from rdplearn._training.engines import sparse_kernels
from rdplearn._training.engines.engine import choose_engine, start_engine
from rdplearn._training.engines.plain import PlainEngine
from rdplearn._training.flops import filling_of, stretch_length
from rdplearn._training.settings import TrainingTask
from tests.conftest import assert_same_to_rounding, train_task, training_settings

N_ROWS, N_COLUMNS, N_UNITS = 300, 20, 16


def problem(*, sparse: bool = False, seed: int = 0, n_targets: int = N_UNITS):
    """Rows, their targets, and a function that makes the same untrained φ again and again."""
    rng = np.random.default_rng(seed)
    rows = rng.random((N_ROWS, N_COLUMNS), dtype=np.float32)
    rows[rows < 0.7] = 0
    table = sp.csr_array(rows) if sparse else rows
    mapping = draw_mapping("leaky", table, np.arange(N_ROWS), n_targets, rng)
    start = draw_representation(N_COLUMNS, N_UNITS, rng)
    return table, mapping(table), lambda: Representation(start.weights.copy(), start.bias.copy())


def trained(engine, rows, targets, phi, how, kept=None, seed=77):
    kept = np.arange(N_ROWS) if kept is None else kept
    return phi, train_task(engine, TrainingTask(rows, targets, kept, phi, seed), how)


VARIANTS = {
    "both losses, L1": {},
    "both losses, plain": {"inner_product": "plain", "distance_weight": 0.01},
    "novelty alone": {"distance_weight": 0.0},
    "distance alone": {"novelty_weight": 0.0},
    "no dropout": {"dropout": 0.0},
    "no momentum": {"momentum": 0.0},
    "never clipped": {"max_grad_norm": 1e6},
    "uneven weights": {"distance_weight": 3.0, "novelty_weight": 0.2},
    "smallest batch": {"batch_size": 2},
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_kernels_agree_with_the_plain_formulas(variant, sparse):
    rows, targets, phi = problem(sparse=sparse)
    how = training_settings(**VARIANTS[variant])
    plain, plain_records = trained("numpy", rows, targets, phi(), how)
    fused, fused_records = trained("numba", rows, targets, phi(), how)
    assert_same_to_rounding(fused.weights, plain.weights, after_steps=60)
    assert_same_to_rounding(fused.bias, plain.bias, after_steps=60)
    for ours, theirs in zip(fused_records, plain_records, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-3, abs=1e-7)


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_the_number_of_targets_may_differ_when_only_distances_are_predicted(engine):
    rows, targets, phi = problem(n_targets=7)
    trained_phi, records = trained(engine, rows, targets, phi(), training_settings(novelty_weight=0.0, n_steps=400))
    assert trained_phi.weights.shape == (N_COLUMNS, N_UNITS)
    assert records[-1]["distance_loss"] < records[0]["distance_loss"]


@pytest.mark.parametrize("inner_product", ["l1", "plain"])
def test_kernels_agree_with_autograd_over_many_steps(inner_product):
    torch = pytest.importorskip("torch", reason="the autograd reference needs PyTorch")
    from benchmarks.autograd_member import AutogradMember

    rng = np.random.default_rng(0)
    rows = rng.random((N_ROWS, N_COLUMNS), dtype=np.float32)
    mapping = draw_mapping("leaky", rows, np.arange(N_ROWS), N_UNITS, rng)
    start = draw_representation(N_COLUMNS, N_UNITS, rng)
    # With weight 1 the plain products are chaotic: two roundings part ways after a hundred steps.
    weight = 1.0 if inner_product == "l1" else 0.01
    how = training_settings(dropout=0.0, n_steps=300, inner_product=inner_product, distance_weight=weight)
    member = AutogradMember(
        start.weights,
        start.bias,
        mapping.weights,
        dropout=0.0,
        inner_product=inner_product,
        distance_weight=weight,
    )
    table = torch.from_numpy(rows)
    for row_key, partner_key, _ in random_stream.all_step_keys([5], 0, how.n_steps)[:, 0]:
        batch = random_stream.below(random_stream.words(row_key, how.batch_size), N_ROWS)
        shift = 1 + int(random_stream.below(random_stream.words(partner_key, 1), how.batch_size - 1)[0])
        member.step(table[batch], table[batch[losses.partners(how.batch_size, shift)]])
    fused, _ = trained("numba", rows, mapping(rows), start, how, seed=5)
    assert_same_to_rounding(fused.weights, member.parameters()[0], after_steps=300)
    assert_same_to_rounding(fused.bias, member.parameters()[1], after_steps=300)


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9, 0.99])
def test_lazy_momentum_is_plain_momentum(momentum):
    """Columns that rarely occur, one that never does, one that occurs only at the beginning."""
    rng = np.random.default_rng(1)
    rows = np.zeros((N_ROWS, N_COLUMNS), dtype=np.float32)
    rows[:, 0] = rng.random(N_ROWS)
    for column in range(1, N_COLUMNS - 1):
        rows[rng.integers(N_ROWS, size=2), column] = 1.0
    table = sp.csr_array(rows)
    mapping = draw_mapping("leaky", table, np.arange(N_ROWS), N_UNITS, rng)
    start = draw_representation(N_COLUMNS, N_UNITS, rng)
    how = training_settings(momentum=momentum, batch_size=4, n_steps=100)
    results = {}
    for engine in ("numpy", "numba"):
        phi = Representation(start.weights.copy(), start.bias.copy())
        results[engine], _ = trained(engine, table, mapping(table), phi, how)
    assert_same_to_rounding(results["numba"].weights, results["numpy"].weights, after_steps=100)
    assert np.array_equal(results["numba"].weights[-1], start.weights[-1])


def test_catching_up_equals_idle_steps():
    weights, momenta = np.ones(3, np.float32), np.array([1.0, -2.0, 0.5], np.float32)
    expected_weights, expected_momenta = weights.copy(), momenta.copy()
    for _ in range(5):
        expected_momenta *= np.float32(0.9)
        expected_weights -= np.float32(0.1) * expected_momenta
    decay = (0.9 ** np.arange(50)).astype(np.float32)
    sparse_kernels.catch_up(weights, momenta, 5, np.float32(0.1), np.float32(0.9), decay)
    assert_same_to_rounding(weights, expected_weights)
    assert_same_to_rounding(momenta, expected_momenta)


@pytest.mark.parametrize("filled", [0.0, 0.05, 1.0])
def test_a_batch_turned_by_column_has_the_same_values(filled, rng):
    dense = np.where(rng.random((30, 12)) < filled, rng.random((30, 12)), 0.0).astype(np.float32)
    rows, batch = sp.csr_array(dense), np.array([3, 3, 17, 0, 29])  # a row may be drawn twice
    data, indices, indptr = rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    slot_of, turned = np.full(12, -1), sparse_kernels.column_room(12, len(batch), 12)
    n_used = sparse_kernels.turn_by_column(data, indices, indptr, batch, slot_of, turned)
    columns, starts, owners, values = turned
    again = np.zeros((len(batch), 12), dtype=np.float32)
    for slot in range(n_used):
        own = slice(starts[slot], starts[slot + 1])
        assert slot_of[columns[slot]] == slot
        again[owners[own], columns[slot]] = values[own]
    np.testing.assert_array_equal(again, dense[batch])
    assert starts[n_used] == np.count_nonzero(dense[batch])


@pytest.mark.parametrize("engine", ["numpy", "numba"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_the_result_does_not_depend_on_how_the_work_is_cut(engine, sparse):
    rows, targets, phi = problem(sparse=sparse)
    kept = np.arange(0, N_ROWS, 2)
    whole, parts = phi(), phi()
    in_one = start_engine(engine, [TrainingTask(rows, targets, kept, whole, 3)], training_settings())
    in_one.run(0, 60)
    in_one.finish()
    in_three = start_engine(engine, [TrainingTask(rows, targets, kept, parts, 3)], training_settings())
    for first_step, n_steps in ((0, 7), (7, 50), (57, 3)):
        in_three.run(first_step, n_steps)
    in_three.finish()
    assert_same_to_rounding(parts.weights, whole.weights, after_steps=60)


def stack_of(n_members: int) -> list[TrainingTask]:
    """Members with different rows, numbers of rows and targets."""
    made = []
    for number in range(n_members):
        rows, targets, phi = problem(seed=number)
        kept = np.arange(number, N_ROWS - 40 * number)
        made.append(
            TrainingTask(rows[: N_ROWS - 40 * number], targets[: N_ROWS - 40 * number], kept, phi(), 50 + number)
        )
    return made


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_member_of_a_stack_is_what_it_would_be_alone_to_the_last_bit(variant):
    how = training_settings(**VARIANTS[variant])
    together, apart = stack_of(3), stack_of(3)
    stack = PlainEngine(together, how)
    losses_together = stack.run(0, 60)
    stack.finish()
    for number, alone in enumerate(apart):
        steps = PlainEngine([alone], how)
        assert steps.run(0, 60) == [losses_together[number]]
        steps.finish()
        assert np.array_equal(together[number].phi.weights, alone.phi.weights)
        assert np.array_equal(together[number].phi.bias, alone.phi.bias)


def test_a_member_that_has_stopped_rests_and_the_others_go_on():
    stopped, apart = stack_of(3), stack_of(3)
    stack = PlainEngine(stopped, training_settings())
    stack.run(0, 20)
    stack.stop(1)
    stack.run(20, 40)
    stack.finish()
    for alone, n_steps, of_stack in zip(apart, (60, 20, 60), stopped, strict=True):
        steps = PlainEngine([alone], training_settings())
        steps.run(0, n_steps)
        steps.finish()
        assert np.array_equal(of_stack.phi.weights, alone.phi.weights)


@pytest.mark.parametrize("engine", ["numpy", "numba"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_learning_happens(engine, sparse):
    rows, targets, phi = problem(sparse=sparse)
    before, frozen = phi(), targets.copy()
    assert not np.allclose(before(rows), targets, atol=0.1)  # φ does not start as η
    after, records = trained(engine, rows, targets, phi(), training_settings(n_steps=2000))
    assert records[-1]["novelty_loss"] < 0.3 * records[0]["novelty_loss"]
    assert np.abs(after.weights - before.weights).max() > 0.1
    assert np.array_equal(targets, frozen)
    assert np.mean((after(rows) - targets) ** 2) < 0.1 * np.mean((before(rows) - targets) ** 2)


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_distances_are_learned_without_the_novelty_loss(engine):
    rows, targets, phi = problem()
    after, _ = trained(
        engine, rows, targets, phi(), training_settings(n_steps=3000, novelty_weight=0.0, inner_product="plain")
    )
    wanted = targets @ targets.T
    before_error = np.mean((phi()(rows) @ phi()(rows).T - wanted) ** 2)
    assert np.mean((after(rows) @ after(rows).T - wanted) ** 2) < 0.2 * before_error


def test_only_kept_rows_are_drawn():
    rows, targets, phi = problem()
    poisoned = rows.copy()
    poisoned[100:] = np.nan
    after, _ = trained("numba", poisoned, targets, phi(), training_settings(), kept=np.arange(100))
    assert np.isfinite(after.weights).all()


def test_small_jobs_need_no_compiler():
    rows = np.zeros((5000, 20), dtype=np.float32)
    large, small = training_settings(batch_size=192), training_settings(batch_size=40)
    assert choose_engine("auto", 4 * 4 * 60, filling_of(rows), 50, large) == "numpy"
    assert choose_engine("auto", 30 * 8 * 6000, filling_of(rows), 50, large) == "numba"
    assert choose_engine("numba", 1, filling_of(rows), 50, large) == "numba"
    assert choose_engine("auto", 100 * 4 * 60, filling_of(rows), 64, replace(small, distance_weight=0.0)) == "numpy"
    assert choose_engine("auto", 100 * 4 * 60, filling_of(rows), 64, small) == "numba"
    wide = sp.csr_array((1000, 100_000), dtype=np.float32)
    assert choose_engine("auto", 4 * 4 * 60, filling_of(wide), 50, large) == "numba"


def test_python_gets_its_turn_often():
    rows = np.zeros((10, 3000), dtype=np.float32)
    assert stretch_length(rows, 50, training_settings(batch_size=192, n_steps=6000)) < 10
    assert stretch_length(rows[:, :10], 50, training_settings(n_steps=6000)) == 300
    assert stretch_length(rows[:, :10], 50, training_settings(n_steps=6000), record_every=7) == 7
