"""Appendix F.2: seconds to compute the features, K-means left out. The runs are those of Table 4."""

from __future__ import annotations

from dataclasses import replace

from experiments import paper_numbers
from experiments.tables import clustering
from experiments.tables.layout import Panel

TABLE = replace(
    clustering.TABLE,
    name="runtime_clustering",
    title="Runtime in clustering",
    panels=(
        Panel(
            "apply_seconds",
            "seconds to transform",
            paper_numbers.RUNTIME_CLUSTERING,
            2,
            higher_is_better=False,
        ),
        Panel("fit_seconds", "seconds to fit", digits=2, higher_is_better=False),
    ),
    note="One thread of this machine, by the clock, beside other work. HLLE embeds while it is fitted.",
)
