"""Several voices on one scale: members with the novelty loss, members that predict distances; one of them is enough."""

from itertools import groupby

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

import rdplearn
from rdplearn import RDPDetector
from rdplearn._model.combination import Combination, Voice, geometric_mean
from rdplearn._model.prices import PRICE, fair_prices, share_beyond, share_told
from rdplearn._training.made_up_rows import MADE_UP_ROWS, made_up_rows, rows_between
from rdplearn._types import TableColumns
from rdplearn._voices import all_scaled_scores

RNG = np.random.default_rng(0)
QUICK = {"n_members": 4, "n_rounds": 2, "random_state": 0}


def ring(n_rows=1500, n_inside=15):
    angle = RNG.uniform(0, 2 * np.pi, n_rows)
    around = np.stack([np.cos(angle), np.sin(angle)], axis=1) + RNG.normal(scale=0.05, size=(n_rows, 2))
    return np.vstack([around, RNG.normal(scale=0.15, size=(n_inside, 2))]), np.arange(n_rows + n_inside) >= n_rows


def clusters(n_rows=1500, n_between=15):
    corners = np.array([[0, 0, 0], [6, 0, 0], [0, 6, 0], [0, 0, 6]], dtype=float)
    rows = corners[RNG.integers(4, size=n_rows)] + RNG.normal(scale=0.4, size=(n_rows, 3))
    between = RNG.uniform(1.5, 3.0, size=(n_between, 3))
    return np.vstack([rows, between]), np.arange(n_rows + n_between) >= n_rows


@pytest.mark.parametrize("shape", [ring, clusters])
def test_holes_are_found_because_distances_are_predicted(shape):
    rows, is_odd = shape()
    with_both = RDPDetector(random_state=0).fit(rows)
    novelty_alone = RDPDetector(random_state=0, distance_weight=0).fit(rows)
    found, missed = (roc_auc_score(is_odd, -detector.score_samples(rows)) for detector in (with_both, novelty_alone))
    assert found > 0.9
    assert found > missed


def test_both_losses_fall():
    rows, _ = clusters()
    history = RDPDetector(random_state=0).fit(rows).history_
    for loss in ("novelty_loss", "distance_loss"):
        of_members = [
            [record[loss] for record in records]
            for _, records in groupby(history, key=lambda record: (record["member"], record["round"]))
        ]
        learning = [losses for losses in of_members if losses[0] > 0]
        assert learning
        assert np.mean([losses[-1] < 0.8 * losses[0] for losses in learning]) > 0.9, loss


def test_members_that_predict_distances_come_on_top_of_the_others():
    rows, _ = ring(300)
    detector = RDPDetector(**QUICK).fit(rows)
    novelty, distance = detector.combination_.voices
    assert detector.chosen_.distance_members == len(distance.members) == 4
    assert detector.member_scores(rows).shape == (len(rows), 8)
    for voice in (novelty, distance):
        assert detector.combination_.weights[voice.members].sum() == pytest.approx(1.0)


def shell(n_rows=2000, n_inside=10):
    directions = RNG.normal(size=(n_rows + n_inside, 5))
    lengths = np.concatenate([RNG.normal(1, 0.05, n_rows), RNG.uniform(0.3, 0.5, n_inside)])
    return directions / np.linalg.norm(directions, axis=1, keepdims=True) * lengths[:, None], lengths < 0.6


def slope(n_rows=1500):
    factors = RNG.normal(size=(n_rows, 2))
    return factors @ RNG.normal(size=(2, 10)) + RNG.normal(scale=0.3, size=(n_rows, 10))


def test_the_voice_pays_that_knows_less_of_what_goes_together():
    """Where distances know more than novelty, as on a hollow ball, they are heard; where they know less, they pay."""
    rows, is_odd = shell()
    of_shell, of_slope = (RDPDetector(random_state=0).fit(some) for some in (rows, slope()))
    novelty, distance = of_shell.combination_.voices
    assert novelty.price > distance.price == 0
    assert roc_auc_score(is_odd, -of_shell.score_samples(rows)) > 0.8
    novelty, distance = of_slope.combination_.voices
    assert novelty.price == 0 < PRICE < distance.price


