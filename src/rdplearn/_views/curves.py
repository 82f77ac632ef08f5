r"""Curved views of the columns: every value seen on a scale that its column's distribution suggests.

With :math:`v` a value, :math:`N` rows, and everything learned from a sample of the table's rows:

- *robust*: :math:`0.8 (v - \text{median}) / s`, cut at ±8, where :math:`s` is the width of the middle nine tenths of
  the column in units that make it 1 for a normal distribution. Outliers neither set the scale nor leave it. In a column
  of two values they are that width apart, half of it to each side of zero: that one of them is rare is left to the view
  *surprise*.
- *rank*: :math:`0.8 \Phi^{-1}(\text{share of rows below } v)`: the same for any increasing function of the column; in a
  column of two values, as *robust*.
- *surprise*: how rare values like this one are, as a logarithm: of the frequency where a column has few distinct
  values, of the distance that the nearest :math:`\sqrt N` values span where it has many. Rare values in the middle of a
  column stand out here, and only here.

Each is a curve for every column, straight between knots and level beyond the last. Where most values are zero the curve
is moved so that zero stays zero, and sparse rows stay sparse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import ndtr, ndtri

from rdplearn._types import Doubles, Floats, Ints, Matrix, Rows
from rdplearn._views.minmax import with_full_columns

Curve = tuple[Doubles, Doubles]  # knots, ascending, and the heights above them

UNIT = 0.8  # a normal column has this standard deviation in every view
FARTHEST_ROBUST, GREATEST_SURPRISE = 10.0, 12.0
FEW_VALUES = 20
CLOSEST = 1e-6  # values nearer than this share of the scale count as equal
MOST_KNOTS = 128
NARROWEST, WIDEST = 1e-290, 1e300  # scales between which no knot leaves the range of numbers


@dataclass(frozen=True)
class CurveView:
    """A curve for each column.

    starts : (n_columns + 1,); the knots of column j are those from `starts[j]` up to `starts[j + 1]`
    knots, heights : of all columns, one after the other
    """

    starts: Ints
    knots: Doubles
    heights: Doubles

    def __call__(self, block: Matrix) -> Rows:
        """Look at a block of rows."""
        return self._sparse(block) if sp.issparse(block) else self._dense(block)

    def _dense(self, block: npt.NDArray[Any]) -> Floats:
        return self._along_lines(block) if self.is_straight else look_through([self], block)[0]

    @cached_property
    def is_straight(self) -> bool:
        """Whether each curve is one line between three knots, as the robust ones are: then none has to be searched."""
        if not np.all(np.diff(self.starts) == 3) or np.any(np.diff(self.knots.reshape(-1, 3)) == 0):
            return False
        slopes = np.diff(self.heights.reshape(-1, 3)) / np.diff(self.knots.reshape(-1, 3))
        return bool(np.allclose(slopes[:, 0], slopes[:, 1], rtol=1e-9, atol=0.0))

    def _along_lines(self, block: npt.NDArray[Any]) -> Floats:
        low, centre, high = self.knots.reshape(-1, 3).T
        _, middle, top = self.heights.reshape(-1, 3).T
        with np.errstate(over="ignore"):
            seen = np.subtract(block, centre, dtype=np.float64)
        np.clip(seen, low - centre, high - centre, out=seen)
        seen *= (top - middle) / (high - centre)
        seen += middle
        return seen.astype(np.float32)

    def _sparse(self, block: sp.csr_array) -> sp.csr_array:
        seen = sp.csr_array(block, dtype=np.float64, copy=True)
        seen.data = self._follow(seen.indices, seen.data)
        columns = np.arange(block.shape[1])
        at_zero = self._follow(columns, np.zeros(len(columns)))
        raised = np.flatnonzero(at_zero)
        if raised.size:
            values = block[:, raised].toarray().astype(np.float64)
            filled = self._follow(np.tile(raised, len(values)), values.ravel()).reshape(values.shape)
            return with_full_columns(seen, raised, filled)
        seen.eliminate_zeros()
        return seen.astype(np.float32)

    def curve(self, column: int) -> Curve:
        """Knots and heights of one column."""
        here = slice(self.starts[column], self.starts[column + 1])
        return self.knots[here], self.heights[here]

    def curves(self) -> Iterator[Curve]:
        """Knots and heights of every column."""
        return map(self.curve, range(len(self.starts) - 1))

    def has_knots_of(self, other: CurveView) -> npt.NDArray[np.bool_]:
        """In which columns the other view has the same knots."""
        if np.array_equal(self.starts, other.starts) and np.array_equal(self.knots, other.knots):
            return np.ones(len(self.starts) - 1, dtype=bool)
        pairs = zip(self.curves(), other.curves(), strict=True)
        return np.array([np.array_equal(knots, others) for (knots, _), (others, _) in pairs])

    @cached_property
    def slopes(self) -> tuple[Doubles, Doubles]:
        """From each knot to the next, as `follow` has them of one curve, and of two."""
        rises, widths = np.diff(self.heights, append=0.0), np.diff(self.knots, append=0.0)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # between knots that are equal
            return rises / widths, rises * (1.0 / widths)

    def _follow(self, columns: Ints, values: Doubles) -> Doubles:
        """The curves of many columns at once: a bisection that each value does among the knots of its own column."""
        low, high = self.starts[columns], self.starts[columns + 1] - 1
        values = np.clip(values, self.knots[low], self.knots[high])
        while np.any(high - low > 1):
            middle = (low + high) // 2
            is_left = values < self.knots[middle]
            high, low = np.where(is_left, middle, high), np.where(is_left, low, middle)
        width = self.knots[high] - self.knots[low]
        share = np.divide(values - self.knots[low], width, out=np.zeros_like(values), where=width > 0)
        return self.heights[low] + share * (self.heights[high] - self.heights[low])


def follow(values: Doubles, knots: Doubles, heights: list[Doubles]) -> list[npt.NDArray[np.floating]]:
    """Values through one curve, or through two that have the same knots. heights : of each curve."""
    if len(heights) == 1:
        return [np.interp(values, knots, heights[0])]
    both = np.interp(values, knots, heights[0] + 1j * heights[1])
    return [both.real, both.imag]


def look_through(views: Sequence[CurveView], block: npt.NDArray[Any]) -> list[Floats]:
    """A block of dense rows through several views; what two have the same knots for is searched for once."""
    seen = [np.empty(block.shape, dtype=np.float32) for _ in views]
    for together, columns in in_pairs(views):
        for column in columns:
            curves = [views[place].curve(column) for place in together]
            heights = [of_view for _, of_view in curves]
            followed = follow(block[:, column].astype(np.float64), curves[0][0], heights)
            for place, of_curve in zip(together, followed, strict=True):
                seen[place][:, column] = of_curve
    return seen


LookThrough = Callable[[Sequence[CurveView], npt.NDArray[Any]], list[Floats]]


def in_pairs(views: Sequence[CurveView]) -> Iterator[tuple[list[int], Ints]]:
    """Which views are looked through together in which columns: two that have the same knots there, or one alone.

    Examples
    --------
    >>> knots, others = np.array([0.0, 1.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0, 2.0])
    >>> views = [CurveView(np.array([0, 2, 4]), each, each) for each in (knots, others)]
    >>> [(together, columns.tolist()) for together, columns in in_pairs(views)]
    [([0, 1], [0]), ([0], [1]), ([1], [1])]
    """
    n_columns = len(views[0].starts) - 1
    is_left = np.ones((len(views), n_columns), dtype=bool)
    for first, view in enumerate(views):
        for second in range(first + 1, len(views)):
            together = is_left[first] & is_left[second] & view.has_knots_of(views[second])
            if together.any():
                is_left[[first, second]] &= ~together
                yield [first, second], np.flatnonzero(together)
        if is_left[first].any():
            yield [first], np.flatnonzero(is_left[first])


@dataclass(frozen=True)
class Distinct:
    """The distinct values of a column, ascending, and how many rows have each."""

    values: Doubles
    counts: Ints

    @cached_property
    def n_rows(self) -> int:
        """Rows in all."""
        return int(self.counts.sum())

    @cached_property
    def n_zeros(self) -> int:
        """Rows that have zero."""
        place = int(self.values.searchsorted(0.0))
        return int(self.counts[place]) if place < len(self.values) and self.values[place] == 0 else 0

    @cached_property
    def ends(self) -> Ints:
        """How many rows have each value or a smaller one."""
        return np.cumsum(self.counts)

    @cached_property
    def shares(self) -> Doubles:
        """Of rows below each value; half of those that have it count."""
        return (self.ends - 0.5 * self.counts) / self.n_rows

    @cached_property
    def knots(self) -> Ints:
        """The values, by their places, between which a curve is straight."""
        return _knots_among_different(self.n_rows) if self.all_differ else _knots_among(self.shares)

    @property
    def has_at_most_two_values(self) -> bool:
        """Whether nothing lies between the values that would give a scale."""
        return len(self.values) <= 2

    def quantile(self, share: float) -> float:
        """The value that this share of rows lies below, as `numpy.quantile` has it."""
        place = share * (self.n_rows - 1)
        first, weight = int(place), place - int(place)
        below = float(self._value_of_row(first))
        above = float(self._value_of_row(first + 1)) if weight else below
        return below if below == above else (1 - weight) * below + weight * above

    def _value_of_row(self, row: int) -> np.float64:
        """The value of a row when rows are in the order of their values."""
        return self.values[row if self.all_differ else self.ends.searchsorted(row, side="right")]

    @property
    def all_differ(self) -> bool:
        """Whether no two rows have the same value."""
        return len(self.values) == self.n_rows

    def middle(self) -> float:
        """The median; of two values, the number half way between them."""
        return float(self.values[0] / 2 + self.values[-1] / 2) if self.has_at_most_two_values else self.quantile(0.5)

    @cached_property
    def scale(self) -> float:
        """Width of the middle nine tenths in standard deviations of a normal column.

        Two values are this width apart, however rare one of them is. Where the middle nine tenths are all equal, the
        standard deviation; in a constant column, the constant itself.
        """
        low, high = self.values[[0, -1]] if self.has_at_most_two_values else (self.quantile(0.05), self.quantile(0.95))
        width = float(high / 3.3 - low / 3.3)
        return float(np.clip(width or self._deviation() or abs(self.values[0]) or 1.0, NARROWEST, WIDEST))

    def _deviation(self) -> float:
        largest = float(np.abs(self.values).max())
        if largest == 0:
            return 0.0
        parts, shares = self.values / largest, self.counts / self.n_rows  # no square leaves the range of numbers
        parts -= parts @ shares
        return largest * float(np.sqrt((parts * parts) @ shares))


def fit_curves(columns: list[Distinct], curve_of: Callable[[Distinct], Curve]) -> CurveView:
    """Give every column its curve.

    Examples
    --------
    >>> table = np.array([[1.0], [2.0], [3.0], [4.0], [100.0]])
    >>> fit_curves(distinct_columns(table), rank_curve)(table).ravel().astype(float).round(2).tolist()
    [-1.03, -0.42, 0.0, 0.42, 1.03]
    """
    return joined_curves([with_zero_at_zero(column, *curve_of(column)) for column in columns])


def joined_curves(curves: list[Curve]) -> CurveView:
    """The curves of all columns as one view."""
    lengths = [len(knots) for knots, _ in curves]
    knots, heights = (np.concatenate(parts).astype(np.float64) for parts in zip(*curves, strict=True))
    return CurveView(np.concatenate([[0], np.cumsum(lengths)]), within_numbers(knots), heights)


def within_numbers(knots: Doubles) -> Doubles:
    """Knots whose differences are numbers, too."""
    largest = np.finfo(np.float64).max / 4
    return np.clip(knots, -largest, largest)


def distinct_columns(sample: Matrix) -> list[Distinct]:
    """The distinct values of every column of a sample of rows; what is next to zero counts as zero."""
    if not sp.issparse(sample):
        pairs = [np.unique(column, return_counts=True) for column in next_to_zero_as_zero(sample).T]
        return [Distinct(values, counts) for values, counts in pairs]
    by_column = sp.csc_array(sample)
    stored = np.split(next_to_zero_as_zero(by_column.data), by_column.indptr[1:-1])
    return [_with_zeros(values, sample.shape[0] - len(values)) for values in stored]


def robust_curve(column: Distinct) -> Curve:
    """The median at zero, and the middle nine tenths for a scale; two values to either side of zero."""
    centre, reach = column.middle(), FARTHEST_ROBUST * column.scale
    return np.array([centre - reach, centre, centre + reach]), UNIT * FARTHEST_ROBUST * np.array([-1.0, 0.0, 1.0])


def rank_curve(column: Distinct) -> Curve:
    """The normal quantile of each value's rank; rows with equal values share their mean rank.

    Of two values, a rank says no more than which it is.
    """
    if column.has_at_most_two_values:
        return robust_curve(column)
    return column.values[column.knots], UNIT * ndtri(column.shares[column.knots])


def surprise_curve(column: Distinct) -> Curve:
    """How rare values like this one are."""
    if len(column.values) <= FEW_VALUES:
        return _surprise_of_few(column)
    return _surprise_of_many(column)


def _surprise_of_few(column: Distinct) -> Curve:
    """Heights at the values themselves; anything between or beyond them is as rare as half a row."""
    frequencies = column.counts / column.n_rows
    typical = np.log(np.sum(frequencies**2))
    heights = UNIT * np.clip(typical - np.log(frequencies), -GREATEST_SURPRISE, GREATEST_SURPRISE)
    unseen = UNIT * min(typical - np.log(0.5 / column.n_rows), GREATEST_SURPRISE)
    values = column.values
    gaps = np.diff(values / 4) if len(values) > 1 else np.array([abs(values[0]) / 4 or 0.25])
    with np.errstate(over="ignore"):
        left = values - np.append(gaps[:1], gaps)[: len(values)]
        right = values + np.append(gaps, gaps[-1:])[: len(values)]
    beside = np.full_like(heights, unseen)
    knots, above = np.stack([left, values, right], axis=1), np.stack([beside, heights, beside], axis=1)
    return knots.ravel(), above.ravel()


def _surprise_of_many(column: Distinct) -> Curve:
    """The span of the nearest values of each, on a logarithmic scale, centred."""
    n_rows = column.n_rows
    ordered = column.values if column.all_differ else np.repeat(column.values, column.counts)
    n_near = max(1, int(np.sqrt(n_rows)))
    spans = ordered[n_near:] - ordered[:-n_near]
    # Near both ends of the column, the nearest values are the first and the last ones.
    spans = np.pad(spans, (n_near // 2, n_near - n_near // 2), mode="edge")
    logs = np.log(np.maximum(spans / column.scale, CLOSEST))
    middles = (column.ends - (column.counts + 1) // 2)[column.knots]
    surprise = np.clip(logs[middles] - logs.mean(), -GREATEST_SURPRISE, GREATEST_SURPRISE)
    return column.values[column.knots], UNIT * surprise


@cache
def _knots_among_different(n_rows: int) -> Ints:
    """The knots of any column whose values all differ: most columns of numbers are like that, and share them."""
    return _knots_among((np.arange(n_rows) + 0.5) / n_rows)


def _knots_among(shares: Doubles) -> Ints:
    """Choose knots among values with these shares of rows below: evenly by rank, and more densely in the tails."""
    if len(shares) <= MOST_KNOTS:
        return np.arange(len(shares))
    first, last = float(shares[0]), float(shares[-1])
    by_rank = np.linspace(first, last, MOST_KNOTS // 2)
    by_quantile = ndtr(np.linspace(ndtri(first), ndtri(last), MOST_KNOTS // 2))
    return np.unique(np.searchsorted(shares, np.concatenate([by_rank, by_quantile])).clip(max=len(shares) - 1))


def with_zero_at_zero(column: Distinct, knots: Doubles, heights: Doubles) -> Curve:
    """Move the curve of a column that is mostly zero, so that zero stays zero."""
    if column.n_zeros <= column.n_rows / 2:
        return knots, heights
    if 0.0 not in knots:
        place, height = int(np.searchsorted(knots, 0.0)), float(np.interp(0.0, knots, heights))
        knots, heights = _inserted(knots, place, 0.0), _inserted(heights, place, height)
    return knots, heights - heights[knots == 0.0]


def next_to_zero_as_zero(numbers: npt.ArrayLike) -> Doubles:
    """Between numbers this small a curve would be steeper than numbers can say."""
    numbers = np.asarray(numbers, dtype=np.float64)
    return np.where(np.abs(numbers) < NARROWEST, 0.0, numbers)


def _with_zeros(stored: Doubles, n_zeros: int) -> Distinct:
    values, counts = np.unique(stored, return_counts=True)
    if not n_zeros:
        return Distinct(values, counts)
    place = int(np.searchsorted(values, 0.0))
    if place < len(values) and values[place] == 0:
        counts[place] += n_zeros
        return Distinct(values, counts)
    return Distinct(_inserted(values, place, 0.0), _inserted(counts, place, n_zeros))


def _inserted(numbers: npt.NDArray[Any], place: int, number: float) -> npt.NDArray[Any]:
    """As `numpy.insert` has it, which takes longer than all else that is done to a short column."""
    longer = np.empty(len(numbers) + 1, dtype=numbers.dtype)
    longer[:place], longer[place], longer[place + 1 :] = numbers[:place], number, numbers[place:]
    return longer
