"""How explanations tell what answers did to a score."""

from __future__ import annotations

from collections.abc import Sequence

from rdplearn._explain.explanation import Explanation
from rdplearn._explain.kinds import ANSWERS_COLUMN
from rdplearn._feedback.answers import Told

SMALLEST_TOLD = 0.005  # what two digits would call 0.00


class ReviewedExplanation(Explanation):
    """An explanation whose last column is what the answers did: how far they moved the score, and which rows did it."""

    def sentences(self, row: int, *, n_columns: int = 3) -> list[str]:
        """What raises a row's score, in words, and last what lowers it, if answers do."""
        told = super().sentences(row, n_columns=n_columns)
        contributions, values = self._row(row)
        if contributions[-1] < -SMALLEST_TOLD:
            told.append(f"{ANSWERS_COLUMN} ({values[-1]}) lower the score by {-contributions[-1]:.2f}")
        return told


def told_in_words(told: Sequence[tuple[int, Told]]) -> list[str]:
    """Answered rows in few words, those with the same answer together. told : number and answer of each.

    Examples
    --------
    >>> import numpy as np
    >>> first, second, third = (Told(np.zeros((1, 2)), [word]) for word in ("normal", "normal", "anomalous"))
    >>> first.name, second.name = "18", "7"
    >>> told_in_words([(0, first), (1, second), (2, third)])
    ['18, 7 normal', 'answer 3 anomalous']
    """
    names: dict[str, list[str]] = {}
    for place, each in told:
        names.setdefault(each.verdict, []).append(each.name if each.name is not None else f"answer {place + 1}")
    return [f"{', '.join(of_verdict)} {verdict}" for verdict, of_verdict in names.items()]
