"""Scores: formulas against plain loops, and the same wherever a row stands."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from rdplearn._model.combination import geometric_mean, mean_of
from rdplearn._model.mapping import draw_mapping
from rdplearn._model.representation import Representation
from rdplearn._scoring import scores as scoring
from rdplearn._scoring.scores import (
    N_SUBSAMPLES,
    SUBSAMPLE_SIZE,
    Ensemble,
    Member,
    Panel,
    nearest_subsample_scores,
    novelty_scores,
    scaled_member_scores,
    score_rows,
)
from rdplearn._views.minmax import UnchangedView
from rdplearn._views.view import View


def ensemble(kind="leaky", n_columns=29, n_members=5, n_units=10) -> tuple[Ensemble, list[Member]]:
    rng = np.random.default_rng(1)
    rows = rng.random((50, n_columns), dtype=np.float32)
    n_units = n_columns if kind == "identity" else n_units
    members = [
        Member(
            Representation(
                rng.normal(size=(n_columns, n_units)).astype(np.float32),
                rng.normal(size=n_units).astype(np.float32),
            ),
            draw_mapping(kind, rows, np.arange(50), n_units, rng),
        )
        for _ in range(n_members)
    ]
    together = Ensemble(n_members, members[0])
    for number, member in enumerate(members):
        together.put(number, member)
    return together, members


@pytest.mark.parametrize("kind", ["leaky", "linear", "sparse", "fourier", "identity", "few", np.square])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_members_side_by_side_score_as_each_alone(kind, sparse, rng):
    if kind is np.square and sparse:
        pytest.skip("np.square takes no sparse rows")
    together, members = ensemble(kind, n_units=29 if kind is np.square else 10)
    rows = rng.random((40, 29), dtype=np.float32)
    rows = sp.csr_array(rows) if sparse else rows
    expected = np.stack([np.mean((m.representation(rows) - m.mapping(rows)) ** 2, axis=1) for m in members], axis=1)
    assert together.member_scores(rows) == pytest.approx(expected, rel=1e-3, abs=1e-5)


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
        assert nearest_subsample_scores(phi, references)[i] == pytest.approx(np.mean(nearest), rel=1e-3)


TOGETHER, _ = ensemble()
TABLE = np.random.default_rng(0).random((2000, 29), dtype=np.float32)


def panels(*ensembles: Ensemble) -> list[Panel]:
    """One panel for each ensemble, with its members numbered on."""
    first, built = 0, []
    for together in ensembles:
        built.append(Panel(np.arange(first, first + together.n_members), View((UnchangedView(),)), [together]))
        first += together.n_members
    return built


def scores(rows, n_jobs=None):
    return score_rows(rows, panels(TOGETHER), mean_of(5), n_jobs)


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
    together, _ = ensemble(kind)
    plain = scaled_member_scores(TABLE, panels(together), mean_of(5), None)
    monkeypatch.setattr(scoring, "NUMBERS_WORTH_COMPILING", 0)
    assert np.array_equal(scaled_member_scores(TABLE, panels(together), mean_of(5), None), plain)
    assert (together.scorer(1) == together.member_scores) == (kind == "fourier")


def test_panels_are_scored_through_their_own_views_and_combined():
    few, _ = ensemble("few", n_members=2)
    few.typical[:] = [0.5, 2.0]
    combination = geometric_mean([1.0] * 5 + [0.5] * 2)
    by_hand = np.concatenate(
        [np.log(TOGETHER.member_scores(TABLE) + 0.01), np.log(few.member_scores(TABLE) / few.typical + 0.01)], axis=1
    )
    expected = np.exp(by_hand @ np.array([1 / 9] * 5 + [2 / 9] * 2))
    np.testing.assert_allclose(score_rows(TABLE, panels(TOGETHER, few), combination, None), expected, rtol=1e-4)
