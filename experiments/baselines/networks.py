"""What the neural competitors share: seeded modules, a training loop, blocks of rows."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator

import numpy as np
import torch

from experiments.baselines.ensemble import dense
from experiments.preprocessing import Rows

_BLOCK_ROWS = 8_192


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw initial weights and dropout from this seed, and leave PyTorch's global generator as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def train(
    loss_of: Callable[[torch.Tensor], torch.Tensor],
    optimiser: torch.optim.Optimizer,
    rows: torch.Tensor,
    *,
    n_steps: int,
    batch_size: int,
    seed: int,
) -> list[float]:
    """Descend on batches drawn with replacement; give the loss of every step."""
    random = torch.Generator().manual_seed(seed)
    losses = []
    for _ in range(n_steps):
        batch = rows[torch.randint(len(rows), (min(batch_size, len(rows)),), generator=random)]
        loss = loss_of(batch)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    return losses


def in_blocks(function: Callable[[torch.Tensor], torch.Tensor], rows: Rows) -> np.ndarray:
    """Apply a function without gradients to dense blocks of rows and put the results together."""
    with torch.no_grad():
        blocks = [
            function(torch.from_numpy(dense(rows[start : start + _BLOCK_ROWS]))).numpy()
            for start in range(0, rows.shape[0], _BLOCK_ROWS)
        ]
    return np.concatenate(blocks)


def layers(*widths: int, activation: type[torch.nn.Module]) -> torch.nn.Sequential:
    """Fully connected layers with the activation between them, none after the last."""
    modules: list[torch.nn.Module] = []
    for narrow, wide in itertools.pairwise(widths):
        modules += [torch.nn.Linear(narrow, wide), activation()]
    return torch.nn.Sequential(*modules[:-1])
