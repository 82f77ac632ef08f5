"""Which row to ask about next: a table that is gone through with a person, answer by answer.

The detector scores the table once. An answer then costs one pass over the rows, which says how near each is to the
answered one; all else is small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rdplearn._feedback.answers import checked_answers, row_keys
from rdplearn._feedback.columns import Seen, nearness
from rdplearn._feedback.process import MOST_POINTS, near_moves
from rdplearn._model.threads import one_blas_thread
from rdplearn._types import Doubles, Floats, Ints, Matrix
from rdplearn.errors import TableError, unknown_choice

if TYPE_CHECKING:
    from rdplearn._feedback.reviewed import Reviewed

STRATEGIES = ("top", "informative")
MOST_ROWS = 100_000  # worth asking about, those with the highest scores; of a larger table the others never come up
MOST_WEIGHED = 2_000  # rows whose uncertainty is looked at
MOST_KEPT = MOST_POINTS + 100  # points whose nearness to all rows is kept
ALIKE = 3.0  # how much less a row counts that equals one that was proposed with it


def check_wish(n_rows: int, strategy: str) -> None:
    """Refuse what `next` cannot do."""
    if strategy not in STRATEGIES:
        raise ValueError(unknown_choice("strategy", "next", strategy, STRATEGIES))
    if not isinstance(n_rows, Integral) or n_rows < 1:
        raise ValueError(f"The 'n' parameter of next must be a whole number, 1 or more. Got {n_rows!r} instead.")


class Asking:
    """Rows of a table to be asked about, one after the other.

    Parameters
    ----------
    reviewed : takes the answers
    matrix : the table, as its detector takes it
    """

    def __init__(self, reviewed: Reviewed, matrix: Matrix) -> None:
        self.reviewed = reviewed
        rows = reviewed._rows(matrix)
        opinions = reviewed._opinions(rows)
        prior = opinions[:, 0]
        self.places: Ints = np.arange(len(prior))
        if len(prior) > MOST_ROWS:
            self.places = np.sort(np.argpartition(-prior, MOST_ROWS)[:MOST_ROWS])
        self.rows, self.opinions = rows[self.places], opinions[self.places]
        self._seen = reviewed._columns(self.rows)
        # (MOST_KEPT, n_rows), made once, since a copy of it takes longer than an answer; memory is used slot by slot
        self._near: Floats = np.zeros((MOST_KEPT, len(self.places)), dtype=np.float32)
        self._slot_of: dict[bytes, int] = {}
        self._open = self._not_answered()

    def next(self, n_rows: int = 1, *, strategy: str = "top") -> Ints:
        """The places of the rows worth asking about, from 0, the first the most; fewer if no more are left.

        Parameters
        ----------
        n_rows : how many; rows that are proposed together differ from each other as far as that can be
        strategy : "top", the highest scores; or "informative", where an answer decides most: near the threshold, and
            far from all answers
        """
        check_wish(n_rows, strategy)
        worth = np.where(self._open, self._worth(strategy, self._open), -np.inf)
        chosen: list[int] = []
        while len(chosen) < min(n_rows, int(self._open.sum())):
            best = int(np.argmax(worth))
            chosen.append(best)
            if len(chosen) < n_rows:
                worth = worth - ALIKE * nearness(self._seen, self._seen[[best]])[:, 0]
            worth[chosen] = -np.inf
        return self.places[chosen]

    def best(self, n_rows: int, *, strategy: str = "top") -> Ints:
        """The places of the rows most worth it, in order, answered or not, and however like each other they are."""
        worth = self._worth(strategy, np.ones(len(self.places), dtype=bool))
        return np.sort(self.places[np.argsort(-worth, kind="stable")[:n_rows]])

    def tell(self, places: Sequence[int] | Ints, answers: str | Sequence[str]) -> None:
        """Take answers about rows by their places; explanations call them by their numbers, from 1."""
        here = self._own_places(places)
        told = checked_answers(answers, len(here))
        self.reviewed.tell(self.rows[here], told, names=[str(place + 1) for place in places])
        self._open[here] = False

    def take_back(self, places: Sequence[int] | Ints) -> None:
        """Forget what was told about rows; they may be asked about again."""
        here = self._own_places(places)
        self.reviewed.take_back(self.rows[here])
        self._open[here] = True

    def scores(self) -> Doubles:
        """The anomaly scores of the rows, given the answers, without the gap above the threshold: see `Scale`."""
        process = self.reviewed._process
        if process is None:
            return self.opinions[:, 0]
        slots = self._slots(process.points)
        weights = np.zeros(max(slots) + 1)
        np.add.at(weights, slots, process.weights)  # rows that look the same share a slot
        with one_blas_thread():
            moved = near_moves(self._near[: len(weights)].T, weights) + process.trust_moves(self.opinions)
        return self.opinions[:, 0] + moved

    def _slots(self, points: Seen) -> list[int]:
        """Where the nearness of all rows to each point is kept; it is made once."""
        keys = _point_keys(points)
        new = [place for place, key in enumerate(keys) if key not in self._slot_of]
        if len(self._slot_of) + len(new) > len(self._near):  # many are taken as another row by now
            self._slot_of = {key: self._slot_of[key] for key in keys if key in self._slot_of}
        free = sorted(set(range(len(self._near))) - set(self._slot_of.values()))[: len(new)]
        if new:
            self._near[free] = nearness(self._seen, points[new]).T
            self._slot_of |= {keys[place]: slot for place, slot in zip(new, free, strict=True)}
        return [self._slot_of[key] for key in keys]

    def _worth(self, strategy: str, open_rows: npt.NDArray[np.bool_]) -> Doubles:
        """How much it is worth to ask about each row: its score, or uncertainty minus distance from the threshold."""
        scores = self.scores()
        if strategy == "top":
            return scores
        away = np.abs(scores + self.reviewed._scale.gap(self.opinions[:, 0]) + self.reviewed.offset_)
        few = np.argsort(np.where(open_rows, away, np.inf), kind="stable")[:MOST_WEIGHED]
        worth = np.full(len(scores), -1e300)
        worth[few] = self.reviewed.uncertainty(self.rows[few]) - away[few]
        return worth

    def _own_places(self, places: Sequence[int] | Ints) -> Ints:
        wanted = np.asarray(places, dtype=np.int64)
        here = np.searchsorted(self.places, wanted)
        unknown = wanted[(here == len(self.places)) | (self.places[np.minimum(here, len(self.places) - 1)] != wanted)]
        if len(unknown):
            raise TableError(
                f"There is no row {unknown[0] + 1:,} among the {len(self.places):,} rows that are asked about."
            )
        return here

    def _not_answered(self) -> npt.NDArray[np.bool_]:
        """Rows that nothing was told about; of equal ones as many count as answered as were."""
        told = Counter({key: len(each.answers) for key, each in self.reviewed.answers_.told.items()})
        open_rows = np.ones(len(self.places), dtype=bool)
        if told:
            for place, key in enumerate(row_keys(self.rows)):
                if told[key] > 0:
                    told[key] -= 1
                    open_rows[place] = False
        return open_rows


def _point_keys(points: Seen) -> list[bytes]:
    """Bytes that are equal for points that are equally near to every row."""
    keys = row_keys(points.columns)
    if points.leaves is None:
        return keys
    return [key + leaves.tobytes() for key, leaves in zip(keys, points.leaves, strict=True)]
