r"""The decoder :math:`\phi'(\phi) = \phi Q + c` of the reconstruction loss: a linear map back to the columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rdplearn._types import Floats


@dataclass
class Decoder:
    """The decoder's parameters. weights : (n_columns, n_components), Q transposed; bias : (n_columns,), c."""

    weights: Floats
    bias: Floats

    def __call__(self, features: Floats) -> Floats:
        """Take features (n_rows, n_components) to rows (n_rows, n_columns)."""
        rows = features @ self.weights.T
        rows += self.bias
        return rows


def zero_decoder(n_columns: int, n_components: int) -> Decoder:
    """A decoder before training, all zero: φ learns from what it can explain, not from noise that Q brought along."""
    return Decoder(np.zeros((n_columns, n_components), dtype=np.float32), np.zeros(n_columns, dtype=np.float32))
