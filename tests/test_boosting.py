"""Rounds of train, score, drop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rdplearn._training.boosting import Boosting, BoostingSettings, MemberPlan, boost, drop_highest
from rdplearn._training.progress import Watch
from rdplearn._training.settings import TrainingSettings


def settings(**changes) -> BoostingSettings:
    training = TrainingSettings(50, 32, 0.1, 0.9, 0.1, 0.1, 1.0, changes.pop("novelty_weight", 1.0), "l1")
    defaults = {
        "training": training,
        "n_components": 8,
        "n_rounds": 3,
        "filter_fraction": 0.1,
        "shrinkage": 0.0,
        "start_scale": 1.0,
        "even_residuals": False,
        "score_rounds": 1,
        "n_rounds_kept": 1,
        "engine": "numpy",
    }
    return BoostingSettings(**{**defaults, **changes})


def run(rows, how, draws=None, mapping="leaky"):
    draws = np.arange(len(rows)) if draws is None else draws
    watch = Watch(1, how.n_rounds, how.training.n_steps, visible=False)
    plan = MemberPlan(0, "minmax", mapping, np.arange(len(rows)), draws, np.random.SeedSequence(0))
    (member,) = boost([Boosting(plan, rows, how, watch)], how)
    return member


ROWS = np.random.default_rng(0).random((200, 5), dtype=np.float32)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=60), st.floats(0, 0.49))
def test_dropping_keeps_the_lowest_scores(scores, fraction):
    kept, cut = drop_highest(np.arange(len(scores)), np.array(scores), fraction)
    assert len(kept) == len(scores) - int(fraction * len(scores))
    dropped = np.delete(np.array(scores), kept)
    assert np.array(scores)[kept].max() == cut
    assert np.all(dropped >= cut)


def test_each_round_drops_its_share():
    history = run(ROWS, settings()).history
    assert [next(r["n_kept"] for r in history if r["round"] == k) for k in range(3)] == [180, 162, 146]


def test_each_round_draws_a_new_mapping_and_a_new_representation():
    rounds = run(ROWS, settings(n_rounds_kept=3)).rounds
    assert len(rounds) == 3
    assert not np.allclose(rounds[0].mapping.weights, rounds[1].mapping.weights)
    assert not np.allclose(rounds[0].phi.weights, rounds[1].phi.weights)


def test_only_the_last_round_is_kept_by_default():
    last, every = run(ROWS, settings()).rounds, run(ROWS, settings(n_rounds_kept=3)).rounds
    assert len(last) == 1
    assert np.array_equal(last[0].phi.weights, every[-1].phi.weights)


def test_a_member_knows_its_typical_score_and_its_spread():
    member = run(ROWS, settings(n_rounds_kept=3, score_rounds=2))
    scores = [np.mean((m.phi(ROWS) - m.mapping(ROWS)) ** 2, axis=1) for m in member.rounds]
    assert [m.typical for m in member.rounds] == pytest.approx([np.median(s) for s in scores], rel=1e-4)
    logs = [np.log(s / np.median(s) + 0.01) for s in scores[-2:]]
    assert member.spread == pytest.approx(np.mean(logs, axis=0).std(), rel=1e-3)


def test_phi_starts_at_the_share_of_its_size_that_is_asked_for():
    still = replace(settings().training, n_steps=1, learning_rate=1e-12)
    whole, tenth = (run(ROWS, settings(n_rounds=1, start_scale=scale, training=still)) for scale in (1.0, 0.1))
    starts = [member.rounds[-1].phi.weights for member in (whole, tenth)]
    np.testing.assert_allclose(starts[1], 0.1 * starts[0], rtol=1e-5)


def test_shrinkage_is_what_dropout_does_in_expectation():
    """With dropout p the expected loss is least at (1 - p) η; so is the loss of shrunk targets, without the noise."""
    long = {"n_steps": 3000, "learning_rate": 0.3}
    shrunk = run(ROWS, settings(n_rounds=1, shrinkage=0.3, training=replace(settings().training, **long)))
    dropped = run(ROWS, settings(n_rounds=1, training=replace(settings().training, **long, dropout=0.3)))
    phi = [member.rounds[-1].phi(ROWS) for member in (shrunk, dropped)]
    assert np.mean((phi[0] - phi[1]) ** 2) < 0.05 * np.mean(phi[1] ** 2)


def test_rows_drawn_twice_count_twice():
    history = run(ROWS, settings(n_rounds=1), draws=np.repeat(np.arange(50), 4)).history
    assert history[0]["n_kept"] == 180


def test_boosting_drops_the_planted_rows_first():
    rows = ROWS.copy()
    rows[:10] = 5.0
    kept = run(rows, settings(n_rounds_kept=3, novelty_weight=0.0))
    assert kept.rounds[-1].references.shape == (400, 8)
    # far rows are not among the references: boosting has dropped them
    far = kept.rounds[-1].phi(rows[:1])
    assert np.linalg.norm(kept.rounds[-1].references - far, axis=1).min() > 1.0


def test_more_columns_than_rows_are_trained_in_their_span():
    wide = np.random.default_rng(1).random((20, 100), dtype=np.float32)
    member = run(wide, settings()).rounds[0]
    assert member.phi.weights.shape == (100, 8)


def test_the_novelty_loss_needs_as_many_targets_as_components():
    with pytest.raises(
        ValueError, match=r"5 targets where 'n_components' is 8. Make them equal, or pass novelty_weight=0"
    ):
        run(ROWS, settings(), mapping="identity")
