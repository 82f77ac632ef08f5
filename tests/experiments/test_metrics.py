"""Metrics and significance tests against values known by hand."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.metrics import detection_metrics
from experiments.paper_numbers import ABLATION_AUC_PR, ABLATION_AUC_PR_WINS, AUC_ROC

from experiments import significance
from rdplearn.evaluation import clustering_scores


def test_detection_metrics_by_hand():
    metrics = detection_metrics(np.array([0, 1, 0, 1]), np.array([0.1, 0.9, 0.5, 0.3]))
    assert metrics["auc_roc"] == pytest.approx(0.75)
    assert metrics["auc_pr"] == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)


def test_renaming_clusters_joins_those_of_one_class():
    labels = np.array([0, 0, 0, 0, 1, 1])
    metrics = clustering_scores(labels, np.array([5, 5, 7, 7, 2, 2]))
    assert metrics["mapped_nmi"] == pytest.approx(1)
    assert metrics["f_score"] == 1
    assert metrics["nmi"] < 1


def test_cluster_labels_may_be_any_names():
    labels = np.array([0, 1, 0, 1, 1])
    clusters = np.array([1, 0, 1, 0, 1])
    assert clustering_scores(labels, clusters) == clustering_scores(labels, 1 - clusters)


def test_sign_test_and_draws():
    assert significance.sign_test(significance.Record(12, 0, 2)) == pytest.approx(0.01294, abs=1e-5)
    assert significance.sign_test(significance.Record(0, 5, 0)) == 1


def test_wilcoxon_of_equal_values_is_1():
    assert significance.wilcoxon_test(np.ones(5), np.ones(5)) == 1
    assert significance.wilcoxon_test(np.arange(1.0, 11), np.zeros(10)) == pytest.approx(2 / 1024)


def test_mean_ranks_share_ties():
    values = np.array([[0.9, 0.8, 0.8], [0.5, 0.7, 0.6]])
    np.testing.assert_allclose(significance.mean_ranks(values), [2, 1.75, 2.25])


def test_critical_difference_is_demsar_s():
    # Demšar (2006), table 5: q = 2.850 for six methods at 0.05
    assert significance.critical_difference(6, 14) == pytest.approx(2.850 * np.sqrt(6 * 7 / (6 * 14)), abs=2e-3)


def test_groups_are_the_longest_stretches():
    assert significance.indistinct_groups(np.array([1.0, 1.5, 2.4, 5.0]), 1.0) == [(0, 1), (1, 2)]


def test_paper_counts_follow_from_paper_numbers():
    sets = list(ABLATION_AUC_PR)
    for method in ("RDP\\L_rdp", "RDP\\Boosting"):
        ours, theirs = (np.array([ABLATION_AUC_PR[s][m].mean for s in sets]) for m in ("RDP", method))
        assert significance.win_draw_loss(ours, theirs) == ABLATION_AUC_PR_WINS[method]


def test_every_number_of_the_paper_is_a_share():
    assert len(AUC_ROC) == 14
    for row in AUC_ROC.values():
        assert len(row) == 6
        assert all(0 <= number.mean <= 1 and 0 <= number.std < 0.2 for number in row.values())
