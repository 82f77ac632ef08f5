"""Equations 5 to 7: how well a Gaussian projection onto K components keeps distances, norms and inner products.

For each K and ε: the share of pairs (or rows) that a projection moves by more than ε, over fresh projections, beside
the bound. The paper gives no bound for a single distance; a difference of two rows is a row, so that of norms
serves. The Johnson-Lindenstrauss lemma (equation 5) speaks of all pairs at once, for K = 20 log(n) / ε².
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from experiments.theory.tables_of_rows import project, small_table

TITLE = "Random projections keep distances, norms and inner products (equations 5 to 7)"
SIZES = (10, 20, 50, 100, 200, 500, 1_000)
TOLERANCES = (0.2, 0.3, 0.5)
N_ROWS, N_PAIRS = 200, 2_000


def settings(quick: bool) -> list[dict[str, Any]]:
    """All K, and the one that the lemma names for each ε."""
    sizes = SIZES[::3] if quick else (*SIZES, *(lemma_size(N_ROWS, tolerance) for tolerance in TOLERANCES))
    data = ("sklearn/digits",) if quick else ("sklearn/digits", "olivetti")
    return [{"data": name, "n_targets": k, "n_draws": 5 if quick else 20, "seed": 0} for name in data for k in sizes]


def lemma_size(n_rows: int, tolerance: float) -> int:
    """K = 20 log(n) / ε², the paper's form of the lemma."""
    return math.ceil(20 * math.log(n_rows) / tolerance**2)


def norm_bound(tolerance: float, n_targets: int) -> float:
    """Equation 6: how likely a norm moves by more than ε, at most."""
    return min(1.0, 2 * math.exp(-(tolerance**2 - tolerance**3) * n_targets / 4))


def inner_product_bound(tolerance: float, n_targets: int) -> float:
    """Equation 7: the same for inner products of rows of length 1, at most."""
    return min(1.0, 2 * norm_bound(tolerance, n_targets)) if norm_bound(tolerance, n_targets) < 1 else 1.0


def measure(setting: dict[str, Any]) -> dict[str, float]:
    """Give the share beyond each ε of distances, norms and inner products, and the largest share of a draw."""
    rows, _ = small_table(setting["data"], N_ROWS, setting["seed"])
    random = np.random.default_rng(setting["seed"])
    first, second = pairs(len(rows), N_PAIRS, random)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    beyond: dict[str, list[float]] = {}
    for draw in range(setting["n_draws"]):
        projected = project(rows, "linear", setting["n_targets"], seed=draw)
        projected_unit = projected / np.linalg.norm(rows, axis=1, keepdims=True)  # a linear map keeps factors
        moved = {
            "distances": _relative(rows[first] - rows[second], projected[first] - projected[second]),
            "norms": _relative(rows, projected),
            "inner_products": np.abs(
                (unit[first] * unit[second]).sum(axis=1) - (projected_unit[first] * projected_unit[second]).sum(axis=1)
            ),
        }
        for name, sizes in moved.items():
            for tolerance in TOLERANCES:
                beyond.setdefault(f"{name}_beyond_{tolerance}", []).append(float((sizes > tolerance).mean()))
    return {name: float(np.mean(shares)) for name, shares in beyond.items()}


def pairs(n_rows: int, n_pairs: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw pairs of different rows."""
    first = random.integers(n_rows, size=n_pairs)
    return first, (first + random.integers(1, n_rows, size=n_pairs)) % n_rows


def _relative(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """How far squared lengths move, as a share of themselves."""
    lengths = (before**2).sum(axis=1)
    return np.abs((after**2).sum(axis=1) - lengths) / np.maximum(lengths, 1e-12)


def draw(records: Iterable[dict[str, Any]], path: Path) -> None:
    """Draw the measured shares as points and the bounds as lines, over K."""
    from experiments.plots import new_figures, save_figure

    records = sorted(records, key=lambda record: record["setting"]["n_targets"])
    figure, panels = new_figures(1, 2, 10, 4)
    titles = {"norms": ("equation 6: norms", norm_bound), "inner_products": ("equation 7", inner_product_bound)}
    for axes, (kind, (title, bound)) in zip(panels, titles.items(), strict=True):
        sizes = np.geomspace(10, 1_000)
        for tolerance, colour in zip(TOLERANCES, ("tab:blue", "tab:orange", "tab:green"), strict=True):
            axes.plot(sizes, [bound(tolerance, k) for k in sizes], color=colour, label=f"bound, ε = {tolerance}")
            points = [
                (r["setting"]["n_targets"], share)
                for r in records
                if (share := r["measured"][f"{kind}_beyond_{tolerance}"]) > 0 and r["setting"]["n_targets"] <= 1_000
            ]
            if points:
                axes.scatter(*zip(*points, strict=True), color=colour, s=14)
        axes.set(xscale="log", yscale="log", ylim=(1e-5, 1.5), xlabel="K", ylabel="share beyond ε", title=title)
        axes.legend(fontsize=8)
    save_figure(figure, path)
