"""Residuals of even size: what is divided, by what, and that nobody who scores has to know."""

from __future__ import annotations

import numpy as np
import pytest

from rdplearn import RDPDetector, load, save
from rdplearn._model.even_residuals import SMALLEST_SHARE, can_even_out, divided, sizes_of
from rdplearn._model.mapping import draw_mapping
from rdplearn._model.panel import Round
from rdplearn._model.representation import draw_representation
from rdplearn._training.boosting import judge_rows

ROWS = np.random.default_rng(0).normal(size=(200, 6)).astype(np.float32)
KEPT = np.arange(150)
QUICK = {"n_members": 2, "n_rounds": 2, "n_steps": 30, "random_state": 0}


def member(mapping="leaky", widths=(), n_components=8) -> Round:
    rng = np.random.default_rng(1)
    eta = draw_mapping(mapping, ROWS, KEPT, n_components, rng)
    return Round(draw_representation(ROWS.shape[1], n_components, rng, widths), eta)


def residuals_of(drawn: Round) -> np.ndarray:
    return drawn.phi(ROWS) - drawn.mapping(ROWS)


@pytest.mark.parametrize("mapping", ["leaky", "linear", "sparse", "few"])
@pytest.mark.parametrize("widths", [(), (5,)], ids=["one layer", "two layers"])
def test_each_number_has_the_same_size_on_the_rows_kept(mapping, widths):
    drawn = member(mapping, widths)
    sizes = sizes_of(residuals_of(drawn) ** 2, KEPT)
    evened = residuals_of(divided(drawn, sizes))
    np.testing.assert_allclose(np.sqrt(np.mean(evened[KEPT] ** 2, axis=0)), 1.0, rtol=1e-4)
    np.testing.assert_allclose(evened, residuals_of(drawn) / sizes, rtol=1e-3, atol=1e-5)


def test_scores_are_those_of_the_divided_member_and_sizes_come_from_kept_rows_alone():
    drawn = member()
    far = ROWS.copy()
    far[150:] *= 1000.0
    judged, scores, sizes = judge_rows(drawn, drawn.phi(far), drawn.mapping(far), KEPT, evenness=1.0)
    np.testing.assert_allclose(sizes, sizes_of(residuals_of(drawn) ** 2, KEPT), rtol=1e-4)
    expected = np.mean((judged.phi(far) - judged.mapping(far)) ** 2, axis=1)
    np.testing.assert_allclose(scores, expected, rtol=1e-3)


def test_a_row_kept_twice_counts_twice():
    squares = np.array([[1.0, 1.0], [4.0, 1.0]], dtype=np.float32)
    assert sizes_of(squares, np.array([0, 1, 1])) == pytest.approx([np.sqrt(3.0), 1.0])


def test_a_number_that_is_predicted_perfectly_is_not_blown_up():
    squares = np.tile(np.array([0.0, 1.0, 4.0], dtype=np.float32), (10, 1))
    sizes = sizes_of(squares, np.arange(10))
    assert sizes == pytest.approx([SMALLEST_SHARE * np.sqrt(5 / 3), 1.0, 2.0])
    assert (sizes_of(np.zeros_like(squares), np.arange(10)) > 0).all()


def test_unasked_for_residuals_stay_as_they_are():
    drawn = member()
    judged, scores, sizes = judge_rows(drawn, drawn.phi(ROWS), drawn.mapping(ROWS), KEPT, evenness=0.0)
    assert judged is drawn
    assert sizes.size == 0
    np.testing.assert_allclose(scores, np.mean(residuals_of(drawn) ** 2, axis=1), rtol=1e-4)


@pytest.mark.parametrize("mapping", ["fourier", "identity", np.sin])
def test_what_has_no_weights_to_divide_stays_as_it_is(mapping):
    n_components = 6
    assert not can_even_out(member(mapping, n_components=n_components), len(ROWS))
    models = [
        RDPDetector(mapping=mapping, n_components=n_components, even_residuals=even, **QUICK).fit(ROWS)
        for even in (True, False)
    ]
    np.testing.assert_array_equal(*(model.score_samples(ROWS) for model in models))


def test_a_member_that_knows_its_rows_by_heart_stays_as_it_is():
    drawn = member()
    assert can_even_out(drawn, ROWS.shape[1] + 1)
    assert not can_even_out(drawn, ROWS.shape[1])
    few = ROWS[:6]
    assert judge_rows(drawn, drawn.phi(few), drawn.mapping(few), np.arange(6), evenness=1.0)[0] is drawn


def test_it_changes_scores_and_files_know_nothing_of_it(tmp_path):
    even, uneven = (RDPDetector(even_residuals=value, **QUICK).fit(ROWS) for value in (True, False))
    assert not np.allclose(even.score_samples(ROWS), uneven.score_samples(ROWS))
    save(even, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.even_residuals is True
    np.testing.assert_array_equal(again.score_samples(ROWS), even.score_samples(ROWS))


def test_half_evenness_divides_by_the_root_of_each_size():
    drawn = member()
    _, _, sizes = judge_rows(drawn, drawn.phi(ROWS), drawn.mapping(ROWS), KEPT, evenness=0.5)
    np.testing.assert_allclose(sizes, np.sqrt(sizes_of(residuals_of(drawn) ** 2, KEPT)), rtol=1e-4)


def test_narrow_tables_have_them_wide_ones_hardly_and_the_paper_not():
    assert RDPDetector().for_shape(99, 5).even_residuals > 0.99
    assert RDPDetector().for_shape(99, 2000).even_residuals < 0.01
    assert not RDPDetector.paper().for_shape(99, 5).even_residuals


def test_seeds_agree_better_with_it():
    """The reason why it is there: with numbers of even size, rankings of two seeds are nearer to each other."""
    table = np.random.default_rng(3).standard_t(3, size=(600, 5))
    agreement = {}
    for even in (True, False):
        scores = [
            RDPDetector(views="robust", mapping="few", n_members=1, even_residuals=even, random_state=seed)
            .fit(table)
            .score_samples(table)
            for seed in range(8)
        ]
        ranks = np.argsort(np.argsort(scores, axis=1), axis=1)
        agreement[even] = np.corrcoef(ranks)[np.triu_indices(8, k=1)].mean()
    assert agreement[True] > agreement[False]
