r"""The representation :math:`\phi(x) = \max(z, 0.2 z)` with :math:`z = xW + b`: what is learned, and how.

W starts from :math:`N(0, 2/D)`, drawn independently of the random mapping (were they equal, every loss would be zero
and nothing would be learned), and b from zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from rdplearn.losses import REPRESENTATION_SLOPE, leaky
from rdplearn.random_mapping import Rows, gaussian

Floats = npt.NDArray[np.float32]


@dataclass
class Representation:
    """φ's parameters. weights : (n_columns, n_components); bias : (n_components,)."""

    weights: Floats
    bias: Floats

    def __call__(self, rows: Rows) -> Floats:
        """Take rows (n_rows, n_columns) to (n_rows, n_components)."""
        return leaky(np.asarray(rows @ self.weights) + self.bias, REPRESENTATION_SLOPE)


def draw_representation(n_columns: int, n_components: int, rng: np.random.Generator) -> Representation:
    """Draw φ before training."""
    weights = gaussian((n_columns, n_components), 2.0 / n_columns, rng)
    return Representation(weights, np.zeros(n_components, dtype=np.float32))


@dataclass(frozen=True)
class TrainingSettings:
    """How φ is trained: the numbers of the paper's appendix, under the estimator's own parameter names."""

    n_steps: int
    batch_size: int
    learning_rate: float
    momentum: float
    max_grad_norm: float
    dropout: float
    distance_weight: float
    novelty_weight: float
    inner_product: Literal["l1", "plain"]
    reconstruction_weight: float = 0.0


@dataclass(frozen=True)
class Losses:
    """Mean losses over a stretch of steps."""

    distance: float
    novelty: float
    reconstruction: float = 0.0
