"""The decoder of the reconstruction loss in PyTorch, stacked: see `reconstruction.py` for which cells count."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from rdplearn._model.decoder import Decoder
from rdplearn._training.engines.torch_networks import leaf
from rdplearn._training.engines.torch_rows import DenseStack, SparseStack
from rdplearn._training.reconstruction import cells_to_decode, column_chances, sample_columns

# the rows to be decoded, which columns they have, and how many cells each cell stands for (None: all, once each)
Chosen: TypeAlias = tuple[Tensor, Tensor | None, Tensor | None]


class StackedDecoder:
    """Decoders of all members of a stack; of one member alone where rows are sparse.

    n_columns : that the reconstruction error is a mean over; more than the rows have, if these were rotated
    """

    def __init__(
        self, decoders: list[Decoder], rows: DenseStack | SparseStack, n_columns: int, device: torch.device
    ) -> None:
        self.decoders, self.rows, self.n_columns = decoders, rows, n_columns
        self.chances = column_chances(rows.table)
        self.weights = leaf(np.stack([decoder.weights for decoder in decoders]), device)  # (members, columns, units)
        self.bias = leaf(np.stack([decoder.bias for decoder in decoders])[:, None], device)
        self.parameters = [self.weights, self.bias]

    def choose(self, rows: Tensor, places: Tensor, key: np.uint32) -> Chosen:
        """What is to be reconstructed in one step: all columns of dense rows, and of sparse rows a weighted sample."""
        if not isinstance(self.rows, SparseStack):
            return rows, None, None
        batch = self.rows.take_csr(places)
        cells = cells_to_decode(batch, sample_columns(self.chances, key))
        columns, wanted, stands_for = (torch.from_numpy(values).to(self.bias.device) for values in cells)
        return wanted[None], columns, stands_for[None]

    def loss(self, phi: Tensor, chosen: Chosen) -> Tensor:
        """Mean squared error of the decoded rows of every member."""
        wanted, columns, stands_for = chosen
        weights, bias = self.weights, self.bias
        if columns is not None:
            weights, bias = weights.index_select(1, columns), bias.index_select(2, columns)
        squares = (torch.baddbmm(bias, phi, weights.transpose(1, 2)) - wanted).square()
        if stands_for is not None:
            squares = squares * stands_for
        return squares.sum(dim=(1, 2)) / (phi.shape[1] * self.n_columns)

    def write_back(self) -> None:
        """Put the trained numbers where they came from."""
        for number, decoder in enumerate(self.decoders):
            decoder.weights[:] = self.weights[number].detach().cpu().numpy()
            decoder.bias[:] = self.bias[number, 0].detach().cpu().numpy()
