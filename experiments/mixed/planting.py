"""Plant errors in a table: one kind at a time, in 1 % of its rows, each in a column drawn for that row.

A dirty table has three kinds at once, each in 1 % of the rows.

Cells are texts and stay so: a planted number is written as the others are. Only numbers that are written plainly
("-1.5", "2e+08") are planted; "$2,700" is not one. Columns whose name says that they are a code are left alone.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pandas as pd

from experiments.mixed.loading import is_missing

SHARE = 0.01
DIRTY, DIRTY_KINDS = "dirty", ("times100", "newcat", "missing")
FEWEST_VALUES, MOST_HOLES, MOST_NEGATIVE, CORRELATED = 30, 0.3, 0.01, 0.6  # of numbers
MOST_CATEGORIES = 60
NEXT_TO_NO_HOLES, N_EMPTIED = 0.01, 3
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_SAYS_CODE = re.compile(r"(id|codes?|zip(code)?|fips|lat(itude)?|lon(g|gitude)?|years?|numbers?)")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


class Planting(NamedTuple):
    """A table with errors in it.

    frame : the table
    is_planted : (n_rows,), True for the rows that have an error
    columns : for each of these, in their order, the names of the columns that were changed
    """

    frame: pd.DataFrame
    is_planted: np.ndarray
    columns: list[tuple[str, ...]]


@dataclass(frozen=True)
class Sheet:
    """A table with what planting has to know of it."""

    frame: pd.DataFrame
    present: pd.DataFrame  # True where a cell holds something
    numbers: pd.DataFrame  # the columns of numbers that can be planted in, nan where a cell is missing
    categories: list[str]
    full: list[str]  # columns with next to no holes


Changes = dict[int, dict[str, str]]  # row -> column -> what the cell becomes
Choices = dict[str, np.ndarray]  # column -> for each row, whether it can be changed there
Change = Callable[[Sheet, str, int, np.random.Generator], str]  # table, column, row -> what the cell becomes


def plant(frame: pd.DataFrame, kind: str, seed: int) -> Planting | None:
    """Plant errors of a kind in 1 % of the rows of a table of texts; None where no column fits.

    Examples
    --------
    >>> prices = pd.DataFrame({"price": [str(n % 40 + 1) for n in range(100)]})
    >>> planted = plant(prices, "times100", seed=0)
    >>> int(planted.is_planted.sum()), planted.columns
    (1, [('price',)])
    >>> plant(prices, "newcat", seed=0) is None
    True
    """
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    changes = _of_kind(kind, _sheet(frame), rng)
    if not changes:
        return None
    planted, is_planted = frame.copy(), np.zeros(len(frame), dtype=bool)
    for row, cells in changes.items():
        is_planted[row] = True
        for column, cell in cells.items():
            planted.iat[row, planted.columns.get_loc(column)] = cell
    return Planting(planted, is_planted, [tuple(changes[row]) for row in np.flatnonzero(is_planted).tolist()])


def says_code(name: str) -> bool:
    """Tell whether a column's name says id, code, zip, fips, lat, lon, year or number.

    Examples
    --------
    >>> [says_code(name) for name in ("Provider Id", "CensusId", "year_", "paid", "platform")]
    [True, True, True, False, False]
    """
    return any(_SAYS_CODE.fullmatch(word.lower()) for word in _WORDS.findall(name))


def _of_kind(kind: str, sheet: Sheet, rng: np.random.Generator) -> Changes:
    if kind == DIRTY:
        return {row: cells for one in DIRTY_KINDS for row, cells in _of_kind(one, sheet, rng).items()}
    planter = {"missing": _emptied, "shuffled": _shuffled}.get(kind)
    return planter(sheet, rng) if planter else _changes(sheet, _CHOICES[kind](sheet), _CHANGES[kind], rng)


def _sheet(frame: pd.DataFrame) -> Sheet:
    open_to_all = [name for name in frame.columns if not says_code(name)]
    present = ~frame.apply(is_missing)
    numbers = {name: _as_numbers(frame[name], present[name]) for name in open_to_all}
    fit = {name: values for name, values in numbers.items() if values is not None and _fits(values)}
    texts = [name for name, values in numbers.items() if values is None]
    return Sheet(
        frame,
        present,
        pd.DataFrame(fit, index=frame.index),
        [name for name in texts if 2 <= frame[name][present[name]].nunique() <= MOST_CATEGORIES],
        [name for name in open_to_all if (~present[name]).mean() <= NEXT_TO_NO_HOLES],
    )


def _as_numbers(cells: pd.Series, present: pd.Series) -> pd.Series | None:
    """The numbers of a column, or None if it holds anything else."""
    written = cells[present].str.strip()
    if not len(written) or not written.map(lambda cell: _PLAIN.fullmatch(cell) is not None).all():
        return None
    return written.astype(float).reindex(cells.index)


def _fits(values: pd.Series) -> bool:
    n_values, n_present = values.nunique(), values.notna().sum()
    return FEWEST_VALUES <= n_values < n_present and values.isna().mean() <= MOST_HOLES


def _changes(sheet: Sheet, choices: Choices, change: Change, rng: np.random.Generator) -> Changes:
    """For rows that are drawn, a column that is drawn and what its cell becomes."""
    if not choices:
        return {}
    columns, can_change = list(choices), np.stack(list(choices.values()), axis=1)  # (n_rows, n_columns)
    changes = {}
    for row in _draw_rows(np.flatnonzero(can_change.any(axis=1)), len(sheet.frame), rng):
        column = columns[rng.choice(np.flatnonzero(can_change[row]))]
        cell = change(sheet, column, row, rng)
        while change is _newcat and {column: cell} in changes.values():
            cell += str(rng.choice(list(string.ascii_letters)))  # a value that occurs once
        changes[row] = {column: cell}
    return changes


def _draw_rows(fitting: np.ndarray, n_rows: int, rng: np.random.Generator) -> list[int]:
    n_wanted = max(1, round(SHARE * n_rows))
    return rng.choice(fitting, min(n_wanted, len(fitting)), replace=False).tolist()


def _nonzero(sheet: Sheet) -> Choices:
    return {name: (values.notna() & (values != 0)).to_numpy() for name, values in sheet.numbers.items()}


def _rarely_negative(sheet: Sheet) -> Choices:
    is_rare = (sheet.numbers < 0).mean() < MOST_NEGATIVE
    return {name: rows for name, rows in _nonzero(sheet).items() if is_rare[name]}


def _correlated(sheet: Sheet) -> Choices:
    """Columns that go along with another; the upper tenth of each has to differ from its middle."""
    if sheet.numbers.shape[1] < 2:
        return {}
    strength = sheet.numbers.corr(method="spearman").abs().to_numpy(copy=True)
    np.fill_diagonal(strength, 0.0)
    goes_along = np.nan_to_num(strength).max(axis=0) >= CORRELATED
    low, middle, high = (sheet.numbers.quantile(share) for share in (0.1, 0.5, 0.9))
    return {
        name: values.notna().to_numpy()
        for along, (name, values) in zip(goes_along, sheet.numbers.items(), strict=True)
        if along and low[name] < middle[name] < high[name]
    }


def _of_categories(sheet: Sheet) -> Choices:
    return {name: sheet.present[name].to_numpy() for name in sheet.categories}


def _times100(sheet: Sheet, column: str, row: int, rng: np.random.Generator) -> str:
    larger = format(Decimal(sheet.frame[column].iat[row].strip()) * 100, "f")
    return larger.rstrip("0").rstrip(".") if "." in larger else larger


def _sign(sheet: Sheet, column: str, row: int, rng: np.random.Generator) -> str:
    cell = sheet.frame[column].iat[row].strip()
    return cell[1:] if cell.startswith("-") else f"-{cell.removeprefix('+')}"


def _swap(sheet: Sheet, column: str, row: int, rng: np.random.Generator) -> str:
    values = sheet.numbers[column]
    low, middle, high = values.quantile([0.1, 0.5, 0.9])
    others = values >= high if values.iat[row] <= middle else values <= low
    return str(sheet.frame[column].iat[rng.choice(np.flatnonzero(others))])


def _newcat(sheet: Sheet, column: str, row: int, rng: np.random.Generator) -> str:
    cells = set(sheet.frame[column])
    new = [sheet.frame[column].iat[row] + letter for letter in string.ascii_letters]
    return str(rng.choice([cell for cell in new if cell not in cells]))


def _mismatch(sheet: Sheet, column: str, row: int, rng: np.random.Generator) -> str:
    cells = sheet.frame[column]
    others = sheet.present[column] & (cells != cells.iat[row])
    return str(cells.iat[rng.choice(np.flatnonzero(others))])


def _emptied(sheet: Sheet, rng: np.random.Generator) -> Changes:
    if len(sheet.full) < N_EMPTIED:
        return {}
    is_full = np.flatnonzero(sheet.present[sheet.full].all(axis=1))
    return {
        row: dict.fromkeys(rng.choice(sheet.full, N_EMPTIED, replace=False).tolist(), "")
        for row in _draw_rows(is_full, len(sheet.frame), rng)
    }


def _shuffled(sheet: Sheet, rng: np.random.Generator) -> Changes:
    """Every cell is drawn anew from its own column: usual each by itself, odd as a whole."""
    columns = [*sheet.numbers.columns, *sheet.categories]
    if len(columns) < 2:
        return {}
    n_rows = len(sheet.frame)
    return {
        row: {name: str(sheet.frame[name].iat[rng.integers(n_rows)]) for name in columns}
        for row in _draw_rows(np.arange(n_rows), n_rows, rng)
    }


_CHOICES: dict[str, Callable[[Sheet], Choices]] = {
    "times100": _nonzero,
    "sign": _rarely_negative,
    "swap": _correlated,
    "newcat": _of_categories,
    "mismatch": _of_categories,
}
_CHANGES: dict[str, Change] = {
    "times100": _times100,
    "sign": _sign,
    "swap": _swap,
    "newcat": _newcat,
    "mismatch": _mismatch,
}
KINDS = (*_CHANGES, "missing", "shuffled", DIRTY)
