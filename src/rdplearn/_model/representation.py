r"""The representation :math:`\phi(x) = \max(z, 0.2 z)` with :math:`z = xW + b`: what is learned, and how.

W starts from :math:`N(0, 2/D)`, drawn independently of the random mapping (were they equal, every loss would be zero
and nothing would be learned), and b from zero. With PyTorch φ may have hidden layers before this one, drawn likewise.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from rdplearn._model.losses import REPRESENTATION_SLOPE, leaky
from rdplearn._model.mapping import gaussian
from rdplearn._types import Floats, Rows

Phi: TypeAlias = Any  # a `Representation`, or a network of the user's own as a function of rows


@dataclass
class Representation:
    """φ's parameters. weights : (n_columns, n_components); bias : (n_components,).

    deeper : weights and bias of further layers, each taking the output of the one before; the last has n_components
    """

    weights: Floats
    bias: Floats
    deeper: tuple[tuple[Floats, Floats], ...] = ()

    @property
    def layers(self) -> list[tuple[Floats, Floats]]:
        """Weights and bias of every layer."""
        return [(self.weights, self.bias), *self.deeper]

    @property
    def n_components(self) -> int:
        """Components of φ(x)."""
        return self.layers[-1][1].size

    def __call__(self, rows: Rows) -> Floats:
        """Take rows (n_rows, n_columns) to (n_rows, n_components)."""
        return leaky(self.before_activation(rows), REPRESENTATION_SLOPE)

    def before_activation(self, rows: Rows, product: Callable[[Rows, Floats], Floats] = operator.matmul) -> Floats:
        """φ(x) before the last layer's rectifier. product : how rows are multiplied with weights."""
        phi = np.asarray(product(rows, self.weights))
        phi += self.bias
        for weights, bias in self.deeper:
            phi = product(leaky(phi, REPRESENTATION_SLOPE), weights)
            phi += bias
        return phi


def draw_representation(
    n_columns: int,
    n_components: int,
    rng: np.random.Generator,
    widths: tuple[int, ...] = (),
    start_scale: float = 1.0,
) -> Representation:
    """Draw φ before training.

    widths : of hidden layers, the first of which sees the columns; start_scale : of the last layer's weights
    """
    sizes = [n_columns, *widths, n_components]
    layers = [
        (gaussian((n_in, n_out), 2.0 / n_in, rng), np.zeros(n_out, dtype=np.float32))
        for n_in, n_out in itertools.pairwise(sizes)
    ]
    layers[-1][0][:] *= np.float32(start_scale)
    return Representation(*layers[0], tuple(layers[1:]))
