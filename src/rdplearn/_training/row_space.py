r"""Wide tables: train in the space that the rows span, or in its leading directions.

Every gradient of W is a combination of rows, so W only ever moves within their span. With :math:`X = U S V^T` of rank
`r`, training on the `r` columns of :math:`U S` from :math:`W_r = V^T W_0` and mapping back,

.. math:: W = W_0 + V (W_r - V^T W_0),

is the same algorithm: a rotation changes neither inner products nor norms, hence neither gradient descent, momentum nor
clipping. 145 rows of 3,312 columns become 145 columns, and a step 23 times cheaper.

**Leading directions.** A short training moves W along the directions in which rows are long, and hardly along others.
So a detector's members train in no more than `n_directions` of them, which are found once for each view, from a sample
of rows. φ knows nothing of what lies outside and says nothing about it, while η sees all of it: a row that is odd there
has a large residual. Members that predict distances start from a random projection that keeps them: outside, W stays as
it was drawn. The longer the training, the more directions it gets to: 192 up to 120 steps, with the square of the steps
up to 512, and then all. A table of fewer columns is trained on as it is, and so is any by the paper's protocol, whose φ
starts at full size and takes 6,000 steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from rdplearn._model.decoder import Decoder, zero_decoder
from rdplearn._model.products import BLOCK, in_steady_blocks, row_products
from rdplearn._model.representation import Representation
from rdplearn._model.threads import one_blas_thread
from rdplearn._training.settings import TrainingTask
from rdplearn._types import Floats, Ints, Rows, dense, drawn_rows

SMALLEST_SQUARE = 1e-12  # of the largest: directions in which rows differ by less than single precision tells
FEWEST_DIRECTIONS, MOST_DIRECTIONS, STEPS_OF_FEWEST = 192, 512, 120
SMALLEST_LEADING = 1e-5  # likewise, where squares are added up in single precision
ROWS_FOR_DIRECTIONS = 4_096
MORE_SUMS = 192  # of rows than directions: the more, the nearer they are to the true ones
FULL = 1 / 32  # of their cells: from here on sparse sums are multiplied sooner as dense ones


@dataclass(frozen=True)
class RowSpace:
    """An orthonormal basis of the span of some rows, or of its leading directions, and the rows in it.

    basis : (n_columns, rank); rows : (n_rows, rank)
    is_all : whether W starts and ends outside as well, where training does not see it; otherwise it is zero there
    """

    basis: Floats
    rows: Floats
    is_all: bool = True

    def enter(self, weights: Floats) -> Floats:
        """Coordinates of W's part within the span. weights : (n_columns, n_components)."""
        return np.ascontiguousarray(self.basis.T @ weights)

    def leave(self, start: Floats, trained: Floats) -> Floats:
        """W after training, from its start in the full space and its trained coordinates."""
        if not self.is_all:
            return self.basis @ trained
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


def n_directions(n_steps: int) -> int | None:
    """In how many directions a training of so many steps gets anywhere; None for all.

    Examples
    --------
    >>> [n_directions(n_steps) for n_steps in (60, 120, 150, 6_000)]
    [192, 192, 300, None]
    """
    wanted = max(FEWEST_DIRECTIONS, round(FEWEST_DIRECTIONS * (n_steps / STEPS_OF_FEWEST) ** 2))
    return wanted if wanted <= MOST_DIRECTIONS else None


def rows_for_directions(n_rows: int, seed: int) -> Ints:
    """Which rows of a table tell the leading directions: all, or a random sample."""
    return drawn_rows(n_rows, ROWS_FOR_DIRECTIONS, [seed, ROWS_FOR_DIRECTIONS])


def leading_directions(rows: Rows, n_wanted: int) -> Floats:
    """The directions in which rows are longest, nearly: (n_columns, n_wanted) or fewer, of length 1 and orthogonal.

    They are those of a few sums of rows, so that only a small matrix has to be taken apart. Single precision will do:
    W is mapped back by the same numbers that rows are turned by.

    Examples
    --------
    >>> rows = np.random.default_rng(0).random((20, 8), dtype=np.float32)
    >>> rows[:, 5] *= 100
    >>> int(np.argmax(np.abs(leading_directions(rows, 1))))
    5
    """
    sums = sums_of_rows(rows, n_wanted + MORE_SUMS)
    with one_blas_thread():
        if sp.issparse(sums) and sums.nnz > FULL * sums.shape[0] * sums.shape[1]:
            sums = sums.toarray()  # at most twice the size of the directions, and far sooner multiplied
        squares, shares = eigh(dense(sums @ sums.T), driver="evd")
        squares, shares = squares[-n_wanted:], shares[:, -n_wanted:]
        is_leading = squares > max(squares[-1], 0.0) * SMALLEST_LEADING
        is_leading[-1] = True
        shares = shares[:, is_leading] / np.sqrt(np.maximum(squares[is_leading], np.finfo(np.float32).tiny))
        return np.ascontiguousarray(sums.T @ shares, dtype=np.float32)


def sums_of_rows(rows: Rows, n_sums: int) -> Rows:
    """So many sums of rows with random signs, each row in one of them; fewer rows as they are.

    What many rows have in common is long in the sums as well, and no row has a direction of its own, as those of a
    sample would have.
    """
    n_rows = rows.shape[0]
    if n_rows <= n_sums:
        return rows
    rng = np.random.default_rng(n_sums)
    signs = 2.0 * rng.integers(2, size=n_rows).astype(np.float32) - 1.0
    places = rng.permutation(np.arange(n_rows) % n_sums)
    return sp.csr_array((signs, (places, np.arange(n_rows))), shape=(n_sums, n_rows)) @ rows


def turned(rows: Rows, basis: Floats) -> Floats:
    """Rows in leading directions, (n_rows, n_directions); a row has the same bits wherever it stands among others."""
    n_at_once = max(1, rows.shape[0]) if sp.issparse(rows) else BLOCK
    in_basis = np.empty((rows.shape[0], basis.shape[1]), dtype=np.float32)
    with one_blas_thread():
        return in_steady_blocks(rows, lambda block: row_products(block, basis), in_basis, n_at_once)


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
