"""φ before training: the paper's, one with hidden layers, or a network that the user's function makes."""

from __future__ import annotations

import numpy as np

from rdplearn._model.representation import draw_representation
from rdplearn._training.task import Phi
from rdplearn._training.torch_options import TorchSettings
from rdplearn._types import Rows


def draw_phi(
    rows: Rows, n_components: int, wanted: TorchSettings, rng: np.random.Generator, start_scale: float = 1.0
) -> Phi:
    """Draw φ for rows like these; a network that the user's function makes starts as it was made."""
    if wanted.widths is not None:
        return draw_representation(rows.shape[1], n_components, rng, wanted.widths, start_scale)
    from rdplearn._training.engines.torch_networks import make_network  # here, because importing PyTorch takes seconds

    return make_network(wanted.network, rows.shape[1], n_components, rows[:2], rng)
