"""Products of rows with weights, to the same bits in single precision wherever a row stands among others.

BLAS cuts matrices into tiles, and tiles at the end of a stretch add up in another order than those inside it. Taken as
it is, a product would give the same row other last bits in another place, and a table other scores when it is cut into
other parts. Here the rows lie along the dimension that BLAS cuts into long stretches (`weights.T @ rows.T`), in blocks
of one stretch, and each block has a margin at both ends whose results are thrown away.

That this is enough is checked on the machine at hand, once for every shape. Where it is not, products are computed in
double precision, at twice the cost, and rounding them leaves nothing of such differences.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rdplearn._types import Rows, row_blocks

Floats = npt.NDArray[Any]  # single or double precision

MARGIN = 8
TILE = 8  # rows of a block are a multiple of this
BLOCK = 304  # with its margins 320: the stretch of OpenBLAS; others have longer ones
CHECKED_BLOCKS = (8, 24, 72, 152, BLOCK)
LARGEST_CHECKED = 2048  # columns and outputs: beyond these, BLAS repeats itself


def in_steady_blocks(rows: Rows, function: Callable[[Rows], Floats], results: Floats, n_at_once: int = BLOCK) -> Floats:
    """Apply a function, whose products are `row_products`, to all rows, and give each row the same bits anywhere.

    Parameters
    ----------
    rows : (n_rows, n_columns), dense or CSR; at least one
    function : takes a block of rows to one result for each; must treat rows alike
    results : (n_rows, ...), where the results go; returned
    n_at_once : rows in a block; more only where nothing but sparse rows is multiplied, which SciPy does row by row

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows, weights = rng.random((500, 40), dtype=np.float32), rng.random((40, 7), dtype=np.float32)
    >>> def project(some):
    ...     return in_steady_blocks(some, lambda block: row_products(block, weights), np.empty((len(some), 7)))
    >>> bool(np.all(project(rows)[123:457] == project(rows[123:457])))
    True
    """
    n_rows = rows.shape[0]
    rows = rows if sp.issparse(rows) else np.ascontiguousarray(rows)
    for block in row_blocks(-(-n_rows // TILE) * TILE, n_at_once):
        here = results[block]  # without the rows that only fill up the last block
        here[:] = function(with_margins(rows, block))[MARGIN : MARGIN + len(here)]
    return results


def with_margins(rows: Rows, block: slice) -> Rows:
    """The rows of a block and a margin on both sides; those of the table themselves, where it goes on there.

    Beyond its ends rows are repeated, since a mapping that a user brought along may not take just any numbers.
    """
    first, end = block.start - MARGIN, block.stop + MARGIN
    if first >= 0 and end <= rows.shape[0]:
        return rows[first:end]
    places = np.clip(np.arange(first, end), 0, rows.shape[0] - 1)
    return rows[places] if sp.issparse(rows) else np.take(rows, places, axis=0)


def row_products(rows: Rows, weights: Floats) -> Floats:
    """The product `rows @ weights` of a block, (n_rows, n_outputs), with the numbers of one output together in memory.

    Sums over the outputs of a row, taken in this order in memory, are the same for every row as well.
    """
    if sp.issparse(rows):
        return np.asfortranarray(rows @ weights)  # SciPy adds up row by row
    n_columns, n_outputs = min(weights.shape[0], LARGEST_CHECKED), min(weights.shape[1], LARGEST_CHECKED)
    if weights.dtype == np.float64 or is_steady(n_columns, n_outputs, "C" if weights.flags.c_contiguous else "F"):
        return (weights.T @ rows.T).T
    return (weights.T.astype(np.float64) @ rows.T.astype(np.float64)).T.astype(np.float32)


@cache
def is_steady(n_columns: int, n_outputs: int, order: Literal["C", "F"]) -> bool:
    """Check that BLAS gives equal rows equal products, in blocks of several sizes and at every place but the margins.

    One thread of BLAS is taken for granted here and everywhere: the seams between threads are margins too.

    order : of the weights in memory: for small products BLAS may have a kernel for each
    """
    rng = np.random.default_rng(0)
    weights = np.asarray(rng.standard_normal((n_columns, n_outputs), dtype=np.float32), order=order)
    row = rng.standard_normal(n_columns, dtype=np.float32)
    expected = None
    for n_rows in CHECKED_BLOCKS:
        equal_rows = np.broadcast_to(row, (n_rows + 2 * MARGIN, n_columns)).copy()
        products = (weights.T @ equal_rows.T)[:, MARGIN:-MARGIN]
        expected = products[:, :1] if expected is None else expected
        if not np.array_equal(products, np.broadcast_to(expected, products.shape)):
            return False
    return True
