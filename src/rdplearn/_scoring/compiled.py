"""The passes that score, compiled: to the same bits as the plain formulas, so nothing is reordered or fused."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rdplearn._model.anomaly_scores import SAME, beyond_own
from rdplearn._model.compiling import compiling
from rdplearn._model.losses import REPRESENTATION_SLOPE
from rdplearn._types import Doubles, Floats

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
    scores = np.empty(len(phi), dtype=np.float32)
    own = np.add.reduce(phi * phi, axis=1)
    pick_nearest(beyond_own(phi, references), own, n_subsamples, neighbour, np.float32(SAME), scores)
    return scores


@compiling()
def pick_nearest(distances, own, n_subsamples, neighbour, same, scores):
    """The smallest but some of the subsamples' smallest distances.

    distances : (n_references, n_rows), see `beyond_own`; own : (n_rows,), what they are beyond; scores : (n_rows,)
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


def follow(values: Doubles, knots: Doubles, heights: list[Doubles]) -> list[npt.NDArray[np.floating]]:
    """As the plain one of `curves.py`."""
    seen = [np.empty(len(values), dtype=np.float32) for _ in heights]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # between knots that are equal
        if len(heights) == 1:
            follow_one(values, knots, heights[0], np.diff(heights[0]) / np.diff(knots), seen[0])
        else:
            slopes = [np.diff(of_curve) * (1.0 / np.diff(knots)) for of_curve in heights]
            follow_both(values, knots, *heights, *slopes, *seen)
    return list(seen)


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
def follow_one(values, knots, heights, slopes, out):
    """One curve, straight between its knots and flat beyond them."""
    places = knots_below(values, knots)
    for i in range(len(values)):
        place = places[i]
        beyond = min(max(values[i], knots[0]), knots[-1]) - knots[place]
        out[i] = heights[place] if beyond == 0.0 else slopes[place] * beyond + heights[place]


@compiling()
def follow_both(values, knots, heights, other_heights, slopes, other_slopes, out, other_out):
    """Two curves with the same knots."""
    places = knots_below(values, knots)
    for i in range(len(values)):
        place = places[i]
        beyond = min(max(values[i], knots[0]), knots[-1]) - knots[place]
        if beyond == 0.0:
            out[i], other_out[i] = heights[place], other_heights[place]
        else:
            out[i] = slopes[place] * beyond + heights[place]
            other_out[i] = other_slopes[place] * beyond + other_heights[place]
