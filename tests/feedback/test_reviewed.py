"""Answers move the scores of rows like the answered ones, in any order, and can be taken back."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import rdplearn
from rdplearn import RDPDetector, review
from rdplearn._feedback.answers import weighed
from rdplearn._feedback.columns import Seen, learn_columns, nearness
from rdplearn._feedback.forest import grow_forest
from rdplearn._feedback.process import MOST_POINTS, doubt_of
from tests.feedback.conftest import FINE, WRONG


def told(detector, strange, rows=(0, 1, 12, 13, 300), answers=("normal", "normal", "anomalous", "anomalous", "normal")):
    return review(detector).tell(strange[list(rows)], list(answers), names=[row + 1 for row in rows])


def test_without_answers_rows_keep_the_detectors_order_and_verdicts(detector, strange):
    reviewed = review(detector)
    order = np.argsort(detector.score_samples(strange), kind="stable")
    assert np.array_equal(np.argsort(reviewed.score_samples(strange), kind="stable"), order)
    assert np.array_equal(reviewed.predict(strange), detector.predict(strange))


def test_rows_like_the_answered_ones_move_the_way_of_the_answer(detector, strange):
    before, after = review(detector).decision_function(strange), told(detector, strange).decision_function(strange)
    assert (after[FINE] > before[FINE]).all()
    assert (after[WRONG] < before[WRONG]).all()
    assert (after[WRONG] < 0).all()
    assert after[FINE].min() > after[WRONG].max()


def test_the_detector_stays_as_it_is(detector, strange):
    before = detector.score_samples(strange)
    told(detector, strange).score_samples(strange)
    assert np.array_equal(detector.score_samples(strange), before)


def test_the_order_of_answers_does_not_matter(detector, strange):
    places, words = np.array([0, 1, 12, 13, 300]), np.array(["normal", "normal", "anomalous", "anomalous", "normal"])
    at_once = told(detector, strange).score_samples(strange)
    for seed in range(3):
        one_by_one = review(detector)
        for number in np.random.default_rng(seed).permutation(5):
            one_by_one.tell(strange[[places[number]]], words[number])
        assert np.array_equal(one_by_one.score_samples(strange), at_once)


def test_answers_can_be_taken_back(detector, strange):
    reviewed = told(detector, strange)
    reviewed.take_back(strange[[0, 1, 12, 13, 300]])
    assert np.array_equal(reviewed.score_samples(strange), review(detector).score_samples(strange))
    with pytest.raises(ValueError, match="there is nothing to take back"):
        reviewed.take_back(strange[:1])


def test_unsure_moves_nothing_and_is_remembered(detector, strange):
    reviewed = review(detector).tell(strange[:1], "unsure")
    assert np.array_equal(reviewed.score_samples(strange), review(detector).score_samples(strange))
    assert 0 not in reviewed.next(strange, 500)


def test_contradictory_answers_meet_in_the_middle(detector, strange):
    scores = {
        words: -review(detector).tell(strange[[12] * len(words)], list(words)).score_samples(strange[12:13])[0]
        for words in (("anomalous",), ("normal",), ("anomalous", "normal"))
    }
    assert scores["normal",] < scores["anomalous", "normal"] < scores["anomalous",]


def test_an_answer_that_all_others_contradict_counts_for_less(detector, strange):
    reviewed = review(detector).tell(strange[12:20], "anomalous").tell(strange[20:21], "normal")
    alone = review(detector).tell(strange[20:21], "normal")
    assert (reviewed.predict(np.delete(strange[WRONG], 8, axis=0)) == -1).all()  # all but the answered row itself
    assert reviewed.score_samples(strange[20:21])[0] < alone.score_samples(strange[20:21])[0] - 0.5
    assert alone.predict(strange[20:21]) == 1


def several_kinds(n_rows=1500, n_odd=20):
    """Rows of which some are odd in one column each, in six columns."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(n_rows, 6))
    rows[np.arange(n_odd), np.arange(n_odd) % 6] += 9.0 + np.arange(n_odd) / 4
    return rows


