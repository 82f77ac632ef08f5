"""The rows of all members of a stack, one below the other, from which a step takes a batch of each member's own.

They stay on the device where they fit, and otherwise in the machine's memory, from where batches are sent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor

from rdplearn._training.engines.torch_device import room_for_rows
from rdplearn._types import Rows


class DenseStack:
    """Dense rows of all members; members with fewer columns than others get columns of zeros."""

    def __init__(self, parts: list[npt.NDArray[np.float32]], device: torch.device) -> None:
        self.device, self.n_members = device, len(parts)
        n_columns = max(rows.shape[1] for rows in parts)
        table = np.zeros((sum(map(len, parts)), n_columns), dtype=np.float32)
        first = 0
        for rows in parts:
            table[first : first + len(rows), : rows.shape[1]] = rows
            first += len(rows)
        here = torch.from_numpy(table)
        self.table = here.to(device) if here.nbytes <= room_for_rows(device) else here

    def take(self, places: Tensor) -> Tensor:
        """The rows at these places, (n_members * batch_size,): (n_members, batch_size, n_columns)."""
        taken = self.table.index_select(0, places.to(self.table.device)).to(self.device)
        return taken.view(self.n_members, -1, self.table.shape[1])


class SparseStack:
    """CSR rows of all members.

    dense : hand out batches as dense tensors, for networks and losses that look at the columns
    """

    def __init__(self, parts: list[sp.csr_array], device: torch.device, *, dense: bool) -> None:
        self.device, self.n_members, self.dense = device, len(parts), dense
        self.table: Any = sp.csr_array(sp.vstack(parts, format="csr"))
        self.table.sort_indices()

    def take(self, places: Tensor) -> Tensor:
        """The rows at these places: (n_members, batch_size, n_columns), or a block-diagonal sparse matrix of them.

        Shape of the sparse matrix: (n_members * batch_size, n_members * n_columns).
        """
        batch = self.take_csr(places)
        if self.dense:
            return torch.from_numpy(batch.toarray()).view(self.n_members, -1, batch.shape[1]).to(self.device)
        return sparse_block(batch, self.n_members).to(self.device)

    def take_csr(self, places: Tensor) -> Any:
        """The rows at these places, in CSR form."""
        return self.table[places.cpu().numpy()]


def sparse_block(batch: Any, n_members: int) -> Tensor:
    """CSR rows of members, one below the other, as a block-diagonal sparse tensor."""
    n_rows, n_columns = batch.shape
    row_of_value = np.repeat(np.arange(n_rows), np.diff(batch.indptr))
    first_column = row_of_value // (n_rows // n_members) * n_columns
    cells = torch.from_numpy(np.stack([row_of_value, first_column + batch.indices]))
    shape = (n_rows, n_members * n_columns)
    return torch.sparse_coo_tensor(
        cells, torch.from_numpy(batch.data), shape, is_coalesced=True, check_invariants=False
    )


def stack_rows(parts: list[Rows], device: torch.device, *, dense: bool) -> DenseStack | SparseStack:
    """Put the rows of all members together."""
    if sp.issparse(parts[0]):
        return SparseStack(parts, device, dense=dense)
    return DenseStack(parts, device)


def on_device(rows: Rows, device: torch.device, *, dense: bool) -> Tensor:
    """One batch of one member as a tensor, (1, n_rows, n_columns); sparse if it is and `dense` does not forbid it."""
    if not sp.issparse(rows):
        return torch.from_numpy(np.ascontiguousarray(rows))[None].to(device)
    return torch.from_numpy(rows.toarray())[None].to(device) if dense else sparse_block(rows, 1).to(device)
