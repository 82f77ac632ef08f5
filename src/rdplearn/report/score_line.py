"""The scores of all rows in few numbers: how they spread, and how many rows any line would report."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from rdplearn._explain.reliability import score_distribution
from rdplearn._types import Doubles

EVERY_COUNT_UP_TO, N_FURTHER_COUNTS = 200, 200


def describe_scores(scores: Doubles, threshold: float) -> dict[str, Any]:
    """Histogram, quantiles, threshold, and the lines that a reader may move it to, as plain values."""
    return {
        "threshold": threshold,
        "n_reported": int(np.sum(scores > threshold)),
        "lowest": float(scores.min()),
        "median": float(np.median(scores)),
        "highest": float(scores.max()),
        "histogram": asdict(score_distribution(scores)),
        "lines": [{"threshold": line, "n_rows": count} for line, count in lines_to_draw(scores, threshold)],
    }


def lines_to_draw(scores: Doubles, threshold: float) -> list[tuple[float, int]]:
    """Thresholds, falling, each with the number of rows above it, which is exact.

    Every number of rows up to 200 is there, but for those that equal scores rule out, then some in steps of equal ratio
    up to all rows, and the threshold of the model.

    Examples
    --------
    >>> lines_to_draw(np.array([1.0, 2.0, 2.0, 5.0]), threshold=4.0)
    [(5.0, 0), (4.0, 1), (3.5, 1), (1.5, 3), (0.9999999999999999, 4)]
    """
    falling = np.sort(scores)[::-1]
    n_rows = len(falling)
    few = np.arange(1, min(EVERY_COUNT_UP_TO, n_rows))
    more = np.geomspace(max(1, len(few)), n_rows, N_FURTHER_COUNTS).round().astype(np.int64)
    counts = np.unique(np.concatenate([few, more]))
    counts = counts[counts < n_rows]
    possible = counts[falling[counts - 1] > falling[counts]]
    halfway = (falling[possible - 1] + falling[possible]) / 2
    lines = [(float(falling[0]), 0), *zip(halfway.tolist(), possible.tolist(), strict=True)]
    lines.append((float(np.nextafter(falling[-1], -np.inf)), n_rows))
    own_line = (threshold, int(np.sum(scores > threshold)))
    return sorted({*lines, own_line}, key=lambda line: (-line[0], line[1]))
