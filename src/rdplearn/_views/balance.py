r"""Views in which every column of a table has the same say, however many matrix columns it became.

An amount is one matrix column, a category may be a hundred, a text some thirty. Scaled one by one, the amount would be
one voice in a hundred. Here the matrix columns of one column of the table share its say, as in factor analysis of mixed
data: numbers are divided by the square root of how many belong together, and the indicator of a category with share `p`
of the rows becomes :math:`0.8 / \sqrt{p}`, divided by the square root of one less than the categories. A category that
few rows have thus lies far out, as a number would that few rows exceed; rarer than three rows makes no difference. The
mark of a missing cell is an indicator of its own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rdplearn._types import TableColumns
from rdplearn._views.curves import UNIT, Curve, CurveView, Distinct, fit_curves

RAREST = 3.0  # rows: rarer is not farther out


def fit_balanced(columns: list[Distinct], curve_of: Callable[[Distinct], Curve], table: TableColumns) -> CurveView:
    """Give every matrix column its curve, and every column of the table the same say, times its weight."""
    places = iter(range(len(columns)))

    def curve(column: Distinct) -> Curve:
        place = next(places)
        group = table.group_of_column[place]
        size = 1 if table.is_mark[place] else int(table.sizes[group])
        if is_indicator(column):
            knots, heights = indicator_curve(column, size)
        else:
            knots, heights = curve_of(column)
            heights = heights / np.sqrt(size)
        return knots, heights * table.weights[group]

    return fit_curves(columns, curve)


def is_indicator(column: Distinct) -> bool:
    """Whether a column has no other values than 0 and 1."""
    return bool(np.isin(column.values, (0.0, 1.0)).all())


def indicator_curve(column: Distinct, n_together: int) -> Curve:
    """How far out a 1 lies. n_together : indicators of the same column of the table."""
    share = 1.0 - column.n_zeros / column.n_rows
    variance = share if n_together > 1 else share * (1.0 - share)
    step = UNIT / np.sqrt(max(variance, RAREST / column.n_rows) * max(1, n_together - 1))
    return np.array([0.0, 1.0]), np.array([0.0, step])
