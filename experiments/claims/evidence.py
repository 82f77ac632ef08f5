"""What claims are judged by: the cells of our tables and of the paper's, and verdicts by counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments import datasets, tables
from experiments.markdown import anchor
from experiments.show import values_matrix
from experiments.summary import Grid, grid
from experiments.tables.layout import Panel, PaperTable
from experiments.theory import command as theory_command

HOLDS, PARTLY, DOES_NOT, OPEN = "holds", "partly", "does not", "not run"
COMPETITORS = ("iForest", "AE", "REPEN", "DAGMM", "RND")
METRICS = {"auc_roc": "AUC-ROC", "auc_pr": "AUC-PR"}
NO_DISTANCE, NO_NOVELTY, BOOSTED = "RDP\\L_rdp", "RDP\\L_aux", "RDP\\L_rdp boosted"
LEVEL = 0.05  # of significance, as the paper has it
TABLES_PAGE = "results_tables.md"  # beside the page of the claims


Sizes = tuple[int | None, int | None]  # members of two ensembles


@dataclass(frozen=True)
class Claim:
    """One row of the table of claims: in few words what the paper has and what we find; `figures` has it in full."""

    claim: str
    paper: str
    ours: str
    verdict: str
    rule: str
    see: str
    figures: str = ""


class Evidence:
    """All result lines, and the cells of any table made of them."""

    def __init__(self, records: Iterable[dict[str, Any]], theory_folder: Path = theory_command.FOLDER) -> None:
        self.records = list(records)
        self.theory_folder = theory_folder
        self._grids: dict[tuple[str, str, int | None], Grid] = {}

    def panel(self, table: str, metric: str) -> Panel:
        return next(panel for panel in tables.table(table).panels if panel.metric == metric)

    def cells(self, table: str, metric: str, n_members: int | None = None) -> Grid:
        """Give the cells of a table, by the largest ensembles that there are, or by those of one size alone."""
        key = table, metric, n_members
        if key not in self._grids:
            self._grids[key] = grid(
                tables.table(table), self.panel(table, metric), self.records,
                quick=False, no_data=set(), n_members=n_members,
            )  # fmt: skip
        return self._grids[key]

    def values(self, table: str, metric: str, labels: Iterable[str]) -> tuple[list[str], np.ndarray]:
        """Give the sets on which all columns have results, and the means (n_sets, n_columns)."""
        names, values = values_matrix(tables.table(table), self.cells(table, metric), list(labels))
        return names, np.round(values, 3)

    def like_with_like(self, table: str, metric: str, first: str, second: str) -> tuple[np.ndarray, list[Sizes]]:
        """Give the means of two columns (n_sets, 2) by ensembles of one size, the largest that both have on a set.

        Where they have none in common, each is by the largest that it has; the sizes say so.
        """
        sizes = sorted({record["config"].get("n_members", 0) for record in self.records} - {0}, reverse=True)
        values, used = [], []
        for data in tables.table(table).data:
            for size in (*sizes, None):
                cells = self.cells(table, metric, size)
                both = cells[data, first], cells[data, second]
                if all(cell.values for cell in both):
                    values.append([round(cell.mean, 3) for cell in both])
                    used.append((both[0].n_members, both[1].n_members))
                    break
        return np.array(values), used

    def theory(self, name: str) -> list[dict[str, Any]]:
        return list(theory_command.read(name, self.theory_folder))


def printed(paper: PaperTable, labels: Iterable[str]) -> tuple[list[str], np.ndarray]:
    """Give the paper's sets and means (n_sets, n_columns), where it prints all columns."""
    labels = list(labels)
    names = [name for name, row in paper.items() if all(label in row for label in labels)]
    return names, np.array([[paper[name][label].mean for label in labels] for name in names])


def by_counts(good: int, of: int, *, enough: float = 1.0, some: float = 0.5) -> str:
    """Give the verdict by a share: at least `enough`, at least `some`, or less."""
    if of == 0:
        return OPEN
    return HOLDS if good >= enough * of else PARTLY if good >= some * of and good > 0 else DOES_NOT


def n_best(values: np.ndarray) -> int:
    """Count the rows in which the first column is at least level with all others."""
    return int((values[:, 0] >= values[:, 1:].max(axis=1)).sum()) if len(values) else 0


def see(*names: str) -> str:
    """Lead to tables on their page."""
    return ", ".join(f"[{name.replace('_', ' ')}]({TABLES_PAGE}#{anchor(tables.table(name).title)})" for name in names)


def named(data: str) -> str:
    """Name a set in few words."""
    return "a fifth of Sector" if data == datasets.SECTOR_PART.name else datasets.title(data).removeprefix("sklearn/")


def titles(names: Iterable[str]) -> str:
    return ", ".join(map(named, names))
