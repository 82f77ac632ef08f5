"""
Answer alarms, and find more of what you look for
=================================================

You look at the most unusual row and say whether it is what you are after. The scores of all rows like it move, and the
next row is chosen. The rows here are 357 benign tumours and 20 malignant ones, with 30 measurements each.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import rdplearn

data = load_breast_cancer()
malignant = np.random.default_rng(0).choice(np.flatnonzero(data.target == 0), 20, replace=False)
kept = np.r_[np.flatnonzero(data.target == 1), malignant]
table, wanted = data.data[kept], data.target[kept] == 0
detector = rdplearn.RDPDetector(random_state=0).fit(table)

# %%
# The person of this example knows the labels. The detector is fitted once, without them.

reviewed = rdplearn.review(detector)
session = reviewed.asking(table)
asked = []
for _ in range(60):
    row = int(session.next(1)[0])
    session.tell([row], "anomalous" if wanted[row] else "normal")
    asked.append(row)

# %%
# Malignant tumours found in 60 looks, with answers and without.

looks = np.arange(1, 61)
without = np.argsort(detector.score_samples(table))[:60]
figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
axes.plot(looks, wanted[asked].cumsum(), label="each look is answered")
axes.plot(looks, wanted[without].cumsum(), label="no answers")
axes.plot([0, 20], [0, 20], color="silver", linestyle="--", label="perfect")
axes.set(xlabel="rows looked at", ylabel="malignant tumours found, of 20")
axes.legend(loc="lower right")
plt.show()
