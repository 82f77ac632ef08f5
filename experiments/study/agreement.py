"""How far do differently seen columns agree on what stands out? A check without labels."""

from __future__ import annotations

from typing import Any

import numpy as np


def agreement_of_views(detector: Any, rows: Any) -> float | None:
    """Correlate what members say that see the columns on robust scales, and what those say that see ranks.

    None where the detector has no members of both kinds.
    """
    views = np.resize(np.atleast_1d(detector.views), detector.n_members).tolist()
    scores = np.log(np.maximum(-detector.member_scores(rows), 1e-12))  # (n_rows, n_members)
    sides = [[number for number, view in enumerate(views) if view == side] for side in ("robust", "rank")]
    if not all(sides):
        return None
    return correlation(*(standardised(scores[:, side]).mean(axis=1) for side in sides))


def standardised(columns: np.ndarray) -> np.ndarray:
    """Bring columns to mean 0 and standard deviation 1; constant ones to 0."""
    spread = columns.std(axis=0)
    return (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def correlation(one: np.ndarray, other: np.ndarray) -> float | None:
    """Give Pearson's correlation; None if one of the two is constant.

    Examples
    --------
    >>> correlation(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 2.0]))
    0.866
    """
    if one.std() == 0 or other.std() == 0:
        return None
    return round(float(np.corrcoef(one, other)[0, 1]), 4)
