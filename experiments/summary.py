"""From result lines to the cells of a table: mean, spread and number of runs, and what is missing and why."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments import datasets, methods, results
from experiments.paper_numbers import Number
from experiments.tables.layout import Column, Panel, Table

# what ± of a single run is over, and the letter behind it; rounds of boosting are no repetitions of anything
_PARTS = {"member": "members", "kmeans": "K-means starts", "repeat": "repeats"}
STD_MARKS = {"members": "m", "K-means starts": "k", "repeats": "r"}


@dataclass(frozen=True)
class Cell:
    """What we have for one method on one data set: values of the runs, or the reason why there are none."""

    values: tuple[float, ...] = ()
    parts: tuple[float, ...] = ()  # of the one run, if there is one only
    parts_are: str = ""
    n_members: int | None = None
    reason: str = ""

    @property
    def mean(self) -> float | None:
        return float(np.mean(self.values)) if self.values else None

    @property
    def std(self) -> float | None:
        """Sample standard deviation of what `std_is_over` names."""
        spread = {"runs": self.values, "": ()}.get(self.std_is_over, self.parts)
        return float(np.std(spread, ddof=1)) if spread else None

    @property
    def std_is_over(self) -> str:
        """Runs; where there is one run only, its members or K-means starts; nothing where there are none."""
        if len(self.values) > 1:
            return "runs"
        return self.parts_are if len(self.parts) > 1 else ""

    def text(self, digits: int) -> str:
        if self.mean is None:
            return self.reason
        mark = STD_MARKS.get(self.std_is_over, "")
        return f"{self.mean:.{digits}f}" + (f"±{self.std:.{digits}f}{mark}" if self.std is not None else "")


Grid = dict[tuple[str, str], Cell]  # (data, column label)


def grid(
    table: Table,
    panel: Panel,
    records: Iterable[dict[str, Any]],
    *,
    quick: bool,
    no_data: set[str],
    n_members: int | None = None,
) -> Grid:
    """Fill the cells of one panel; of several ensemble sizes of a method the largest counts, or `n_members` alone."""
    by_cell = _records_by_cell(r for r in records if n_members is None or _n_members(r) == n_members)
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
    settled = results.canonical({name: value for name, value in config.items() if name != "n_members"})
    return json.dumps(settled, sort_keys=True)


def _cell(records: list[dict[str, Any]], metric: str) -> Cell:
    done = [record for record in records if record["status"] == "done"]
    if not done:
        return Cell(reason=records[0]["status"] if records else "")
    largest = max(_n_members(record) or 0 for record in done)
    done.sort(key=lambda record: "read_from" not in record)  # a run of its own counts before one read off another
    used = {r["seed"]: r for r in done if (_n_members(r) or 0) == largest and _value(r, metric) is not None}.values()
    values = tuple(_value(record, metric) for record in used)
    parts, parts_are = _parts_of(next(iter(used)), metric) if len(used) == 1 else ((), "")
    return Cell(values, parts, parts_are, largest or None)


def _parts_of(record: dict[str, Any], metric: str) -> tuple[tuple[float, ...], str]:
    for part, name in _PARTS.items():
        if metric in record.get("spread", {}).get(part, {}):
            return tuple(record["spread"][part][metric]), name
    return (), ""


def _n_members(record: dict[str, Any]) -> int | None:
    return record["config"].get("n_members")


def _value(record: dict[str, Any], metric: str) -> float | None:
    """Give a metric, or a field of the line; what was read off another run has no seconds."""
    return record["metrics"][metric] if metric in record["metrics"] else record.get(metric)