def test_one_answer_is_no_verdict_on_alarms_of_other_kinds():
    rows = several_kinds()
    detector = RDPDetector(contamination=0.015, random_state=0).fit(rows)
    reviewed, before = review(detector), detector.predict(rows) == -1
    assert np.array_equal(reviewed.predict(rows) == -1, before)
    for _ in range(4):
        (place,) = reviewed.next(rows)
        reviewed.tell(rows[[place]], "normal")
        after = reviewed.predict(rows) == -1
        assert not after[place]
        assert 0.6 * before.sum() <= after.sum() < before.sum()
    reviewed.tell(rows[np.flatnonzero(after)[:2]], "anomalous")
    assert (reviewed.predict(rows[np.flatnonzero(after)[:2]]) == -1).all()
    assert np.sum(reviewed.predict(rows) == -1) < 3 * before.sum()


def test_uncertainty_falls_near_answers_and_nowhere_else(detector, strange):
    before, after = review(detector).uncertainty(strange), told(detector, strange).uncertainty(strange)
    assert (after <= before + 1e-9).all()
    assert after[12] < 0.7 * before[12]
    assert after[WRONG].mean() < 0.95 * before[WRONG].mean()


def test_contributions_add_up_and_name_the_answered_rows(detector, strange):
    explanation = told(detector, strange).explain(strange[[2, 14, 400]])
    assert explanation.column_names == ["x0", "x1", "x2", "x3", "your answers"]
    sums = explanation.contributions.sum(axis=1)
    assert np.allclose(sums, explanation.anomaly_scores - explanation.baseline, atol=1e-9)
    assert explanation.contributions[0, -1] < 0 < explanation.contributions[1, -1]
    assert explanation.sentences(0)[-1].startswith("your answers (")
    assert any(") account for " in told for told in explanation.sentences(1))
    assert "your answers (" in repr(explanation)
    assert "normal" in explanation.values[0, -1]
    assert any(name in explanation.values[1, -1] for name in ("13", "14"))


def test_what_all_answers_have_in_common_is_no_news_about_any_row(detector, strange):
    """Normal answers about rows of high and low score alike move other rows less than without a shared error."""
    reviewed = review(detector).tell(strange[100:130], "normal")
    before = review(detector).score_samples(strange[200:])
    moved = reviewed.score_samples(strange[200:]) - before
    reviewed.learning_ = 1
    for learned in ("_columns", "_process"):
        reviewed.__dict__.pop(learned)
    without = reviewed.score_samples(strange[200:]) - before
    assert 0 < moved.mean() < 0.7 * without.mean()


@pytest.mark.parametrize(("n_normal", "doubt"), [(0, 1.0), (57, 2.0)])
def test_the_process_is_the_textbook_formula(detector, strange, n_normal, doubt):
    """Mean and spread against a plain solve, with the answers' errors as they were weighed.

    57 and 3 normal answers are twice as many as 2 anomalous ones allow for.
    """
    reviewed = told(detector, strange)
    if n_normal:
        reviewed.tell(strange[100 : 100 + n_normal], "normal")
    process, opinions = reviewed._process, reviewed._opinions(strange)
    n_members = opinions.shape[1] - 1
    prior, variances = reviewed._scale.with_gap(opinions[:, 0]), doubt * np.array([0.3, *[1 / n_members] * n_members])
    near = nearness(reviewed._columns(strange), process.points)
    covariance = 16.0 * near + opinions @ np.diag(variances) @ process.opinions.T
    weights = process.weights
    inverse = np.linalg.inv(process.lower @ process.lower.T)
    assert np.allclose(prior + covariance @ weights, -reviewed.score_samples(strange), atol=1e-4)
    spread = np.sqrt(16.0 + opinions**2 @ variances - np.einsum("ij,jk,ik->i", covariance, inverse, covariance))
    assert np.allclose(spread, reviewed.uncertainty(strange), atol=1e-4)


def test_trust_is_in_doubt_while_answers_find_nothing(detector, strange):
    reviewed, top = review(detector), np.argsort(detector.score_samples(strange))[:40]
    before = reviewed.uncertainty(strange)
    reviewed.tell(strange[top[:10]], "normal")
    assert (reviewed.uncertainty(strange) <= before + 1e-9).all()
    reviewed.tell(strange[top[10:]], "normal")
    backwards = review(detector)
    for place in top[::-1]:
        backwards.tell(strange[[place]], "normal")
    assert np.array_equal(backwards.score_samples(strange), reviewed.score_samples(strange))
    assert doubt_of(*weighed(reviewed.answers_.sure())) == 4.0
    reviewed.tell(strange[[350]], ["anomalous"])
    assert doubt_of(*weighed(reviewed.answers_.sure())) == 2.0
    reviewed.take_back(strange[top])
    assert doubt_of(*weighed(reviewed.answers_.sure())) == 1.0


