"""The sentences of an explanation: columns that share a reason, what stands in them, and what is usual there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rdplearn._explain.kinds import ANSWERS_COLUMN, listed, named_columns
from rdplearn.table.typical import value_words


def sentence(*columns: dict[str, Any]) -> str:
    """One column of `Explanation.columns_of` in words, or several that share the reason.

    Examples
    --------
    >>> nothing = {"value": None, "typical": "", "is_usual": False, "only_together": False, "share": 0.25}
    >>> sentence({"column": "tip", **nothing})
    'the missing tip accounts for 25% of the score'
    >>> sentence(*({"column": name, **nothing} for name in ("tip", "fare", "tolls")))
    'the missing tip, fare and tolls account for 75% of the score'
    """
    return f"{subject_of(columns)} {verb_of(columns)} for {share_of(columns):.0%} of the score"


def verb_of(columns: Sequence[dict[str, Any]]) -> str:
    """The verb of the sentence about them: there are several answers, and one column or another."""
    several = len(columns) > 1 and (columns[0]["only_together"] or all_missing(columns))
    return "account" if several or columns[0]["column"] == ANSWERS_COLUMN else "accounts"


def subject_of(columns: Sequence[dict[str, Any]]) -> str:
    """The subject of the sentence about them: what is missing is named as a thing."""
    if len(columns) > 1 and all_missing(columns):
        return f"the missing {named_columns([column['column'] for column in columns])}"
    parts = [
        f"the missing {value_words(column['column'])}{_typical_of(column)}"
        if column["value"] is None
        else _part(column)
        for column in columns
    ]
    return _joined_parts(parts, columns)


def words_of(columns: Sequence[dict[str, Any]]) -> str:
    """What stands in columns that share a reason, and what is usual there, as an entry of a list."""
    if len(columns) > 1 and all_missing(columns):
        return f"{named_columns([column['column'] for column in columns])} missing"
    return _joined_parts([_part(column) for column in columns], columns)


def all_missing(columns: Sequence[dict[str, Any]]) -> bool:
    """Whether nothing stands in any of the columns."""
    return all(column["value"] is None for column in columns)


def _joined_parts(parts: list[str], columns: Sequence[dict[str, Any]]) -> str:
    only_together = len(columns) > 1 and all(column["only_together"] for column in columns)
    return f"{listed(parts, 'and')} together" if only_together else listed(parts, "or")


def _part(column: dict[str, Any]) -> str:
    value = value_words(column["value"])
    said = f"({value})" if column["column"] == ANSWERS_COLUMN else value
    return f"{value_words(column['column'])} {said}{_typical_of(column)}"


def _typical_of(column: dict[str, Any]) -> str:
    elsewhere = "; unusual for such rows" if column["is_usual"] else ""
    return f" (typical {column['typical']}{elsewhere})" if column["typical"] else ""


def share_of(columns: Sequence[dict[str, Any]]) -> float:
    """The part of what raises the score that columns have together."""
    return float(sum(column["share"] for column in columns))
