"""
Beside IsolationForest and LOF
==============================

Three detectors on four tables that come with scikit-learn. In each, one class is normal, and one row in twenty is from
the other classes. Detectors see no labels; labels judge the ranking afterwards. Which one is best depends on the
table, so do not choose by four of them: :doc:`/default` has the study on many.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score
from sklearn.neighbors import LocalOutlierFactor

from rdplearn import RDPDetector

tables = {"iris": load_iris(), "wine": load_wine(), "breast cancer": load_breast_cancer(), "digits": load_digits()}
names = ("rdplearn", "IsolationForest", "LOF")


def scores_of(name: str, rows: np.ndarray) -> np.ndarray:
    """Anomaly scores, the higher the less normal."""
    if name == "LOF":
        return -LocalOutlierFactor().fit(rows).negative_outlier_factor_
    detector = RDPDetector(random_state=0) if name == "rdplearn" else IsolationForest(random_state=0)
    return -detector.fit(rows).score_samples(rows)


# %%
# Each class is the normal one in turn. AUC-PR is 1 for a perfect ranking, and 0.05 for chance.

figures = {name: [] for name in names}
for data in tables.values():
    by_class = {name: [] for name in names}
    for normal in np.unique(data.target):
        inside, outside = (np.flatnonzero(here) for here in (data.target == normal, data.target != normal))
        odd = np.random.default_rng(normal).choice(outside, max(1, len(inside) // 19), replace=False)
        rows, labels = data.data[np.r_[inside, odd]], np.r_[np.zeros(len(inside)), np.ones(len(odd))]
        for name in names:
            by_class[name].append(average_precision_score(labels, scores_of(name, rows)))
    for name in names:
        figures[name].append(np.mean(by_class[name]))

figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
for place, name in enumerate(names):
    bars = axes.bar(np.arange(len(tables)) + 0.27 * (place - 1), figures[name], 0.25, label=name)
    axes.bar_label(bars, fmt="%.2f", fontsize=8)
axes.axhline(0.05, color="silver", linestyle="--", label="chance")
axes.set(ylabel="AUC-PR, mean over classes", ylim=(0, 1.2), xticks=range(len(tables)), xticklabels=list(tables))
axes.legend(ncols=4, loc="upper left", fontsize=8)
plt.show()
