"""Table 4: NMI and F-score of K-means on the original space and learned ones, and on users' picks."""

from __future__ import annotations

from experiments import datasets, paper_numbers
from experiments.tables.layout import QUICK_CLUSTERING, Column, Panel, Table, columns

TABLE = Table(
    name="clustering",
    title="Clustering on the paper's five sets",
    task="clustering",
    data=(*datasets.CLUSTERING, datasets.SECTOR_PART.name),
    quick_data=QUICK_CLUSTERING,
    columns=(
        *columns("Org", "HLLE", "SRP"),
        Column("AE", "AE features"),
        *columns("COP"),
        Column("RDP", "RDP features"),
        Column("RDP default", "RDP features, default"),
        *columns("SVD", "UMAP"),
    ),
    panels=(
        Panel("mapped_nmi", "NMI after renaming clusters to their majority class", paper_numbers.CLUSTERING_NMI),
        Panel("f_score", "macro F-score", paper_numbers.CLUSTERING_F_SCORE),
        Panel("nmi", "plain NMI"),
        Panel("ari", "adjusted Rand index"),
    ),
    quick_evaluation={"n_kmeans": 3},
    note="The paper's NMI and F-score come after each cluster is renamed to its majority class. RDP default was "
    "tuned on R8, 20news and Olivetti with these scores in sight.",
)
