"""Footnotes at the end of a CSV file: rows of one field after the last row of the table, such as "* preliminary"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from rdplearn.errors import TableError, warn_user
from rdplearn.table.wording import shown

if TYPE_CHECKING:
    import pyarrow.csv as pc

MOST_NOTES = 20
NOTE = re.compile(r"^\W*[^\W\d_]+\W+\w|^[*#†‡]")  # two words, or a mark: a single one may be a row that was cut


class Footnotes:
    """The rows of one field that were met in a pass over a file; they are notes if no row of the table follows.

    Parameters
    ----------
    n_skipped : int
        Rows before the first row of the table, which rows are counted from.
    name : str
        Of the file.
    """

    def __init__(self, n_skipped: int, name: str) -> None:
        self.n_skipped, self.name = n_skipped, name
        self.texts: list[str] = []
        self._first: tuple[int, int] = (0, 0)  # where it stands, and how many fields it should have

    def skip_or_error(self, row: pc.InvalidRow) -> Literal["skip", "error"]:
        """What becomes of a row with another number of fields than the table has columns."""
        text = row.text.strip()
        if row.actual_columns != 1 or not NOTE.search(text) or len(self.texts) == MOST_NOTES:
            return "error"
        if not self.texts:
            self._first = row.number - self.n_skipped, row.expected_columns
        self.texts.append(text)
        return "skip"

    def require_end(self, rows_read: int) -> None:
        """Refuse a row of one field that rows of the table follow."""
        place, n_columns = self._first
        if self.texts and place <= rows_read:
            raise TableError(misfit_words(place, self.name, 1, n_columns, self.texts[0]))

    def tell(self) -> None:
        """Say which rows were left out."""
        last, is_are = ("row", "is a note") if len(self.texts) == 1 else (f"{len(self.texts)} rows", "are notes")
        warn_user(
            f"The last {last} of {self.name} {is_are} of one field, such as {shown(self.texts[0])}, and left out. If "
            "the file was cut there, get it whole."
        )


def misfit_words(place: int, name: str, got: int, expected: int, text: str) -> str:
    """What is wrong with a row that has another number of fields than the table has columns."""
    fields = f"{got} field{'s' if got != 1 else ''}"
    return (
        f"Row {place} of {name} has {fields} where the first row has {expected}: {shown(text)}. "
        "Correct the row, or pass --separator."
    )
