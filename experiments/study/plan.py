"""Which runs the study consists of: entrants x development sets x seeds, at most 5,000 rows a set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from experiments import datasets, gallery, methods, runs
from experiments.results import RESULTS
from experiments.study.entrants import DEFAULT, Entrant

FOLDER = RESULTS / "study"
TRIALS = FOLDER / "trials"
TIME_LIMIT = 120.0  # processor seconds; a method that needs more on 5,000 rows is no rival of a default
NOT_TO_BE_HAD = ("ddos",)
SOURCES = ("oddbench", "ovrbench", "adbench", "paper")


def development_sets() -> list[str]:
    """332 sets of OddBench, 120 of OvRBench, 19 classical, 13 of the paper's: all that is not kept aside."""
    return [*(name for source in SOURCES[:-1] for name in datasets.names(source)), *paper_sets()]


def paper_sets() -> list[str]:
    """The paper's sets, without the one that cannot be had."""
    return [name for name in datasets.names("detection") if name not in NOT_TO_BE_HAD]


def source_of(data: str) -> str:
    """Name the source of a set: "paper", "adbench", "oddbench", "ovrbench" or "gallery"."""
    return data.split("/")[0] if "/" in data else "paper"


def run_of(entrant: Entrant, data: str, seed: int, *, whole: bool = False) -> runs.Run:
    """Give the run of an entrant on a set, in short or with all rows.

    RDP takes a table as it is; for the others columns are standardised. What a trial's default has chosen is written
    into its lines by the run.
    """
    evaluation: dict[str, Any] = {} if whole else {"max_rows": 5_000}
    if entrant.method != DEFAULT:
        evaluation["scaling"] = "standard"
    if entrant.trial is not None:
        evaluation["trial"] = entrant.trial
    config = {**methods.config_for(entrant.method, data, entrant.options), "evaluation": evaluation}
    return runs.Run("detection", entrant.method, config, data, seed, None if whole else TIME_LIMIT)


def plan(
    entrants: Iterable[Entrant], names: list[str], n_seeds: int | None = None, *, whole: bool = False
) -> list[runs.Run]:
    """List the runs of entrants on sets, first seeds first, so that all entrants fill evenly."""
    entrants = list(entrants)
    most = max(entrant.n_seeds for entrant in entrants)
    return [
        run_of(entrant, name, seed, whole=whole)
        for seed in range(min(most, n_seeds or most))
        for entrant in entrants
        if seed < entrant.n_seeds
        for name in names
    ]


def plan_gallery(entrants: Iterable[Entrant], names: list[str] | None = None) -> list[runs.Run]:
    """List the runs on the gallery: a shape drawn with a seed is seen by methods with the same seed."""
    names = names or datasets.names("gallery")
    return [run_of(entrant, name, gallery.seed_of(name)) for entrant in entrants for name in names]
