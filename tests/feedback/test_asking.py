"""Which rows are proposed, and that answers change it."""

from __future__ import annotations

import numpy as np
import pytest

from rdplearn import RDPDetector, review
from rdplearn._feedback import asking as module
from rdplearn.errors import TableError
from tests.feedback.conftest import WRONG


def test_the_top_row_comes_first_and_no_row_twice(detector, strange):
    asking = review(detector).asking(strange)
    assert asking.next()[0] == np.argmin(detector.score_samples(strange))
    seen = []
    for _ in range(30):
        (place,) = asking.next()
        seen.append(int(place))
        asking.tell([place], "anomalous" if WRONG.start <= place < WRONG.stop else "normal")
    assert len(set(seen)) == 30
    assert set(range(WRONG.start, WRONG.stop)) <= set(seen)


def gap(reviewed, rows):
    """What the scores of rows have more than what is worth asking goes by."""
    return reviewed._scale.gap(reviewed._opinions(rows)[:, 0])


def test_scores_of_asking_are_those_of_the_model_without_the_gap(detector, strange):
    reviewed = review(detector)
    asking = reviewed.asking(strange)
    for place in (3, 15, 200):
        asking.tell([place], "normal")
        assert np.allclose(asking.scores(), -reviewed.score_samples(strange) - gap(reviewed, strange), atol=1e-4)


def test_rows_that_are_proposed_together_are_not_the_same_case(detector, strange):
    twins = np.vstack([strange, np.repeat(strange[12:13], 20, axis=0)])
    proposed = review(detector).next(twins, 10)
    assert sum(place == 12 or place >= 500 for place in proposed) <= 3
    assert len(set(proposed)) == 10


def test_informative_rows_lie_near_the_threshold(detector, strange):
    reviewed = review(detector)
    away = np.abs(reviewed.decision_function(strange))
    assert away[reviewed.next(strange, 5, strategy="informative")].max() < np.quantile(away, 0.3)
    assert set(reviewed.next(strange, 5, strategy="informative")) != set(reviewed.next(strange, 5))


def test_an_answer_that_is_taken_back_is_asked_again(detector, strange):
    asking = review(detector).asking(strange)
    first = int(asking.next()[0])
    asking.tell([first], "normal")
    assert asking.next()[0] != first
    asking.take_back([first])
    assert asking.next()[0] == first


def test_all_rows_may_be_asked_about(detector, strange):
    asking = review(detector).asking(strange[:3])
    assert sorted(asking.next(10)) == [0, 1, 2]
    asking.tell([0, 1, 2], "normal")
    assert len(asking.next(10)) == 0


def test_of_a_large_table_the_highest_rows_are_asked_about(detector, strange, monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 40)
    asking = review(detector).asking(strange)
    assert len(asking.rows) == 40
    highest = np.argsort(detector.score_samples(strange), kind="stable")[:40]
    assert set(asking.places) == set(highest)
    with pytest.raises(TableError, match="There is no row 500 among the 40 rows"):
        asking.tell([499], "normal")


def test_kept_nearness_is_bounded(detector, strange, monkeypatch):
    from rdplearn._feedback import process

    monkeypatch.setattr(process, "MOST_POINTS", 10)
    monkeypatch.setattr(module, "MOST_KEPT", 15)
    reviewed = review(detector)
    asking = reviewed.asking(strange)
    for place in range(40):
        asking.tell([place], "normal" if place < 12 else "anomalous")
        assert np.allclose(asking.scores(), reviewed._moved(strange)[0] - gap(reviewed, strange), atol=1e-4)
    assert len(asking._near) == 15


def test_rows_that_look_the_same_to_answers_add_up():
    """Beyond the values of its fit the view of ranks shows no difference, and no tree cuts there."""
    rows = np.random.default_rng(0).normal(size=(300, 2))
    detector = RDPDetector(views="rank", n_members=2, n_rounds=1, n_steps=20, random_state=0).fit(rows)
    table = np.vstack([rows, [[1e6, 0.0], [2e6, 0.0], [3e6, 0.0]]])
    reviewed = review(detector)
    asking = reviewed.asking(table)
    asking.tell([300, 301], "normal")
    assert np.allclose(asking.scores(), reviewed._moved(table)[0] - gap(reviewed, table), atol=1e-4)
    assert len(asking._slot_of) == 1


def test_wrong_requests_are_refused(detector, strange):
    with pytest.raises(ValueError, match="must be one of 'top', 'informative'"):
        review(detector).next(strange, 3, strategy="best")
    for n in (0, 1.5, "3"):
        with pytest.raises(ValueError, match=rf"must be a whole number, 1 or more. Got {n!r}"):
            review(detector).next(strange, n)
    assert len(review(detector).next(strange, np.int64(2))) == 2
