"""Table 5 and appendix D: what L_rdp and reconstruction give in clustering, and other distances."""

from __future__ import annotations

from experiments import datasets, paper_numbers
from experiments.tables.layout import QUICK_CLUSTERING, Column, Panel, Table

_FULL = {"n_steps": None, "learning_rate": None}  # the paper's own schedule, as the preset has it

TABLE = Table(
    name="ablation_clustering",
    title="Ablation in clustering",
    task="clustering",
    data=(*datasets.CLUSTERING, datasets.SECTOR_PART.name),
    quick_data=QUICK_CLUSTERING,
    columns=(
        Column("RDP", "RDP features in short"),
        Column("RDP\\L_rdp", "RDP features without L_rdp"),
        Column("RDP\\L_aux", "RDP features without L_aux"),
        Column("Org_SS", "RDP features from Org"),
        Column("SRP_SS", "RDP features from SRP"),
        Column("RDP full", "RDP features"),
        Column("RDP\\L_rdp full", "RDP features without L_rdp", _FULL),
        Column("RDP\\L_aux full", "RDP features without L_aux", _FULL),
        Column("Org_SS full", "RDP features from Org", _FULL),
        Column("SRP_SS full", "RDP features from SRP", _FULL),
    ),
    panels=(
        Panel("f_score", "macro F-score", paper_numbers.CLUSTERING_ABLATION_F_SCORE),
        Panel("mapped_nmi", "mapped NMI", paper_numbers.CLUSTERING_ABLATION_NMI),
        Panel("nmi", "plain NMI"),
    ),
    quick_evaluation={"n_kmeans": 3},
    note='Columns with "full" have the paper\'s 30,000 steps at learning rate 0.1, the others 3,000 at rate 1.',
)
