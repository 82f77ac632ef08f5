"""
Groups, and whether there are any
=================================

``RDPClusterer`` groups rows by features that it learns. K-means finds as many groups as it is asked for, so ask
``assess`` whether they are real. The wines come from three growers; the arch is one curved whole.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from rdplearn import RDPClusterer

wines, growers = load_wine(return_X_y=True)
angle = np.random.default_rng(0).uniform(0, np.pi, 500)
arch = np.c_[np.cos(angle), np.sin(angle)] + 0.05 * np.random.default_rng(1).normal(size=(500, 2))

# %%
# Fit both, and ask.

figure, both = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for axes, name, table in zip(both, ("178 wines", "an arch"), (wines, arch), strict=True):
    clusterer = RDPClusterer(n_clusters=3, random_state=0).fit(table)
    trust = clusterer.assess(table)
    print(f"{name}: {trust.words()}")
    places = table if table is arch else PCA(2).fit_transform(clusterer.transformer_.transform(table))
    axes.scatter(*places.T, c=clusterer.labels_, cmap="viridis", s=14)
    axes.set(title=f"{name}: {trust.level}", xticks=[], yticks=[])
plt.show()

# %%
# The growers are for judging alone: 1 would be the same groups, 0 what chance gives.

labels = RDPClusterer(n_clusters=3, random_state=0).fit_predict(wines)
print(f"Adjusted Rand index of the wines: {adjusted_rand_score(growers, labels):.2f}")
