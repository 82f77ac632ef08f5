"""Appendix G.1: Doc2Vec, RDP on word counts, and RDP on Doc2Vec, clustered by K-means."""

from __future__ import annotations

from experiments import paper_numbers
from experiments.tables.layout import Column, Panel, Table, columns

TABLE = Table(
    name="raw_text",
    title="Raw text",
    task="clustering",
    data=("r8_clustering", "20news"),
    quick_data=("sklearn/texts",),
    columns=(*columns("Doc2Vec"), Column("RDP", "RDP features"), *columns("Doc2Vec+RDP")),
    panels=(
        Panel("mapped_nmi", "mapped NMI", paper_numbers.RAW_TEXT_NMI),
        Panel("f_score", "macro F-score", paper_numbers.RAW_TEXT_F_SCORE),
    ),
    quick_evaluation={"n_kmeans": 3},
    note="Doc2Vec+RDP starts from 5,120 dimensions of Doc2Vec on R8, as in the paper, and on 20news from 2,560, where "
    "the paper has 10,240: that would take about an hour of a processor and 8 GB.",
)