def test_nearness_is_the_same_for_sparse_rows(detector, strange):
    columns = learn_columns(detector)
    seen = columns(strange[:50])
    together = (seen.leaves[:, None] == seen.leaves[None, :5]).mean(axis=2)
    plain = 0.7 * np.exp(-np.abs(seen.columns[:, None] - seen.columns[None, :5]).sum(axis=2)) + 0.3 * together
    as_sparse = Seen(sp.csr_array(seen.columns), seen.leaves)
    assert np.allclose(nearness(seen, seen[:5]), plain, rtol=1e-4)
    assert np.allclose(nearness(as_sparse, as_sparse[:5]), plain, rtol=1e-4)


def test_leaves_are_those_of_a_walk_down_each_tree(detector, strange):
    forest = grow_forest(detector)
    leaves = forest(strange)
    for place in (0, 15, 300):
        for tree in range(0, len(forest.cuts), 9):
            way, node = "", 0
            while node < forest.cuts.shape[1]:
                is_left = strange[place, forest.used[forest.columns[tree, node]]] <= forest.cuts[tree, node]
                way, node = way + "01"[not is_left], 2 * node + 2 - is_left
            assert leaves[place, tree] == int(way, 2)
    assert np.array_equal(forest(sp.csr_array(strange)), leaves)
    assert np.array_equal(grow_forest(detector)(strange), leaves)


def test_trees_put_rows_together_that_are_strange_in_the_same_column(detector, strange):
    leaves = grow_forest(detector)(strange)
    together = (leaves[:, None] == leaves[None]).mean(axis=2)
    assert together[WRONG, WRONG].mean() > 2 * together[WRONG, FINE].mean()
    assert together[WRONG, WRONG].mean() > 2 * together[WRONG, 100:].mean()


def test_each_column_of_a_table_is_cut_as_often_however_it_is_encoded(detector):
    forest = grow_forest(detector, {"one": [0], "three": [1, 2, 3]})
    cut = np.bincount(forest.used[forest.columns[:, 0]], minlength=4) / len(forest.cuts)  # by the roots
    assert 0.3 < cut[0] < 0.7


def test_columns_without_any_difference_are_never_cut():
    rows = np.zeros((50, 3))
    with pytest.warns(rdplearn.errors.RDPWarning, match="constant"):
        detector = RDPDetector(n_members=2, n_rounds=1, n_steps=10, random_state=0).fit(rows)
    reviewed = review(detector).tell(rows[:1], "normal")
    assert np.isinf(reviewed._columns.forest.cuts).all()
    assert np.isfinite(reviewed.score_samples(rows)).all()


def test_sparse_rows_are_told_and_scored():
    rows = sp.random_array((200, 60), density=0.1, rng=np.random.default_rng(0), format="csr")
    reviewed = review(RDPDetector(n_members=2, n_rounds=1, n_steps=20, random_state=0).fit(rows))
    reviewed.tell(rows[:3], "anomalous")
    assert np.allclose(reviewed.score_samples(rows), reviewed.score_samples(rows.toarray()), atol=1e-4)
    assert set(reviewed.next(rows, 5)).isdisjoint({0, 1, 2})
    assert reviewed.explain(rows[:2]).contributions.shape == (2, 61)


def test_many_answers_stay_bounded(detector):
    rows = np.random.default_rng(1).normal(size=(MOST_POINTS + 400, 4))
    answers = np.where(rows[:, 0] > 1, "anomalous", "normal")
    reviewed = review(detector).tell(rows, answers)
    assert len(reviewed._process.points) == MOST_POINTS
    scores = -reviewed.score_samples(rows)
    assert scores[rows[:, 0] > 1.3].mean() > scores[rows[:, 0] < 0.7].mean() + 1
    backwards = review(detector).tell(rows[::-1], answers[::-1])
    assert np.array_equal(backwards.score_samples(rows), -scores)