def n_references(detector):
    (by_distance,) = [panel for panel in detector.panels_ if panel.references is not None]
    assert by_distance.references.shape[1] % by_distance.n_subsamples == 0
    return by_distance.references.shape[1]


def test_distances_are_taken_to_more_rows_where_they_know_more():
    of_shell, of_slope = (RDPDetector(random_state=0).fit(some) for some in (shell()[0], slope()))
    assert (n_references(of_slope), n_references(of_shell)) == (512, 1024)
    assert n_references(RDPDetector(random_state=0).fit(shell(300)[0])) <= 310  # each row once
    few_drawn = RDPDetector(max_samples=600, random_state=0).fit(shell()[0])
    assert 512 < n_references(few_drawn) <= 600


def test_the_voice_of_distances_is_scaled_with_the_references_that_it_scores_by():
    """About one row in ten has a surprise that one row in ten has, price paid."""
    rows, _ = shell()
    detector = RDPDetector(random_state=0).fit(rows)
    _, distance = detector.combination_.voices
    said = detector.combination_.surprise(all_scaled_scores(detector, rows), distance) + distance.price
    assert np.mean(said > np.log(10)) == pytest.approx(0.1, abs=0.02)


def test_prices_change_smoothly_and_one_voice_at_most_pays():
    steps = np.linspace(-0.5, 0.5, 501)
    for prices in (
        np.array([fair_prices((0.5, 0.5 + step)) for step in steps]),
        np.array([fair_prices((0.5, 0.6), (0.3, 0.3 + step)) for step in steps]),
    ):
        assert prices.min() == 0
        assert (prices.min(axis=1) == 0).all()
        assert np.abs(np.diff(prices, axis=0)).max() < 0.02 * PRICE


def test_values_between_the_steps_of_a_column_are_found():
    steps = np.round(2 * RNG.normal(size=(1500, 2))) / 2
    between = np.round(2 * RNG.normal(size=(30, 2))) / 2 + RNG.uniform(0.15, 0.35, (30, 2))
    rows, labels = np.vstack([steps, between]), np.repeat([0, 1], [1500, 30])
    assert roc_auc_score(labels, -RDPDetector(random_state=0).fit(rows).score_samples(rows)) > 0.85


def test_rows_between_others_lie_on_the_lines_that_join_them_dense_and_sparse():
    rows = np.diag(np.arange(1.0, 31.0))
    made_up = rows_between(rows, seed=3)
    assert made_up.shape == rows.shape
    shares = made_up @ np.diag(1 / np.arange(1.0, 31.0))
    assert np.allclose(shares.sum(axis=1), 1.0)
    assert set(np.count_nonzero(made_up, axis=1)) <= {1, 2}
    assert np.all(shares[np.count_nonzero(shares, axis=1) == 2].max(axis=1) <= 0.75)
    assert np.allclose(rows_between(sp.csr_array(rows), seed=3).toarray(), made_up)


def test_the_share_beyond_counts_rows_above_four_in_five():
    assert share_beyond(np.array([-1.0, 81.0, 99.0, 200.0]), np.arange(101.0)) == 0.75


def test_the_share_told_is_the_area_under_the_curve():
    made_up, real = RNG.integers(0, 30, 200) + 5.0, RNG.integers(0, 30, 300) + 0.0
    labels = np.repeat([1, 0], [len(made_up), len(real)])
    assert share_told(made_up, real) == pytest.approx(roc_auc_score(labels, np.concatenate([made_up, real])))


def test_made_up_rows_keep_the_columns_and_nothing_that_goes_together():
    rows = np.arange(200)[:, None] + np.array([0.0, 1000.0, 2000.0])
    made_up = made_up_rows(rows, None, seed=0)
    assert np.array_equal(np.sort(made_up, axis=0), rows)
    assert abs(np.corrcoef(made_up.T)[np.triu_indices(3, 1)]).max() < 0.2
    assert made_up_rows(np.vstack([rows] * 3), None, seed=0).shape == (MADE_UP_ROWS, 3)


