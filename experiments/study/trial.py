"""A trial: `RDPDetector()` as the working tree has it, on the development sets and the gallery, beside what was there.

For whoever changes the default: one command, minutes, and a name under which the lines stay.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments import datasets, gallery, results, runs
from experiments.study import plan
from experiments.study.comparison import paired
from experiments.study.entrants import FOREST, NEIGHBOURS, PEERS, Entrant, forest_beside, trial_of
from experiments.study.values import Line, Table, groups, table

NEAR = 0.05  # as far as the default may be behind the better of two on a shape
AT_LEAST = {"ring": 0.95, "spiral": 0.95, "between clusters": 0.95, "bimodal hole": 0.95}


def work(name: str, seeds: Sequence[int], every: int, n_jobs: int = 1) -> int:
    """Do the runs of a trial that no line records yet; returns how many failed."""
    path, entrant = plan.TRIALS / f"{name}.jsonl", trial_of(name)
    sets = plan.development_sets()[::every]
    planned = [
        plan.run_of(one, data, seed) for seed in seeds for data in sets for one in (entrant, forest_beside(name))
    ]
    failed = runs.work_aloud(name, planned, path, n_jobs=n_jobs, together=True)
    return failed + runs.work_aloud(
        f"{name}, gallery", plan.plan_gallery([entrant]), path, n_jobs=n_jobs, together=True
    )


def all_lines() -> list[Line]:
    """Lines of peers and of all trials."""
    return [*results.read(plan.FOLDER), *results.read(plan.TRIALS)]


def said(name: str, against: str, seeds: Sequence[int], every: int = 1) -> list[str]:
    """What a trial has shown, as lines of text."""
    records = all_lines()
    forest = next(peer for peer in PEERS if peer.label == FOREST)
    neighbours = next(peer for peer in PEERS if peer.label == NEIGHBOURS)
    trials = [trial_of(one) for one in dict.fromkeys((name, against))]
    return [
        *_on_sets(table([*trials, forest], records, plan.development_sets()[::every], seeds), name, against),
        "",
        *_on_gallery(_gallery([*trials, forest, neighbours], records), name),
    ]


def _gallery(entrants: list[Entrant], records: list[Line]) -> Table:
    return table(entrants, records, datasets.names("gallery"))


def _on_sets(found: Table, name: str, against: str) -> list[str]:
    common = np.all([found.is_done(label) for label in found.labels], axis=0)
    if not common.any():
        return [f"No set has lines of {', '.join(found.labels)}. Run first: python -m experiments study run peers"]
    found = found.where(common)
    lines = [f"AUC-ROC / AUC-PR of {name} over {len(found.sets)} sets, minus {FOREST}'s, and minus those of {against}:"]
    for group, mask in groups(found.sets).items():
        if mask.sum() > 1:
            part = found.where(mask)
            lines.append(f"{group:45} {mask.sum():4}  {_ahead(part, name, FOREST)}   {_ahead(part, name, against)}")
    costs = [f"{label} {found.cpu_seconds[found.place(label)].sum():.1f} s" for label in found.labels]
    return [*lines, f"processor time of fit and score: {', '.join(costs)}"]


def _ahead(found: Table, one: str, other: str) -> str:
    return " / ".join(str(paired(found.of(one)[:, m], found.of(other)[:, m])) for m in range(2))


def _on_gallery(found: Table, name: str) -> list[str]:
    lines = [f"{'AUC-ROC on shapes':24}" + "".join(f"{label:>22}" for label in found.labels)]
    for title, values in by_shape(found).items():
        ours, better = values[found.place(name)], values[[found.place(FOREST), found.place(NEIGHBOURS)]].max()
        wanted = max(better - NEAR, AT_LEAST.get(title, 0.0))
        mark = f"  below {wanted:.3f}" if ours < wanted else ""
        lines.append(f"{title:24}" + "".join(f"{value:22.3f}" for value in values) + mark)
    return lines


def by_shape(found: Table, metric: int = 0) -> dict[str, np.ndarray]:
    """Mean over the seeds of each shape: its name -> (n_entrants,)."""
    titles = np.array([gallery.title(name) for name in found.sets])
    return {title: found.values[:, titles == title, metric].mean(axis=1) for title in dict.fromkeys(titles.tolist())}
