"""Scores: formulas against plain loops, and the same wherever a row stands."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from rdplearn._model.anomaly_scores import (
    N_SUBSAMPLES,
    SUBSAMPLE_SIZE,
    lifted,
    nearest_subsample_scores,
    novelty_scores,
)
from rdplearn._model.combination import geometric_mean, mean_of
from rdplearn._model.mapping import draw_mapping
from rdplearn._model.panel import Panel, Round
from rdplearn._model.representation import Representation
from rdplearn._scoring import compiled
from rdplearn._scoring import scores as scoring
from rdplearn._scoring.scores import compiled_slope, scaled_scores, score_rows, seat_scores
from rdplearn._views.curves import joined_curves, look_through
from rdplearn._views.minmax import UnchangedView
from rdplearn._views.view import View


def panel_of(kind="leaky", n_columns=29, n_members=5, n_units=10, first=0) -> tuple[Panel, list[Round]]:
    rng = np.random.default_rng(1)
    rows = rng.random((50, n_columns), dtype=np.float32)
    n_units = n_columns if kind == "identity" else n_units
    members = [
        Round(
            Representation(
                rng.normal(size=(n_columns, n_units)).astype(np.float32),
                rng.normal(size=n_units).astype(np.float32),
            ),
            draw_mapping(kind, rows, np.arange(50), n_units, rng),
        )
        for _ in range(n_members)
    ]
    together = Panel(np.arange(first, first + n_members), View((UnchangedView(),)), 1, members[0])
    for place, member in enumerate(members):
        together.put(place, [member])
    return together, members


KINDS = ("leaky", "linear", "sparse", "fourier", "identity", "few")


@pytest.mark.parametrize(
    ("kind", "sparse"),
    [*((kind, sparse) for kind in KINDS for sparse in (False, True)), (np.square, False)],  # which takes no sparse rows
)
def test_members_side_by_side_score_as_each_alone(kind, sparse, rng):
    together, members = panel_of(kind, n_units=29 if kind is np.square else 10)
    rows = rng.random((40, 29), dtype=np.float32)
    rows = sp.csr_array(rows) if sparse else rows
    expected = np.stack([np.mean((m.phi(rows) - m.mapping(rows)) ** 2, axis=1) for m in members], axis=1)
    assert seat_scores(rows, together) == pytest.approx(expected, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("kind", ["leaky", "identity"])
def test_weights_in_the_order_for_sparse_rows_give_the_same_bits(kind, rng):
    panel, _ = panel_of(kind)
    turned = panel.for_sparse_rows()
    assert (panel.weights.flags.f_contiguous, turned.weights.flags.c_contiguous) == (True, True)
    rows = sp.csr_array(np.where(rng.random((40, 29)) > 0.8, 1.0, 0.0).astype(np.float32))
    np.testing.assert_array_equal(seat_scores(rows, turned), seat_scores(rows, panel))


def test_novelty_score_is_the_mean_squared_residual(rng):
    phi, eta = rng.random((4, 3), dtype=np.float32), rng.random((4, 3), dtype=np.float32)
    expected = [np.mean([(phi[i, k] - eta[i, k]) ** 2 for k in range(3)]) for i in range(4)]
    assert novelty_scores(phi.copy(), eta) == pytest.approx(expected, rel=1e-5)


def test_subsample_score_is_the_mean_distance_to_the_nearest_of_each(rng):
    phi = rng.random((6, 4), dtype=np.float32)
    references = rng.random((N_SUBSAMPLES * SUBSAMPLE_SIZE, 4), dtype=np.float32)
    for i in range(6):
        nearest = [
            min(np.linalg.norm(phi[i] - references[s * SUBSAMPLE_SIZE + j]) for j in range(SUBSAMPLE_SIZE))
            for s in range(N_SUBSAMPLES)
        ]
        assert nearest_subsample_scores(phi, lifted(references))[i] == pytest.approx(np.mean(nearest), rel=1e-3)


TOGETHER, _ = panel_of()
TABLE = np.random.default_rng(0).random((2000, 29), dtype=np.float32)


def scores(rows, n_jobs=None):
    return score_rows(rows, [TOGETHER], mean_of(5), n_jobs)


WHOLE = scores(TABLE)


@given(st.lists(st.integers(0, 1999), min_size=1, max_size=700))
@settings(max_examples=40, deadline=None)
def test_scores_are_the_same_for_any_rows_in_any_order(chosen):
    assert np.array_equal(scores(TABLE[chosen]), WHOLE[chosen])


@given(st.integers(1, 1999))
@settings(max_examples=20, deadline=None)
def test_sparse_scores_are_the_same_bits_in_any_batches(cut):
    table = sp.csr_array(np.where(TABLE > 0.8, TABLE, 0))
    whole = scores(table)
    assert np.array_equal(np.concatenate([scores(table[:cut]), scores(table[cut:])]), whole)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_scores_are_the_same_bits_for_any_order_in_memory_and_threads(order, n_jobs):
    assert np.array_equal(scores(np.asarray(TABLE, order=order), n_jobs), WHOLE)


def test_sparse_and_dense_rows_score_alike():
    assert scores(sp.csr_array(TABLE)) == pytest.approx(WHOLE, rel=1e-4)


@pytest.mark.parametrize("kind", ["leaky", "linear", "sparse", "fourier", "few"])
def test_the_compiled_pass_scores_as_the_plain_formulas(kind, monkeypatch):
    together, _ = panel_of(kind)
    plain = scaled_scores(TABLE, [together], mean_of(5), None)
    monkeypatch.setattr(scoring, "COMPONENTS_WORTH_COMPILING", 0)
    assert np.array_equal(scaled_scores(TABLE, [together], mean_of(5), None), plain)
    assert (compiled_slope(together) is None) == (kind == "fourier")


@pytest.mark.parametrize("neighbour", [1, 3, 8])
def test_the_compiled_pass_picks_the_same_neighbour(neighbour, rng):
    phi, references = rng.random((321, 4), dtype=np.float32), rng.random((8 * 5, 4), dtype=np.float32)
    references[::7] = phi[:6]  # some rows meet themselves
    plain = nearest_subsample_scores(phi, lifted(references), 8, neighbour)
    assert np.array_equal(compiled.nearest_subsample_scores(phi, lifted(references), 8, neighbour), plain)
    assert (plain == 0).any() == (neighbour == 1)


def test_one_of_the_smallest_distances_counts(rng):
    phi, references = rng.random((6, 4), dtype=np.float32), rng.random((6 * 5, 4), dtype=np.float32)
    nearest = [np.linalg.norm(phi[:, None] - references[5 * s : 5 * s + 5], axis=2).min(axis=1) for s in range(6)]
    assert nearest_subsample_scores(phi, lifted(references), 6, 3) == pytest.approx(
        np.sort(nearest, axis=0)[2], rel=1e-3
    )


@given(st.lists(st.lists(st.integers(-5, 5), min_size=2, max_size=5), min_size=1, max_size=4), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_compiled_curves_give_the_same_bits(knots, seed):
    """Three views: two have the same knots in all columns, the third in those where it was not given others."""
    rng = np.random.default_rng(seed)
    same = [np.sort(np.array(of_column, dtype=np.float64)) for of_column in knots]
    others = [of_column if rng.random() < 0.5 else np.append(of_column, 6.0) for of_column in same]
    views = [
        joined_curves([(of_column, np.cumsum(rng.random(len(of_column)))) for of_column in of_view])
        for of_view in (same, others, same)
    ]
    block = rng.normal(scale=4.0, size=(50, len(knots)))
    block[:10] = rng.integers(-5, 6, (10, len(knots)))
    for mine, theirs in zip(compiled.look_through(views, block), look_through(views, block), strict=True):
        assert np.array_equal(mine, theirs)


def test_panels_are_scored_through_their_own_views_and_combined():
    few, _ = panel_of("few", n_members=2, first=5)
    few.typical[:] = [0.5, 2.0]
    combination = geometric_mean([1.0] * 5 + [0.5] * 2)
    by_hand = np.concatenate(
        [np.log(seat_scores(TABLE, TOGETHER) + 0.01), np.log(seat_scores(TABLE, few) / few.typical + 0.01)], axis=1
    )
    expected = np.exp(by_hand @ np.array([1 / 9] * 5 + [2 / 9] * 2))
    np.testing.assert_allclose(score_rows(TABLE, [TOGETHER, few], combination, None), expected, rtol=1e-4)


def test_rounds_stand_side_by_side_and_can_be_taken_apart(rng):
    """Three rounds of two members in one panel: each round alone, and the last two, as panels of their own."""
    _, rounds = panel_of(n_members=6)
    together = Panel([0, 1], View((UnchangedView(),)), 3, rounds[0])
    for place in (0, 1):
        together.put(place, [rounds[2 * number + place] for number in range(3)])
    rows = rng.random((40, 29), dtype=np.float32)
    expected = np.stack([np.mean((m.phi(rows) - m.mapping(rows)) ** 2, axis=1) for m in rounds], axis=1)
    assert seat_scores(rows, together) == pytest.approx(expected, rel=1e-3, abs=1e-5)
    assert seat_scores(rows, together.one_round(1)) == pytest.approx(expected[:, 2:4], rel=1e-3, abs=1e-5)
    assert seat_scores(rows, together.last_rounds(2)) == pytest.approx(expected[:, 2:], rel=1e-3, abs=1e-5)
    assert together.last_rounds(3) is together
