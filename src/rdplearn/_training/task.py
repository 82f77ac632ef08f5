"""What one member learns in one round: its rows, their targets, and the φ to be trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from rdplearn._model.decoder import Decoder
from rdplearn._types import Floats, Ints, Rows

Phi: TypeAlias = Any  # a `Representation`, or a network of the user's own as a function of rows


@dataclass
class Problem:
    """Everything that training needs to know of a member.

    rows : (n_rows, n_columns); targets : (n_rows, n_targets), η of the rows; kept : the rows that may be drawn
    phi : trained in place; seed : of batches, partners and dropout
    decoder : trained with φ, if rows are to be reconstructed; n_columns : of the table, before any rotation
    """

    rows: Rows
    targets: Floats
    kept: Ints
    phi: Phi
    seed: int
    decoder: Decoder | None = None
    n_columns: int = 0
