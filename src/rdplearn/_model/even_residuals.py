r"""Residuals of even size: no component of φ speaks louder than the others because it is harder to predict.

A row's score is the mean over the components of φ of their squared residuals. Some are predicted worse than others, by
chance of the draw, and a few of them would make the score, another few with another seed. So each component's
residual is divided by its root mean square over the rows that boosting has kept:

.. math:: s(x) = \frac{1}{K} \sum_k \left( \frac{\phi_k(x) - \eta_k(x)}{c_k} \right)^2, \qquad
    c_k^2 = \frac{1}{n} \sum_{i\ \text{kept}} (\phi_k(x_i) - \eta_k(x_i))^2

Leaky and linear functions are homogeneous, :math:`f(z / c) = f(z) / c`, so the division goes into the weights of φ and
η, and whoever scores rows, stores or exports the member knows nothing of it. A mapping or network of the user's own has
no such weights and stays as it is; so do Fourier features, all of which have the same size anyway. And so do members
that see no more rows than columns: they know the rows kept by heart, and the size of residuals there says nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rdplearn._model.mapping import Mapping, Projection
from rdplearn._model.panel import Round
from rdplearn._model.representation import Representation
from rdplearn._types import Floats, Ints

HOMOGENEOUS = ("leaky", "linear")
# A component that is predicted perfectly would drown all others where it errs at all.
SMALLEST_SHARE = 0.1  # of the root mean square of all


def can_even_out(trained: Round, n_rows: int) -> bool:
    """Tell whether a round's components can be divided within its weights, and by sizes that so many rows can tell."""
    phi, mapping = trained.phi, trained.mapping
    return (
        trained.references is None
        and isinstance(phi, Representation)
        and isinstance(mapping, Projection)
        and mapping.activation in HOMOGENEOUS
        and n_rows > mapping.weights.shape[0]
    )


def sizes_of(squares: Floats, kept: Ints) -> Floats:
    """Root mean square of each component's residual over the rows kept: (n_components,), positive.

    squares : (n_rows, n_components), of the residuals

    Examples
    --------
    >>> sizes_of(np.array([[1, 9], [1, 9], [81, 81]], dtype=np.float32), np.array([0, 1])).tolist()
    [1.0, 3.0]
    """
    shares = np.bincount(kept, minlength=len(squares)).astype(np.float32) / np.float32(len(kept))
    of_kept = shares @ squares
    smallest = max(SMALLEST_SHARE**2 * float(of_kept.mean()), float(np.finfo(np.float32).tiny))
    return np.sqrt(np.maximum(of_kept, np.float32(smallest)))


def divided(trained: Round, sizes: Floats) -> Round:
    """The round with each component of φ and η divided by its size."""
    phi: Representation = trained.phi
    *before, (weights, bias) = phi.layers
    first, *deeper = [*before, (weights / sizes, bias / sizes)]
    evened = Representation(first[0], first[1], tuple(deeper))
    return replace(trained, phi=evened, mapping=divided_mapping(trained.mapping, sizes))


def divided_mapping(mapping: Mapping, sizes: Floats) -> Projection:
    """η with each component divided by its size."""
    assert isinstance(mapping, Projection)
    weights, offset, centre = (part / sizes for part in (mapping.weights, mapping.offset, mapping.centre))
    return Projection(weights, offset, centre, mapping.activation)
