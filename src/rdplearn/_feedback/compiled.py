"""The nearness of many rows to the answered ones, compiled: the one loop that grows with the table."""

from __future__ import annotations

import numpy as np

from rdplearn._model.compiling import compiling


@compiling(fastmath=True)
def dense_nearness(rows, points, nearness):
    """exp(-L1 distance) of every row and point, in one pass.

    rows : (n_rows, n_columns); points : (n_points, n_columns); nearness : (n_rows, n_points), to be written; float32
    """
    for i in range(rows.shape[0]):
        for j in range(points.shape[0]):
            distance = np.float32(0.0)
            for column in range(rows.shape[1]):
                distance += abs(rows[i, column] - points[j, column])
            nearness[i, j] = np.exp(-distance)


@compiling(fastmath=True)
def dense_nearness_and_leaves(rows, points, leaves, point_leaves, share, nearness):
    """The same, mixed with the share of trees in which row and point have the same leaf.

    leaves : (n_rows, n_trees); point_leaves : (n_points, n_trees), bytes; share : how much the trees count
    """
    n_trees = leaves.shape[1]
    for i in range(rows.shape[0]):
        for j in range(points.shape[0]):
            distance = np.float32(0.0)
            for column in range(rows.shape[1]):
                distance += abs(rows[i, column] - points[j, column])
            together = 0
            for tree in range(n_trees):
                together += leaves[i, tree] == point_leaves[j, tree]
            nearness[i, j] = (1 - share) * np.exp(-distance) + share * together / n_trees


@compiling()
def grow_trees(rows, samples, grouped, starts, draws, columns, cuts):
    """Cut rows at random, node after node, until they are alone or alike.

    rows : (n_rows, n_columns); samples : (n_trees, n_sampled), the rows that each tree sees
    grouped, starts : the columns, group after group, and where each group begins
    draws : (n_trees, n_nodes, n_tries, 3), uniform random numbers for a group, a column and a cut
    columns, cuts : (n_trees, n_nodes), to be written; they stay as they are where nothing is cut
    """
    n_trees, n_nodes = columns.shape
    n_groups = len(starts) - 1
    node_of = np.empty(samples.shape[1], dtype=np.int64)
    for tree in range(n_trees):
        node_of[:] = 0
        for node in range(n_nodes):
            for attempt in range(draws.shape[2]):
                group = int(draws[tree, node, attempt, 0] * n_groups)
                start, end = starts[group], starts[group + 1]
                column = grouped[start + int(draws[tree, node, attempt, 1] * (end - start))]
                low, high = np.inf, -np.inf
                for place in range(len(node_of)):
                    if node_of[place] == node:
                        value = rows[samples[tree, place], column]
                        low, high = min(low, value), max(high, value)
                if high > low:
                    cut = low + draws[tree, node, attempt, 2] * (high - low)
                    columns[tree, node], cuts[tree, node] = column, cut
                    break
                if low == np.inf:  # no row comes here
                    break
            for place in range(len(node_of)):
                if node_of[place] == node:
                    below = rows[samples[tree, place], columns[tree, node]] <= cuts[tree, node]
                    node_of[place] = 2 * node + (1 if below else 2)


@compiling()
def fall_into_leaves(cells, columns, cuts, depth, leaves):
    """The way of every row down every tree. cells : (n_rows, n_used); leaves : (n_rows, n_trees), to be written."""
    for i in range(cells.shape[0]):
        for tree in range(columns.shape[0]):
            node = 0
            for _ in range(depth):
                below = cells[i, columns[tree, node]] <= cuts[tree, node]
                node = 2 * node + (1 if below else 2)
            leaves[i, tree] = node - columns.shape[1]
