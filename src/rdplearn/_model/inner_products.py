r"""What a random mapping's inner products become as its targets grow in number.

The inner products :math:`\eta(x) \cdot \eta(y)` of a random mapping are averages over its targets, and settle as there
are more of them. Their limits are kernels of the two rows that can be written down, so that distances may be predicted
without the noise of a finite draw:

- a linear mapping, dense or sparse, preserves inner products: :math:`x \cdot y` (equations 5 to 7);
- random Fourier features of bandwidth `h` give :math:`\exp(-\|x - y\|^2 / 2h^2)` (equation 8);
- leaky units :math:`\max(z, s z)` with :math:`z = a \cdot x` give, up to a constant, with :math:`\cos\theta` the cosine
  of the two rows, :math:`\|x\| \|y\| \left( (1 + s)^2 \cos\theta + (1 - s)^2 \frac{2}{\pi} (\sin\theta + \cos\theta
  \arcsin\cos\theta) \right) / 4`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rdplearn._model.mapping import MAPPING_SLOPE, Mapping
from rdplearn._types import Floats, Rows, dense

InnerProducts = Callable[[Rows], Floats]  # rows (n_rows, n_columns) to (n_rows, n_rows)

LINEAR_MAPPINGS = ("linear", "sparse", "identity")


def inner_products(rows: Rows) -> Floats:
    """Inner products of all pairs of rows."""
    return dense(rows @ rows.T)


def rbf_kernel(rows: Rows, bandwidth: float) -> Floats:
    """Radial basis functions of all distances between rows."""
    products = inner_products(rows)
    squares = np.diag(products)
    distances = np.maximum(squares[:, None] + squares - 2.0 * products, 0.0)
    return np.exp(distances * products.dtype.type(-0.5 * bandwidth**-2))


def leaky_kernel(rows: Rows) -> Floats:
    """Mean product of leaky units over all random directions, for all pairs of rows."""
    products = inner_products(rows)
    lengths = np.sqrt(np.diag(products))
    scale = lengths[:, None] * lengths
    cosines = np.clip(np.divide(products, scale, out=np.zeros_like(products), where=scale > 0), -1.0, 1.0)
    bent = (2.0 / np.pi) * (np.sqrt(1.0 - cosines**2) + cosines * np.arcsin(cosines))
    return scale * (((1.0 + MAPPING_SLOPE) / 2) ** 2 * cosines + ((1.0 - MAPPING_SLOPE) / 2) ** 2 * bent)


def limit_products(kind: str, bandwidth: float) -> InnerProducts:
    """Give the kernel of infinitely many targets of a named mapping.

    Examples
    --------
    >>> limit_products("linear", 1.0)(np.array([[3.0], [2.0]])).tolist()
    [[9.0, 6.0], [6.0, 4.0]]
    """
    if kind == "fourier":
        return lambda rows: rbf_kernel(rows, bandwidth)
    return leaky_kernel if kind in ("leaky", "orthogonal") else inner_products


def products_of(mapping: Mapping) -> InnerProducts:
    """Give the inner products of a mapping that has been drawn."""

    def kernel(rows: Rows) -> Floats:
        targets = mapping(rows)
        return targets @ targets.T

    return kernel