def test_a_reviewed_detector_can_be_pickled(detector, strange):
    reviewed = told(detector, strange)
    again = pickle.loads(pickle.dumps(reviewed))
    assert np.array_equal(again.score_samples(strange), reviewed.score_samples(strange))


def test_a_detector_that_was_fitted_again_is_refused_and_nothing_is_lost(strange):
    detector = RDPDetector(n_members=2, n_rounds=1, n_steps=20, random_state=0).fit(strange)
    reviewed = told(detector, strange)
    detector.set_params(random_state=1).fit(strange)
    remedy = r"Nothing is lost: rdplearn\.review\(model\)\.take_over\(old\) takes answers, names and muting rules along"
    with pytest.raises(ValueError, match=rf"fitted again after these answers were told.*{remedy}"):
        reviewed.score_samples(strange)
    anew = review(detector).take_over(reviewed)
    assert anew.decision_function(strange[WRONG]).mean() < anew.decision_function(strange[FINE]).mean()


def test_answers_names_and_rules_are_taken_over(strange):
    frame = pd.DataFrame(strange, columns=[f"c{place}" for place in range(strange.shape[1])])
    detector = RDPDetector(n_members=2, n_rounds=1, n_steps=20, random_state=0).fit(frame)
    reviewed = review(detector).tell(frame.iloc[:2], ["normal", "unsure"], names=["a", "b"])
    reviewed.mute(frame.iloc[[3]], name="known")
    anew = review(clone(detector).set_params(random_state=1).fit(frame)).take_over(reviewed)
    assert np.array_equal(anew.answers()[0], reviewed.answers()[0])
    assert anew.answers()[1:] == reviewed.answers()[1:]
    assert anew.rules_ == reviewed.rules_
    with pytest.raises(ValueError, match="There is a muting rule 'known' already"):
        anew.take_over(reviewed)
    assert anew.answers()[1:] == reviewed.answers()[1:]
    fewer = review(RDPDetector(n_members=2, n_rounds=1, n_steps=20, random_state=0).fit(strange[:, :3]))
    with pytest.raises(ValueError, match=rf"rows of {strange.shape[1]} columns, and this detector has 3"):
        fewer.take_over(reviewed)
    with pytest.raises(
        TypeError, match=r"'other' parameter of take_over must be a reviewed detector\. Got RDPDetector"
    ):
        anew.take_over(detector)


def test_wrong_words_are_refused(detector, strange):
    reviewed = review(detector)
    with pytest.raises(ValueError, match=r"The 'answers' parameter of tell must be one of .*Did you mean 'normal'"):
        reviewed.tell(strange[:1], ["norml"])
    for answer in (None, True, 0):
        with pytest.raises(ValueError, match=rf"must be one of 'anomalous', 'normal', 'unsure'. Got {answer} instead"):
            reviewed.tell(strange[:2], answer)
    with pytest.raises(ValueError, match=r"an answer for each of the 2 rows. Got 1"):
        reviewed.tell(strange[:2], ["normal"])
    with pytest.raises(ValueError, match=r"a name for each of the 2 rows. Got 1"):
        reviewed.tell(strange[:2], "normal", names=["a"])
    with pytest.raises(ValueError, match=r"a name for each of the 2 rows. Got 1"):
        reviewed.tell(strange[:2], "normal", names="ab")
    with pytest.raises(ValueError, match="X has 3 features"):
        reviewed.tell(strange[:2, :3], "normal")
    with pytest.raises(TypeError, match=r"must be a fitted RDPDetector. Got ndarray"):
        rdplearn.Reviewed(strange)
    assert len(reviewed.answers_) == 0
    assert [review(detector).tell(strange[:1], "normal", names=name).answers()[2] for name in (18, "18")] == [
        ["18"]
    ] * 2


@pytest.mark.parametrize("views", ["minmax", "unchanged", "robust", "rank"])
def test_any_view_of_the_columns_will_do(strange, views):
    detector = RDPDetector(views=views, n_members=2, n_rounds=1, n_steps=50, random_state=0).fit(strange)
    reviewed = told(detector, strange)
    moved = review(detector).score_samples(strange) - reviewed.score_samples(strange)
    assert moved[FINE].mean() < 0 < moved[WRONG].mean()
