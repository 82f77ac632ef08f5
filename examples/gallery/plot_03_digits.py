"""
Digits that are hard to read
============================

1,797 handwritten digits of 8 x 8 pixels, each a row of 64 numbers. Nobody says which digit is which. The rows with the
highest scores are those that are written in an odd way.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from rdplearn import RDPDetector

pixels, digits = load_digits(return_X_y=True)
detector = RDPDetector(random_state=0).fit(pixels)
order = np.argsort(detector.score_samples(pixels))  # the lowest is the most anomalous, as in scikit-learn

# %%
# The twelve most unusual digits, and the twelve most usual. The numbers say what the writer meant.

figure, rows = plt.subplots(2, 12, figsize=(12, 2.8), layout="constrained")
for axes, row in zip(rows.ravel(), (*order[:12], *order[::-1][:12]), strict=True):
    axes.imshow(pixels[row].reshape(8, 8), cmap="gray_r")
    axes.set(title=digits[row], xticks=[], yticks=[])
rows[0, 0].set_ylabel("unusual")
rows[1, 0].set_ylabel("usual")
plt.show()

# %%
# Which pixels raise the score of the first one? Red pixels do, blue ones lower it.

explanation = detector.explain(pixels[order[:4]])
limit = np.abs(explanation.contributions).max()
figure, rows = plt.subplots(2, 4, figsize=(7, 3.8), layout="constrained")
for column, row in enumerate(order[:4]):
    rows[0, column].imshow(pixels[row].reshape(8, 8), cmap="gray_r")
    parts = rows[1, column].imshow(
        np.asarray(explanation.contributions[column]).reshape(8, 8), cmap="RdBu_r", vmin=-limit, vmax=limit
    )
for axes in rows.ravel():
    axes.set(xticks=[], yticks=[])
figure.colorbar(parts, ax=rows[1], label="part of the score")
plt.show()
