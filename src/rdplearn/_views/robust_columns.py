"""The robust curves of a wide table: those of `robust_curve`, of nearly all columns at once.

A few columns have curves that are more work than a formula; each of these is taken by itself.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rdplearn._types import Doubles, Flags, Ints, Matrix, row_blocks
from rdplearn._views.curves import (
    FARTHEST_ROBUST,
    NARROWEST,
    UNIT,
    WIDEST,
    Curve,
    CurveView,
    distinct_columns,
    next_to_zero_as_zero,
    robust_curve,
    with_zero_at_zero,
    within_numbers,
)

COLUMNS_AT_ONCE = 256
LOW, MIDDLE, HIGH = 0.05, 0.5, 0.95
HEIGHTS = UNIT * FARTHEST_ROBUST * np.array([-1.0, 0.0, 1.0])  # above the three knots of a column


def fit_robust_curves(sample: Matrix) -> CurveView:
    """Give every column its robust curve.

    Examples
    --------
    >>> table = np.array([[1.0], [2.0], [3.0], [4.0], [100.0]])
    >>> fit_robust_curves(table).knots.round(1).tolist()
    [-238.2, 3.0, 244.2]
    """
    known: list[Doubles] = []
    others: dict[int, Curve] = {}
    for some in row_blocks(sample.shape[1], COLUMNS_AT_ONCE if not sp.issparse(sample) else sample.shape[1]):
        columns = sample[:, some]
        centres, scales, is_known = sparse_scales(columns) if sp.issparse(columns) else dense_scales(columns)
        known.append(knots_around(centres, scales))
        if is_known.all():
            continue
        places = np.flatnonzero(~is_known)
        for place, column in zip(places.tolist(), distinct_columns(columns[:, places]), strict=True):
            others[some.start + place] = with_zero_at_zero(column, *robust_curve(column))
    return robust_view(np.concatenate(known), others)


def knots_around(centres: Doubles, scales: Doubles) -> Doubles:
    """The knots of columns with these medians and scales: (n_columns, 3)."""
    reach = FARTHEST_ROBUST * np.clip(scales, NARROWEST, WIDEST)
    return np.stack([centres - reach, centres, centres + reach], axis=1)


def robust_view(known: Doubles, others: dict[int, Curve]) -> CurveView:
    """One view of all columns. known : knots of every column; others : curves of some columns, ascending, in place."""
    places = np.fromiter(others, dtype=np.int64)
    lengths = np.full(len(known), len(HEIGHTS))
    lengths[places] = [len(knots) for knots, _ in others.values()]
    is_other = np.repeat(np.isin(np.arange(len(known)), places), lengths)
    knots, heights = np.empty((2, len(is_other)))
    knots[~is_other] = np.delete(known, places, axis=0).ravel()
    heights[~is_other] = np.tile(HEIGHTS, len(known) - len(places))
    if others:
        knots[is_other], heights[is_other] = map(np.concatenate, zip(*others.values(), strict=True))
    return CurveView(np.concatenate([[0], np.cumsum(lengths)]), within_numbers(knots), heights)


def dense_scales(columns: npt.NDArray[np.number]) -> tuple[Doubles, Doubles, Flags]:
    """Median and scale of every column, and which are known: not where most values are zero, or nine tenths equal."""
    ordered = next_to_zero_as_zero(np.sort(np.ascontiguousarray(columns.T), axis=1))  # sorted in the table's own type
    n_rows = ordered.shape[1]
    first, last = ordered[:, 0], ordered[:, -1]
    has_two = ((ordered == first[:, None]) | (ordered == last[:, None])).all(axis=1)
    low, middle, high = (quantiles(ordered, share) for share in (LOW, MIDDLE, HIGH))
    centres = np.where(has_two, first / 2 + last / 2, middle)
    scales = np.where(has_two, last, high) / 3.3 - np.where(has_two, first, low) / 3.3
    is_known = (scales != 0) & (np.count_nonzero(ordered == 0.0, axis=1) <= n_rows / 2)
    return centres, scales, is_known


def quantiles(ordered: Doubles, share: float) -> Doubles:
    """The value that this share of each column lies below, as `Distinct.quantile` has it. ordered : columns first."""
    place = share * (ordered.shape[1] - 1)
    first, weight = int(place), place - int(place)
    if not weight:
        return ordered[:, first]
    below, above = ordered[:, first], ordered[:, first + 1]
    return np.where(below == above, below, (1 - weight) * below + weight * above)


def sparse_scales(columns: sp.csr_array) -> tuple[Doubles, Doubles, Flags]:
    """The same of sparse columns; known where nine tenths are zero and there are other values than two."""
    n_rows, n_columns = columns.shape
    stored = sp.csc_array(columns)
    values = next_to_zero_as_zero(stored.data)
    place_of: Ints = np.repeat(np.arange(n_columns), np.diff(stored.indptr))
    n_below, n_above = (np.bincount(place_of[side], minlength=n_columns) for side in (values < 0, values > 0))
    smallest, largest = np.zeros(n_columns), np.zeros(n_columns)
    np.minimum.at(smallest, place_of, values)
    np.maximum.at(largest, place_of, values)
    middle_is_zero = (n_below <= int(LOW * (n_rows - 1))) & (n_above < n_rows - 1 - int(HIGH * (n_rows - 1)))
    size = np.maximum(np.maximum(largest, -smallest), NARROWEST)
    parts = values / size[place_of]  # no square leaves the range of numbers
    means = np.bincount(place_of, parts, n_columns) / n_rows
    squares = np.bincount(place_of, (parts - means[place_of]) ** 2, n_columns)
    squares += (n_rows - np.diff(stored.indptr)) * means**2
    scales = size * np.sqrt(squares / n_rows)
    is_extreme = (values == smallest[place_of]) | (values == largest[place_of])
    n_of_extreme = np.bincount(place_of[is_extreme], minlength=n_columns)
    has_two = (n_of_extreme == np.diff(stored.indptr)) & ((n_below == 0) | (n_above == 0))
    return np.zeros(n_columns), scales, middle_is_zero & ~has_two
