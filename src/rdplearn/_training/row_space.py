r"""Tables with more columns than rows: train in the space that the rows span.

Every gradient of W is a combination of rows, so W only ever moves within their span. With :math:`X = U S V^T` of rank
`r`, training on the `r` columns of :math:`U S` from :math:`W_r = V^T W_0` and mapping back,

.. math:: W = W_0 + V (W_r - V^T W_0),

is the same algorithm: a rotation changes neither inner products nor norms, hence neither gradient descent, momentum nor
clipping. 145 rows of 3,312 columns become 145 columns, and a step 23 times cheaper.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh

from rdplearn._model.decoder import Decoder, zero_decoder
from rdplearn._model.representation import Representation
from rdplearn._training.settings import TrainingTask
from rdplearn._types import Floats, Rows

SMALLEST_SQUARE = 1e-12  # of the largest: directions in which rows differ by less than single precision tells


@dataclass(frozen=True)
class RowSpace:
    """An orthonormal basis of the span of some rows, and the rows in it.

    basis : (n_columns, rank); rows : (n_rows, rank)
    """

    basis: Floats
    rows: Floats

    def enter(self, weights: Floats) -> Floats:
        """Coordinates of W's part within the span. weights : (n_columns, n_components)."""
        return np.ascontiguousarray(self.basis.T @ weights)

    def leave(self, start: Floats, trained: Floats) -> Floats:
        """W after training, from its start in the full space and its trained coordinates."""
        return start + self.basis @ (trained - self.enter(start))


def row_space(rows: Floats) -> RowSpace:
    """Find the span of the rows.

    Examples
    --------
    >>> rows = np.random.default_rng(0).random((3, 8), dtype=np.float32)
    >>> space = row_space(rows)
    >>> space.rows.shape, bool(np.allclose(space.rows @ space.basis.T, rows, atol=1e-5))
    ((3, 3), True)
    """
    doubles = rows.astype(np.float64)
    squares, turned = eigh(doubles @ doubles.T, driver="evd")  # of X X^T: far smaller than X, and sooner done
    is_span = squares > max(squares[-1], 0.0) * SMALLEST_SQUARE
    is_span[-1] = True
    basis = doubles.T @ (turned[:, is_span] / np.sqrt(np.maximum(squares[is_span], np.finfo(np.float64).tiny)))
    basis = np.ascontiguousarray(basis, dtype=np.float32)
    return RowSpace(basis, np.ascontiguousarray(rows @ basis))


def worth_rotating(rows: Rows, saved_flops: float) -> bool:
    """Tell whether finding the span takes less work than it saves.

    saved_flops : operations that training would take less, if it had a column for each row
    """
    n_rows, n_columns = rows.shape
    return saved_flops > 20.0 * n_rows**2 * n_columns  # X X^T and its eigenvectors in double precision


def entered(task: TrainingTask, span: RowSpace) -> TrainingTask:
    """The same task within the span of its rows. The decoder starts from zero and never leaves it."""
    phi = Representation(span.enter(task.phi.weights), task.phi.bias, task.phi.deeper)
    decoder = None if task.decoder is None else zero_decoder(phi.weights.shape[0], phi.n_components)
    return replace(task, rows=span.rows, phi=phi, decoder=decoder)


def left(span: RowSpace, start: TrainingTask, trained: TrainingTask) -> TrainingTask:
    """The trained task on the table's own columns, from its start there and what was trained within the span."""
    weights = span.leave(start.phi.weights, trained.phi.weights)
    phi = Representation(weights, trained.phi.bias, trained.phi.deeper)
    decoder = trained.decoder
    if decoder is not None:
        decoder = Decoder(span.basis @ decoder.weights, span.basis @ decoder.bias)
    return replace(start, phi=phi, decoder=decoder)
