"""How well clusters and features match labels that nobody showed to the learner.

Labels are looked at here and nowhere else in the library. The paper's NMI and F-score rename each cluster to the class
that most of its rows have; this forgives a class split over several clusters, so the plain NMI stands beside it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, f1_score, normalized_mutual_info_score
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_consistent_length, column_or_1d

__all__ = ["classification_score", "clustering_scores", "macro_f_score", "majority_class"]

Labels = npt.NDArray[Any]

ROWS_TO_STOP_EARLY = 1000  # of fewer rows, a tenth is too little to see by whether a network still learns


def majority_class(labels: Labels, clusters: Labels) -> Labels:
    """Rename each cluster to the class that most of its rows have (the smaller one on a tie).

    Examples
    --------
    >>> majority_class(np.array([5, 5, 7, 7]), np.array([0, 0, 0, 1]))
    array([5, 5, 5, 7])
    """
    check_consistent_length(labels, clusters)
    classes, class_of_row = np.unique(column_or_1d(labels), return_inverse=True)
    names, cluster_of_row = np.unique(column_or_1d(clusters), return_inverse=True)
    counts = np.zeros((len(names), len(classes)), dtype=np.int64)
    np.add.at(counts, (cluster_of_row, class_of_row), 1)
    renamed: Labels = classes[counts.argmax(axis=1)][cluster_of_row]
    return renamed


def clustering_scores(labels: Labels, clusters: Labels) -> dict[str, float]:
    """Compare clusters with classes.

    Parameters
    ----------
    labels, clusters : (n_rows,)

    Returns
    -------
    dict
        ``mapped_nmi`` and ``f_score`` (macro), after each cluster is renamed to its majority class, as in the paper;
        ``nmi``, plain; ``ari``, the adjusted Rand index.

    Examples
    --------
    >>> scores = clustering_scores([0, 0, 1, 1], [2, 2, 0, 1])
    >>> {name: round(value, 2) for name, value in scores.items()}
    {'mapped_nmi': 1.0, 'f_score': 1.0, 'nmi': 0.8, 'ari': 0.57}
    """
    labels, clusters = column_or_1d(labels), column_or_1d(clusters)
    renamed = majority_class(labels, clusters)
    return {
        "mapped_nmi": float(normalized_mutual_info_score(labels, renamed)),
        "f_score": macro_f_score(labels, renamed),
        "nmi": float(normalized_mutual_info_score(labels, clusters)),
        "ari": float(adjusted_rand_score(labels, clusters)),
    }


def macro_f_score(labels: Labels, predicted: Labels) -> float:
    """Mean of the F-scores of all classes; a class that is never predicted counts as 0."""
    return float(f1_score(labels, predicted, average="macro", zero_division=0.0))


def classification_score(
    features: Any, labels: Labels, *, n_hidden: int = 128, test_share: float = 0.5, random_state: int = 0
) -> float:
    """Macro F-score of a three-layer network (input, hidden, output) on features, as in the paper's appendix.

    The network learns from one part of the rows and is judged on the rest.

    Parameters
    ----------
    features : (n_rows, n_components), dense or sparse
    labels : (n_rows,)
    n_hidden : int, default=128
    test_share : float in (0, 1), default=0.5
    random_state : int, default=0

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> measurements, grower = load_wine(return_X_y=True)
    >>> classification_score(measurements, grower) > 0.9
    True
    """
    train, test, train_labels, test_labels = train_test_split(
        features, labels, test_size=test_share, stratify=labels, random_state=random_state
    )
    n_train = len(train_labels)
    network = make_pipeline(
        StandardScaler(with_mean=not sp.issparse(features)),
        MLPClassifier(
            (n_hidden,),
            batch_size=min(200, max(8, n_train // 20)),
            early_stopping=n_train >= ROWS_TO_STOP_EARLY,
            n_iter_no_change=5,
            max_iter=200,
            random_state=random_state,
        ),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 200 passes are the protocol
        network.fit(train, train_labels)
    return macro_f_score(test_labels, network.predict(test))
