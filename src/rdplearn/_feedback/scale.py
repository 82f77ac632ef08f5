"""The detector's score on a scale on which answers can be added to it.

The logarithm of the score, in standard deviations of the detector's typical rows, so that 0 is an ordinary row. Beyond
some two of these it hardly grows any more, but never stops: of two rows that stand out, one answer can still put the
second before the first, and without answers all rows keep their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rdplearn._types import Doubles

if TYPE_CHECKING:
    from rdplearn.detector import RDPDetector

WIDER = 1.5  # typical rows are the normal ones: all rows spread this much wider
LEVELS_OFF, GOES_ON = 1.5, 0.1
SMALLEST = 1e-300


@dataclass(frozen=True)
class Scale:
    """Where a typical score lies and how far typical scores spread; `on_logs` if all of them are positive."""

    centre: float
    width: float
    on_logs: bool

    def __call__(self, scores: Doubles) -> Doubles:
        """Anomaly scores of the detector on the new scale: the same order."""
        values = np.log(np.maximum(scores, SMALLEST)) if self.on_logs else np.asarray(scores, dtype=np.float64)
        away = (values - self.centre) / self.width
        return (1 - GOES_ON) * LEVELS_OFF * np.tanh(away / LEVELS_OFF) + GOES_ON * away


def learn_scale(detector: RDPDetector) -> Scale:
    """The scale of a fitted detector, from the scores of its typical rows."""
    typical = -detector.score_samples(detector.typical_rows_.rows)
    on_logs = bool((typical > 0).all())
    values = np.log(typical) if on_logs else typical
    return Scale(float(np.median(values)), WIDER * max(float(values.std()), 1e-6), on_logs)
