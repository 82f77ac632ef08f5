"""Wide tables are trained on in their leading directions: which these are, and that everything else stays as it was."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from rdplearn import RDPDetector, load, save
from rdplearn._fit_plan import plan_fit
from rdplearn._model.mapping import draw_mapping
from rdplearn._model.representation import Representation, draw_representation
from rdplearn._training.boosting import leading_space, wanted_directions
from rdplearn._training.flops import filling_of
from rdplearn._training.row_space import (
    FEWEST_DIRECTIONS,
    MORE_SUMS,
    RowSpace,
    entered,
    leading_directions,
    left,
    n_directions,
    rows_for_directions,
    sums_of_rows,
    turned,
)
from rdplearn._training.settings import TrainingSettings, TrainingTask
from rdplearn._views import view as member_views
from rdplearn.callbacks import Checkpoint
from tests.conftest import assert_same_to_rounding, train_task

HOW = TrainingSettings(100, 40, 0.5, 0.9, 0.1, 0.0, 0.0, 1.0, "l1")
SHORT = {"n_members": 2, "n_rounds": 2, "n_steps": 20, "random_state": 0}


def low_rank(rng, n_rows, n_columns, rank, noise=0.0):
    rows = rng.normal(size=(n_rows, rank)) @ rng.normal(size=(rank, n_columns)) / np.sqrt(rank)
    return (rows + noise * rng.normal(size=(n_rows, n_columns))).astype(np.float32)


def trained_both_ways(engine, rows, basis, rng):
    """W after training on the columns, and in some directions, from the same start within these."""
    targets = draw_mapping("leaky", rows, np.arange(len(rows)), 10, rng)(rows)
    space = RowSpace(basis, turned(rows, basis), is_all=False)
    inner = draw_representation(basis.shape[1], 10, rng, start_scale=0.1)
    start = TrainingTask(space.rows, targets, np.arange(len(rows)), inner, 3)
    full = Representation(basis @ inner.weights, inner.bias.copy())
    train_task(engine, TrainingTask(rows, targets, np.arange(len(rows)), full, 3), HOW)
    task = replace(start, phi=Representation(inner.weights.copy(), inner.bias.copy()))
    train_task(engine, task, HOW)
    return full, left(space, start, task).phi


@pytest.mark.parametrize("engine", ["numpy", "numba"])
@pytest.mark.parametrize("shape", [(30, 80), (200, 40)], ids=["more columns", "more rows"])
def test_in_all_directions_training_is_the_same_as_on_the_columns(engine, shape, rng):
    rows = rng.random(shape, dtype=np.float32)
    basis = leading_directions(rows, min(shape))
    assert basis.shape == (shape[1], min(shape))
    full, within = trained_both_ways(engine, rows, basis, rng)
    assert np.abs(full.weights).max() > 0.01
    assert_same_to_rounding(within.weights, full.weights, after_steps=100)
    assert_same_to_rounding(within.bias, full.bias, after_steps=100)


def all_pairs_both_ways(rows, basis):
    """A large W after training on all pairs of a batch, on the columns and in some directions; and its start."""
    rng = np.random.default_rng(1)
    targets = draw_mapping("orthogonal", rows, np.arange(len(rows)), 32, rng)(rows)
    start = TrainingTask(rows, targets, np.arange(len(rows)), draw_representation(rows.shape[1], 10, rng), None)
    of_distances = {"distance_weight": 1.0, "novelty_weight": 0.0, "inner_product": "plain", "pairs": "all"}
    how = replace(HOW, n_steps=5, learning_rate=0.1, **of_distances)  # later steps magnify what was rounded
    full = Representation(start.phi.weights.copy(), start.phi.bias.copy())
    train_task("numpy", replace(start, phi=full, seed=np.random.default_rng(3)), how)
    space = RowSpace(basis, turned(rows, basis), is_all=True)
    task = replace(entered(start, space), seed=np.random.default_rng(3))
    train_task("numpy", task, how)
    return full, left(space, start, task).phi, start.phi


def test_in_all_directions_distances_are_learned_as_on_the_columns(rng):
    rows = rng.random((200, 40), dtype=np.float32)
    full, within, start = all_pairs_both_ways(rows, np.linalg.qr(rng.normal(size=(40, 40)))[0].astype(np.float32))
    assert np.abs(full.weights - start.weights).max() > 0.01
    assert_same_to_rounding(within.weights, full.weights, after_steps=5, scale=10)
    assert_same_to_rounding(within.bias, full.bias, after_steps=5, scale=10)


def test_distances_keep_what_lies_outside_of_the_directions_as_it_was_drawn(rng):
    rows = low_rank(rng, 500, 300, rank=12, noise=0.1)
    basis = leading_directions(rows, 12)
    _, within, start = all_pairs_both_ways(rows, basis)
    moved = within.weights - start.weights
    assert np.abs(basis.T @ moved).max() > 0.01
    assert np.abs(moved - basis @ (basis.T @ moved)).max() < 1e-3 * np.abs(moved).max()


def test_all_members_of_a_wide_table_learn_in_the_same_directions():
    plan = plan_fit(RDPDetector(), 2_000, filling_of(np.broadcast_to(0.0, (2_000, 5_000))), seed=0)
    (_, by_novelty), (_, by_distance) = plan.teams
    assert wanted_directions(by_novelty, 5_000) == wanted_directions(by_distance, 5_000) == FEWEST_DIRECTIONS
    spaces = [leading_space(None, np.eye(3), settings, np.eye(3)) for settings in (by_novelty, by_distance)]
    assert [space.is_all for space in spaces] == [False, True]


def test_a_table_of_few_directions_loses_next_to_nothing_by_the_others(rng):
    rows = low_rank(rng, 1_000, 300, rank=12, noise=0.01)
    basis = leading_directions(rows, 20)
    full, within = trained_both_ways("numpy", rows, basis, rng)
    both = full(rows), within(rows)
    assert np.abs(both[0]).mean() > 0.1
    assert np.sqrt(np.mean((both[0] - both[1]) ** 2)) < 0.02 * np.sqrt(np.mean(both[0] ** 2))


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_directions_are_orthonormal_and_hold_what_rows_share(is_sparse, rng):
    rows = low_rank(rng, 3_000, 400, rank=10, noise=0.02)
    basis = leading_directions(sp.csr_array(rows) if is_sparse else rows, 16)
    assert basis.T @ basis == pytest.approx(np.eye(16), abs=0.03)  # a product of rows in single precision, squared
    if is_sparse:  # full as it is, it is taken apart as the dense one is
        np.testing.assert_allclose(basis, leading_directions(rows, 16), atol=1e-3)
    left_out = rows - rows @ basis @ basis.T
    best = np.sum(np.linalg.svd(rows, compute_uv=False)[16:] ** 2)
    assert best < np.sum(left_out**2) < 1.1 * best


def test_rows_with_fewer_directions_than_wanted_have_so_many(rng):
    assert leading_directions(low_rank(rng, 500, 90, rank=5), 20).shape == (90, 5)
    assert leading_directions(np.zeros((7, 90), dtype=np.float32), 20).shape == (90, 1)


def test_every_row_is_in_one_sum_and_few_rows_are_taken_as_they_are(rng):
    rows = rng.random((50, 9), dtype=np.float32)
    assert sums_of_rows(rows, 50) is rows
    signs = sums_of_rows(np.eye(50, dtype=np.float32), 20)
    assert np.array_equal(np.abs(signs).sum(axis=0), np.ones(50))
    assert set(np.abs(signs).sum(axis=1)) == {2.0, 3.0}
    assert set(np.unique(signs)) == {-1.0, 0.0, 1.0}


def test_a_longer_training_has_more_directions_and_the_papers_has_all():
    wanted = [n_directions(n_steps) for n_steps in range(1, 190)]
    assert wanted == sorted(wanted)
    assert min(wanted) == FEWEST_DIRECTIONS
    assert max(np.diff(wanted)) <= 7
    assert n_directions(6_000) is None


@pytest.mark.parametrize(
    ("detector", "shape", "is_some"),
    [
        (RDPDetector(), (2_000, 1_000), True),
        (RDPDetector(), (2_000, 350), False),  # so long a training gets to all
        (RDPDetector(n_steps=60), (2_000, 192), False),
        (RDPDetector(n_steps=60), (2_000, 193), True),
        (RDPDetector.paper(), (2_000, 9_000), False),
        (RDPDetector.paper(n_steps=60), (2_000, 9_000), False),  # φ starts at full size
    ],
)
def test_only_short_trainings_of_wide_tables_are_held_to_some_directions(detector, shape, is_some):
    settings = plan_fit(detector, shape[0], filling_of(np.broadcast_to(0.0, shape)), seed=0).settings
    assert (wanted_directions(settings, shape[1]) is not None) == is_some


def test_a_large_table_is_told_by_a_sample_of_its_rows():
    sample = rows_for_directions(100_000, 0)
    assert len(sample) == 4_096
    assert not np.array_equal(sample, rows_for_directions(100_000, 1))
    assert FEWEST_DIRECTIONS + MORE_SUMS < 4_096


def wide(rng, n_rows=400, n_columns=700, density=1.0):
    rows = low_rank(rng, n_rows, n_columns, rank=6, noise=0.1)
    return np.where(rng.random(rows.shape) < density, rows, 0.0)


def test_a_row_that_leaves_the_directions_of_the_others_is_found(rng):
    table = wide(rng)
    table[7] = rng.permuted(table[7])
    assert int(np.argmin(RDPDetector(random_state=0).fit(table).score_samples(table))) == 7


def test_a_sparse_table_scores_as_the_dense_one(rng):
    table = wide(rng, density=0.03)
    dense, sparse = (RDPDetector(**SHORT).fit(rows).score_samples(rows) for rows in (table, sp.csr_array(table)))
    np.testing.assert_allclose(sparse, dense, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("density", [1.0, 0.03], ids=["dense", "sparse"])
def test_a_fit_does_not_depend_on_threads_and_its_file_scores_alike(density, rng, tmp_path):
    table = wide(rng, density=density)
    table = table if density == 1 else sp.csr_array(table)
    one, two = (RDPDetector(n_jobs=n_jobs, **SHORT).fit(table) for n_jobs in (1, 2))
    np.testing.assert_array_equal(two.score_samples(table), one.score_samples(table))
    save(one, tmp_path / "wide.rdp")
    np.testing.assert_array_equal(load(tmp_path / "wide.rdp").score_samples(table), one.score_samples(table))


def in_second_round(records):
    """Stop a fit there."""
    if records[-1]["round"] == 1:
        raise InterruptedError


def test_an_interrupted_fit_goes_on_to_the_same_scores(rng, tmp_path):
    table = wide(rng)
    whole = RDPDetector(**SHORT).fit(table)
    saved = Checkpoint(tmp_path / "fit")
    with pytest.raises(InterruptedError):
        RDPDetector(callbacks=[saved, in_second_round], **SHORT).fit(table)
    resumed = RDPDetector(callbacks=[saved], **SHORT).fit(table)
    np.testing.assert_array_equal(resumed.score_samples(table), whole.score_samples(table))


@pytest.mark.parametrize("density", [1.0, 0.03], ids=["dense", "sparse"])
def test_it_makes_no_difference_whether_members_share_what_is_seen(density, rng, monkeypatch):
    table = wide(rng, density=density)
    table = table if density == 1 else sp.csr_array(table)
    detector = RDPDetector(random_state=0, n_members=3, n_steps=20)
    shared = detector.fit(table).score_samples(table)
    monkeypatch.setattr(member_views, "FEW_CELLS", 0)
    np.testing.assert_array_equal(detector.fit(table).score_samples(table), shared)


def test_new_rows_renew_members_in_directions_of_their_own(rng):
    table = wide(rng)
    detector = RDPDetector(**SHORT).fit(table)
    assert detector.partial_fit(wide(rng)).n_renewed_ == 2
    assert np.isfinite(detector.score_samples(table)).all()
