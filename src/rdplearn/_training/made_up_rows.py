"""Made-up rows. A voice that finds them odder than rows of the table knows the table; it takes no label to see that.

There are two sorts. In one each column is as in the table, but nothing goes together. The others lie between two rows
of the table: in its holes, if it has any.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rdplearn._types import Matrix, TableColumns

MADE_UP_ROWS = 256
PART_WAY = (0.25, 0.75)  # from one row to the other


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


def rows_between(rows: Matrix, seed: int) -> Matrix:
    """Rows somewhere between two others that are drawn: at most 256.

    Examples
    --------
    >>> made_up = rows_between(np.array([[0.0, 0.0], [1.0, 10.0]]), seed=0)
    >>> bool(np.all(made_up[:, 1] == 10 * made_up[:, 0])), made_up.shape
    (True, (2, 2))
    """
    n_made = min(rows.shape[0], MADE_UP_ROWS)
    rng = np.random.default_rng([seed, MADE_UP_ROWS + 1])
    ones, others = rng.integers(rows.shape[0], size=(2, n_made))
    of_one = rng.uniform(*PART_WAY, size=n_made)
    if sp.issparse(rows):
        return sp.csr_array(sp.diags_array(of_one) @ rows[ones] + sp.diags_array(1.0 - of_one) @ rows[others])
    return np.asarray(of_one[:, None] * rows[ones] + (1.0 - of_one[:, None]) * rows[others])
