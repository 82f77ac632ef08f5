"""Which runs the study consists of: entrants x development sets x seeds, at most 5,000 rows a set."""

from __future__ import annotations

import functools
import json
from typing import Any

from experiments import datasets, methods, runs
from experiments.baselines.rdp import NAMES_OF_LINES
from experiments.results import RESULTS
from experiments.study.entrants import DEFAULT, NOVELTY_ALONE, Entrant, Group, as_lines_have_them
from rdplearn import RDPDetector
from rdplearn.defaults import TALL, usual_for_shape

FOLDER = RESULTS / "study"
SHORT, SHORT_AND_SCALED = {"max_rows": 5_000}, {"max_rows": 5_000, "scaling": "standard"}
TIME_LIMIT = 120.0  # processor seconds; a method that needs more on 5,000 rows is no rival of a default
NOT_TO_BE_HAD = ("ddos",)
_NO_MATTER = ("contamination", "false_alarm_rate", "engine", "n_jobs", "random_state", "torch", "verbose")


def development_sets() -> list[str]:
    """13 of the paper's sets, 19 classical, 332 of OddBench, 120 of OvRBench: all that is not kept aside."""
    return [*paper_sets(), *(name for source in ("adbench", "oddbench", "ovrbench") for name in datasets.names(source))]


def paper_sets() -> list[str]:
    """The paper's sets, without the one that cannot be had."""
    return [name for name in datasets.names("detection") if name not in NOT_TO_BE_HAD]


def whole_sets() -> list[str]:
    """What runs with all its rows: the paper's sets, and the classical ones that are tall."""
    return [
        *paper_sets(),
        *(name for name in datasets.names("adbench") if usual_for_shape(*datasets.shape(name)) is TALL),
    ]


def group_of(data: str) -> str:
    """Name the group of a set: "paper", "adbench" or "oddbench"."""
    return data.split("/")[0] if "/" in data else "paper"


def run_of(entrant: Entrant, data: str, seed: int, *, whole: bool = False) -> runs.Run:
    """Give the run of an entrant on a set. A line names all parameters of RDP, so that it outlives the default."""
    options = entrant.options
    if entrant.method == DEFAULT:
        n_rows, n_columns = datasets.shape(data)
        if entrant.label != DEFAULT:
            options = {**NOVELTY_ALONE, **options}
        options = parameters_of(options, n_rows if whole else min(n_rows, SHORT["max_rows"]), n_columns)
    config = methods.config_for(entrant.method, data, options)
    if not whole:
        config["evaluation"] = SHORT if entrant.method == DEFAULT else SHORT_AND_SCALED
    return runs.Run("detection", entrant.method, config, data, seed, None if whole else TIME_LIMIT)


def parameters_of(options: dict[str, Any], n_rows: int, n_columns: int) -> dict[str, Any]:
    """Give the default's parameters with some changed, settled for a table of this shape.

    Left out is what does not bear on the ranking of rows.

    Examples
    --------
    >>> parameters_of({"n_steps": 120}, n_rows=100, n_columns=5)["learning_rate"]
    1.0
    """
    return dict(_settled(json.dumps(options, sort_keys=True), n_rows, n_columns))


@functools.cache
def _settled(options: str, n_rows: int, n_columns: int) -> dict[str, Any]:
    parameters = RDPDetector(**json.loads(options)).for_shape(n_rows, n_columns).get_params()
    kept = {name: value for name, value in parameters.items() if name not in _NO_MATTER}
    return as_lines_have_them({**kept, **NAMES_OF_LINES})


def plan(group: Group, data: list[str] | None = None, n_seeds: int | None = None) -> list[runs.Run]:
    """List the runs of a group, first seeds first, so that all entrants fill evenly."""
    names = data or (whole_sets() if group.whole else development_sets())
    most = max(entrant.n_seeds for entrant in group.entrants)
    return [
        run_of(entrant, name, seed, whole=group.whole)
        for seed in range(min(most, n_seeds or most))
        for entrant in group.entrants
        if seed < entrant.n_seeds
        for name in names
    ]
