"""φ around its training: drawn before it, and as arrays for a checkpoint between two rounds."""

from __future__ import annotations

import numpy as np

from rdplearn._model.representation import Phi, Representation, draw_representation
from rdplearn._training.torch_options import TorchOptions
from rdplearn._types import Arrays, Rows, arrays_under

NETWORK = "network."


def draw_phi(
    rows: Rows, n_components: int, wanted: TorchOptions, rng: np.random.Generator, start_scale: float = 1.0
) -> Phi:
    """Draw φ for rows like these; a network that the user's function makes starts as it was made."""
    if wanted.widths is not None:
        return draw_representation(rows.shape[1], n_components, rng, wanted.widths, start_scale)
    from rdplearn._training.engines.torch_networks import make_network  # here: importing PyTorch takes seconds

    assert callable(wanted.network)
    return make_network(wanted.network, rows.shape[1], n_components, rows[:2], rng)


def saved_phi(phi: Phi) -> Arrays:
    """The arrays of a trained φ: of its layers, or of the user's own network."""
    if not isinstance(phi, Representation):
        return {f"{NETWORK}{name}": array for name, array in phi.arrays().items()}
    arrays: Arrays = {}
    for layer, (weights, bias) in enumerate(phi.layers):
        arrays |= {f"weights_{layer}": weights, f"bias_{layer}": bias}
    return arrays


def take_phi(phi: Phi, arrays: Arrays) -> Phi:
    """Put saved arrays into φ as it was drawn before training."""
    if isinstance(phi, Representation):
        for layer, (weights, bias) in enumerate(phi.layers):
            weights[:], bias[:] = arrays[f"weights_{layer}"], arrays[f"bias_{layer}"]
    else:
        phi.load(arrays_under(NETWORK, arrays))
    return phi
