"""COP, Coherence Pursuit (Rahmani, Atia 2017): robust PCA from the rows that agree most with all others.

Rows are scaled to length 1; a row's coherence is the norm of its inner products with all other rows. Outliers
have little of it. The subspace is spanned by the most coherent rows; rows are represented by their
coordinates in it.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.preprocessing import normalize

from experiments.baselines.ensemble import dense
from experiments.preprocessing import Rows

_BLOCK_ROWS = 2_048
_DEPENDENT = 1e-6  # a row whose squared distance to the span so far is below this adds nothing to it


class COP:
    """Coordinates in the subspace of the `n_components` most coherent independent rows."""

    def __init__(self, *, n_components: int = 1_024, seed: int = 0) -> None:
        self.n_components = n_components
        self.seed = seed

    def fit(self, rows: Rows) -> Self:
        directions = normalize(rows)
        order = np.argsort(-coherence(directions), kind="stable")
        self.basis_, self.factor_ = _independent_rows(directions, order, self.n_components)
        return self

    def transform(self, rows: Rows) -> np.ndarray:
        from scipy.linalg import solve_triangular

        # basis = factor @ orthonormal, so coordinates solve factor @ coordinates = basis @ row
        products = dense(self.basis_ @ rows.T)
        return solve_triangular(self.factor_, products, lower=True).T.astype(np.float32)


def coherence(directions: Rows) -> np.ndarray:
    """Give the norm of each unit row's inner products with all others, a block of rows at a time."""
    norms = []
    for start in range(0, directions.shape[0], _BLOCK_ROWS):
        products = dense(directions[start : start + _BLOCK_ROWS] @ directions.T)
        products[np.arange(len(products)), start + np.arange(len(products))] = 0
        norms.append(np.linalg.norm(products, axis=1))
    return np.concatenate(norms)


def _independent_rows(directions: Rows, order: np.ndarray, at_most: int) -> tuple[Rows, np.ndarray]:
    """Take rows in order that are not in the span of those before; give them and their Cholesky factor.

    A step of Cholesky's algorithm shows how far the next row is from the span so far.
    """
    at_most = min(at_most, *directions.shape)
    candidates = order[: 2 * at_most]  # few rows repeat each other; looking further costs more than it gives
    products = dense(directions[candidates] @ directions[candidates].T).astype(np.float64)
    factor = np.zeros((at_most, at_most))
    taken: list[int] = []
    for place in range(len(candidates)):
        size = len(taken)
        row = np.zeros(size)
        for column in range(size):  # forward substitution
            row[column] = (products[place, taken[column]] - row[:column] @ factor[column, :column]) / factor[
                column, column
            ]
        distance = products[place, place] - row @ row
        if distance > _DEPENDENT:
            factor[size, :size], factor[size, size] = row, np.sqrt(distance)
            taken.append(place)
        if len(taken) == at_most:
            break
    return directions[candidates[taken]], factor[: len(taken), : len(taken)]
