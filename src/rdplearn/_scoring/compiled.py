"""The pass that scores, compiled: to the same bits as the plain formulas, so nothing is reordered and nothing fused."""

from __future__ import annotations

import numpy as np

from rdplearn._model.compiling import compiling
from rdplearn._model.losses import REPRESENTATION_SLOPE

SLOPE = np.float32(REPRESENTATION_SLOPE)


@compiling()
def novelty_scores(projected, bias, targets, offset, centre, target_slope, scores):
    """Mean squared residual of every row by every member, from the products with the weights, in one pass.

    projected, targets : (n_members, n_components, n_rows), before activation
    bias, offset, centre : (n_members, n_components), of φ, and of η before and after activation
    scores : (n_members, n_rows)
    """
    n_members, n_units, n_rows = projected.shape
    for m in range(n_members):
        totals = scores[m]
        totals[:] = np.float32(0.0)
        for k in range(n_units):
            phi, eta, shift, target_shift, middle = (
                projected[m, k],
                targets[m, k],
                bias[m, k],
                offset[m, k],
                centre[m, k],
            )
            for i in range(n_rows):
                z, target = phi[i] + shift, eta[i] + target_shift
                difference = max(z, SLOPE * z) - (max(target, target_slope * target) - middle)
                totals[i] += difference * difference
        for i in range(n_rows):
            totals[i] /= np.float32(n_units)
