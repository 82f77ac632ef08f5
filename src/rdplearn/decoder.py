r"""The decoder :math:`\phi'(\phi) = \phi Q + c` of the reconstruction loss: a linear map back to the columns.

On wide sparse rows the loss is not computed for every column. A batch's own columns are all taken, and of the others,
where the row is zero, a random sample, each of which stands for as many as were left out ("reconstruction sampling",
Dauphin, Glorot and Bengio, ICML 2011). The expectation over samples is the exact loss, and so is that of its gradient.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rdplearn import random_stream

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

EXACT_UP_TO = 4096  # columns; on wider sparse rows the reconstruction loss is sampled
SAMPLED_COLUMNS = 1024


@dataclass
class Decoder:
    """The decoder's parameters. weights : (n_columns, n_components), Q transposed; bias : (n_columns,), c."""

    weights: Floats
    bias: Floats

    def __call__(self, features: Floats) -> Floats:
        """Take features (n_rows, n_components) to rows (n_rows, n_columns)."""
        rows = features @ self.weights.T
        rows += self.bias
        return rows


def zero_decoder(n_columns: int, n_components: int) -> Decoder:
    """A decoder before training, all zero: φ learns from what it can explain, not from noise that Q brought along."""
    return Decoder(np.zeros((n_columns, n_components), dtype=np.float32), np.zeros(n_columns, dtype=np.float32))


def sample_size(n_columns: int) -> int:
    """How many of the columns that a batch does not contain take part in its loss, at most."""
    return n_columns if n_columns <= EXACT_UP_TO else SAMPLED_COLUMNS


def choose_columns(used: Ints, n_columns: int, n_sampled: int, key: np.uint32) -> tuple[Ints, Floats]:
    """Choose the columns of one step's reconstruction loss, and how many columns each stands for.

    Parameters
    ----------
    used : the columns that the batch contains, each once
    n_sampled : int
        How many others to draw, without replacement; all of them, if there are at most twice as many.

    Examples
    --------
    >>> columns, weights = choose_columns(np.array([7, 2]), 12, 3, np.uint32(5))
    >>> len(set(columns.tolist())), [round(float(weight), 2) for weight in weights]
    (5, [1.0, 1.0, 3.33, 3.33, 3.33])
    """
    taken = np.zeros(n_columns, dtype=bool)
    taken[used] = True
    n_others = n_columns - len(used)
    if n_others <= 2 * n_sampled:
        others = np.flatnonzero(~taken)
    else:
        others = np.empty(n_sampled, dtype=np.int64)
        n_found, position = 0, 0
        while n_found < n_sampled:  # refusing what was taken already makes it a draw without replacement
            column = random_stream.column_at(key, position, n_columns)
            position += 1
            if not taken[column]:
                taken[column] = True
                others[n_found] = column
                n_found += 1
    stands_for = np.full(len(others), n_others / max(1, len(others)))
    weights = np.concatenate([np.ones(len(used)), stands_for])
    return np.concatenate([used, others]), weights.astype(np.float32)
