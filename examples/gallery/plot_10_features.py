"""
Features when labels are few
============================

``RDPTransformer`` learns features without labels. A classifier can use them when only a few rows have a label. Here
it gets 3 to 30 labelled digits of each kind, as pixels and as features.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.preprocessing import StandardScaler

from rdplearn import RDPTransformer

pixels, digits = load_digits(return_X_y=True)
transformer = RDPTransformer(random_state=0).fit(pixels)  # no labels
tables = {"pixels": pixels / 16, "features": StandardScaler().fit_transform(transformer.transform(pixels))}

# %%
# Ten draws of labelled rows for each number; all other rows are the test.

sizes = (3, 5, 10, 20, 30)
right = {name: np.zeros((len(sizes), 10)) for name in tables}
for place, size in enumerate(sizes):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        known = np.concatenate(
            [rng.choice(np.flatnonzero(digits == digit), size, replace=False) for digit in range(10)]
        )
        others = np.setdiff1d(np.arange(len(digits)), known)
        for name, table in tables.items():
            classifier = RidgeClassifier().fit(table[known], digits[known])
            right[name][place, seed] = classifier.score(table[others], digits[others])

figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
for name, shares in right.items():
    axes.errorbar(sizes, shares.mean(axis=1), shares.std(axis=1), capsize=3, label=name)
axes.set(xlabel="labelled rows of each digit", ylabel="share of digits read correctly")
axes.legend()
plt.show()
