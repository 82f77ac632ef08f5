"""The dress of a column's numbers: what stands around the digits, such as "$" or "kg", if all of them have the same.

`written_numbers.py` reads single cells, each in its dress; here the column decides, from its summary alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from rdplearn.table.cells import TextRules
from rdplearn.table.sketches import Spread
from rdplearn.table.summary import ColumnSummary, Stray
from rdplearn.table.written_numbers import fitting, read_written

NEARLY_ALL = 0.9  # of the cells: the others are strays


def written_spread(column: ColumnSummary, rules: TextRules, decimal: str, dress: str) -> Spread:
    """Where the numbers of a column lie that are written in a dress, as far as its texts are remembered."""
    import pyarrow as pa

    values, _ = read_written(pa.array(column.texts.values.tolist(), pa.string()), rules, decimal, dress)
    known = ~np.isnan(values)
    spread = Spread(column.capacity)
    spread.add(values[known], column.texts.counts[known])
    return spread


def dress_of(column: ColumnSummary, decimal: str) -> str | None:
    """The dress of the column's numbers, "" for none; None if there are several, or a unit that few of them have."""
    if not column.dresses:
        return None if column.dresses is None else ""
    scaled = _scaled_dress(column, column.n_written[decimal])
    if scaled is not None:
        return scaled
    counts = counts_of_dresses(column)
    most = max(counts, key=lambda dress: counts[dress])
    is_the_one = counts[most] >= NEARLY_ALL * sum(counts.values())
    is_usual = not has_letters(most) or 2 * counts[most] >= column.n_written[decimal]  # "12", "13", "14A"
    return most if is_the_one and is_usual else None


def counts_of_dresses(column: ColumnSummary) -> Counter[str]:
    """How many cells have each dress, of letters such as m whether or not they could be millions."""
    counts: Counter[str] = Counter()
    for name, cells in (column.dresses or {}).items():
        counts[name.replace("*", "")] += cells.n_rows
    return counts


def _scaled_dress(column: ColumnSummary, n_written: int) -> str | None:
    """The dress of amounts such as "$338K" and "1.2M", if it is clear that these are thousands and millions.

    It is if they are money, if there are several such letters, or if it is a k: "12M" alone may be months.
    """
    dresses = column.dresses or {}
    letters = [name for name in dresses if "*" in name]
    if not letters:
        return None
    family = letters[0].partition("*")[0] + "*"
    counts = {name: cells.n_rows for name, cells in dresses.items() if name in fitting(family)}
    n_large = sum(counts[name] for name in letters if name in counts)
    is_clear = not family.startswith("|") or len(letters) > 1 or letters == ["|*k"]
    is_usual = not family.startswith("|") or 2 * n_large >= n_written
    covers = sum(counts.values()) >= NEARLY_ALL * sum(cells.n_rows for cells in dresses.values())
    return family if is_clear and is_usual and covers else None


def in_other_dresses(column: ColumnSummary, dress: str | None) -> list[Stray]:
    """Numbers that cannot be held against those of the column: "3 lb" where all else is in kg."""
    return (
        [] if dress is None else [cells for name, cells in (column.dresses or {}).items() if name not in fitting(dress)]
    )


def not_in(column: ColumnSummary, decimal: str, dress: str) -> Stray:
    """The cells that are no numbers in the dress of the column."""
    strays = [cells for cells in [column.not_written[decimal], *in_other_dresses(column, dress)] if cells.n_rows]
    first = min(strays, key=lambda cells: cells.first_row, default=Stray())
    return replace(first, n_rows=sum(cells.n_rows for cells in strays))


def has_letters(dress: str) -> bool:
    """Whether there is a unit, such as that of "12 kg", after the number."""
    return dress.partition("|")[2].isalpha()
