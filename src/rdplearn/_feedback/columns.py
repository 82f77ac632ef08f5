r"""Which rows an answer reaches: how near two rows are, by their columns as the detector's views show them.

:math:`n(x, y) = \exp(-\sum_j |v_j(x) - v_j(y)| / (s_j r))` with :math:`v` the columns through the views *rank* and
*surprise* (or whichever the detector has), :math:`s_j` the spread of a column among the detector's typical rows, and
:math:`r` the median distance of two of them. Absolute differences, not squares: a row that is far in one column stays
comparable in all others. Beside it, with less say, counts the share of random trees in which two rows have the same
leaf (`forest.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rdplearn._feedback.compiled import dense_nearness, dense_nearness_and_leaves
from rdplearn._feedback.forest import Forest, Leaves, grow_forest
from rdplearn._types import Doubles, Floats, Ints, Matrix, Rows, dense, row_blocks
from rdplearn._views.view import SingleView, names_in, side_by_side
from rdplearn.defaults import in_turn

if TYPE_CHECKING:
    from rdplearn.detector import RDPDetector

WANTED = ("rank", "surprise")
NARROWEST = 0.5  # of the median spread: a column that hardly varies among typical rows does not outweigh all others
SMALLEST_SAY = 0.5  # a column of a table in which typical rows hardly differ does not grow for that
ROWS_AT_ONCE = 2**12
FOREST_SHARE = 0.3  # of the nearness


@dataclass(frozen=True)
class Seen:
    """Rows as answers see them.

    columns : (n_rows, n_seen_columns), float32, CSR for sparse rows
    leaves : (n_rows, n_trees); None where nearness goes by columns alone
    """

    columns: Rows
    leaves: Leaves | None

    def __len__(self) -> int:
        return int(self.columns.shape[0])

    def __getitem__(self, places: Any) -> Seen:
        return Seen(self.columns[places], None if self.leaves is None else self.leaves[places])


@dataclass(frozen=True)
class Columns:
    """The columns of a table on scales on which an answer reaches about as far as 1, and random trees of its rows.

    views : one or several, side by side
    scales : (n_seen_columns,), what each column is multiplied by
    forest : None for models whose answers count as they did in earlier files
    """

    views: tuple[SingleView, ...]
    scales: Floats
    forest: Forest | None

    def __call__(self, matrix: Matrix) -> Seen:
        """Rows as answers see them."""
        return Seen(self.scaled(matrix), None if self.forest is None else self.forest(matrix))

    def scaled(self, matrix: Matrix) -> Rows:
        """Their columns, (n_rows, n_seen_columns), float32, CSR for sparse rows."""
        seen = side_by_side([view(matrix) for view in self.views])
        if sp.issparse(seen):
            seen = seen.copy()
            seen.data = seen.data * self.scales[seen.indices]
            return seen
        return np.ascontiguousarray(seen * self.scales)


def learn_columns(
    detector: RDPDetector, groups: Mapping[str, Sequence[int]] | None = None, *, with_forest: bool = True
) -> Columns:
    """The columns as a fitted detector shows them, on the scale of its typical rows.

    groups : matrix columns that are one column of a table; each group has the same say, however many they are
    with_forest : whether nearness goes by random trees, too
    """
    views = wanted_views(detector)
    scales = []
    for view in views:
        seen = view(detector.typical_rows_.rows)
        scale = 1 / usual_spreads(seen)
        scales.append(scale * (1.0 if groups is None else even_say(seen, scale, groups)))
    columns = Columns(views, np.concatenate(scales).astype(np.float32), None)
    reach = median_distance(columns.scaled(detector.typical_rows_.rows))
    forest = grow_forest(detector, groups) if with_forest else None
    return Columns(views, (np.concatenate(scales) / reach).astype(np.float32), forest)


def even_say(seen: Rows, scale: Doubles, groups: Mapping[str, Sequence[int]]) -> Doubles:
    """By what to multiply columns, so that groups of few and of many differ alike between typical rows."""
    apart = np.asarray(abs(seen[1:] - seen[:-1]).sum(axis=0), dtype=np.float64).ravel() * scale
    factors = np.ones(len(scale))
    for columns in groups.values():
        factors[list(columns)] = 1 / max(apart[list(columns)].sum() / max(seen.shape[0] - 1, 1), SMALLEST_SAY)
    return factors


def wanted_views(detector: RDPDetector) -> tuple[SingleView, ...]:
    """The views of `WANTED` that the detector's members have; one that has neither lends its first view."""
    found: dict[str, SingleView] = {}
    names = in_turn(detector.chosen_.views, detector.chosen_.n_members)
    for panel in detector.panels_:
        if (first := int(panel.members.min())) < len(names):  # members by distance have a view of these, too
            found |= zip(names_in(names[first]), panel.view.parts, strict=True)
    return tuple(found[name] for name in WANTED if name in found) or (detector.panels_[0].view.parts[0],)


