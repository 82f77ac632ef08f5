"""Appendix H: F-score of a three-layer network on features. The paper gives no split; a fifth is for testing."""

from __future__ import annotations

from experiments import datasets, paper_numbers
from experiments.tables.layout import QUICK_CLUSTERING, Column, Panel, Table, columns

TABLE = Table(
    name="classification",
    title="Classification on learned features",
    task="classification",
    data=(*datasets.CLUSTERING, datasets.SECTOR_PART.name),
    quick_data=QUICK_CLUSTERING,
    columns=(
        *columns("HLLE", "SRP"),
        Column("AE", "AE features"),
        *columns("COP"),
        Column("RDP\\L_aux", "RDP features without L_aux"),
        Column("RDP", "RDP features in short"),
        *columns("Org", "SVD"),
    ),
    panels=(Panel("f_score", "macro F-score", paper_numbers.CLASSIFICATION_F_SCORE),),
    evaluation={"test_share": 0.2},
    quick_evaluation={"test_share": 0.2},
)
