"""Which cells count in the reconstruction loss: all, or on wide sparse rows a sample.

On wide sparse rows the loss is not computed for every cell. A cell with a value counts. Of the cells without one, those
of some columns count, drawn anew in each step, and each stands for 1 / its column's chance of being drawn
("reconstruction sampling", Dauphin, Glorot and Bengio, ICML 2011). Columns that many rows fill are drawn more often,
because that is where a decoder expects values. The mean over all draws is the exact loss, and so is its gradient's.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rdplearn._training import random_stream
from rdplearn._types import Floats, Ints, Rows

EXACT_UP_TO = 4096  # columns; on wider sparse rows the reconstruction loss is sampled
SAMPLED_COLUMNS = 1024  # about so many of them in a step


def sample_size(n_columns: int, is_sparse: bool) -> int:
    """How many columns are drawn in a step, about: all of them, except on wide sparse rows."""
    return SAMPLED_COLUMNS if is_sparse and n_columns > EXACT_UP_TO else n_columns


def column_chances(rows: Rows) -> Floats:
    """Chance of each column to be drawn in a step.

    On dense and narrow rows 1. On wide sparse ones half of the draws are in proportion to how many rows fill a column,
    and half are not, so that no column stands for too many.

    Examples
    --------
    >>> chances = column_chances(sp.csr_array(([1, 1, 1], ([0, 1, 2], [3, 3, 9])), shape=(3, 100_000)))
    >>> [round(float(chance), 3) for chance in chances[[0, 3, 9]]]
    [0.005, 1.0, 1.0]
    """
    n_columns = rows.shape[1]
    n_wanted = sample_size(n_columns, sp.issparse(rows))
    if n_wanted == n_columns:
        return np.ones(n_columns, dtype=np.float32)
    n_values = np.bincount(rows.indices, minlength=n_columns)
    mixed = 0.5 * n_values / max(1, n_values.sum()) + 0.5 / n_columns
    return np.minimum(1.0, n_wanted * mixed).astype(np.float32)


def chance_limits(chances: Floats) -> npt.NDArray[np.uint64]:
    """The word of a column below which it is drawn."""
    return np.round(chances.astype(np.float64) * 2.0**32).astype(np.uint64)


def sample_columns(chances: Floats, key: np.uint32) -> Floats:
    """Draw the columns of one step; gives how many each stands for, 0 where it was not drawn.

    Examples
    --------
    >>> sample_columns(np.array([1.0, 0.25, 0.25, 0.25], dtype=np.float32), np.uint32(0)).tolist()
    [1.0, 0.0, 4.0, 4.0]
    """
    drawn = random_stream.words(key, len(chances)) < chance_limits(chances)
    return np.where(drawn, 1.0 / chances, 0.0).astype(np.float32)


def cells_to_decode(batch: sp.csr_array, stands_for: Floats) -> tuple[Ints, Floats, Floats]:
    """What counts in the loss of a batch of sparse rows.

    Returns the columns, the rows in these columns (n_rows, n_chosen), and how many cells each of these stands for.
    """
    columns = np.union1d(batch.indices, np.flatnonzero(stands_for))
    rows = batch[:, columns].toarray()
    return columns, rows, np.where(rows != 0, np.float32(1.0), stands_for[columns])
