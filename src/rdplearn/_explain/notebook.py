"""How things look in a notebook, as HTML; texts of a table are escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

CELL = "text-align: left; padding: 2px 12px 2px 0"


def html_table(rows: Sequence[Mapping[str, Any]], caption: str) -> str:
    """Rows of values as a small table.

    Examples
    --------
    >>> html_table([{"column": "<b>"}], "one & only").count("&")
    3
    """
    names = list(rows[0]) if rows else []
    heads = "".join(f'<th style="{CELL}">{escape(name)}</th>' for name in names)
    lines = (
        "<tr>" + "".join(f'<td style="{CELL}"><bdi>{escape(str(row[name]))}</bdi></td>' for name in names) + "</tr>"
        for row in rows
    )
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    return f"<div><p>{escape(caption)}</p>{table}</div>"
