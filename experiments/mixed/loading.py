"""The tables, cell by cell as they stand in their files."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from experiments.datasets import NoDataError, data_folder

MARKS_OF_MISSING = frozenset({"", "NA", "N/A", "#N/A", "n/a", "NaN", "nan", "NULL", "null", "None"})


def names() -> list[str]:
    """List the tables in `mixed` of the data folder, as "mixed/taxis"."""
    return sorted(f"mixed/{path.stem}" for path in (data_folder() / "mixed").glob("*.csv"))


def path_of(name: str) -> Path:
    """Give the file of a table."""
    path = data_folder() / f"{name}.csv"
    if not path.exists():
        raise NoDataError(f"There is no table {name!r} in {data_folder()}.")
    return path


def read(path: Path) -> pd.DataFrame:
    """Read all cells as text: nothing is taken as a number, a date or missing. Names lose spaces around them."""
    return pd.read_csv(path, dtype=str, keep_default_na=False).rename(columns=str.strip)


def is_missing(cells: pd.Series) -> pd.Series:
    """Mark the cells that hold nothing, or one of the usual words for it.

    Examples
    --------
    >>> is_missing(pd.Series(["3", "NA", "", "North"])).tolist()
    [False, True, True, False]
    """
    return cells.str.strip().isin(MARKS_OF_MISSING)