def test_made_up_rows_keep_the_columns_of_a_category_together_dense_and_sparse():
    rows = np.zeros((200, 4), dtype=np.float32)
    rows[:, 0] = RNG.normal(size=200)
    rows[np.arange(200), 1 + RNG.integers(3, size=200)] = 1
    table = TableColumns(["amount", "city"], np.array([0, 1, 1, 1]), np.zeros(4, dtype=bool), np.ones(2))
    made_up = made_up_rows(rows, table, seed=3)
    assert (made_up[:, 1:].sum(axis=1) == 1).all()
    assert not np.array_equal(made_up[np.argsort(made_up[:, 0])], rows[np.argsort(rows[:, 0])])
    assert np.array_equal(made_up_rows(sp.csr_array(rows), table, seed=3).toarray(), made_up)


@pytest.mark.parametrize(
    "given", [{"distance_weight": 0}, {"distance_weight": 1.0}, {"novelty_weight": 0.0, "distance_weight": 1.0}]
)
def test_who_says_what_the_losses_are_gets_one_voice(given):
    rows, _ = ring(300)
    detector = RDPDetector(**QUICK, **given).fit(rows)
    assert len(detector.combination_.voices) == 1
    assert detector.member_scores(rows).shape == (len(rows), 4)


def test_the_paper_has_no_voices_and_its_own_score():
    rows, _ = ring(300)
    detector = RDPDetector.paper(n_members=2, n_rounds=1, n_steps=50, random_state=0).fit(rows)
    assert detector.combination_.voices == ()
    np.testing.assert_allclose(detector.score_samples(rows), detector.member_scores(rows).mean(axis=1), rtol=1e-6)


def test_a_score_reads_as_the_share_of_normal_rows_that_are_as_odd():
    rows = np.random.default_rng(1).normal(size=(6000, 6))
    scores = -RDPDetector(random_state=0).fit(rows[:3000]).score_samples(rows[3000:])
    assert np.mean(scores > 1) == pytest.approx(0.1, abs=0.04)
    assert 0.002 < np.mean(scores > 2) < 0.03


def test_a_model_file_keeps_both_voices_to_the_bit(tmp_path):
    rows, _ = clusters()
    detector = RDPDetector(**QUICK).fit(rows)
    rdplearn.save(detector, tmp_path / "model")
    again = rdplearn.load(tmp_path / "model")
    assert np.array_equal(again.score_samples(rows), detector.score_samples(rows))
    assert again.chosen_ == detector.chosen_


def test_the_voice_that_is_surprised_most_is_heard():
    line = (np.array([0.0, 10.0]), np.array([0.0, 10.0]))
    voices = (Voice(np.array([0, 1]), *line), Voice(np.array([2]), *line, price=2.0))
    combination = Combination(True, np.array([0.5, 0.5, 1.0]), voices)
    said = np.array([[2.0, 4.0, 1.0], [2.0, 4.0, 9.0]])
    assert combination.largest_surprise(said).tolist() == [3.0, 7.0]
    with_cells = np.column_stack([said, [5.0, 1.0]])
    assert combination.largest_surprise(with_cells).tolist() == [5.0, 7.0]
    one_left_out = combination.with_weights(np.array([1.0, 0.0, 0.0]))
    assert one_left_out.weights.tolist() == [1.0, 0.0, 1.0]  # a voice without any weight keeps what it had


def test_weights_add_up_in_each_team():
    assert geometric_mean([1.0, 0.5, 2.0], [[0, 1], [2]]).weights.tolist() == pytest.approx([1 / 3, 2 / 3, 1.0])


def test_a_score_is_no_higher_than_rows_that_share_it_are_rare():
    """A rare kind of normal row: the line takes it for normal, and its score says how many there are of it."""
    table = np.random.default_rng(0).normal(size=(1000, 4))
    table[:30, 0] = 20.0  # one row in 33
    scores = -RDPDetector(random_state=0).fit(table).score_samples(table)
    assert np.median(scores[:30]) < 2.0
