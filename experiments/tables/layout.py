"""What a table is made of: columns (methods with options), data sets, panels (metrics, paper's numbers)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from experiments.paper_numbers import PaperTable

QUICK_DETECTION = ("sklearn/breast_cancer", "sklearn/digits_0")
QUICK_CLUSTERING = ("sklearn/digits", "sklearn/wine")


@dataclass(frozen=True)
class Column:
    """One column of a table: its heading, the method behind it, and options other than the method's own."""

    label: str
    method: str
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Panel:
    """One metric of a table, or a field of the result line, with what the paper prints."""

    metric: str
    title: str
    paper: PaperTable = field(default_factory=dict)
    digits: int = 3
    higher_is_better: bool = True
    paper_wins: dict[str, tuple[int, int, int]] = field(default_factory=dict)  # as printed in its last row


@dataclass(frozen=True)
class Table:
    """A table or figure of the paper.

    `ours` is the column that the others are compared with; `evaluation` holds options of the evaluation at
    the full budget, `quick_evaluation` at the quick one. `axis` turns the table into a figure: columns are
    points on it.
    """

    name: str
    title: str
    task: str
    data: tuple[str, ...]
    quick_data: tuple[str, ...]
    columns: tuple[Column, ...]
    panels: tuple[Panel, ...]
    ours: str = "RDP"
    evaluation: dict[str, Any] = field(default_factory=dict)
    quick_evaluation: dict[str, Any] = field(default_factory=dict)
    axis: str | None = None
    note: str = ""


def columns(*methods: str) -> tuple[Column, ...]:
    """Give columns headed by the names of their methods."""
    return tuple(Column(method, method) for method in methods)
