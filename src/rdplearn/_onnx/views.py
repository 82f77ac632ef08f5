"""Views of the columns as ONNX nodes: one function for each kind of view, with the arithmetic of the view itself.

All of it is done in double precision and rounded to single at the end, as in Python, so that both see the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rdplearn._onnx.graph import Graph, Value, unit_length
from rdplearn._types import Doubles
from rdplearn._views.curves import CurveView
from rdplearn._views.minmax import FARTHEST, LARGEST_UNCHANGED, MinMaxView, UnchangedView
from rdplearn._views.unit_rows import SMALLEST_NORM, CentredRows, WeightedUnitRows
from rdplearn._views.view import View


def view_nodes(graph: Graph, rows: Value, view: Any) -> Value:
    """What a view makes of the rows, written once: (n_rows, n_columns it shows) in single precision."""
    return graph.once((rows, id(view)), lambda: WRITERS[type(view)](graph, rows, view))


def side_by_side(graph: Graph, rows: Value, view: View) -> Value:
    """Several views of the columns, one beside the other."""
    seen = [view_nodes(graph, rows, part) for part in view.parts]
    return seen[0] if len(seen) == 1 else graph.add("Concat", *seen, axis=1)


def curves(graph: Graph, rows: Value, view: CurveView) -> Value:
    """A curve for each column."""
    return graph.cast(piecewise_linear(graph, rows, list(view.curves())), np.float32)


def min_max(graph: Graph, rows: Value, view: MinMaxView) -> Value:
    """`(x - low) / width`, at most `FARTHEST` from zero."""
    scaled = graph.add("Div", graph.add("Sub", rows, view.low), view.width)
    huge = view.width > np.finfo(np.float64).max / 4
    if huge.any():  # there the difference may overflow
        apart = graph.add("Sub", graph.add("Div", rows, view.width), view.low / view.width)
        scaled = graph.add("Where", huge, apart, scaled)
    return graph.cast(clipped(graph, scaled, FARTHEST), np.float32)


def unchanged(graph: Graph, rows: Value, view: UnchangedView) -> Value:
    """The columns as they are."""
    return graph.cast(clipped(graph, rows, LARGEST_UNCHANGED), np.float32)


def centred(graph: Graph, rows: Value, view: CentredRows) -> Value:
    """Scaled columns minus their means, then perhaps rows of length 1."""
    centred_rows = graph.add("Sub", min_max(graph, rows, view.columns), view.centre)
    return unit_length(graph, centred_rows, SMALLEST_NORM) if view.unit else centred_rows


def weighted_unit(graph: Graph, rows: Value, view: WeightedUnitRows) -> Value:
    """Columns times a weight each, then rows of length 1; by the largest value first, whose square might overflow."""
    weighted = graph.add("Mul", rows, view.weights)
    largest = graph.add("ReduceMax", graph.add("Abs", weighted), np.array([1]), keepdims=1)
    shares = graph.add("Div", weighted, or_one(graph, largest))
    squares = graph.add("ReduceSum", graph.add("Mul", shares, shares), np.array([1]), keepdims=1)
    return graph.cast(graph.add("Div", shares, or_one(graph, graph.add("Sqrt", squares))), np.float32)


def piecewise_linear(graph: Graph, rows: Value, knots: Sequence[tuple[Doubles, Doubles]]) -> Value:
    """Each column through a curve of its own: straight lines between knots, level beyond the first and the last.

    The knots of all columns stand in one table; a binary search finds the line that each value falls on, so that memory
    grows with the rows and not with the knots. The arithmetic is that of `numpy.interp`.

    Parameters
    ----------
    knots : for each column the places (ascending) and the heights of its knots, at least one

    Returns
    -------
    Value : (n_rows, n_columns) in double precision
    """
    n_levels = int(np.ceil(np.log2(max(len(places) for places, _ in knots))))
    width = 2**n_levels
    starts = np.full((len(knots), width), np.inf)  # of the line that goes on from each knot; none is ever past infinity
    heights, slopes = np.zeros_like(starts), np.zeros_like(starts)
    for column, (places, values) in enumerate(knots):
        steps = np.diff(places)
        starts[column, : len(places)], heights[column, : len(places)] = places, values
        slopes[column, : len(steps)] = np.divide(np.diff(values), steps, out=np.zeros_like(steps), where=steps > 0)
    first, last = (np.array([places[end] for places, _ in knots]) for end in (0, -1))
    rows = graph.add("Min", graph.add("Max", rows, first), last)
    tables = {name: graph.constant(table.ravel()) for name, table in (("s", starts), ("h", heights), ("m", slopes))}
    line = np.arange(len(knots), dtype=np.int64)[None] * width  # of column c and knot k: c * width + k
    found = graph.add("Add", graph.cast(graph.add("Mul", rows, np.array(0.0)), np.int64), line)
    for level in reversed(range(n_levels)):
        further = graph.add("Add", found, np.array(2**level))
        is_past = graph.add("GreaterOrEqual", rows, graph.add("Gather", tables["s"], further))
        found = graph.add("Where", is_past, further, found)
    start, height, slope = (graph.add("Gather", table, found) for table in tables.values())
    return graph.add("Add", graph.add("Mul", graph.add("Sub", rows, start), slope), height)


def clipped(graph: Graph, values: Value, farthest: float) -> Value:
    """Values at most `farthest` from zero."""
    return graph.add("Clip", values, np.array(-farthest), np.array(farthest))


def or_one(graph: Graph, values: Value) -> Value:
    """Positive values as they are, and 1 in place of zero."""
    return graph.add("Where", graph.add("Greater", values, np.array(0.0)), values, np.array(1.0))


WRITERS: dict[type, Callable[..., Value]] = {
    View: side_by_side,
    CurveView: curves,
    MinMaxView: min_max,
    UnchangedView: unchanged,
    CentredRows: centred,
    WeightedUnitRows: weighted_unit,
}
