"""Appendix E.1, two figures: AUC-ROC and AUC-PR against the dimension of RDP's representation."""

from __future__ import annotations

from experiments import datasets
from experiments.tables.layout import QUICK_DETECTION, Column, Panel, Table

DIMENSIONS = (10, 25, 50, 100, 200)

TABLE = Table(
    name="sensitivity_detection",
    title="Anomaly detection by dimension",
    task="detection",
    data=tuple(datasets.DETECTION),
    quick_data=QUICK_DETECTION,
    columns=tuple(Column(str(size), "RDP", {"n_components": size}) for size in DIMENSIONS),
    panels=(Panel("auc_roc", "AUC-ROC"), Panel("auc_pr", "AUC-PR")),
    quick_evaluation={"max_rows": 1_000},
    axis="dimension of the representation",
    note="The paper draws these figures without their numbers or the dimensions tried; 50 is its choice.",
)
