"""Appendix F.1: processor seconds to score all rows, ensembles of 30 each; one thread here, 32 processors there.

How long a method was trained does not change how long it takes to score, so these runs train for a moment.
"""

from __future__ import annotations

from experiments import datasets, paper_numbers
from experiments.tables.layout import QUICK_DETECTION, Column, Panel, Table, columns

_BRIEFLY = {"n_steps": 10}

TABLE = Table(
    name="runtime_detection",
    title="Runtime in anomaly detection",
    task="runtime",
    data=tuple(datasets.DETECTION),
    quick_data=QUICK_DETECTION,
    columns=(
        *columns("iForest"),
        Column("AE", "AE", _BRIEFLY),
        Column("REPEN", "REPEN", _BRIEFLY),
        Column("DAGMM", "DAGMM", {"n_epochs": 1}),
        Column("RND", "RND", _BRIEFLY),
        Column("RDP", "RDP", {**_BRIEFLY, "n_rounds": 1}),
    ),
    panels=(
        Panel(
            "apply_cpu_seconds",
            "processor seconds to score all rows",
            paper_numbers.RUNTIME_DETECTION,
            2,
            higher_is_better=False,
        ),
    ),
    quick_evaluation={"max_rows": 1_000},
    note="Processor time of one thread, ensembles of 30 trained for a moment only; the paper's are seconds by the "
    "clock of a server with 32 processors, and hold what its RDP takes to start.",
)
