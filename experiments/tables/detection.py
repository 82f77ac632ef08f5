"""Tables 1 and 2: AUC-ROC and AUC-PR of RDP and its competitors on 14 sets, and of what users pick today."""

from __future__ import annotations

from experiments import datasets, paper_numbers
from experiments.tables.layout import QUICK_DETECTION, Column, Panel, Table, columns

TABLE = Table(
    name="detection",
    title="Anomaly detection on the paper's 14 sets",
    task="detection",
    data=tuple(datasets.DETECTION),
    quick_data=QUICK_DETECTION,
    columns=(
        *columns("iForest", "AE", "REPEN", "DAGMM", "RND", "RDP"),
        Column("RDP 3 rounds", "RDP", {"score_rounds": 3}),
        *columns("kNN", "LOF", "ECOD", "PCA", "MCD", "OCSVM", "DeepSVDD"),
    ),
    panels=(
        Panel("auc_roc", "AUC-ROC", paper_numbers.AUC_ROC),
        Panel("auc_pr", "AUC-PR", paper_numbers.AUC_PR),
    ),
    quick_evaluation={"max_rows": 1_000},
    note="RDP is RDPDetector.paper(): the last of eight rounds scores a row. RDP 3 rounds: the same fits, scored by "
    "the mean of the last three, which was tried after the last alone.",
)
