"""Everything in one go: what is missing of every table, how long it will take, the runs, and the page."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from experiments import datasets, results, runs, tables

PAPER_RUNS = 10  # of each cell, as the paper has them
QUICK_TABLES = ("detection", "clustering", "classification")  # one of each task, the paper's columns, one set each


@dataclass(frozen=True)
class Stage:
    """The runs of a table, and the file that their lines go to."""

    name: str
    planned: list[runs.Run]
    path: Path


@dataclass(frozen=True)
class Estimate:
    """How long what is missing will take, in processor hours, by what like runs took."""

    n_planned: int
    n_missing: int
    hours: float
    n_unknown: int  # runs that nothing is known of; they are reckoned as typical ones
    no_data: tuple[str, ...]

    def __str__(self) -> str:
        told = f"{self.n_missing} of {self.n_planned} runs are missing, about {hours(self.hours)} of processor time"
        if self.n_unknown:
            told += f" ({self.n_unknown} of them are of a kind that no line tells the cost of, and a guess)"
        return told + (f"; no data here: {', '.join(self.no_data)}" if self.no_data else "")


def stages(folder: Path, *, quick: bool, n_runs: int) -> list[Stage]:
    """List the runs of every table; each run once, though tables may share it."""
    seen: set[str] = set()
    found = []
    for name in QUICK_TABLES if quick else tables.NAMES:
        table = tables.table(name)
        small = {"data": table.quick_data[:1], "labels": _columns_of_the_paper(table)} if quick else {}
        planned = [run for run in runs.plan(table, n_runs=n_runs, quick=quick, **small) if run.key not in seen]
        seen.update(run.key for run in planned)
        found.append(Stage(name, planned, folder / f"{name}.jsonl"))
    return found


def _columns_of_the_paper(table: tables.Table) -> set[str]:
    return {label for panel in table.panels for row in panel.paper.values() for label in row}


class Costs:
    """What runs will cost, by what the same method took: on the same set with the same options, else with others.

    Ensembles cost by their members. Where only runs with other options are there, training costs by its steps, and by
    the width of what it learns from.
    """

    def __init__(self, records: Iterable[dict[str, Any]]) -> None:
        self._costs: dict[tuple[str, ...], list[float]] = defaultdict(list)
        every = []
        for record in records:
            if "read_from" not in record:
                seconds, config = seconds_of(record), record["config"]
                like, same_set, same_method = _keys(record["task"], record["method"], record["data"], config)
                self._costs[like].append(seconds / _n_members(config))
                for key in (same_set, same_method):
                    self._costs[key].append(seconds / _work(config))
                every.append(seconds / _n_members(config))
        self._typical = median(every) if every else 60.0

    def knows(self, run: runs.Run) -> bool:
        *_, same_method = _keys(run.task, run.method, run.data, run.config)
        return same_method in self._costs

    def seconds(self, run: runs.Run) -> float:
        """Reckon the processor seconds of a run; of one that nothing is known of, as of a typical one."""
        like, same_set, same_method = _keys(run.task, run.method, run.data, run.config)
        if costs := self._costs.get(like):
            return median(costs) * _n_members(run.config)
        if costs := self._costs.get(same_set) or self._costs.get(same_method):
            return median(costs) * _work(run.config)
        return self._typical * _n_members(run.config)


def _keys(task: str, method: str, data: str, config: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    """Name what runs have in common: all but members and seed, the set, the method alone."""
    options = {name: value for name, value in results.canonical(config).items() if name != "n_members"}
    return (task, method, data, json.dumps(options, sort_keys=True)), (task, method, data), (task, method)


def in_turns(planned: Iterable[Stage], costs: Costs) -> list[Stage]:
    """Put first runs of every table before second ones, and cheap runs before dear ones: most cells fill soonest."""
    planned = list(planned)
    seeds = sorted({run.seed for stage in planned for run in stage.planned})
    turns = [
        Stage(f"{stage.name}, run {seed + 1}", [run for run in stage.planned if run.seed == seed], stage.path)
        for seed in seeds
        for stage in planned
    ]
    return [Stage(turn.name, sorted(turn.planned, key=costs.seconds), turn.path) for turn in turns if turn.planned]


def estimate(planned: Iterable[Stage], records: Iterable[dict[str, Any]]) -> Estimate:
    """Reckon what is missing."""
    records = list(records)
    done, costs = {results.key_of(record): record for record in records}, Costs(records)
    n_planned = n_missing = n_unknown = 0
    total, lacking = 0.0, []
    for run in (run for stage in planned for run in stage.planned):
        n_planned += 1
        if not _can_run(run):
            lacking.append(run.data)
            continue
        if runs.is_settled(done.get(run.key), run):
            continue
        n_missing += 1
        n_unknown += not costs.knows(run)
        total += costs.seconds(run)
    return Estimate(n_planned, n_missing, total / 3_600, n_unknown, tuple(dict.fromkeys(lacking)))


@dataclass(frozen=True)
class Gap:
    """What a table lacks of the paper's sizes: its ensembles of 30, its steps, its ten runs."""

    name: str
    n_cells: int  # of sets that are here
    n_by_runs: tuple[int, int, int]  # cells with no run at the paper's size, with one, with more
    hours_for_one: float  # until every cell has one
    hours_for_all: float  # until every cell has ten


def gaps(records: Iterable[dict[str, Any]]) -> list[Gap]:
    """Count what is missing of each table, and reckon its cost; a cell that tables share counts in the first."""
    records = list(records)
    done = {results.key_of(record): record for record in records}
    found = []
    for stage in stages(results.RESULTS, quick=False, n_runs=PAPER_RUNS):
        n_runs = Counter({run.cell: 0 for run in stage.planned if _can_run(run)})
        n_runs.update(run.cell for run in stage.planned if _can_run(run) and runs.is_settled(done.get(run.key), run))
        first = Stage(stage.name, [run for run in stage.planned if run.seed == 0 and not n_runs[run.cell]], stage.path)
        by_runs = Counter(min(number, 2) for number in n_runs.values())
        found.append(Gap(
            stage.name, len(n_runs), (by_runs[0], by_runs[1], by_runs[2]),
            estimate([first], records).hours, estimate([stage], records).hours,
        ))  # fmt: skip
    return found


def _can_run(run: runs.Run) -> bool:
    return datasets.is_here(run.data) and (run.reads == "rows" or datasets.texts_are_here(run.data))


def seconds_of(record: dict[str, Any]) -> float:
    """Give what a run cost: processor seconds where its line has them, else seconds by the clock."""
    return record.get("cpu_seconds") or record.get("fit_seconds", 0.0) + record.get("apply_seconds", 0.0)


def hours(number: float) -> str:
    """Say a time in words.

    Examples
    --------
    >>> hours(0.01), hours(0.5), hours(12.3)
    ('36 seconds', '30 minutes', '12 hours')
    """
    if number < 2 / 60:
        return f"{3_600 * number:.0f} seconds"
    return f"{60 * number:.0f} minutes" if number < 2 else f"{number:.0f} hours"


def _n_members(config: dict[str, Any]) -> float:
    return float(config.get("n_members", 1))


def _work(config: dict[str, Any]) -> float:
    """Measure how much there is to learn: members, steps, and the dimensions of what is learned from."""
    n_steps = config.get("n_steps", _preset_steps() if config.get("preset") == "paper" else 1)
    return _n_members(config) * max(n_steps, 1) * config.get("n_wide", 1)


def _preset_steps() -> int:
    from rdplearn import RDPTransformer

    return int(RDPTransformer.paper().n_steps)
