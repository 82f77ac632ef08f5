r"""How anomalous one member finds rows: two formulas.

With the novelty loss, a row's score is the mean squared residual :math:`\frac{1}{K} \|\phi(x) - \eta(x)\|^2`. Without
it φ and η need not agree, and a row is scored by its distance, in φ's space, to the nearest row of random subsamples of
the rows that boosting kept: in the paper the mean over the subsamples, in our default the third smallest, for the
nearest of all may be the row itself, or its like among the anomalies. Sums over a row's components are taken one after
the other, so that a row's score does not depend on the rows beside it, to the last bit.
"""

from __future__ import annotations

import numpy as np

from rdplearn._model.products import row_products
from rdplearn._types import Floats

N_SUBSAMPLES, SUBSAMPLE_SIZE = 50, 8
SAME = 1e-5  # of a row's squared length: nearer is the same row, up to rounding


def novelty_scores(phi: Floats, eta: Floats) -> Floats:
    """Mean squared residual along the last axis; overwrites `phi`."""
    phi -= eta
    return mean_squares(phi)


def mean_squares(residuals: Floats) -> Floats:
    """Mean square along the last axis; overwrites `residuals`."""
    residuals *= residuals
    return np.add.reduce(residuals, axis=-1) / np.float32(residuals.shape[-1])


def nearest_subsample_scores(
    phi: Floats, references: Floats, n_subsamples: int = N_SUBSAMPLES, neighbour: int = 0
) -> Floats:
    """Distance to the nearest row of each subsample: the mean over them, or the smallest but some.

    phi : (n_rows, n_components); references : `lifted`, one subsample after the other
    neighbour : 2 for the second smallest, and so on; 0 for the mean
    """
    own = np.add.reduce(phi * phi, axis=1)
    longer = np.ones((len(phi), phi.shape[1] + 1), dtype=np.float32)
    longer[:, :-1] = phi
    beyond_own = row_products(longer, references).T  # (n_references, n_rows)
    nearest = beyond_own.reshape(n_subsamples, -1, len(phi)).min(axis=1) + own
    nearest[nearest < np.float32(SAME) * own] = 0.0
    if neighbour:
        return np.sqrt(np.partition(nearest, neighbour - 1, axis=0)[neighbour - 1])
    return np.sqrt(nearest).mean(axis=0)


def lifted(references: Floats) -> Floats:
    """References, (n_references, n_components), so that one product gives distances: (n_components + 1, n_references).

    A row with 1 at its end, times this, is its squared distance to each reference, less its own square: that is -2
    times its product with the reference, and the reference's square.
    """
    squares = np.einsum("ij,ij->i", references, references)
    return np.hstack([np.float32(-2.0) * references, squares[:, None]]).T  # in this order in memory, BLAS is quicker
