"""Tables and headings of pages."""

from __future__ import annotations

import re


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


def anchor(heading: str) -> str:
    """Give what a link to a heading ends with, on the site and where repositories are hosted.

    Examples
    --------
    >>> anchor("The paper's 14 sets: AUC-ROC")
    'the-papers-14-sets-auc-roc'
    """
    return re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-"))
