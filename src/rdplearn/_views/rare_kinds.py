r"""Rare kinds of normal rows, told from anomalies by how near the rows lie to each other.

Anomalies differ from each other more than normal rows do. So rows with high scores that lie as near to each other as
ordinary rows do are taken for a rare kind of normal row, such as the rows that share a value which 2 % of the rows
have. This is what we assume: a clump of rows that are alike may as well be an attack, and no table can tell.

How near is told by the fifth nearest among as many ordinary rows, all columns divided by their standard deviation. The
core of a kind are rows whose fifth nearest is no farther than that of three in four ordinary rows. The rows about the
core belong to it up to where nearly all ordinary rows have their fifth nearest.

Single cells know how many rows share a value: what many have is no surprise to them. So where fewer than one row in
twenty has a high score, rows that single cells make as odd as they are count as errors, however alike they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler, maxabs_scale

from rdplearn._types import Doubles, Flags, Ints, Matrix

NEIGHBOUR = 5  # the fifth nearest: fewer rows are near by chance
NEAR, NEAR_ENOUGH = 0.75, 0.95  # of ordinary rows have it as near as the core of a kind has, and the rows about it
DECIMALS = 6  # of distances, so that rounding does not decide between equal ones
MOST_ROWS = 1_000  # that say how far columns spread
MOST_ERRORS = 0.05  # of the rows: if more have high scores, errors of cells are not all that makes them high

FindNear = Callable[[Ints, int], Flags]  # `in_kinds` of some rows


@dataclass(frozen=True)
class RareKinds:
    """Tells which of some rows are of a rare kind.

    find_near : `in_kinds` of these rows
    by_cells : (n_rows,), whether single cells make a row as odd as it is
    """

    find_near: FindNear
    by_cells: Flags

    def among_high(self, ascending: Ints, first: int, in_lumps: Flags) -> Flags:
        """Which of the rows with the highest scores belong to a kind: (n_rows - first,).

        ascending, first : see `in_kinds`; in_lumps : which of these rows have nearly the same score as many others
        """
        is_kind = in_lumps | self.find_near(ascending, first)
        high = ascending[first:]
        return is_kind & ~self.by_cells[high] if len(high) < MOST_ERRORS * len(ascending) else is_kind


def in_kinds(rows: Matrix, ascending: Ints, first: int) -> Flags:
    """Which of the rows with the highest scores belong to a kind: (n_rows - first,).

    rows : an array or a CSR array
    ascending : places in it, the lowest score first; from the place `ascending[first]` on scores are high

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ordinary, alike, apart = rng.normal(size=(900, 4)), rng.normal(9.0, 0.5, (50, 4)), rng.uniform(-20, 20, (50, 4))
    >>> found = in_kinds(np.concatenate([ordinary, alike, apart]), np.arange(1000), first=900)
    >>> bool(found[:50].mean() > 0.9), int(found[50:].sum())
    (True, 0)
    """
    high, ordinary = ascending[first:], ascending[:first]
    if min(len(high), len(ordinary)) <= NEIGHBOUR:
        return np.zeros(len(high), dtype=bool)
    to_spread, usual = evenly(np.sort(ascending), MOST_ROWS), evenly(ordinary, len(high))
    first_high = len(to_spread)
    # to at most 1 first, for squares of what is very large are farther than numbers go
    doubles = maxabs_scale(rows[np.concatenate([to_spread, high, usual])].astype(np.float64))
    scaled = StandardScaler(with_mean=False).fit(doubles[:first_high]).transform(doubles[first_high:])
    apart, usually_apart = _distances(scaled[: len(high)]), _distances(scaled[len(high) :])
    near, near_enough = np.quantile(_to_neighbour(usually_apart), [NEAR, NEAR_ENOUGH])
    is_core = _to_neighbour(apart) <= near
    if np.sum(is_core) <= NEIGHBOUR:
        return is_core
    return np.asarray(_to_neighbour(apart[:, is_core]) <= near_enough)


def among(places: Ints, find_near: FindNear) -> FindNear:
    """The same for some of the rows alone, which count from 0."""
    return lambda ascending, first: find_near(places[ascending], first)


def evenly(places: Ints, n_wanted: int) -> Ints:
    """So many of them at most, evenly spaced."""
    return places[np.linspace(0, len(places) - 1, min(n_wanted, len(places))).astype(np.int64)]


@np.errstate(over="ignore", invalid="ignore")  # what is farther than numbers go is near nothing
def _distances(rows: Matrix) -> Doubles:
    return np.nan_to_num(np.round(euclidean_distances(rows), DECIMALS), nan=np.finfo(np.float64).max)


def _to_neighbour(distances: Doubles) -> Doubles:
    """From each row to its fifth nearest, which the row itself is not."""
    return np.asarray(np.partition(distances, NEIGHBOUR, axis=1)[:, NEIGHBOUR])
