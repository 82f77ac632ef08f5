"""RDP on top of another representation: Doc2Vec+RDP and RotNet+RDP of the paper's appendix G."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from experiments.baselines import Representation
from experiments.baselines.doc2vec import Doc2Vec
from experiments.baselines.rdp import RDPFeatures


class ThenRDP:
    """Learn a wide representation, then RDP's from it."""

    def __init__(self, first: Representation, second: Representation) -> None:
        self.first = first
        self.second = second

    def fit(self, rows: Any) -> Self:
        self.second.fit(self.first.fit(rows).transform(rows))
        return self

    def transform(self, rows: Any) -> np.ndarray:
        return self.second.transform(self.first.transform(rows))


class Doc2VecRDP(ThenRDP):
    """Doc2Vec in `n_wide` dimensions (paper: 5,120 for R8, 10,240 for 20news), then RDP."""

    def __init__(self, *, n_wide: int = 5_120, n_epochs: int = 10, seed: int = 0, **options: Any) -> None:
        super().__init__(Doc2Vec(n_components=n_wide, n_epochs=n_epochs, seed=seed), RDPFeatures(seed=seed, **options))


class RotNetRDP(ThenRDP):
    """RotNet in `n_wide` dimensions (paper: 2,048), then RDP."""

    def __init__(
        self,
        *,
        n_blocks: int,
        n_layers: int,
        n_wide: int = 2_048,
        n_rotnet_steps: int = 300,
        seed: int = 0,
        **options: Any,
    ) -> None:
        from experiments.baselines.rotnet import RotNet

        rotnet = RotNet(n_blocks=n_blocks, n_layers=n_layers, n_components=n_wide, n_steps=n_rotnet_steps, seed=seed)
        super().__init__(rotnet, RDPFeatures(seed=seed, **options))
