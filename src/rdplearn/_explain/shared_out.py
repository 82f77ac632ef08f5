"""Effects of columns shared out, so that they add up to the score of a row, and the best repair comes first."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rdplearn._explain.typical_rows import TypicalRows
from rdplearn._types import Doubles, Matrix, dense

N_FREQUENT = 10
WORTH_MENDING = 0.05  # of a row's score: what is less says nothing
FIRST = 1e-6  # of a contribution, by which the first of equal ones is larger


def share_rest(own: Doubles, shared: Doubles, totals: Doubles) -> Doubles:
    """Let effects of each row add up to its total: the rest is shared in proportion, or equally where all are zero.

    Effects that raise the score share what raises it: what lowers it alone has no part in that.

    Examples
    --------
    >>> nothing = np.zeros((2, 2))
    >>> share_rest(np.array([[3.0, 1.0], [0.0, 0.0]]), nothing, np.array([8.0, 1.0])).tolist()
    [[6.0, 2.0], [0.5, 0.5]]
    >>> share_rest(np.zeros((1, 2)), np.array([[1.0, -2.0]]), np.array([3.0])).tolist()
    [[5.0, -2.0]]
    """
    contributions = own + shared
    rest = totals - contributions.sum(axis=1)
    sizes = np.maximum(np.sign(rest)[:, None] * contributions, 0.0)
    sizes = np.where(sizes.any(axis=1, keepdims=True), sizes, np.abs(contributions))
    sizes[~sizes.any(axis=1)] = 1.0
    return contributions + rest[:, None] * (sizes / sizes.sum(axis=1, keepdims=True))


def share_sparse_rest(own: sp.csr_array, shared: sp.csr_array, totals: Doubles, fallback: sp.csr_array) -> sp.csr_array:
    """`share_rest` on stored entries alone; a row without any gets the columns of `fallback` in equal parts."""
    contributions = own + shared
    rest = totals - np.asarray(contributions.sum(axis=1)).ravel()
    sizes = (sp.diags_array(np.sign(rest)) @ contributions).maximum(0)
    for instead in (abs(contributions), fallback):
        is_empty = np.asarray(sizes.sum(axis=1)).ravel() == 0
        sizes = sizes + sp.diags_array(is_empty.astype(np.float64)) @ instead
    shares = sp.diags_array(rest / np.asarray(sizes.sum(axis=1)).ravel()) @ sizes
    return sp.csr_array(contributions + shares)


def best_repair_first(contributions: Matrix, mended: sp.csr_array) -> Matrix:
    """Contributions of the same sums, of which those with the largest repair come first.

    Where several columns carry a row together, mending one of them may do less than mending another that does little.
    They then share what they have; but where no repair takes off more than a twentieth, repairs say nothing.

    Examples
    --------
    >>> best_repair_first(np.array([[1.0, 5.0, 0.5]]), sp.csr_array([[0.6, 0.1, 0.0]])).round(3).tolist()
    [[3.0, 3.0, 0.5]]
    >>> best_repair_first(np.array([[1.0, 5.0, 0.5]]), sp.csr_array([[0.2, 0.1, 0.0]])).round(3).tolist()
    [[1.0, 5.0, 0.5]]
    """
    best_repairs = np.asarray(mended.max(axis=1).todense()).ravel()
    totals = np.maximum(np.asarray(contributions.sum(axis=1)).ravel(), 0.0)
    places = np.flatnonzero(best_repairs > WORTH_MENDING * totals)
    for row in places:
        found = slice(*mended.indptr[row : row + 2])
        best = mended.indices[found][np.argmax(mended.data[found])]
        values = dense(contributions[[row]])[0]
        above = np.flatnonzero(values > values[best])
        if len(above):
            level = (values[best] + values[above].sum()) / (len(above) + 1)
            values[above], values[best] = level * (1.0 - FIRST / len(above)), level * (1.0 + FIRST)
            contributions[row, [*above, best]] = values[[*above, best]]
    return contributions


def fallback_columns(rows: sp.csr_array, typical_rows: TypicalRows) -> sp.csr_array:
    """For rows that differ in no column from typical ones: a 1 for what they store, or else for what most rows do."""
    stored = rows.astype(bool).astype(np.float64)
    n_stored = np.bincount(typical_rows.rows.indices, minlength=rows.shape[1])
    frequent = np.zeros(rows.shape[1])
    frequent[np.argsort(-n_stored, kind="stable")[:N_FREQUENT]] = 1.0
    is_empty = np.asarray(stored.sum(axis=1)).ravel() == 0
    return stored + sp.csr_array(is_empty[:, None].astype(np.float64)) @ sp.csr_array(frequent[None])