def usual_spreads(seen: Rows) -> Doubles:
    """The standard deviation of every column, but no less than half of what is usual among them."""
    if sp.issparse(seen):
        means = np.asarray(seen.mean(axis=0)).ravel()
        spreads = np.sqrt(np.maximum(np.asarray(seen.multiply(seen).mean(axis=0)).ravel() - means**2, 0.0))
    else:
        spreads = np.asarray(seen, dtype=np.float64).std(axis=0)
    varying = spreads[spreads > 0]
    return np.maximum(spreads, NARROWEST * float(np.median(varying)) if len(varying) else 1.0)


def median_distance(seen: Rows) -> float:
    """The median L1 distance of two different rows; 1 if there are none."""
    rows = dense(seen)
    apart = np.concatenate([np.abs(rows[place + 1 :] - rows[place]).sum(axis=1) for place in range(len(rows))])
    apart = apart[apart > 0]
    return float(np.median(apart)) if len(apart) else 1.0


def nearness(rows: Seen, points: Seen) -> Floats:
    """How near rows are to points, (n_rows, n_points): 1 for the same, towards 0 the farther away.

    Examples
    --------
    >>> rows = np.array([[0.0, 1.0], [0.0, 0.0]], dtype=np.float32)
    >>> dense_rows, sparse_rows = Seen(rows, None), Seen(sp.csr_array(rows), None)
    >>> nearness(dense_rows, dense_rows[:1]).astype(float).round(3).tolist()
    [[1.0], [0.368]]
    >>> nearness(sparse_rows, sparse_rows[:1]).astype(float).round(3).tolist()
    [[1.0], [0.368]]
    >>> in_leaves = Seen(rows, np.array([[0, 3, 7, 9], [0, 3, 7, 8]], dtype=np.uint8))  # together in 3 of 4 trees
    >>> nearness(in_leaves, in_leaves[:1]).astype(float).round(3).tolist()
    [[1.0], [0.483]]
    """
    if sp.issparse(rows.columns):
        near = _sparse_nearness(rows.columns, sp.csr_array(points.columns))
        return near if rows.leaves is None else _with_leaves(near, rows.leaves, points.leaves)
    near = np.empty((len(rows), len(points)), dtype=np.float32)
    of_rows, of_points = np.ascontiguousarray(rows.columns), np.ascontiguousarray(dense(points.columns))
    if rows.leaves is None:
        dense_nearness(of_rows, of_points, near)
    else:
        share = np.float32(FOREST_SHARE)
        dense_nearness_and_leaves(of_rows, of_points, rows.leaves, points.leaves, share, near)
    return near


def _with_leaves(near: Floats, leaves: Leaves, of_points: Any) -> Floats:
    """Nearness by columns mixed with the share of trees in which row and point have the same leaf."""
    together = np.array([(leaves == of_point).mean(axis=1) for of_point in of_points]).T
    return ((1 - FOREST_SHARE) * near + FOREST_SHARE * together).astype(np.float32)


def _sparse_nearness(rows: sp.csr_array, points: sp.csr_array) -> Floats:
    """The same for sparse rows: in all columns that a point leaves empty, a row differs by its own size."""
    near = np.empty((rows.shape[0], points.shape[0]), dtype=np.float32)
    for block in row_blocks(rows.shape[0], ROWS_AT_ONCE):
        here = rows[block]
        sizes = np.asarray(abs(here).sum(axis=1), dtype=np.float64).ravel()
        by_column = here.tocsc()
        for place in range(points.shape[0]):
            stored = slice(points.indptr[place], points.indptr[place + 1])
            values = by_column[:, points.indices[stored]].toarray()
            apart = sizes + (np.abs(values - points.data[stored]) - np.abs(values)).sum(axis=1)
            near[block, place] = np.exp(-np.maximum(apart, 0.0))
    return near


def farthest_first(points: Seen, n_wanted: int) -> tuple[Ints, Ints]:
    """Points that stand for all: each the farthest from those before it, beginning with the first.

    Returns their places, and for every point which of them is nearest.
    """
    chosen = [0]
    nearest = np.zeros(len(points), dtype=np.int64)
    closest: npt.NDArray[Any] = nearness(points, points[[0]])[:, 0]
    while len(chosen) < n_wanted:
        farthest = int(np.argmin(closest))
        near = nearness(points, points[[farthest]])[:, 0]
        nearest[near > closest] = len(chosen)
        nearest[farthest] = len(chosen)  # also where it looks like one before it
        closest = np.maximum(closest, near)
        chosen.append(farthest)
    return np.array(chosen), nearest
