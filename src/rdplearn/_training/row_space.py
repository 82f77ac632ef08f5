r"""Wide tables: train in the space that the rows span, or in its leading directions.

Every gradient of W is a combination of rows, so W only ever moves within their span. With :math:`X = U S V^T` of rank
`r`, training on the `r` columns of :math:`U S` from :math:`W_r = V^T W_0` and mapping back,

.. math:: W = W_0 + V (W_r - V^T W_0),

is the same algorithm: a rotation changes neither inner products nor norms, hence neither gradient descent, momentum nor
clipping. 145 rows of 3,312 columns become 145 columns, and a step 23 times cheaper.

**Leading directions.** A short training moves W along the directions in which rows are long, and hardly along others.
So a detector's members train in no more than `n_directions` of them, which are found once for each view, from a sample
of rows. φ knows nothing of what lies outside and says nothing about it, while η sees all of it: a row that is odd there
has a large residual. The longer the training, the more directions it gets to: 256 up to 120 steps, with the square of
the steps up to 512, and then all. A table of fewer columns is trained on as it is, and so is any in the paper's 6,000.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from rdplearn._model.decoder import Decoder, zero_decoder
from rdplearn._model.representation import Representation
from rdplearn._training.settings import TrainingTask
from rdplearn._types import Floats, Ints, Rows, dense, drawn_rows

SMALLEST_SQUARE = 1e-12  # of the largest: directions in which rows differ by less than single precision tells
FEWEST_DIRECTIONS, MOST_DIRECTIONS, STEPS_OF_FEWEST = 256, 512, 120
SMALLEST_LEADING = 1e-5  # likewise, where squares are added up in single precision
MOST_ROWS = 4096
MORE_ROWS = 256  # than directions: of fewer, what sets these few rows apart would count as a direction


@dataclass(frozen=True)
class RowSpace:
    """An orthonormal basis of the span of some rows, or of its leading directions, and the rows in it.

    basis : (n_columns, rank); rows : (n_rows, rank)
    is_all : whether W starts and ends outside of the span as well; otherwise it is zero there
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
    [256, 256, 400, None]
    """
    wanted = max(FEWEST_DIRECTIONS, round(FEWEST_DIRECTIONS * (n_steps / STEPS_OF_FEWEST) ** 2))
    return wanted if wanted <= MOST_DIRECTIONS else None


def rows_for_directions(n_rows: int, n_wanted: int, seed: int) -> Ints:
    """Which rows of a table tell the leading directions: all, or a random sample."""
    return drawn_rows(n_rows, MOST_ROWS, [seed, n_wanted])


def mixed(rows: Rows, most: int) -> Rows:
    """Sums of rows with random signs, so many at most: directions that many rows share are long in them as well."""
    n_rows = rows.shape[0]
    if n_rows <= most:
        return rows
    rng = np.random.default_rng(n_rows)
    signs = (2.0 * rng.integers(2, size=n_rows) - 1.0).astype(np.float32)
    places = rng.permutation(np.arange(n_rows) % most)
    summing = sp.csr_array((signs, (places, np.arange(n_rows))), shape=(most, n_rows))
    return summing @ rows


def leading_directions(rows: Rows, n_wanted: int) -> Floats:
    """The directions in which rows are longest: an orthonormal basis, (n_columns, n_wanted) or fewer.

    Examples
    --------
    >>> rows = np.random.default_rng(0).random((20, 8), dtype=np.float32)
    >>> rows[:, 5] *= 100
    >>> int(np.argmax(np.abs(leading_directions(rows, 1))))
    5
    """
    rows = mixed(rows, n_wanted + MORE_ROWS)
    products = dense(rows @ rows.T)
    squares, turned = eigh(products, driver="evd")
    is_leading = squares[-n_wanted:] > max(squares[-1], 0.0) * SMALLEST_LEADING
    is_leading[-1] = True
    squares, turned = squares[-n_wanted:][is_leading], turned[:, -n_wanted:][:, is_leading]
    basis = np.asarray(rows.T @ (turned / np.sqrt(np.maximum(squares, np.finfo(np.float32).tiny))))
    return np.ascontiguousarray(basis, dtype=np.float32)


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
