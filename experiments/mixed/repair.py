"""The right reason, by brute force: the column whose repair lowers a row's score most.

A repair replaces one cell of a row by what might stand there: the column's median or most frequent value, what the ten
rows have that are nearest by the other columns, or, if asked for, what rows drawn at random have. No gradient and no
formula of ours has a part in it. Where no repair of one cell does anything, two cells at once may.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import pandas as pd

from experiments.mixed.columns import sort_columns

N_NEAREST = 10


def drops(
    frame: pd.DataFrame, rows: np.ndarray, score: Callable[[pd.DataFrame], np.ndarray], n_random: int = 0
) -> pd.DataFrame:
    """How much the best repair of each column lowers the scores of some rows: (n_rows, n_columns), never below 0.

    rows : places of the rows
    score : anomaly scores of a table's rows, by the model in question
    n_random : rows drawn at random, whose cells are tried too
    """
    repaired, places = _repairs(frame, rows, n_random)
    after = pd.Series(score(repaired)).groupby([places["row"], places["column"]]).min().unstack()
    before = pd.Series(score(frame.iloc[rows]), index=rows)
    lowered = -after.sub(before, axis=0).reindex(index=rows, columns=range(frame.shape[1]))
    return lowered.fillna(0.0).clip(lower=0.0).set_axis(frame.columns, axis=1)


def pair_drops(
    frame: pd.DataFrame, row: int, score: Callable[[pd.DataFrame], np.ndarray]
) -> dict[frozenset[str], float]:
    """How much the best repair of each two columns of a row lowers its score; both cells come from the same place."""
    pairs = list(combinations(range(frame.shape[1]), 2))
    usual, to_each = usual_cells(frame), _unlikeness(frame, np.array([row]))[:, 0]
    found, places = [], []
    for number, pair in enumerate(pairs):
        by_the_others = to_each.sum(axis=0) - to_each[list(pair)].sum(axis=0)
        by_the_others[row] = np.inf
        for other in _candidates(frame, list(usual.values()), by_the_others):
            cells = frame.iloc[row].tolist()
            for column in pair:
                cells[column] = other[column]
            found.append(cells)
            places.append(number)
    after = pd.Series(np.asarray(score(pd.DataFrame(found, columns=frame.columns)))).groupby(places).min()
    before = float(np.asarray(score(frame.iloc[[row]]))[0])
    return {frozenset(frame.columns[list(pair)]): max(before - after[number], 0.0) for number, pair in enumerate(pairs)}


def _candidates(frame: pd.DataFrame, usual: list[str], unlike: np.ndarray) -> Iterator[list[str]]:
    """Rows to take cells from: the usual cells, and the nearest rows."""
    yield usual
    for place in np.argpartition(unlike, N_NEAREST)[:N_NEAREST]:
        yield frame.iloc[place].tolist()


def _repairs(frame: pd.DataFrame, rows: np.ndarray, n_random: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every row with every repair of every column, and which row and column it is."""
    usual = usual_cells(frame)
    unlike = _unlikeness(frame, rows)  # (n_columns, n_rows, n_all_rows)
    found, places, rng = [], [], np.random.default_rng(0)
    for place, row in enumerate(rows):
        to_all = unlike[:, place].sum(axis=0)
        for column, name in enumerate(frame.columns):
            by_the_others = to_all - unlike[column, place]
            by_the_others[row] = np.inf
            nearest = np.argpartition(by_the_others, N_NEAREST)[:N_NEAREST]
            tried = [*nearest, *rng.integers(len(frame), size=n_random)]
            candidates = {usual[name], *frame[name].iloc[tried]} - {frame[name].iat[row]}
            for cell in sorted(candidates):
                cells = frame.iloc[row].tolist()
                cells[column] = cell
                found.append(cells)
                places.append((row, column))
    return pd.DataFrame(found, columns=frame.columns), pd.DataFrame(places, columns=["row", "column"])


def usual_cells(frame: pd.DataFrame) -> dict[str, str]:
    """Give each column's cell nearest the median, or the most frequent one."""
    numbers = sort_columns(frame).numbers
    return {
        name: frame[name].iat[int((numbers[name] - numbers[name].median()).abs().argmin())]
        if name in numbers
        else frame[name].mode().iat[0]
        for name in frame.columns
    }


def _unlikeness(frame: pd.DataFrame, rows: np.ndarray) -> np.ndarray:
    """How unlike cells are, from 0 to 1: numbers by the difference of their ranks, others by being the same or not."""
    numbers = sort_columns(frame).numbers
    layers = []
    for name in frame.columns:
        if name in numbers:
            ranks = numbers[name].rank(pct=True).fillna(-1.0).to_numpy()
            layers.append(np.minimum(np.abs(ranks[rows][:, None] - ranks), 1.0))
        else:
            codes = frame[name].astype("category").cat.codes.to_numpy()
            layers.append((codes[rows][:, None] != codes).astype(float))
    return np.stack(layers)
