"""Made-up rows: each column as in the table, but nothing goes together.

A voice that finds them odder than rows of the table knows what goes together there. It takes no label to see that.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rdplearn._types import Matrix, TableColumns

MADE_UP_ROWS = 256


def made_up_rows(rows: Matrix, columns: TableColumns | None, seed: int) -> Matrix:
    """Take every column from other rows: at most 256 made-up rows.

    rows : (n_rows, n_columns), dense or CSR
    columns : which columns of the matrix came from one column of a table, and stay together

    Examples
    --------
    >>> made_up_rows(np.array([[1, 10], [2, 20], [3, 30], [4, 40]]), None, seed=1).tolist()
    [[1, 30], [2, 40], [3, 10], [4, 20]]
    """
    n_rows, n_columns = rows.shape
    rng = np.random.default_rng([seed, MADE_UP_ROWS])
    group_of_column = np.arange(n_columns) if columns is None else columns.group_of_column
    order = rng.permutation(n_rows)  # rows that stand side by side in a table may be alike
    shifts = rng.integers(n_rows, size=int(group_of_column.max(initial=0)) + 1)[group_of_column]
    if sp.issparse(rows):
        cells = rows[order].tocoo()
        places = (cells.row - shifts[cells.col]) % n_rows
        return sp.csr_array((cells.data, (places, cells.col)), shape=rows.shape)[:MADE_UP_ROWS]
    places = (np.arange(min(n_rows, MADE_UP_ROWS))[:, None] + shifts) % n_rows
    return np.asarray(rows[order[places], np.arange(n_columns)])
