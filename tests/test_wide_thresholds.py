"""The line on tables with fewer rows than a few times their columns: drawn on rows that members have not seen."""

import numpy as np
import pytest

from rdplearn import RDPDetector
from rdplearn._fit_plan import MOST_PARTS, plan_fit
from rdplearn._model.judges import of_others
from rdplearn._training.flops import filling_of

N_ROWS, N_COLUMNS = 300, 600


def reported(seed, **parameters):
    """The share of fresh normal rows that a detector reports."""
    rng = np.random.default_rng(seed)
    table, fresh = rng.normal(size=(N_ROWS, N_COLUMNS)), rng.normal(size=(1000, N_COLUMNS))
    return np.mean(RDPDetector(random_state=seed, **parameters).fit(table).predict(fresh) == -1)


@pytest.mark.parametrize(
    ("parameters", "rate"),
    [
        ({}, 0.01),
        ({"false_alarm_rate": 0.05}, 0.05),
        ({"contamination": 0.01}, 0.01),
        ({"contamination": "none"}, 0.01),
    ],
)
def test_fresh_normal_rows_are_reported_about_as_often_as_promised(parameters, rate):
    shares = [reported(seed, **parameters) for seed in range(8)]  # tables differ much
    assert 0.3 * rate <= np.mean(shares) <= 2.3 * rate


@pytest.mark.parametrize("n_members", [2, 3])
def test_fewer_members_than_parts_never_report_more_than_promised(n_members):
    """Every row has a judge in every team; of so few the line errs towards fewer alarms."""
    shares = [reported(seed, n_members=n_members, false_alarm_rate=0.05) for seed in range(5)]
    assert np.median(shares) <= 0.1


def test_every_row_is_unseen_by_as_many_members_of_each_team():
    table = np.random.default_rng(0).normal(size=(N_ROWS, N_COLUMNS))
    plan = plan_fit(RDPDetector(), N_ROWS, filling_of(table), seed=0)
    assert plan.by_heart
    for of_team, _ in plan.teams:
        n_unseen = np.sum([~np.isin(np.arange(N_ROWS), member.rows) for member in of_team], axis=0)
        assert set(n_unseen) <= {len(of_team) // MOST_PARTS, -(-len(of_team) // MOST_PARTS)}


def test_members_that_see_enough_rows_leave_none_out():
    plan = plan_fit(RDPDetector(), N_ROWS, filling_of(np.ones((N_ROWS, 20))), seed=0)
    assert not plan.by_heart
    assert all(len(member.rows) == N_ROWS for member in plan.members)


def test_draws_with_replacement_are_made_from_all_rows_as_in_the_paper():
    plan = plan_fit(RDPDetector.paper(), N_ROWS, filling_of(np.ones((N_ROWS, N_COLUMNS))), seed=0)
    assert all(len(member.rows) == N_ROWS for member in plan.members)


def test_unseen_rows_are_judged_by_others_and_spread_as_a_whole_team_would_have_it(rng):
    of_rows, noise = rng.normal(size=(3000, 1)), rng.normal(size=(3000, 6))
    seen = (np.arange(3000)[:, None] % 3) != (np.arange(6) % 3)
    scaled = of_rows + noise - np.where(seen, 5.0, 0.0)
    judged = of_others(scaled, seen, np.full(6, 1 / 6), [np.arange(6)]).mean(axis=1)
    wanted = (of_rows + noise).mean(axis=1)
    assert np.median(judged) == pytest.approx(np.median(wanted), abs=0.1)
    assert judged.std() == pytest.approx(wanted.std(), rel=0.05)


def test_where_all_rows_were_seen_by_all_they_count_as_they_are(rng):
    scaled = rng.normal(size=(20, 3))
    np.testing.assert_array_equal(of_others(scaled, np.ones((20, 3), bool), np.full(3, 1 / 3), [np.arange(3)]), scaled)
