"""The passes that score, compiled: to the same bits as the plain formulas, so nothing is reordered or fused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rdplearn._model.anomaly_scores import SAME
from rdplearn._model.compiling import compiling
from rdplearn._model.losses import REPRESENTATION_SLOPE
from rdplearn._model.products import row_products
from rdplearn._types import Floats
from rdplearn._views.curves import CurveView, in_pairs

SLOPE = np.float32(REPRESENTATION_SLOPE)


@compiling()
def novelty_scores(projected, bias, targets, offset, centre, target_slope, scores):
    """Mean squared residual of every row by every member, from the products with the weights, in one pass.

    projected, targets : (n_members, n_components, n_rows), before activation
    bias, offset, centre : (n_members, n_components), of φ, and of η before and after activation
    scores : (n_members, n_rows)
    """
    n_members, n_units, n_rows = projected.shape
    for m in range(n_members):
        totals = scores[m]
        totals[:] = np.float32(0.0)
        for k in range(n_units):
            phi, eta, shift, target_shift, middle = (
                projected[m, k],
                targets[m, k],
                bias[m, k],
                offset[m, k],
                centre[m, k],
            )
            for i in range(n_rows):
                z, target = phi[i] + shift, eta[i] + target_shift
                difference = max(z, SLOPE * z) - (max(target, target_slope * target) - middle)
                totals[i] += difference * difference
        for i in range(n_rows):
            totals[i] /= np.float32(n_units)


def nearest_subsample_scores(phi: Floats, references: Floats, n_subsamples: int, neighbour: int) -> Floats:
    """As the plain one, where one of the smallest distances counts."""
    longer = np.empty((len(phi), phi.shape[1] + 1), dtype=np.float32)
    own, scores = np.empty(len(phi), dtype=np.float32), np.empty(len(phi), dtype=np.float32)
    lengthen(np.ascontiguousarray(phi.T), longer, own)
    pick_nearest(row_products(longer, references).T, own, n_subsamples, neighbour, np.float32(SAME), scores)
    return scores


@compiling()
def lengthen(phi, longer, own):
    """Put a 1 at the end of each row, and add up its squares.

    phi : (n_components, n_rows); longer : (n_rows, n_components + 1); own : (n_rows,)
    """
    n_units, n_rows = phi.shape
    own[:] = np.float32(0.0)
    for k in range(n_units):
        of_unit = phi[k]
        for i in range(n_rows):
            longer[i, k] = of_unit[i]
            own[i] += of_unit[i] * of_unit[i]
    for i in range(n_rows):
        longer[i, n_units] = np.float32(1.0)


@compiling()
def pick_nearest(distances, own, n_subsamples, neighbour, same, scores):
    """The smallest but some of the subsamples' smallest distances.

    distances : (n_references, n_rows), squared, less `own`: (n_rows,); scores : (n_rows,)
    """
    n_references, n_rows = distances.shape
    smallest = np.full((neighbour, n_rows), np.float32(np.inf))
    nearest = np.empty(n_rows, dtype=np.float32)
    size = n_references // n_subsamples
    for subsample in range(n_subsamples):
        nearest[:] = distances[subsample * size]
        for place in range(subsample * size + 1, (subsample + 1) * size):
            of_place = distances[place]
            for i in range(n_rows):
                nearest[i] = of_place[i] if of_place[i] < nearest[i] else nearest[i]
        for rank in range(neighbour):  # what is larger goes on to the next place
            here = smallest[rank]
            for i in range(n_rows):
                low = nearest[i] if nearest[i] < here[i] else here[i]
                high = here[i] if nearest[i] < here[i] else nearest[i]
                here[i], nearest[i] = low, high
    for i in range(n_rows):
        squared = smallest[neighbour - 1, i] + own[i]
        scores[i] = np.sqrt(squared) if squared >= same * own[i] else np.float32(0.0)


def look_through(views: Sequence[CurveView], block: npt.NDArray[Any]) -> list[Floats]:
    """As the plain one of `curves.py`."""
    values = np.ascontiguousarray(block.T, dtype=np.float64)  # (n_columns, n_rows)
    seen = [np.empty(block.shape, dtype=np.float32) for _ in views]
    for together, columns in in_pairs(views):
        first, last = together[0], together[-1]
        curves = [(views[place].starts, views[place].knots, views[place].heights) for place in together]
        if first == last:
            follow_one(values, columns, *curves[0], views[first].slopes[0], seen[first])
        else:
            slopes = views[first].slopes[1], views[last].slopes[1]
            (starts, knots, heights), (other_starts, _, other_heights) = curves
            both = (starts, heights, slopes[0], seen[first]), (other_starts, other_heights, slopes[1], seen[last])
            follow_both(values, columns, knots, *both)
    return seen


@compiling()
def knots_below(values, knots):
    """The place of the last knot that is not above each value; of the first one if all are.

    Halving by halving for all values: a search for one after the other would wait for every guess.
    """
    places, length = np.zeros(len(values), dtype=np.int32), len(knots)
    while length > 1:
        half = length // 2
        for i in range(len(values)):
            guess = places[i] + half
            places[i] = guess if knots[guess] <= values[i] else places[i]
        length -= half
    return places


@compiling()
def follow_one(values, columns, starts, knots, heights, slopes, seen):
    """Some columns through the curves of a view, straight between their knots and flat beyond them.

    values : (n_columns, n_rows); columns : to look at; starts, knots, heights, slopes : see `CurveView`
    seen : (n_rows, n_columns), written to
    """
    for column in columns:
        begin, end = starts[column], starts[column + 1]
        of_column, its_knots = values[column], knots[begin:end]
        places = knots_below(of_column, its_knots)
        for i in range(len(of_column)):
            place = begin + places[i]
            beyond = min(max(of_column[i], its_knots[0]), its_knots[-1]) - knots[place]
            seen[i, column] = heights[place] if beyond == 0.0 else slopes[place] * beyond + heights[place]


@compiling()
def follow_both(values, columns, knots, one, other):
    """Some columns through two views that have the same knots there.

    knots : of the first view; one, other : starts, heights, slopes and what is seen, of each
    """
    starts, heights, slopes, seen = one
    other_starts, other_heights, other_slopes, other_seen = other
    for column in columns:
        begin, end, apart = starts[column], starts[column + 1], other_starts[column] - starts[column]
        of_column, its_knots = values[column], knots[begin:end]
        places = knots_below(of_column, its_knots)
        for i in range(len(of_column)):
            place = begin + places[i]
            twin = place + apart
            beyond = min(max(of_column[i], its_knots[0]), its_knots[-1]) - knots[place]
            if beyond == 0.0:
                seen[i, column], other_seen[i, column] = heights[place], other_heights[twin]
            else:
                seen[i, column] = slopes[place] * beyond + heights[place]
                other_seen[i, column] = other_slopes[twin] * beyond + other_heights[twin]
