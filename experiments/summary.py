"""From result lines to the cells of a table: mean, spread and number of runs, and what is missing and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments import datasets, methods
from experiments.paper_numbers import Number
from experiments.tables.layout import Column, Panel, Table


@dataclass(frozen=True)
class Cell:
    """What we have for one method on one data set: values of the runs, or the reason why there are none."""

    values: tuple[float, ...] = ()
    spread: float | None = None
    n_members: int | None = None
    reason: str = ""

    @property
    def mean(self) -> float | None:
        return float(np.mean(self.values)) if self.values else None

    @property
    def std(self) -> float | None:
        """Over runs; over the parts of one run (members, K-means starts) if there is one run only."""
        return float(np.std(self.values)) if len(self.values) > 1 else self.spread

    def text(self, digits: int) -> str:
        if self.mean is None:
            return self.reason
        return f"{self.mean:.{digits}f}" + (f"±{self.std:.{digits}f}" if self.std is not None else "")


Grid = dict[tuple[str, str], Cell]  # (data, column label)


def grid(table: Table, panel: Panel, records: Iterable[dict[str, Any]], *, quick: bool, no_data: set[str]) -> Grid:
    """Fill the cells of one panel; of several ensemble sizes of a method the largest counts."""
    by_cell = _records_by_cell(records)
    data = table.quick_data if quick else table.data
    cells = {}
    for name in data:
        for column in table.columns:
            wanted = _comparable(_config(table, column, name, quick))
            found = by_cell.get((table.task, column.method, name, wanted), [])
            lacking = name in no_data or not (found or _has_what_it_reads(column.method, name))
            cells[name, column.label] = Cell(reason="no data here") if lacking else _cell(found, panel.metric)
    return cells


def paper_number(panel: Panel, data: str, label: str) -> Number | None:
    """Give what the paper prints for a cell, if anything."""
    return panel.paper.get(data, {}).get(label)


def _has_what_it_reads(method: str, data: str) -> bool:
    return methods.METHODS[method].reads == "rows" or datasets.texts_are_here(data)


def _config(table: Table, column: Column, data: str, quick: bool) -> dict[str, Any]:
    config = methods.config_for(column.method, data, column.options, quick=quick)
    evaluation = table.quick_evaluation if quick else table.evaluation
    return {**config, "evaluation": evaluation} if evaluation else config


def _records_by_cell(records: Iterable[dict[str, Any]]) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    by_cell = defaultdict(list)
    for record in records:
        key = (record["task"], record["method"], record["data"], _comparable(record["config"]))
        by_cell[key].append(record)
    return by_cell


def _comparable(config: dict[str, Any]) -> str:
    return repr(sorted((name, repr(value)) for name, value in config.items() if name != "n_members"))


def _cell(records: list[dict[str, Any]], metric: str) -> Cell:
    done = [record for record in records if record["status"] == "done"]
    if not done:
        return Cell(reason=records[0]["status"] if records else "")
    largest = max(_n_members(record) or 0 for record in done)
    used = {r["seed"]: r for r in done if (_n_members(r) or 0) == largest}.values()
    values = tuple(_value(record, metric) for record in used)
    parts = [s[metric] for s in next(iter(used)).get("spread", {}).values() if metric in s]
    return Cell(values, float(np.std(parts[0])) if parts else None, largest or None)


def _n_members(record: dict[str, Any]) -> int | None:
    return record["config"].get("n_members")


def _value(record: dict[str, Any], metric: str) -> float:
    return record["metrics"][metric] if metric in record["metrics"] else record[metric]
