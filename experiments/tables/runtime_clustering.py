"""Appendix F.2: processor seconds to compute the features, K-means left out; trained for a moment, as in F.1."""

from __future__ import annotations

from experiments import datasets, paper_numbers
from experiments.tables.layout import QUICK_CLUSTERING, Column, Panel, Table, columns

TABLE = Table(
    name="runtime_clustering",
    title="Runtime in clustering",
    task="runtime",
    data=(*datasets.CLUSTERING, datasets.SECTOR_PART.name),
    quick_data=QUICK_CLUSTERING,
    columns=(
        *columns("HLLE", "SRP"),
        Column("AE", "AE features", {"n_steps": 0}),
        Column("RDP", "RDP features", {"n_steps": 1}),
    ),
    panels=(
        Panel(
            "apply_cpu_seconds",
            "processor seconds to transform",
            paper_numbers.RUNTIME_CLUSTERING,
            2,
            higher_is_better=False,
        ),
    ),
    note="Processor time of one thread; the paper's are seconds by the clock of a server with 32 processors. HLLE "
    "embeds the rows that it is fitted to, so its fit counts; the others have a moment of training, or none.",
)
