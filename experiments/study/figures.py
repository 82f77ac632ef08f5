"""Figures of the study: ranks, quality against cost, agreement against quality."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments.plots import new_figure, save_figure
from experiments.significance import draw_critical_difference
from experiments.study.entrants import CURVES, DEFAULT, FOREST
from experiments.study.values import METRICS, Table

COSTS = ("n_members", "n_rounds", "n_steps")  # what a user with time to spend may raise


def draw(found: Table, rivals: list[str], folder: Path) -> list[Path]:
    """Draw all figures into `folder`."""
    return [
        *(_ranks(found, rivals, number, folder) for number in range(len(METRICS))),
        _quality_against_cost(found, folder),
        _agreement(found, folder),
    ]


def _ranks(found: Table, rivals: list[str], number: int, folder: Path) -> Path:
    path = folder / f"default_ranks_{list(METRICS)[number]}.svg"
    values = np.stack([found.of(label)[:, number] for label in rivals], axis=1)
    draw_critical_difference(values, rivals, path)
    return path


def _quality_against_cost(found: Table, folder: Path) -> Path:
    figure, axes = new_figure(7, 4)
    forest = found.of(FOREST)
    own_cost = np.nansum(found.cpu_seconds[found.place(FOREST)])
    for name in COSTS:
        curve = [e.label for e in CURVES if name in e.options and found.has(e.label)] + [DEFAULT]
        points = []
        for label in curve:
            gain = (found.of(label) - forest).mean(axis=0)
            points.append((np.nansum(found.cpu_seconds[found.place(label)]) / own_cost, *gain))
        cost, roc, precision = np.array(sorted(points)).T
        (line,) = axes.plot(cost, roc, "o-", label=f"{name}, AUC-ROC")
        axes.plot(cost, precision, "s--", color=line.get_color(), label=f"{name}, AUC-PR")
    axes.set_xscale("log")
    axes.set_xlabel("processor time, in times IsolationForest's")
    axes.set_ylabel("mean gain over IsolationForest")
    axes.legend(fontsize=8)
    path = folder / "default_cost.svg"
    save_figure(figure, path)
    return path


def _agreement(found: Table, folder: Path) -> Path:
    agreement, quality = found.trust["view_agreement"][found.place(DEFAULT)], found.of(DEFAULT)[:, 0]
    figure, axes = new_figure(6, 4)
    axes.plot(agreement, quality, "o", alpha=0.5)
    axes.set_xlabel("agreement of robust and rank views")
    axes.set_ylabel("AUC-ROC")
    path = folder / "default_agreement.svg"
    save_figure(figure, path)
    return path
