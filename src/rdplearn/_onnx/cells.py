"""The voice of single cells as ONNX nodes."""

from __future__ import annotations

import numpy as np

from rdplearn._model.cells import LEAST_RESIDUAL, UNLIMITED, CellVoice, Companions
from rdplearn._onnx.graph import Graph, Value
from rdplearn._onnx.views import piecewise_linear, view_nodes
from rdplearn._types import TableColumns


def cell_surprises(graph: Graph, voice: CellVoice) -> Value:
    """The largest surprise of each row, prices paid, and the odds: (n_rows,) in double precision."""
    table, prices = voice.table, voice.prices
    # one row more, which is cut off at the end: of no rows at all, onnxruntime's reductions make a crash
    rows = graph.add("Concat", graph.finite_rows(), np.zeros((1, len(table.group_of_column))), axis=0)
    heights = graph.cast(view_nodes(graph, rows, voice.cells), np.float64)
    said = [
        largest(graph, graph.add("Sub", by_themselves(graph, rows, heights, voice), prices)),
        holes(graph, heights, voice),
    ]
    if voice.companions is not None:
        beside = companion_surprises(graph, rows, voice.companions, table)
        said.append(largest(graph, graph.add("Sub", beside, prices)))
    together = graph.add("Add", graph.add("Max", *said), np.array(voice.odds))
    return graph.add("Slice", together, np.array([0]), np.array([-1]), np.array([0]))


def by_themselves(graph: Graph, rows: Value, heights: Value, voice: CellVoice) -> Value:
    """The surprise of each column of the table by itself: (n_rows, n_groups)."""
    table = voice.table
    spoken = graph.add("Mul", heights, (~table.is_mark).astype(np.float64))
    width = max(len(places) for places in table.columns_of_group)
    padded = np.array([np.resize(places, width) for places in table.columns_of_group])  # repeats change no maximum
    surprises = graph.add(
        "ReduceMax", graph.add("Gather", spoken, padded, axis=1), np.array([2]), keepdims=0
    )  # (n_rows, n_groups, width) to (n_rows, n_groups)
    if not voice.none.any():
        return surprises
    unsaid = graph.add("Sub", np.array(1.0), graph.add("MatMul", rows, membership(table)))
    return graph.add("Max", surprises, graph.add("Mul", graph.add("Max", unsaid, np.array(0.0)), voice.none))


def holes(graph: Graph, heights: Value, voice: CellVoice) -> Value:
    """The surprise of all that is missing in each row: (n_rows,)."""
    table = voice.table
    with np.errstate(invalid="ignore"):
        prices = np.where(table.is_mark, voice.prices[table.group_of_column], np.inf)
    beyond = graph.add("Max", graph.add("Sub", heights, prices), np.array(0.0))
    added = graph.add("ReduceSum", beyond, np.array([1]), keepdims=1)
    return graph.add(
        "Squeeze", graph.add("Min", added, piecewise_linear(graph, added, [voice.hole_curve])), np.array([1])
    )


def companion_surprises(graph: Graph, rows: Value, companions: Companions, table: TableColumns) -> Value:
    """The surprise of each column of the table beside the others: (n_rows, n_groups)."""
    seen = view_nodes(graph, rows, companions.view)
    left = graph.cast(graph.add("Add", graph.add("MatMul", seen, companions.weights), companions.offset), np.float64)
    lengths = graph.add("MatMul", graph.add("Mul", left, left), membership(table))
    logs = graph.add("Log", graph.add("Max", lengths, np.array(LEAST_RESIDUAL**2)))
    beside = piecewise_linear(graph, graph.add("Mul", logs, np.array(0.5)), list(companions.curves.curves()))
    below = (UNLIMITED - companions.ceilings)[:, None] * membership(table)  # of each column at most one word is said
    return graph.add("Min", beside, graph.add("Sub", np.array(UNLIMITED), graph.add("MatMul", rows, below)))


def membership(table: TableColumns) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """1 where a matrix column came from a column of the table: (n_columns, n_groups)."""
    return (table.group_of_column[:, None] == np.arange(len(table.names))).astype(np.float64)


def largest(graph: Graph, values: Value) -> Value:
    """The largest of each row: (n_rows,)."""
    return graph.add("ReduceMax", values, np.array([1]), keepdims=0)
