r"""Table 3 and appendix C: what L_rdp, L_aux and boosting give, and other sources of distances.

The paper's column RDP\L_rdp equals its RND on all 14 sets, so it lacks boosting too. It is shown as printed,
and the last column completes the 2 x 2 of L_rdp and boosting: RDP, RDP\Boosting, RDP\L_rdp with boosting,
RDP\L_rdp (RND).
"""

from __future__ import annotations

from experiments import datasets, paper_numbers
from experiments.tables.layout import QUICK_DETECTION, Column, Panel, Table

TABLE = Table(
    name="ablation_detection",
    title="Ablation in anomaly detection",
    task="detection",
    data=tuple(datasets.DETECTION),
    quick_data=QUICK_DETECTION,
    columns=(
        Column("RDP", "RDP"),
        Column("RDP\\L_rdp", "RND"),
        Column("RDP\\L_aux", "RDP without L_aux"),
        Column("RDP\\Boosting", "RDP without boosting"),
        Column("Org_SS", "Org_SS"),
        Column("SRP_SS", "SRP_SS"),
        Column("RDP\\L_rdp boosted", "RDP without L_rdp"),
    ),
    panels=(
        Panel("auc_roc", "AUC-ROC", paper_numbers.ABLATION_AUC_ROC, paper_wins=paper_numbers.ABLATION_AUC_ROC_WINS),
        Panel("auc_pr", "AUC-PR", paper_numbers.ABLATION_AUC_PR, paper_wins=paper_numbers.ABLATION_AUC_PR_WINS),
    ),
    quick_evaluation={"max_rows": 1_000},
    note="The paper's RDP\\L_rdp has no boosting (it equals RND); the last column has.",
)
