"""What the columns of a table are to the methods that are compared with ours: numbers (dates among them), or texts."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.mixed.loading import is_missing
from experiments.mixed.planting import MOST_CATEGORIES

FEWEST_READ = 0.95  # of the cells that hold something, for a column to be numbers or dates
_DECORATION = r"[$€%,\s]"


@dataclass(frozen=True)
class Columns:
    """A table, sorted by what its columns are.

    numbers : nan where a cell is missing or no number
    categories : texts of 2 to 60 values
    texts : texts of more values
    holes : True where a cell is missing, of all columns that have holes and cells
    """

    numbers: pd.DataFrame
    categories: pd.DataFrame
    texts: pd.DataFrame
    holes: pd.DataFrame


def sort_columns(frame: pd.DataFrame) -> Columns:
    """Find out what each column is; a column of one value is left out.

    Examples
    --------
    >>> cells = {"price": ["$1,200", "3", ""], "day": ["2020-01-01", "2020-01-03", "2020-01-02"], "ok": ["a", "b", "a"]}
    >>> columns = sort_columns(pd.DataFrame(cells))
    >>> columns.numbers["price"].tolist(), list(columns.numbers), list(columns.categories), list(columns.holes)
    ([1200.0, 3.0, nan], ['price', 'day'], ['ok'], ['price'])
    """
    numbers, categories, texts = {}, {}, {}
    missing = frame.apply(is_missing)
    for name in frame.columns:
        cells = frame[name].where(~missing[name])
        if (n_values := cells.nunique()) < 2:
            continue
        read = _read(cells, _number)
        read = _read(cells, _date) if read is None else read
        if read is not None:
            numbers[name] = read
        else:
            (categories if n_values <= MOST_CATEGORIES else texts)[name] = cells
    share = missing.mean()
    holes = missing[[name for name in frame.columns if 0 < share[name] < 1]]
    return Columns(*(pd.DataFrame(part, index=frame.index) for part in (numbers, categories, texts)), holes)


def frequencies(cells: pd.Series) -> pd.Series:
    """Give each cell's share of all rows; nan for missing ones."""
    return cells.map(cells.value_counts() / len(cells)).astype(float)


def _read(cells: pd.Series, reader: Callable[[pd.Series], pd.Series]) -> pd.Series | None:
    values = reader(cells)
    return values if values.notna().sum() >= FEWEST_READ * cells.notna().sum() else None


def _number(cells: pd.Series) -> pd.Series:
    plain = cells.str.replace(_DECORATION, "", regex=True)
    return pd.to_numeric(plain, errors="coerce").replace([np.inf, -np.inf], np.nan)


def _date(cells: pd.Series) -> pd.Series:
    if not cells.dropna().head(20).str.contains(r"\d[-/:]\d").all():
        return pd.Series(np.nan, index=cells.index)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas says which format it guessed
        moments = pd.to_datetime(cells, errors="coerce")
    return (moments - pd.Timestamp(0)) / pd.Timedelta(days=1)
