r"""What single cells of a row say: one impossible value is enough.

Members judge a row as a whole, and among many columns one wild value may drown. So the cells of a table have a voice of
their own. All of it is a surprise, :math:`-\log p`, of a column of the *table*, whatever it became in the matrix:

- *by itself*: how few rows have a number as far out (`tails.py`), or a category as rare;
- *beside the others*: how few rows differ as much from what their other columns suggest (`Companions`), but what a
  share of the rows have in common is not rarer than that;
- *holes*: the surprises of all that is missing, added up, but no more than rows with as many such holes are rare.

With `J` columns there are `J` chances to be surprised, so each pays :math:`\log J`, or less than that by its weight.
The components of a text or date pay for their number in the same way.

How soon cells are believed depends on the table. Where all columns are numbers, anomalies tend to be rows that are odd
as a whole, and cells are heard when they are sure: their *odds* are -1. In tables as people write them, with
categories, dates and texts, single cells go wrong, and they are heard sooner: the odds rise to 2 as the share of
columns that are not numbers goes from none to an eighth. `docs/mixed.md` has the figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rdplearn._model.products import in_steady_blocks, row_products
from rdplearn._types import Doubles, Floats, Rows, TableColumns, dense
from rdplearn._views.curves import CurveView
from rdplearn._views.view import SeenRows, View

LEAST_RESIDUAL = 1e-6
UNLIMITED = 1e6  # nats


@dataclass(frozen=True)
class Companions:
    r"""What each column of the table is expected to be, given all others: a linear prediction between ranks.

    With :math:`P` the inverse of the correlations, :math:`x P_{\cdot g}` says by how much column `g` of the table, one
    matrix column or several, differs from what the others suggest, and :math:`P_{gg}` how much that is.

    view : balanced ranks, as members see them
    weights, offset : (n_columns, n_columns) and (n_columns,); what is left of the rows once it is predicted
    curves : of every column of the table, from the logarithm of the length of what is left to its surprise
    ceilings : (n_columns,), the largest surprise of a row that has a 1 there, or `UNLIMITED`: a word or hole that few
        rows have differs much from what the others suggest, but not by more than it is rare
    """

    view: View
    weights: Floats
    offset: Floats
    curves: CurveView
    ceilings: Doubles

    def surprises(self, rows: Rows, block: Rows, table: TableColumns) -> Floats:
        """Of every column of the table: (n_rows, n_groups). rows : the block through the view."""
        surprises = self.curves(self.log_residuals(rows, table))
        limited = np.flatnonzero(self.ceilings < UNLIMITED)
        if limited.size:
            places, found = np.nonzero(dense(block[:, limited]))
            cells = places, table.group_of_column[limited[found]]
            surprises[cells] = np.minimum(surprises[cells], self.ceilings[limited[found]])
        return surprises

    def log_residuals(self, rows: Rows, table: TableColumns) -> Doubles:
        """Logarithm of what is left of each column of the table: (n_rows, n_groups)."""
        residuals = np.empty((rows.shape[0], len(self.offset)), dtype=np.float32)
        in_steady_blocks(rows, lambda block: row_products(block, self.weights), residuals)
        residuals += self.offset
        residuals *= residuals
        lengths = table.reduced(np.add, residuals)
        return 0.5 * np.log(np.maximum(lengths, LEAST_RESIDUAL**2, dtype=np.float64))


@dataclass(frozen=True)
class CellVoice:
    """The voice of single cells.

    cells : a view that shows each matrix column's surprise
    none : (n_groups,), the surprise of a category that no indicator of the column of the table says; 0 for numbers
    hole_curve : knots and heights of a curve from a row's holes, added up, to how rare such rows are
    odds : added to every surprise, in nats
    companions : None where a table has a single column, or too many
    """

    table: TableColumns
    cells: View
    none: Doubles
    hole_curve: tuple[Doubles, Doubles]
    odds: float
    companions: Companions | None

    @property
    def views(self) -> list[View]:
        """All that is asked of `SeenRows`."""
        return [self.cells, *([] if self.companions is None else [self.companions.view])]

    @cached_property
    def prices(self) -> Doubles:
        """What each column of the table pays for being one of many: (n_groups,); infinite for a weight of zero."""
        weights = self.table.weights
        with np.errstate(divide="ignore"):
            return np.log(weights.sum()) - np.log(weights)

    def surprises(self, seen: SeenRows) -> Floats:
        """The largest surprise of each row, prices paid, and the odds: (n_rows,)."""
        heights = dense(seen.through(self.cells))
        prices = self.prices.astype(np.float32)
        by_group = self.by_themselves(heights, dense(seen.block)) - prices
        largest = by_group.max(axis=1)
        if self.companions is not None:
            beside = self.companions.surprises(seen.through(self.companions.view), seen.block, self.table) - prices
            largest = np.maximum(largest, beside.max(axis=1))
        return np.maximum(largest, self.holes(heights)) + np.float32(self.odds)

    def by_themselves(self, heights: Floats, block: Rows) -> Floats:
        """The surprise of each column of the table by itself: (n_rows, n_groups)."""
        surprises = self.table.reduced(np.maximum, np.where(self.table.is_mark, np.float32(0), heights))
        worded = np.flatnonzero(self.none)
        if worded.size:
            said = self.table.reduced(np.add, block)[:, worded]
            unsaid = np.maximum(1.0 - said, 0.0) * self.none[worded]
            surprises[:, worded] = np.maximum(surprises[:, worded], unsaid)
        return surprises

    def holes(self, heights: Floats) -> Floats:
        """The surprise of all that is missing in each row: (n_rows,)."""
        added = self.added_holes(heights)
        return np.minimum(added, np.interp(added, *self.hole_curve).astype(np.float32))

    def added_holes(self, heights: Floats) -> Floats:
        """The surprises of all that is missing in each row, prices paid, added up: (n_rows,)."""
        marks = np.flatnonzero(self.table.is_mark)
        prices = self.prices[self.table.group_of_column[marks]].astype(np.float32)
        return np.add.reduce(np.maximum(heights[:, marks] - prices, 0), axis=1)
