"""Appendix G.2: RotNet, its four smaller forms, and RDP on each of them, clustered by K-means."""

from __future__ import annotations

from experiments import paper_numbers
from experiments.tables.layout import Column, Panel, Table, columns

_FORMS = ("RotNet", "RotNet4x2", "RotNet4x1", "RotNet3x1", "RotNet2x1")

TABLE = Table(
    name="raw_images",
    title="Raw images",
    task="clustering",
    data=("olivetti",),
    quick_data=("sklearn/digits",),
    columns=(
        *columns("Org"),
        Column("RDP", "RDP features"),
        *columns(*(name for form in _FORMS for name in (form, f"{form}+RDP"))),
    ),
    panels=(
        Panel("mapped_nmi", "mapped NMI", paper_numbers.RAW_IMAGE_NMI),
        Panel("f_score", "macro F-score", paper_numbers.RAW_IMAGE_F_SCORE),
    ),
    quick_evaluation={"n_kmeans": 3, "max_rows": 300},
)
