"""Figures of a table: bars of ours and the paper's, sensitivity curves, critical differences."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from experiments.show import filled_columns, values_matrix
from experiments.significance import draw_critical_difference
from experiments.summary import Grid, grid, paper_number
from experiments.tables.layout import Panel, Table

FEWEST_SETS = 10  # on fewer, Nemenyi's test tells nobody apart


def can_draw() -> bool:
    """Tell whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def draw(
    table: Table, records: Iterable[dict[str, Any]], folder: Path, *, quick: bool, no_data: set[str], bars: bool = True
) -> list[Path]:
    """Draw every panel of a table into `folder`; give the files.

    bars : of ours and the paper's, which say what the table says
    """
    records = list(records)
    files = []
    for panel in table.panels:
        cells = grid(table, panel, records, quick=quick, no_data=no_data)
        labels = [label for label in filled_columns(table, panel, cells) if _sets_of(cells, label)]
        if not labels:
            continue
        if table.axis or bars:
            files.append(folder / f"{table.name}_{panel.metric}.svg")
            (_draw_curves if table.axis else _draw_bars)(table, panel, cells, labels, files[-1])
        contestants = [label for label in labels if _sets_of(cells, label) >= _sets_of(cells, table.ours)]
        names, values = values_matrix(table, cells, contestants)
        if panel.higher_is_better and table.axis is None and len(names) >= FEWEST_SETS and len(contestants) > 2:
            files.append(folder / f"{table.name}_{panel.metric}_ranks.svg")
            draw_critical_difference(values, contestants, files[-1])
    return files


def new_figure(width: float, height: float) -> tuple[Any, Any]:
    """Make a figure of one panel without a window system."""
    return new_figures(1, 1, width, height)


def new_figures(n_high: int, n_wide: int, width: float, height: float) -> tuple[Any, Any]:
    """Make a figure of several panels; give them as NumPy arrays of axes where there is more than one."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(n_high, n_wide)


def save_figure(figure: Any, path: Path) -> None:
    """Write as SVG without dates and with lasting names of its parts, so that the same results give the same file."""
    from matplotlib import rc_context

    path.parent.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.hashsalt": path.stem}):
        figure.savefig(path, metadata={"Date": None})


def _draw_bars(table: Table, panel: Panel, cells: Grid, labels: list[str], path: Path) -> None:
    data = list(dict.fromkeys(name for name, _ in cells))
    figure, axes = new_figure(max(6, 0.9 * len(data)), 4)
    width = 0.8 / len(labels)
    for place, label in enumerate(labels):
        positions = np.arange(len(data)) + place * width
        heights = [cells[name, label].mean or 0 for name in data]
        axes.bar(positions, heights, width, label=label, yerr=[cells[name, label].std or 0 for name in data])
        paper = [(x, n.mean) for x, d in zip(positions, data, strict=True) if (n := paper_number(panel, d, label))]
        if paper:
            axes.scatter(*zip(*paper, strict=True), marker="_", color="black", zorder=3)
    axes.set_xticks(np.arange(len(data)) + 0.4 - width / 2, data, rotation=45, ha="right")
    axes.set_title(f"{table.title}: {panel.title} (dashes: the paper's)")
    axes.legend(fontsize=8, ncols=4)
    save_figure(figure, path)


def _draw_curves(table: Table, panel: Panel, cells: Grid, labels: list[str], path: Path) -> None:
    figure, axes = new_figure(7, 5)
    for name in dict.fromkeys(name for name, _ in cells):
        points = [(float(label), cells[name, label].mean) for label in labels if cells[name, label].values]
        if points:
            axes.plot(*zip(*points, strict=True), marker="o", label=name)
    axes.set_xlabel(table.axis)
    axes.set_ylabel(panel.title)
    axes.set_title(table.title)
    axes.legend(fontsize=8, ncols=3)
    save_figure(figure, path)


def _sets_of(cells: Grid, label: str) -> set[str]:
    """Name the sets on which a column has results: who lacks one of ours cannot be ranked beside it."""
    return {name for (name, column), cell in cells.items() if column == label and cell.values}
