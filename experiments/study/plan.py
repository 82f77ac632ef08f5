"""Which runs the study consists of: entrants x development sets x seeds, at most 5,000 rows a set."""

from __future__ import annotations

import functools
from typing import Any

from experiments import datasets, methods, runs
from experiments.results import RESULTS
from experiments.study.entrants import DEFAULT, Entrant, Group, as_lines_have_them
from rdplearn import RDPDetector

FOLDER = RESULTS / "study"
SHORT, SHORT_AND_SCALED = {"max_rows": 5_000}, {"max_rows": 5_000, "scaling": "standard"}
TIME_LIMIT = 120.0  # processor seconds; a method that needs more on 5,000 rows is no rival of a default
NOT_TO_BE_HAD = ("ddos",)
_NO_MATTER = ("contamination", "false_alarm_rate", "engine", "keep_rounds", "n_jobs", "random_state", "verbose")


def development_sets() -> list[str]:
    """13 of the paper's sets, 19 classical and 100 real tables."""
    return [*paper_sets(), *datasets.names("adbench"), *datasets.names("oddbench")]


def paper_sets() -> list[str]:
    """The paper's sets, without the one that cannot be had."""
    return [name for name in datasets.names("detection") if name not in NOT_TO_BE_HAD]


def group_of(data: str) -> str:
    """Name the group of a set: "paper", "adbench" or "oddbench"."""
    return data.split("/")[0] if "/" in data else "paper"


def run_of(entrant: Entrant, data: str, seed: int, *, whole: bool = False) -> runs.Run:
    """Give the run of an entrant on a set. A line names all parameters of RDP, so that it outlives the default."""
    options = entrant.options
    if entrant.method == DEFAULT:
        options = {**default_parameters(datasets.n_columns(data)), **options}
    config = methods.config_for(entrant.method, data, options)
    if not whole:
        config["evaluation"] = SHORT if entrant.method == DEFAULT else SHORT_AND_SCALED
    return runs.Run("detection", entrant.method, config, data, seed, None if whole else TIME_LIMIT)


@functools.cache
def default_parameters(n_columns: int) -> dict[str, Any]:
    """Give the default's parameters for a table of so many columns, as far as they bear on the ranking of rows."""
    parameters = RDPDetector().for_width(n_columns).get_params()
    return as_lines_have_them({name: value for name, value in parameters.items() if name not in _NO_MATTER})


def plan(group: Group, data: list[str] | None = None, n_seeds: int | None = None) -> list[runs.Run]:
    """List the runs of a group, first seeds first, so that all entrants fill evenly."""
    names = data or (paper_sets() if group.whole else development_sets())
    most = max(entrant.n_seeds for entrant in group.entrants)
    return [
        run_of(entrant, name, seed, whole=group.whole)
        for seed in range(min(most, n_seeds or most))
        for entrant in group.entrants
        if seed < entrant.n_seeds
        for name in names
    ]
