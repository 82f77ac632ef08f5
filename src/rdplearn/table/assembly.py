"""Pieces of a matrix, and their assembly into one dense or sparse matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Matrix: TypeAlias = "NDArray[np.float32] | csr_array"


@dataclass(frozen=True)
class Block:
    """Columns that are given value by value; values: (n_rows, n_columns)."""

    values: NDArray[np.float32]

    @property
    def n_columns(self) -> int:
        return int(self.values.shape[1])


@dataclass(frozen=True)
class OneHot:
    """Columns of which each row has a 1 in at most one; places: (n_rows,), -1 for none."""

    places: NDArray[np.int64]
    n_columns: int


Piece: TypeAlias = Block | OneHot


def assemble(pieces: Sequence[Piece], n_rows: int, sparse: bool) -> Matrix:
    """Put pieces side by side.

    Examples
    --------
    >>> pieces = [Block(np.array([[5.0], [0.0]], dtype=np.float32)), OneHot(np.array([1, -1]), 2)]
    >>> assemble(pieces, 2, sparse=False).tolist()
    [[5.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    >>> assemble(pieces, 2, sparse=True).nnz
    2
    """
    return _assemble_sparse(pieces, n_rows) if sparse else _assemble_dense(pieces, n_rows)


def _assemble_dense(pieces: Sequence[Piece], n_rows: int) -> NDArray[np.float32]:
    matrix = np.zeros((n_rows, sum(piece.n_columns for piece in pieces)), dtype=np.float32)
    start = 0
    for piece in pieces:
        if isinstance(piece, Block):
            matrix[:, start : start + piece.n_columns] = piece.values
        else:
            rows = np.flatnonzero(piece.places >= 0)
            matrix[rows, start + piece.places[rows]] = 1
        start += piece.n_columns
    return matrix


def _assemble_sparse(pieces: Sequence[Piece], n_rows: int) -> Any:
    from scipy.sparse import coo_array

    rows, columns, values = [], [], []
    start = 0
    for piece in pieces:
        if isinstance(piece, Block):
            filled_rows, filled_columns = np.nonzero(piece.values)
            values.append(piece.values[filled_rows, filled_columns])
        else:
            filled_rows = np.flatnonzero(piece.places >= 0)
            filled_columns = piece.places[filled_rows]
            values.append(np.ones(len(filled_rows), dtype=np.float32))
        rows.append(filled_rows.astype(np.int32))
        columns.append((filled_columns + start).astype(np.int32))
        start += piece.n_columns
    places = (np.concatenate(rows), np.concatenate(columns)) if rows else (np.empty(0, np.int32),) * 2
    entries = np.concatenate(values) if values else np.empty(0, np.float32)
    return coo_array((entries, places), shape=(n_rows, start)).tocsr()
