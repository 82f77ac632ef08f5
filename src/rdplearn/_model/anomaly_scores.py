r"""How anomalous one member finds rows: two formulas.

With the novelty loss, a row's score is the mean squared residual :math:`\frac{1}{K} \|\phi(x) - \eta(x)\|^2`. Without
it φ and η need not agree, and a row is scored by its mean distance, in φ's space, to the nearest row of small random
subsamples of the rows that boosting kept. Sums over a row's components are taken one after the other, so that a row's
score does not depend on the rows beside it, to the last bit.
"""

from __future__ import annotations

import numpy as np

from rdplearn._model.products import row_products
from rdplearn._types import Floats

N_SUBSAMPLES, SUBSAMPLE_SIZE = 50, 8


def novelty_scores(phi: Floats, eta: Floats) -> Floats:
    """Mean squared residual along the last axis; overwrites `phi`."""
    phi -= eta
    return mean_squares(phi)


def mean_squares(residuals: Floats) -> Floats:
    """Mean square along the last axis; overwrites `residuals`."""
    residuals *= residuals
    return np.add.reduce(residuals, axis=-1) / np.float32(residuals.shape[-1])


def nearest_subsample_scores(phi: Floats, references: Floats) -> Floats:
    """Mean, over the subsamples, of the distance to the nearest of their rows.

    phi : (n_rows, n_components); references : (N_SUBSAMPLES * SUBSAMPLE_SIZE, n_components)
    """
    squared = row_products(phi, references.T)
    squared *= -2.0
    squared += np.add.reduce(phi * phi, axis=1)[:, None]
    squared += np.einsum("ij,ij->i", references, references)
    nearest = squared.reshape(len(phi), N_SUBSAMPLES, SUBSAMPLE_SIZE).min(axis=2)
    return np.sqrt(np.maximum(nearest, 0.0)).mean(axis=1)
