"""Small turns of phrase that error messages share; every message stays on one line."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from difflib import get_close_matches
from unicodedata import category

MOST_NAMED = 6


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


def column_hint(name: str, present: Collection[str]) -> str:
    """What may have been meant by the name of a column that is not there: one like it, several, or the first there are.

    Examples
    --------
    >>> column_hint("Amuont", ["amount", "city"]), column_hint("paid", ["amount paid in EUR", "city"])
    (" Did you mean 'amount'?", " Did you mean 'amount paid in EUR'?")
    >>> column_hint("amount,city", ["amount", "city"])
    ' Name each column with an option of its own.'
    >>> column_hint("x", ["amount", "city"])
    " It has 'amount', 'city'."
    """
    folded = {one.casefold(): one for one in reversed(list(present))}
    if len(parts := [part.strip().casefold() for part in name.split(",")]) > 1 and folded.keys() >= set(parts):
        return " Name each column with an option of its own."
    near = get_close_matches(name.casefold(), folded, n=1)
    near = near or [one for one in folded if name.strip() and name.strip().casefold() in one]
    if len(near) == 1:
        return f" Did you mean {shown(folded[near[0]])}?"
    listed = [shown(one) for one in list(present)[:MOST_NAMED]]
    more = f" and {len(present) - len(listed):,} more" if len(present) > len(listed) else ""
    return f" It has {', '.join(listed)}{more}."
