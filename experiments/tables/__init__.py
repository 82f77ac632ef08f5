"""The paper's tables and figures, one a file: which cells each consists of, and how it prints.

Each module holds one `TABLE`. `TABLES` names them all in the paper's order.
"""

from __future__ import annotations

import importlib

from experiments.tables.layout import Table

__all__ = ["NAMES", "Table", "table"]

NAMES = (
    "detection",
    "ablation_detection",
    "clustering",
    "ablation_clustering",
    "sensitivity_detection",
    "sensitivity_clustering",
    "runtime_detection",
    "runtime_clustering",
    "raw_text",
    "raw_images",
    "classification",
    "depth_detection",
    "depth_clustering",
    "default_features",
)


def table(name: str) -> Table:
    """Give a table by its name."""
    if name not in NAMES:
        raise KeyError(f"The table must be one of {', '.join(NAMES)}. Got {name!r} instead.")
    return importlib.import_module(f"experiments.tables.{name}").TABLE
