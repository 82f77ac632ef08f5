"""Learning the voice of single cells: what is rare in each column of a table, and what goes with what.

It takes a sample of the rows, and neither members nor labels.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rdplearn._model.cells import UNLIMITED, CellVoice, Companions
from rdplearn._types import Doubles, Floats, Ints, Matrix, Rows, TableColumns, dense
from rdplearn._views.balance import is_indicator
from rdplearn._views.curves import Curve, CurveView, Distinct, distinct_columns, joined_curves, with_zero_at_zero
from rdplearn._views.tails import RESIDUAL_POINTS, VOICE_POINTS, Points, distance_curve, score_curve, tail_curve
from rdplearn._views.view import View

RIDGE = 0.02  # of every variance is taken for noise, so that nothing is predicted to the last bit
LEAST_SPREAD = 1e-9
ODDS = (-1.0, 2.0)  # of tables of numbers alone, and of those with enough other columns
ENOUGH_OTHERS = 0.125
AS_THEY_ARE = (np.array([0.0]), np.array([0.0]))
NO_CURVES = CurveView(np.zeros(1, dtype=np.int64), np.empty(0), np.empty(0))
MOST_COMPANIONS = 1_000  # matrix columns: of more, predicting each from all others takes too long
MOST_CELLS = 4_000  # matrix columns: of more, single cells have no voice, for looking at each takes too much memory


def learn_cells(sample: Matrix, table: TableColumns, ranks: View) -> CellVoice:
    """Learn the voice from a sample of the rows. ranks : the balanced view of the columns by rank."""
    columns, n_rows = distinct_columns(sample), sample.shape[0]
    worded = np.array([is_worded(columns, places) for places in table.columns_of_group])
    rarity, none = np.zeros(len(columns)), np.zeros(len(worded))
    n_unsaid = np.sum(table.reduced(np.add, dense(sample)) == 0, axis=0)
    for group in np.flatnonzero(worded):
        places = table.columns_of_group[group]
        counts = np.array([*(n_ones(columns[place]) for place in places), n_unsaid[group]])
        surprises = surprises_of_words(counts, n_rows)
        rarity[places], none[group] = surprises[:-1], surprises[-1]
    for place in np.flatnonzero(table.is_mark):
        rarity[place] = -np.log(max(n_ones(columns[place]), 0.5) / n_rows)
    by_word = worded[table.group_of_column] | table.is_mark
    n_chances = np.bincount(table.group_of_column, ~table.is_mark)[table.group_of_column]
    curves = [
        (np.array([0.0, 1.0]), np.array([0.0, rarity[place]]))
        if by_word[place]
        else as_one_of(int(n_chances[place]), *tail_curve(column))
        for place, column in enumerate(columns)
    ]
    zeroed = [with_zero_at_zero(column, *curve) for column, curve in zip(columns, curves, strict=True)]
    is_shared = by_word if table.is_rest is None else by_word & ~table.is_rest  # rare values are all different
    ceilings = np.where(is_shared & (rarity >= -np.log(1.0 - RESIDUAL_POINTS[-1])), rarity, UNLIMITED)
    has_company = len(table.names) > 1 and len(columns) <= MOST_COMPANIONS
    voice = CellVoice(
        table=table,
        cells=View((joined_curves(zeroed),)),
        none=none,
        hole_curve=AS_THEY_ARE,
        odds=odds_of(share_of_numbers=float(np.mean(~worded & (table.sizes == 1)))),
        companions=learn_companions(dense(ranks(sample)), table, ranks, ceilings) if has_company else None,
    )
    return replace(voice, hole_curve=rarity_of_holes(voice.added_holes(dense(voice.cells(sample)))))


def as_one_of(n_chances: int, knots: Doubles, heights: Doubles) -> Curve:
    """The surprise of one of several components: a text of thirty components has thirty chances to look odd.

    Examples
    --------
    >>> as_one_of(32, np.array([0.0, 1.0]), np.array([1.0, 6.0]))[1].round(1).tolist()
    [0.0, 2.5]
    """
    return knots, np.maximum(heights - np.log(n_chances), 0.0)


def rarity_of_holes(added: Floats) -> Curve:
    """How rare rows are with as many, and as rare, holes. added : of each row of the sample, 0 without holes."""
    values, counts = np.unique(added[added > 0].astype(np.float64), return_counts=True)
    return distance_curve(values, counts.astype(np.float64), float(len(added)), RESIDUAL_POINTS)


def odds_of(share_of_numbers: float) -> float:
    """How soon cells are believed, in nats.

    Examples
    --------
    >>> [round(odds_of(share), 1) for share in (1.0, 0.9, 0.5)]
    [-1.0, 1.4, 2.0]
    """
    lowest, highest = ODDS
    return lowest + (highest - lowest) * min(1.0, (1.0 - share_of_numbers) / ENOUGH_OTHERS)


def points_beside(voice: CellVoice | None) -> Points:
    """Up to where the scores of members are counted, see `tails.py`: farther, the sooner cells are believed.

    Where single cells go wrong, rows that a few per cent are alike are no error, and must not drown them.

    Examples
    --------
    >>> points_beside(None) == VOICE_POINTS
    True
    """
    lowest, highest = ODDS
    share = 0.0 if voice is None else (voice.odds - lowest) / (highest - lowest)
    return tuple(point + share * (last - point) for point, last in zip(VOICE_POINTS, RESIDUAL_POINTS, strict=True))


def is_worded(columns: list[Distinct], places: Ints) -> bool:
    """Whether a column of the table became indicators, of which each row has one: a category, or yes and no."""
    return all(is_indicator(columns[place]) for place in places)


def n_ones(column: Distinct) -> int:
    """How many rows have a 1 in a column of indicators."""
    return column.n_rows - column.n_zeros


def surprises_of_words(counts: Ints, n_rows: int) -> Doubles:
    """How rare each category is: minus the logarithm of the share of rows whose category is as rare or rarer.

    Examples
    --------
    >>> surprises_of_words(np.array([90, 5, 5, 0]), 100).round(2).tolist()
    [-0.0, 2.3, 2.3, 5.3]
    """
    as_rare = np.array([counts[counts <= count].sum() for count in counts])
    return -np.log(np.clip(as_rare, 0.5, n_rows) / n_rows)


def learn_companions(rows: Rows, table: TableColumns, ranks: View, ceilings: Doubles) -> Companions:
    """Learn to predict each column of the table from all others.

    rows : the sample in balanced ranks; ceilings : see `Companions`
    """
    rows = rows.astype(np.float64)
    centre, spread = rows.mean(axis=0), rows.std(axis=0)
    scale = np.where(spread > LEAST_SPREAD, spread, np.inf)  # what never varies, or has no weight, is left out
    centred = (rows - centre) / scale
    precision = np.linalg.inv(centred.T @ centred / len(rows) + RIDGE * np.eye(len(centre)))
    weights = np.empty_like(precision)
    for places in table.columns_of_group:
        of_group = np.linalg.inv(precision[np.ix_(places, places)])
        weights[:, places] = precision[:, places] @ np.linalg.cholesky(of_group)
    weights /= scale[:, None]
    offset = -(centre @ weights).astype(np.float32)
    unjudged = Companions(ranks, weights.astype(np.float32), offset, NO_CURVES, ceilings)
    residuals = np.exp(unjudged.log_residuals(rows.astype(np.float32), table))
    curves = [score_curve(residuals[:, group], RESIDUAL_POINTS) for group in range(len(table.names))]
    return replace(unjudged, curves=joined_curves(curves))
