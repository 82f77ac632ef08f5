"""How φ is trained, and what for: settings that every engine understands, and the task of one member."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from rdplearn._model.decoder import Decoder
from rdplearn._model.inner_products import InnerProducts
from rdplearn._model.losses import REPRESENTATION_SLOPE
from rdplearn._model.representation import Phi
from rdplearn._types import Floats, Ints, Matrix, Rows

EngineName = Literal["numba", "numpy", "torch"]


@dataclass(frozen=True)
class TrainingSettings:
    """The numbers of the paper's appendix, under the estimator's own parameter names.

    The loss is the weighted sum of three: distance prediction, novelty and reconstruction; a weight of 0 turns one off.

    pairs : "one" partner a row, as the paper has it, or "all" pairs of a batch
    inner_product : what φ's inner products are taken of: its vectors as they are ("plain"), at L1 norm 1 ("l1"), or at
        length 1 ("unit"; with all pairs only, where "l1" is not to be had)
    slope : of φ's last layer for negative numbers; 1 makes it linear, and with all pairs leaves it without a bias
    recorded : the losses that are written down, besides the user's own
    """

    n_steps: int
    batch_size: int
    learning_rate: float
    momentum: float
    max_grad_norm: float
    dropout: float
    distance_weight: float
    novelty_weight: float
    inner_product: Literal["l1", "plain", "unit"]
    reconstruction_weight: float = 0.0
    pairs: Literal["one", "all"] = "one"
    slope: float = REPRESENTATION_SLOPE
    recorded: tuple[str, ...] = ("distance", "novelty")


@dataclass
class TrainingTask:
    """What one φ is to learn: everything that an engine needs to know.

    rows : (n_rows, n_columns), or with all pairs `PreparedRows`
    targets : (n_rows, n_targets), η of the rows; with all pairs perhaps a function that gives wanted inner products
    kept : the rows that may be drawn
    phi : trained in place; seed : of batches, partners, dropout and sampled columns
    decoder : trained with φ, if rows are to be reconstructed; n_columns : of the table, before any rotation
    """

    rows: Rows
    targets: Floats | InnerProducts
    kept: Ints
    phi: Phi
    seed: Any
    decoder: Decoder | None = None
    n_columns: int = 0


@dataclass(frozen=True)
class PreparedRows:
    """Rows of a table that are prepared when they are drawn, so that no copy of the table need be made."""

    matrix: Matrix
    view: Callable[[Matrix], Rows]

    @property
    def shape(self) -> tuple[int, int]:
        """Of the table."""
        n_rows, n_columns = self.matrix.shape
        return n_rows, n_columns

    def __getitem__(self, places: Ints) -> Rows:
        """Prepare some rows."""
        return self.view(self.matrix[places])


@dataclass(frozen=True)
class Losses:
    """Mean losses over a stretch of steps."""

    distance: float = 0.0
    novelty: float = 0.0
    reconstruction: float = 0.0
    auxiliary: dict[str, float] = field(default_factory=dict)
