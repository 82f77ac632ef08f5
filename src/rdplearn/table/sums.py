"""Rows of sums among the rows of a table, such as "Total" at its end. They are told, and left in."""

from __future__ import annotations

import re

from rdplearn.errors import warn_user
from rdplearn.table.summary import ColumnSummary, TableSummary
from rdplearn.table.wording import rows_text, shown

SUM = re.compile(
    r"(?i:^(?:[^,;.]+\s)?(?:(?:sub|grand)?[ -]?totals?|(?:gesamt|zwischen|end)?summe|sum|insgesamt|gesamt|totale|totaux"
    r"|totaal|somme|suma)\s*:?$)"
)
MOST_WORDS = 4
FEWEST_ROWS = 20
LARGEST_SHARE = 0.05  # of the rows: a value that more have is one of the usual ones, such as both sexes together


def tell_sums(summary: TableSummary) -> None:
    """Warn of rows that a word says to be sums, by the first column that has such words."""
    for column in summary.columns.values():
        word, n_rows = sums_in(column)
        if word and summary.n_rows >= FEWEST_ROWS and n_rows <= LARGEST_SHARE * summary.n_rows:
            is_one = n_rows == 1
            such = f"{'' if is_one else 'words such as '}{shown(word)} in {rows_text(n_rows)}"
            they = "this is a sum of other rows, leave it" if is_one else "these are sums of other rows, leave them"
            warn_user(
                f"Column {shown(column.name)} of {summary.name} has {such}. If {they} out of the table: sums are "
                "judged as all rows are, and stand before what you look for, or hide it."
            )
            return


def sums_in(column: ColumnSummary) -> tuple[str, int]:
    """A word for sums that a column has, the shortest, and in how many rows it has such words."""
    if column.form not in ("text", "category"):
        return "", 0
    pairs = zip(column.texts.values.tolist(), column.texts.counts.tolist(), strict=True)
    found = [(text, count) for text, count in pairs if is_sum(str(text))]
    return min((text for text, _ in found), key=lambda text: (len(text), text), default=""), sum(
        count for _, count in found
    )


def is_sum(text: str) -> bool:
    """Whether a text says that its row is a sum.

    Examples
    --------
    >>> [text for text in ("Total", "North total", "Grand Total:", "Summe", "Totalled", "summary") if is_sum(text)]
    ['Total', 'North total', 'Grand Total:', 'Summe']
    """
    return len(text.split()) <= MOST_WORDS and SUM.search(text) is not None
