"""Appendix A, a sentence: deeper φ "worked less effectively" in detection. Hidden layers of 50 units before φ's own."""

from __future__ import annotations

from experiments.tables.layout import QUICK_DETECTION, Column, Panel, Table

TABLE = Table(
    name="depth_detection",
    title="Anomaly detection by the depth of φ",
    task="detection",
    data=("apascal", "bank", "celeba", "lung", "secom", "u2r"),
    quick_data=QUICK_DETECTION,
    columns=tuple(Column(depth, f"RDP, {depth}") for depth in ("1 layer", "2 layers", "3 layers")),
    panels=(Panel("auc_roc", "AUC-ROC"), Panel("auc_pr", "AUC-PR")),
    ours="1 layer",
    evaluation={"max_rows": 5_000},
    quick_evaluation={"max_rows": 500},
    note="5 members, 3 rounds of 1,000 steps, at most 5,000 rows; nothing was tuned for any depth.",
)
