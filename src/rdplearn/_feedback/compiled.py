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
