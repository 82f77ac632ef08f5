"""Is one method better than another over many sets? The paper's sign test, and Demšar's (2006) advice."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats


class Record(NamedTuple):
    """Data sets on which the first method wins, draws, loses."""

    wins: int
    draws: int
    losses: int


def win_draw_loss(ours: np.ndarray, theirs: np.ndarray, digits: int = 3) -> Record:
    """Count over data sets, on values rounded as they are printed.

    Examples
    --------
    >>> win_draw_loss(np.array([0.9, 0.5, 0.3]), np.array([0.8, 0.5, 0.4]))
    Record(wins=1, draws=1, losses=1)
    """
    difference = np.round(ours, digits) - np.round(theirs, digits)
    return Record(int((difference > 0).sum()), int((difference == 0).sum()), int((difference < 0).sum()))


def sign_test(record: Record) -> float:
    """Give the two-tailed p-value of the sign test; draws are left out."""
    decided = record.wins + record.losses
    return float(stats.binomtest(record.wins, decided).pvalue) if decided else 1.0


def wilcoxon_test(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Give the two-sided p-value of Wilcoxon's signed-rank test; 1 if nothing differs."""
    if not np.any(ours != theirs):
        return 1.0
    # with ties and few sets the exact distribution is not available; "auto" chooses
    return float(stats.wilcoxon(ours, theirs, zero_method="wilcox").pvalue)


def mean_ranks(values: np.ndarray) -> np.ndarray:
    """Rank methods on each data set (1 is best) and average.

    Parameters
    ----------
    values : (n_data_sets, n_methods), higher is better
    """
    return stats.rankdata(-values, axis=1).mean(axis=0)


def critical_difference(n_methods: int, n_data_sets: int, alpha: float = 0.05) -> float:
    """Give the difference of mean ranks that Nemenyi's test calls significant."""
    studentized = stats.studentized_range.ppf(1 - alpha, n_methods, 1_000_000)
    return float(studentized / np.sqrt(2) * np.sqrt(n_methods * (n_methods + 1) / (6 * n_data_sets)))


def indistinct_groups(ranks: np.ndarray, difference: float) -> list[tuple[int, int]]:
    """Give the longest stretches `(first, last)` of sorted ranks that lie within the critical difference."""
    groups: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = int(np.searchsorted(ranks, ranks[first] + difference, side="right")) - 1
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups


def draw_critical_difference(values: np.ndarray, methods: list[str], path: Path) -> None:
    """Draw mean ranks on a line, with bars over methods that Nemenyi's test cannot tell apart.

    Parameters
    ----------
    values : (n_data_sets, n_methods), higher is better
    """
    from experiments.plots import new_figure, save_figure

    order = np.argsort(mean_ranks(values), kind="stable")
    ranks = mean_ranks(values)[order]
    difference = critical_difference(len(methods), len(values))
    figure, axes = new_figure(8, 1.2 + 0.3 * len(methods))
    axes.set_xlim(len(methods) + 0.2, 0.8)
    axes.set_ylim(-len(methods) - 1, 1.5)
    axes.hlines(0, 1, len(methods), color="black")
    for tick in range(1, len(methods) + 1):
        axes.text(tick, 0.25, str(tick), ha="center")
        axes.vlines(tick, 0, 0.15, color="black")
    for place, (rank, index) in enumerate(zip(ranks, order, strict=True)):
        axes.vlines(rank, -place - 1, 0, color="0.6", linewidth=0.8)
        axes.text(rank, -place - 1, f" {methods[index]} {rank:.2f}", va="center", fontsize=9)
    for level, (first, last) in enumerate(indistinct_groups(ranks, difference)):
        axes.hlines(-0.25 - 0.25 * level, ranks[first], ranks[last], color="tab:blue", linewidth=3)
    axes.set_title(f"Mean rank over {len(values)} data sets; critical difference {difference:.2f}", fontsize=10)
    axes.axis("off")
    save_figure(figure, path)
