"""How well scores, clusters and classes match the labels; labels are used here and nowhere else."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import (
    adjusted_rand_score,
    average_precision_score,
    f1_score,
    normalized_mutual_info_score,
    roc_auc_score,
)


def detection_metrics(labels: np.ndarray, scores: np.ndarray) -> dict[str, float]:
    """AUC-ROC and AUC-PR (average precision) of scores that are higher for anomalies.

    Examples
    --------
    >>> detection_metrics(np.array([0, 0, 1]), np.array([0.1, 0.2, 0.9]))
    {'auc_roc': 1.0, 'auc_pr': 1.0}
    """
    return {
        "auc_roc": float(roc_auc_score(labels, scores)),
        "auc_pr": float(average_precision_score(labels, scores)),
    }


def clustering_metrics(labels: np.ndarray, clusters: np.ndarray) -> dict[str, float]:
    """The paper's NMI and macro F-score (clusters renamed to their majority class), plain NMI and ARI."""
    renamed = majority_class(labels, clusters)
    return {
        "mapped_nmi": float(normalized_mutual_info_score(labels, renamed)),
        "f_score": float(f1_score(labels, renamed, average="macro", zero_division=0.0)),
        "nmi": float(normalized_mutual_info_score(labels, clusters)),
        "ari": float(adjusted_rand_score(labels, clusters)),
    }


def classification_metrics(labels: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Macro F-score."""
    return {"f_score": float(f1_score(labels, predicted, average="macro", zero_division=0.0))}


def majority_class(labels: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Rename each cluster to the class that most of its rows have (the smaller one on a tie).

    Examples
    --------
    >>> majority_class(np.array([5, 5, 7, 7]), np.array([0, 0, 0, 1]))
    array([5, 5, 5, 7])
    """
    classes, class_of_row = np.unique(labels, return_inverse=True)
    names, cluster_of_row = np.unique(clusters, return_inverse=True)
    counts = np.zeros((len(names), len(classes)), int)
    np.add.at(counts, (cluster_of_row, class_of_row), 1)
    return classes[counts.argmax(axis=1)][cluster_of_row]
