"""φ before training: the paper's, one with hidden layers, or a network that the user's function makes."""

from __future__ import annotations

import numpy as np

from rdplearn.problem import Phi
from rdplearn.random_mapping import Rows
from rdplearn.representation import draw_representation
from rdplearn.torch_settings import TorchSettings


def draw_phi(
    rows: Rows, n_components: int, wanted: TorchSettings, rng: np.random.Generator, start_scale: float = 1.0
) -> Phi:
    """Draw φ for rows like these; a network that the user's function makes starts as it was made."""
    if wanted.widths is not None:
        return draw_representation(rows.shape[1], n_components, rng, wanted.widths, start_scale)
    from rdplearn.torch_networks import make_network  # here, because importing PyTorch takes seconds

    return make_network(wanted.network, rows.shape[1], n_components, rows[:2], rng)
