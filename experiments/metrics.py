"""How well anomaly scores match the labels; clusters and features are judged by `rdplearn.evaluation`."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score


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
