"""
What is unusual depends on the shape
====================================

Six tables of two columns. Dark is where a row would be called unusual. The default finds the hole in a ring and the
gap between groups, because some of its members predict distances between rows. IsolationForest cuts the plane
along its axes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.ensemble import IsolationForest

from rdplearn import RDPDetector

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 600)
turn = np.sqrt(rng.uniform(0.05, 1, 600)) * 3 * np.pi
shapes = {
    "one group": rng.normal(size=(600, 2)),
    "a slope": rng.normal(size=(600, 1)) * [1, 1] + 0.15 * rng.normal(size=(600, 2)),
    "a ring": np.c_[np.cos(angle), np.sin(angle)] + 0.06 * rng.normal(size=(600, 2)),
    "three groups": rng.choice([[-2, -2], [2, -1], [0, 2]], 600) + 0.3 * rng.normal(size=(600, 2)),
    "two moons": make_moons(600, noise=0.06, random_state=0)[0],
    "a spiral": np.c_[turn * np.cos(turn), turn * np.sin(turn)] / 5 + 0.06 * rng.normal(size=(600, 2)),
}

# %%
# Fit both on each shape, and score a grid of points. Colours follow the rank of a score, so that both are on one scale.

figure, rows = plt.subplots(2, 6, figsize=(12, 4.4), layout="constrained")
for column, (name, table) in enumerate(shapes.items()):
    low, high = table.min(axis=0) - 0.6, table.max(axis=0) + 0.6
    grid = np.stack(np.meshgrid(np.linspace(low[0], high[0], 90), np.linspace(low[1], high[1], 90)), axis=-1)
    for axes, detector in zip(
        rows[:, column], (RDPDetector(random_state=0), IsolationForest(random_state=0)), strict=True
    ):
        scores = detector.fit(table).score_samples(grid.reshape(-1, 2))
        ranks = scores.argsort().argsort().reshape(90, 90)
        axes.imshow(ranks, origin="lower", extent=(low[0], high[0], low[1], high[1]), cmap="bone", aspect="auto")
        axes.scatter(*table.T, s=2, color="darkorange")
        axes.set(xticks=[], yticks=[])
    rows[0, column].set_title(name)
rows[0, 0].set_ylabel("rdplearn")
rows[1, 0].set_ylabel("IsolationForest")
plt.show()
