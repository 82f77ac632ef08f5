"""What the detector says of a row, on a scale on which answers can be added to it: its score, and its members' own.

In standard deviations of the detector's typical rows, so that 0 is an ordinary row. Beyond some two of these it hardly
grows any more, but never stops: of two rows that stand out, one answer can still put the second before the first, and
without answers all rows keep their order. A gap parts the rows that the detector reports from the others, for an answer
moves rows that are hardly like the answered one a little, too, and that is no verdict on them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rdplearn._types import Doubles, Matrix
from rdplearn._voices import all_scaled_scores

if TYPE_CHECKING:
    from rdplearn.detector import RDPDetector

WIDER = 1.5  # typical rows are the normal ones: all rows spread this much wider
LEVELS_OFF, GOES_ON = 1.5, 0.1
GAP = 1.5  # between rows that the detector reports and others: a few answers must not turn the verdict on all
NARROWEST = 1e-6  # of the typical score, where all typical rows have the same
NARROWEST_MEMBER = 0.5  # of the members' usual spread: one that tells typical rows hardly apart is not louder for that


@dataclass(frozen=True)
class Scale:
    """Where a typical score lies, and how far scores spread: the detector's, and after it those of its members.

    centre, width : (1 + n_members,)
    shares : (1 + n_members,), how much of what the detector says each of its members says, of rows above the centre
    line : the detector's own threshold
    """

    centre: Doubles
    width: Doubles
    shares: Doubles
    line: float

    def opinions(self, scores: Doubles) -> Doubles:
        """Scores as `scores_of` gives them on the new scale: the same order. Shape (n_rows, 1 + n_members)."""
        return _levelled((scores - self.centre) / self.width)

    def with_gap(self, opinions: Doubles) -> Doubles:
        """The detector's opinions of rows, with a gap above its threshold."""
        return opinions + self.gap(opinions)

    def gap(self, opinions: Doubles) -> Doubles:
        """What rows above the detector's threshold get on top of its opinions, (n_rows,); 0 for the others."""
        return np.where(opinions > self._score(self.line), GAP, 0.0)

    def score(self, score: float) -> float:
        """An anomaly score of the detector as a whole on the new scale."""
        return float(self.with_gap(np.array(self._score(score))))

    @property
    def threshold(self) -> float:
        """The middle of the gap."""
        return self._score(self.line) + GAP / 2

    @property
    def at_threshold(self) -> Doubles:
        """What the detector and its members say of a row at the threshold: (1 + n_members,)."""
        return self._score(self.line) * self.shares

    def _score(self, score: float) -> float:
        return float(_levelled((score - self.centre[:1]) / self.width[:1])[0])


def scores_of(detector: RDPDetector, matrix: Matrix) -> Doubles:
    """The detector's anomaly scores, and those of its members and cells, (n_rows, 1 + n_members)."""
    scaled = all_scaled_scores(detector, matrix).astype(np.float64)
    return np.column_stack([detector.combination_.over_members(scaled), scaled])


def learn_scale(detector: RDPDetector) -> Scale:
    """The scale of a fitted detector, from what it says of its typical rows, and of rows of the table."""
    typical = scores_of(detector, detector.typical_rows_.rows)
    centre, spread = np.median(typical, axis=0), typical.std(axis=0)
    spread[1:] = np.maximum(spread[1:], NARROWEST_MEMBER * np.median(spread[1:]))
    narrowest = np.maximum(NARROWEST * np.abs(centre), np.finfo(np.float64).tiny)
    scale = Scale(centre, WIDER * np.maximum(spread, narrowest), np.ones_like(centre), -detector.offset_)
    of_table = scale.opinions(scores_of(detector, detector.typical_rows_.company))
    above = of_table[of_table[:, 0] > 0]
    return replace(scale, shares=(above[:, 0] @ above) / (above[:, 0] @ above[:, 0])) if len(above) else scale


def _levelled(away: Doubles) -> Doubles:
    return (1 - GOES_ON) * LEVELS_OFF * np.tanh(away / LEVELS_OFF) + GOES_ON * away
