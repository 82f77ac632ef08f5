"""The detector's score on a scale on which answers can be added to it.

In standard deviations of the detector's typical rows, so that 0 is an ordinary row. Beyond some two of these it hardly
grows any more, but never stops: of two rows that stand out, one answer can still put the second before the first, and
without answers all rows keep their order.
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
NARROWEST = 1e-6  # of the typical score, where all typical rows have the same


@dataclass(frozen=True)
class Scale:
    """Where a typical score lies, and how far scores spread."""

    centre: float
    width: float

    def __call__(self, scores: Doubles) -> Doubles:
        """Anomaly scores of the detector on the new scale: the same order."""
        away = (scores - self.centre) / self.width
        return (1 - GOES_ON) * LEVELS_OFF * np.tanh(away / LEVELS_OFF) + GOES_ON * away


def learn_scale(detector: RDPDetector) -> Scale:
    """The scale of a fitted detector, from the scores of its typical rows."""
    typical = -detector.score_samples(detector.typical_rows_.rows)
    centre = float(np.median(typical))
    return Scale(centre, WIDER * max(float(typical.std()), NARROWEST * abs(centre), np.finfo(np.float64).tiny))
