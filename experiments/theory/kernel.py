"""Equation 8: inner products of random Fourier features estimate the Gaussian kernel without bias.

Over fresh mappings: the error of one mapping, which falls like 1 / sqrt(K), and the error of their mean, which falls
below its own standard error if the estimate is unbiased.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from experiments.theory.bounds import pairs
from experiments.theory.tables_of_rows import project, small_table

TITLE = "Fourier features estimate the Gaussian kernel without bias (equation 8)"
SIZES = (10, 20, 50, 100, 200, 500, 1_000)
N_ROWS, N_PAIRS = 200, 500


def settings(quick: bool) -> list[dict[str, Any]]:
    """All K; the bandwidth is the median distance between rows."""
    sizes = SIZES[::3] if quick else SIZES
    return [{"data": "sklearn/digits", "n_targets": k, "n_draws": 50 if quick else 400, "seed": 0} for k in sizes]


def measure(setting: dict[str, Any]) -> dict[str, float]:
    """Give the error of one mapping and of the mean of all, and the mean's in units of its standard error."""
    rows, _ = small_table(setting["data"], N_ROWS, setting["seed"])
    first, second = pairs(len(rows), N_PAIRS, np.random.default_rng(setting["seed"]))
    squared = ((rows[first] - rows[second]) ** 2).sum(axis=1)
    bandwidth = float(np.median(np.sqrt(squared)))
    exact = np.exp(-squared / (2 * bandwidth**2))
    estimates = np.empty((setting["n_draws"], N_PAIRS))
    for draw in range(setting["n_draws"]):
        features = project(rows, "fourier", setting["n_targets"], seed=draw, bandwidth=bandwidth)
        estimates[draw] = (features[first] * features[second]).sum(axis=1)
    errors = estimates - exact
    standard_error = errors.std(axis=0, ddof=1) / np.sqrt(setting["n_draws"])
    away = np.abs(errors.mean(axis=0)) / standard_error
    return {
        "error_of_one": float(np.sqrt((errors**2).mean())),
        "error_of_mean": float(np.sqrt((errors.mean(axis=0) ** 2).mean())),
        "standard_error": float(np.sqrt((standard_error**2).mean())),
        "pairs_beyond_two_standard_errors": float((away > 2).mean()),  # 0.05 expected
    }


def draw(records: Iterable[dict[str, Any]], path: Path) -> None:
    """Draw the errors over K."""
    from experiments.plots import new_figure, save_figure

    records = sorted(records, key=lambda record: record["setting"]["n_targets"])
    figure, axes = new_figure(6, 4)
    sizes = [record["setting"]["n_targets"] for record in records]
    names = {
        "error_of_one": "one mapping",
        "error_of_mean": "mean of all mappings",
        "standard_error": "its standard error",
    }
    for name, title in names.items():
        style = "--" if name == "standard_error" else "o-"
        axes.plot(sizes, [record["measured"][name] for record in records], style, label=title)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="K",
        ylabel="root mean squared error",
        title="Fourier features and the kernel",
    )
    axes.legend(fontsize=8)
    save_figure(figure, path)
