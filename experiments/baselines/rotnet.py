"""RotNet (Gidaris, Singh, Komodakis 2018): features of pictures learned by telling how they were turned.

The original has four blocks of three convolutions; RotNet4x2, 4x1, 3x1 and 2x1 are the paper's smaller forms.
As in the original, a block opens with a wide filter and goes on with 1 x 1 ones (network in network); ours
has 64 channels where the original has 96 to 192, for 400 pictures on a processor, and learns from few pictures
at a time: with 32 of them a step of the largest form takes 8 s, and 300 steps more than the ten minutes that a
run has. Features are the last block, pooled to 4 x 4.
"""

from __future__ import annotations

from typing import Self

import numpy as np
import torch

from experiments.baselines.networks import seeded, train
from experiments.preprocessing import Rows

_POOLED_SIDE = 4
_CHANNELS = 64


class RotNet:
    """A convolutional network that classifies quarter turns; rows are square pictures.

    Parameters
    ----------
    n_blocks, n_layers : blocks, and convolutions in a block
    n_components : number of features, a multiple of 16
    """

    def __init__(
        self,
        *,
        n_blocks: int = 4,
        n_layers: int = 3,
        n_components: int = 1_024,
        n_steps: int = 200,
        batch_size: int = 8,
        seed: int = 0,
    ) -> None:
        self.n_blocks = n_blocks
        self.n_layers = n_layers
        self.n_components = n_components
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.seed = seed

    def fit(self, rows: Rows) -> Self:
        pictures = as_pictures(rows)
        with seeded(self.seed):
            self.features_ = self._blocks(pictures.shape[-1])
            classifier = torch.nn.Linear(self.n_components, 4)
        optimiser = torch.optim.SGD(
            [*self.features_.parameters(), *classifier.parameters()],
            lr=0.02,
            momentum=0.9,
            nesterov=True,
            weight_decay=5e-4,
        )

        def rotation_loss(batch: torch.Tensor) -> torch.Tensor:
            turned = torch.cat([torch.rot90(batch, turns, dims=(2, 3)) for turns in range(4)])
            answers = torch.arange(4).repeat_interleave(len(batch))
            return torch.nn.functional.cross_entropy(classifier(self.features_(turned)), answers)

        self.losses_ = train(
            rotation_loss,
            optimiser,
            pictures,
            n_steps=self.n_steps,
            batch_size=self.batch_size,
            seed=self.seed,
        )
        self.features_.eval()
        return self

    def transform(self, rows: Rows) -> np.ndarray:
        with torch.no_grad():
            return torch.cat([self.features_(block) for block in as_pictures(rows).split(256)]).numpy()

    def _blocks(self, side: int) -> torch.nn.Sequential:
        modules: list[torch.nn.Module] = []
        channels = 1
        for block in range(self.n_blocks):
            last = block == self.n_blocks - 1
            for layer in range(self.n_layers):
                width = self.n_components // _POOLED_SIDE**2 if last and layer == self.n_layers - 1 else _CHANNELS
                size = (5 if block == 0 else 3) if layer == 0 else 1
                modules += [
                    torch.nn.Conv2d(channels, width, size, padding=size // 2, bias=False),
                    torch.nn.BatchNorm2d(width),
                    torch.nn.ReLU(),
                ]
                channels = width
            if not last and side > 2 * _POOLED_SIDE - 1:
                modules.append(torch.nn.MaxPool2d(2))
                side //= 2
        return torch.nn.Sequential(*modules, torch.nn.AdaptiveAvgPool2d(_POOLED_SIDE), torch.nn.Flatten())


def as_pictures(rows: Rows) -> torch.Tensor:
    """Turn rows (n, side * side) into centred pictures (n, 1, side, side)."""
    side = round(rows.shape[1] ** 0.5)
    if side * side != rows.shape[1]:
        raise ValueError(f"RotNet needs square pictures. Got {rows.shape[1]} columns instead.")
    pictures = torch.from_numpy(np.ascontiguousarray(rows, dtype=np.float32)).reshape(-1, 1, side, side)
    return (pictures - pictures.mean()) / pictures.std().clamp_min(1e-6)
