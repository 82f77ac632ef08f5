"""Which rows members train on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rdplearn import RDPDetector
from rdplearn._training.members import MEMBERS_A_DECK, Sampling, plan_members
from rdplearn._views import view as member_views
from rdplearn._views.view import worth_sharing

NONE = np.empty(0, dtype=np.int64)


def drawn(n_rows, n_draws, *, n_members=6, bootstrap=False, held_back=NONE, seed=0):
    seeds = np.random.SeedSequence(seed).spawn(n_members)
    return list(Sampling(n_rows, n_draws, bootstrap, np.asarray(held_back)).draw(seeds))


@given(st.integers(2, 60), st.integers(2, 80), st.integers(1, 12), st.integers(0, 5), st.integers(0, 1_000))
def test_dealt_rows_are_allowed_ones_and_none_twice_to_a_member(n_rows, n_draws, n_members, n_held_back, seed):
    held_back = np.arange(min(n_held_back, n_rows - 1))
    hands = drawn(n_rows, n_draws, n_members=n_members, held_back=held_back, seed=seed)
    n_each = min(n_draws, n_rows - len(held_back))
    assert [len(hand) for hand in hands] == [n_each] * n_members
    for hand in hands:
        assert len(np.unique(hand)) == n_each
        assert not np.isin(hand, held_back).any()
        assert hand.min() >= 0
        assert hand.max() < n_rows


def test_members_share_no_row_before_all_have_been_dealt():
    hands = drawn(1_000, 200, n_members=10)
    for deck in (hands[:5], hands[5:]):
        assert np.array_equal(np.sort(np.concatenate(deck)), np.arange(1_000))
    assert not np.array_equal(hands[0], hands[5])


def test_every_row_is_dealt_about_equally_often_where_decks_do_not_come_out_even():
    hands = drawn(100, 30, n_members=200)
    counts = np.bincount(np.concatenate(hands), minlength=100)
    assert counts.sum() == 6_000
    assert counts.std() < 3.5  # 6.5 if each member drew for itself


def test_a_members_rows_do_not_depend_on_how_many_members_follow():
    few, many = drawn(300, 70, n_members=3), drawn(300, 70, n_members=9)
    for mine, same in zip(few, many, strict=False):
        assert np.array_equal(mine, same)


def test_of_a_huge_table_only_a_few_members_rows_are_drawn_at_a_time():
    hands = drawn(10**12, 100, n_members=MEMBERS_A_DECK + 1)
    assert len(np.unique(np.concatenate(hands))) == 100 * (MEMBERS_A_DECK + 1)


def test_dealing_is_uniform():
    firsts = np.concatenate([drawn(10, 3, n_members=1, seed=seed)[0] for seed in range(2_000)])
    assert np.abs(np.bincount(firsts, minlength=10) - 600).max() < 100


def test_with_replacement_each_member_draws_for_itself():
    hands = drawn(50, 400, bootstrap=True, held_back=np.arange(5))
    assert all(len(hand) == 400 and hand.min() >= 5 for hand in hands)
    assert not np.array_equal(hands[0], hands[1])
    assert len(np.unique(hands[0])) == 45


@pytest.mark.parametrize("bootstrap", [True, False])
def test_plans_have_each_row_once_and_the_draws_as_places_among_them(bootstrap):
    turns = [("rank", "leaky")] * 3
    sampling = Sampling(40, 25, bootstrap, NONE)
    for plan in plan_members(turns, sampling, seed=1):
        assert np.array_equal(plan.rows, np.unique(plan.rows))
        assert len(plan.draws) == 25
        assert set(plan.draws) == set(range(len(plan.rows)))


def test_what_members_see_is_shared_where_they_look_at_most_rows_more_than_once(monkeypatch):
    table = np.random.default_rng(0).normal(size=(300, 4))
    assert worth_sharing(table, 601)
    assert not worth_sharing(table, 600)
    quick = {"n_members": 5, "n_steps": 20, "random_state": 0}
    shared = RDPDetector(**quick).fit(table).score_samples(table)
    monkeypatch.setattr(member_views, "FEW_CELLS", 0)
    assert not worth_sharing(table, 10**6)
    np.testing.assert_array_equal(RDPDetector(**quick).fit(table).score_samples(table), shared)
