"""Whether a comma or a point is the decimal mark: of a table, and of a column that reads with both."""

from __future__ import annotations

from collections.abc import Iterable

from rdplearn.table.cells import TextRules
from rdplearn.table.dresses import NEARLY_ALL
from rdplearn.table.summary import ColumnSummary


def decimal_mark_of(columns: Iterable[ColumnSummary], rules: TextRules) -> str:
    """The decimal mark of a table: a comma if that is how some columns can be read, and no column with a point alone.

    What reads with both marks, such as 1,234 or 1.234, is then read as the other columns are.
    """
    if rules.decimal or rules.thousands:
        return rules.mark
    clear = set()
    for column in columns:
        fewer, more = sorted(column.n_written, key=lambda mark: column.n_written[mark])
        if column.n_written[fewer] < column.n_written[more] >= NEARLY_ALL * column.n_present:
            clear.add(more)
    return "," if clear == {","} else "."


def mark_of(column: ColumnSummary, rules: TextRules, usual_mark: str) -> str:
    """The decimal mark with which more cells are numbers; of two that serve as well, that of the table."""
    if rules.decimal or column.n_written["."] == column.n_written[","]:
        return rules.decimal or usual_mark
    return "," if column.n_written[","] > column.n_written["."] else "."


def has_groups(column: ColumnSummary, rules: TextRules, n_to_read: int, usual_mark: str) -> bool:
    """Whether the points of a column can all stand between groups of three digits, as the table has decimal commas."""
    if usual_mark == rules.mark:
        return False
    texts = [str(text) for text in column.texts.values if "." in str(text)]
    return column.n_written[","] == n_to_read and bool(texts) and not any(text.startswith("0") for text in texts)
