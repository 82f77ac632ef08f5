"""Small turns of phrase that error messages share; every message stays on one line."""

from __future__ import annotations

import shlex
from unicodedata import category


def rows_text(n_rows: int) -> str:
    """A number of rows.

    >>> rows_text(1), rows_text(1200)
    ('1 row', '1,200 rows')
    """
    return counted(n_rows, "row")


def printable(text: str) -> str:
    r"""A text without characters that steer a terminal: they are written out. Blanks of any width are blanks.

    >>> printable("red \x1b[31m"), printable("Warner\xa0Bros.")
    ('red \\x1b[31m', 'Warner Bros.')
    """
    if text.isprintable():
        return text
    return "".join(
        " " if category(letter) == "Zs" else letter if letter.isprintable() else repr(letter)[1:-1] for letter in text
    )


def counted(number: int, noun: str) -> str:
    """A number of things.

    Examples
    --------
    >>> counted(1, "row"), counted(12400, "row")
    ('1 row', '12,400 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def shown(text: object) -> str:
    r"""A value in quotes, shortened, with odd characters escaped.

    >>> shown("two\nlines")
    "'two\\nlines'"
    """
    return repr(str(text)[:60])


def as_option(text: str) -> str:
    """A text as it is typed after an option of the command line.

    >>> as_option("n/a"), as_option("not known")
    ('n/a', "'not known'")
    """
    return shlex.quote(text) if text.isprintable() and len(text) <= 60 else shown(text)
