"""Figures of the study: mean ranks, by both metrics."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments.significance import draw_critical_difference
from experiments.study.values import METRICS, Table


def draw(found: Table, rivals: list[str], folder: Path) -> list[Path]:
    """Draw all figures into `folder`."""
    paths = [folder / f"default_ranks_{metric}.svg" for metric in METRICS]
    for number, path in enumerate(paths):
        draw_critical_difference(np.stack([found.of(label)[:, number] for label in rivals], axis=1), rivals, path)
    return paths
