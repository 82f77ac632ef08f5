"""A small convolutional φ on images: it finds the handwritten digits that are no fours.

    python examples/digit_images.py

The rows are 8 x 8 pixels of handwritten fours among which some sixes, eights and nines are hidden. A convolutional
network knows that pixels next to each other belong together; φ of the paper has to find that out.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from torch import nn

from rdplearn import RDPDetector, TorchOptions

SIDE = 8


def fours_and_others(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """All fours and ten other digits; the pixels, and which rows are none."""
    pixels, digits = load_digits(return_X_y=True)
    others = np.random.default_rng(seed).choice(np.flatnonzero(np.isin(digits, [6, 8, 9])), 10, replace=False)
    chosen = np.concatenate([np.flatnonzero(digits == 4), others])
    return pixels[chosen], digits[chosen] != 4


def convolutional(n_columns: int, n_components: int) -> nn.Module:
    """φ: two convolutions, then a projection."""
    assert n_columns == SIDE * SIDE
    return nn.Sequential(
        nn.Unflatten(1, (1, SIDE, SIDE)),
        nn.Conv2d(1, 8, 3),
        nn.LeakyReLU(0.2),
        nn.Conv2d(8, 16, 3, stride=2),
        nn.LeakyReLU(0.2),
        nn.Flatten(),
        nn.Linear(16 * 2 * 2, n_components),
    )


def main(n_steps: int = 300) -> dict[str, float]:
    """Compare the convolutional φ with the paper's."""
    pixels, is_other = fours_and_others()
    quick = {"n_members": 4, "n_rounds": 2, "n_steps": n_steps, "views": "minmax", "random_state": 0}
    results = {}
    for name, network in (("convolutional", convolutional), ("the paper's", None)):
        detector = RDPDetector(torch=TorchOptions(network=network), engine="torch", mapping="leaky", **quick).fit(
            pixels
        )
        results[name] = float(roc_auc_score(is_other, -detector.score_samples(pixels)))
        print(f"{name} φ: AUC-ROC {results[name]:.3f}")
    return results


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
