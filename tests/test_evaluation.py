"""The evaluation helpers against values known by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from rdplearn.evaluation import classification_score, clustering_scores, macro_f_score, majority_class


def test_clusters_of_one_class_are_joined_by_renaming():
    labels = ["a", "a", "a", "a", "b", "b"]
    scores = clustering_scores(labels, [5, 5, 7, 7, 2, 2])
    assert scores["mapped_nmi"] == pytest.approx(1)
    assert scores["f_score"] == 1
    assert scores["nmi"] < 1
    assert scores["ari"] < 1


def test_a_tie_goes_to_the_smaller_class():
    assert majority_class(np.array([2, 1]), np.array([0, 0])).tolist() == [1, 1]


def test_names_of_clusters_do_not_matter():
    labels, clusters = np.array([0, 1, 0, 1, 1]), np.array([1, 0, 1, 0, 1])
    assert clustering_scores(labels, clusters) == clustering_scores(labels, 1 - clusters)


def test_one_cluster_for_all_says_nothing():
    scores = clustering_scores([0, 0, 0, 1], [3, 3, 3, 3])
    assert scores["nmi"] == scores["mapped_nmi"] == scores["ari"] == 0
    assert scores["f_score"] == pytest.approx((6 / 7) / 2)


def test_a_class_that_is_never_predicted_counts_as_zero():
    assert macro_f_score([0, 1], [0, 0]) == pytest.approx((2 / 3) / 2)


def test_labels_and_clusters_must_match_in_number():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clustering_scores([0, 1], [0, 1, 1])


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_a_network_classifies_what_can_be_classified_and_nothing_else(container):
    rows, labels = load_iris(return_X_y=True)
    assert classification_score(container(rows), labels, random_state=0) > 0.85
    noise = np.random.default_rng(0).normal(size=(150, 4))
    assert classification_score(container(noise), labels, random_state=0) < 0.6
