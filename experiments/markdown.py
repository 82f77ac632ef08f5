"""Tables of pages."""

from __future__ import annotations


def markdown_table(header: list[str], lines: list[list[str]]) -> str:
    """Write a table.

    Examples
    --------
    >>> print(markdown_table(["", "AUC-ROC"], [["forest", ".8"]]), end="")
    |  | AUC-ROC |
    |---|---|
    | forest | .8 |
    """
    rows = ["| " + " | ".join(row) + " |" for row in (header, *lines)]
    return "\n".join([rows[0], "|---" * len(header) + "|", *rows[1:]]) + "\n"
