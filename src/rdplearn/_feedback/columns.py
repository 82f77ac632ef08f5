r"""Which rows an answer reaches: how near two rows are, by their columns as the detector's views show them.

:math:`n(x, y) = \exp(-\sum_j |v_j(x) - v_j(y)| / (s_j r))` with :math:`v` the columns through the views *rank* and
*surprise* (or whichever the detector has), :math:`s_j` the spread of a column among the detector's typical rows, and
:math:`r` the median distance of two of them. Absolute differences, not squares: a row that is far in one column stays
comparable in all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rdplearn._feedback.compiled import dense_nearness
from rdplearn._types import Doubles, Floats, Ints, Matrix, Rows, dense, row_blocks
from rdplearn._views.view import SingleView, names_in, side_by_side
from rdplearn.defaults import in_turn

if TYPE_CHECKING:
    from rdplearn.detector import RDPDetector

WANTED = ("rank", "surprise")
NARROWEST = 0.5  # of the median spread: a column that hardly varies among typical rows does not outweigh all others
SMALLEST_SAY = 0.5  # a column of a table in which typical rows hardly differ does not grow for that
ROWS_AT_ONCE = 2**12


@dataclass(frozen=True)
class Columns:
    """The columns of a table on scales on which an answer reaches about as far as 1.

    views : one or several, side by side
    scales : (n_seen_columns,), what each column is multiplied by
    """

    views: tuple[SingleView, ...]
    scales: Floats

    def __call__(self, matrix: Matrix) -> Rows:
        """Rows as answers see them, (n_rows, n_seen_columns), float32, CSR for sparse rows."""
        seen = side_by_side([view(matrix) for view in self.views])
        if sp.issparse(seen):
            seen = seen.copy()
            seen.data = seen.data * self.scales[seen.indices]
            return seen
        return np.ascontiguousarray(seen * self.scales)


def learn_columns(detector: RDPDetector, groups: Mapping[str, Sequence[int]] | None = None) -> Columns:
    """The columns as a fitted detector shows them, on the scale of its typical rows.

    groups : matrix columns that are one column of a table; each group has the same say, however many they are
    """
    views = wanted_views(detector)
    scales = []
    for view in views:
        seen = view(detector.typical_rows_.rows)
        scale = 1 / usual_spreads(seen)
        scales.append(scale * (1.0 if groups is None else even_say(seen, scale, groups)))
    columns = Columns(views, np.concatenate(scales).astype(np.float32))
    reach = median_distance(columns(detector.typical_rows_.rows))
    return Columns(views, (np.concatenate(scales) / reach).astype(np.float32))


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


def nearness(rows: Rows, points: Rows) -> Floats:
    """exp(-L1 distance) of rows, (n_rows, n_seen_columns), and points, (n_points, n_seen_columns).

    Examples
    --------
    >>> rows = np.array([[0.0, 1.0], [0.0, 0.0]], dtype=np.float32)
    >>> nearness(rows, rows[:1]).round(3).tolist()
    [[1.0], [0.36800000071525574]]
    >>> nearness(sp.csr_array(rows), sp.csr_array(rows[:1])).round(3).tolist()
    [[1.0], [0.36800000071525574]]
    """
    if sp.issparse(rows):
        return _sparse_nearness(rows, sp.csr_array(points))
    near = np.empty((rows.shape[0], points.shape[0]), dtype=np.float32)
    dense_nearness(np.ascontiguousarray(rows), np.ascontiguousarray(dense(points)), near)
    return near


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


def farthest_first(points: Rows, n_wanted: int) -> tuple[Ints, Ints]:
    """Points that stand for all: each the farthest from those before it, beginning with the first.

    Returns their places, and for every point which of them is nearest.
    """
    chosen = [0]
    nearest = np.zeros(points.shape[0], dtype=np.int64)
    closest: npt.NDArray[Any] = nearness(points, points[[0]])[:, 0]
    while len(chosen) < n_wanted:
        farthest = int(np.argmin(closest))
        near = nearness(points, points[[farthest]])[:, 0]
        nearest[near > closest] = len(chosen)
        nearest[farthest] = len(chosen)  # also where it looks like one before it
        closest = np.maximum(closest, near)
        chosen.append(farthest)
    return np.array(chosen), nearest
