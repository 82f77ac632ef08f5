"""Appendix A, a sentence: deeper φ "worked less effectively" in clustering. Hidden layers as wide as φ's own."""

from __future__ import annotations

from experiments.tables.layout import QUICK_CLUSTERING, Column, Panel, Table

TABLE = Table(
    name="depth_clustering",
    title="Clustering by the depth of φ",
    task="clustering",
    data=("sklearn/digits", "sklearn/digit_profiles", "olivetti"),
    quick_data=QUICK_CLUSTERING[:1],
    columns=tuple(Column(depth, f"RDP features, {depth}") for depth in ("1 layer", "2 layers", "3 layers")),
    panels=(Panel("mapped_nmi", "mapped NMI"), Panel("f_score", "macro F-score")),
    ours="1 layer",
    evaluation={"n_kmeans": 10},
    quick_evaluation={"n_kmeans": 3},
    note="256 components, 3,000 steps at learning rate 1; nothing was tuned for any depth.",
)
