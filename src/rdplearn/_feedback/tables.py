"""Answers about rows of tables: a `TableModel` whose detector has been answered; and the door to all of this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from rdplearn._explain.explanation import Explanation
from rdplearn._feedback.asking import Asking
from rdplearn._feedback.muting import MutingRule
from rdplearn._feedback.reviewed import Reviewed
from rdplearn._to_dask import for_partitions
from rdplearn._types import Doubles, Ints, Matrix
from rdplearn.detector import RDPDetector
from rdplearn.errors import TableError
from rdplearn.table import TableEncoder, open_table
from rdplearn.table_model import TableModel

if TYPE_CHECKING:
    import pyarrow as pa


class ReviewedTable(TableModel):
    """A `TableModel` that takes answers about rows of tables; `rdplearn.review` makes it.

    Methods are those of `TableModel` and of `Reviewed`, with tables in place of matrices.
    """

    def __init__(self, estimator: Reviewed, encoder: TableEncoder) -> None:
        super().__init__(estimator, encoder)
        estimator.group_columns(encoder.groups_)
        self._read_as = _way_of_reading(encoder)

    def fit(self, table: Any, y: object = None) -> TableModel:
        """Not here: answers are about a model that is fitted."""
        raise TypeError("A reviewed model is fitted already. Fit a TableModel, and review that.")

    @for_partitions
    def tell(self, table: Any, answers: str | Sequence[str], *, names: Sequence[Any] | None = None) -> Self:
        """Take answers about the rows of a table; see `Reviewed.tell`."""
        self.estimator.tell(self._matrix(table), answers, names=names)
        return self

    @for_partitions
    def take_back(self, table: Any) -> Self:
        """Forget what was told about the rows of a table."""
        self.estimator.take_back(self._matrix(table))
        return self

    def take_over(self, other: ReviewedTable) -> Self:
        """Take the answers, names and muting rules of another one; see `Reviewed.take_over`.

        Both must read the table in the same way, since answers are kept about rows as they were read.
        """
        if not isinstance(other, ReviewedTable):
            raise TypeError(
                "The 'other' parameter of take_over must be a reviewed table model. Got "
                f"{type(other).__name__} instead."
            )
        if other._read_as != self._read_as:
            raise TableError(
                "The table is read in another way now, so the answered rows are not known in it. Tell the rows "
                "themselves again: tell(rows, answers, names=names), or 'rdplearn tell' with the file of answers; then "
                "mute what you know."
            )
        self.estimator.take_over(other.estimator)
        return self

    @for_partitions
    def mute(self, table: Any, same: str | Sequence[str] = (), *, name: str | None = None) -> MutingRule:
        """Do not report rows like the one in this table; see `Reviewed.mute`."""
        opened = open_table(table)
        batches = [batch for batch in opened.batches() if batch.num_rows]
        n_rows = sum(batch.num_rows for batch in batches)
        if n_rows != 1:
            raise TableError(f"A muting rule is made of one row. Got {n_rows:,} instead: pass a table of the one.")
        cells = self.encoder.cell_values(batches[0])[0]
        return self.estimator.mute(self._matrix(opened), same, name=name, values=cells)

    def unmute(self, name: str) -> Self:
        """Remove a muting rule."""
        self.estimator.unmute(name)
        return self

    @for_partitions
    def muted(self, table: Any) -> Any:
        """For each row the name of the rule that mutes it, None for all others."""
        return self._gather(table, self.estimator.muted)

    @for_partitions
    def uncertainty(self, table: Any) -> Doubles:
        """How far each score may be from what a person would say: a standard deviation."""
        return self._gather(table, self.estimator.uncertainty)

    @for_partitions
    def asking(self, table: Any) -> Asking:
        """The rows of a table to be asked about, one after the other: scored once, for many answers."""
        return Asking(self.estimator, self._matrix(table))

    @for_partitions
    def next(self, table: Any, n: int = 1, *, strategy: str = "top") -> Ints:
        """The places of the rows worth asking about, from 0, or the rows themselves; see `Reviewed.next`."""
        return self.asking(table).next(n, strategy=strategy)

    def _matrix(self, table: Any) -> Matrix:
        return self.encoder.transform(table)

    def explain_encoded(self, batch: pa.RecordBatch, matrix: Any) -> Explanation:
        """Explain rows of a table that are encoded already."""
        explanation = self.estimator.explain(matrix, groups=self.encoder.groups_)
        cells, told = self.encoder.cell_values(batch), explanation.values[:, -1:]
        typical = [*self.encoder.typical_values(), explanation.typical[-1]]
        return replace(explanation, values=np.hstack([cells.astype(object), told]), typical=typical)


def _way_of_reading(encoder: TableEncoder) -> list[Any]:
    """What decides which numbers a row becomes."""
    return [(column.encoding, column.names()) for column in encoder.columns_]


@overload
def review(model: RDPDetector | Reviewed) -> Reviewed: ...
@overload
def review(model: TableModel) -> ReviewedTable: ...
def review(model: Any) -> Any:
    """Make a model that takes answers about rows, on top of a fitted one, which stays as it is.

    Parameters
    ----------
    model : a fitted RDPDetector, or a TableModel of one; one that has answers keeps them

    Returns
    -------
    Reviewed, or a TableModel with the same methods
        `tell` takes answers, `next` proposes rows to ask about; `score_samples`, `predict`, `explain` work as before.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rdplearn
    >>> rng = np.random.default_rng(0)
    >>> trips = pd.DataFrame({"km": rng.gamma(4, 2, 400), "toll": rng.choice([0.0, 5.0], 400)})
    >>> trips.loc[:4, "toll"] = 60.0
    >>> detector = rdplearn.RDPDetector(n_members=5, n_rounds=2, random_state=0)
    >>> model = rdplearn.review(rdplearn.TableModel(detector).fit(trips))
    >>> first = model.next(trips, 2)
    >>> model = model.tell(trips.iloc[first], "normal")
    >>> len(model.estimator.answers_)
    2
    """
    if isinstance(model, Reviewed | ReviewedTable):
        return model
    if isinstance(model, TableModel):
        if isinstance(model.estimator, Reviewed):
            return ReviewedTable(model.estimator, model.encoder)
        reviewed = ReviewedTable(Reviewed(model.estimator), model.encoder)
        if model.memory_ is not None:  # of the columns: remembered scores are on the scale of before
            reviewed.memory_ = replace(model.memory_, scores=None)
        return reviewed
    return Reviewed(model)
