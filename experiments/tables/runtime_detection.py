"""Appendix F.1: seconds to score, of the runs of Tables 1 and 2; one thread here, 32 cores there."""

from __future__ import annotations

from dataclasses import replace

from experiments import paper_numbers
from experiments.tables import detection
from experiments.tables.layout import Panel

TABLE = replace(
    detection.TABLE,
    name="runtime_detection",
    title="Runtime in anomaly detection",
    columns=tuple(column for column in detection.TABLE.columns if column.label != "RDP 3 rounds"),
    panels=(
        Panel(
            "apply_seconds",
            "seconds to score all rows",
            paper_numbers.RUNTIME_DETECTION,
            2,
            higher_is_better=False,
        ),
        Panel("fit_seconds", "seconds to fit", digits=2, higher_is_better=False),
    ),
    note="One thread of this machine, by the clock, beside other work; the paper's server had 32 processors.",
)
