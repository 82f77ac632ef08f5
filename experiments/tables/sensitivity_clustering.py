"""Appendix E.2, one figure: NMI and F-score of K-means against the dimension of RDP's representation."""

from __future__ import annotations

from experiments import datasets
from experiments.tables.layout import QUICK_CLUSTERING, Column, Panel, Table

DIMENSIONS = (256, 512, 768, 1_024, 1_280)

TABLE = Table(
    name="sensitivity_clustering",
    title="Clustering by dimension",
    task="clustering",
    data=tuple(datasets.CLUSTERING),
    quick_data=QUICK_CLUSTERING,
    columns=tuple(Column(str(size), "RDP features in short", {"n_components": size}) for size in DIMENSIONS),
    panels=(Panel("mapped_nmi", "mapped NMI"), Panel("f_score", "macro F-score")),
    quick_evaluation={"n_kmeans": 3},
    axis="dimension of the representation",
    note="The paper draws this figure without printing its numbers; it names 512, 1,024 and 1,280.",
)
