"""The verdict of `watch`: whether a refit is due, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rdplearn._explain.notebook import html_table
from rdplearn._watch.changes import ALARMS, GONE, SCORES, Change
from rdplearn.table.typical import value_words

MOST_NAMED = 5


@dataclass(frozen=True, repr=False)
class Verdict:
    """What `watch` found.

    Attributes
    ----------
    due : bool
        Whether the model should be fitted again.
    table : str
        The name of the table.
    n_rows, n_remembered : int
        Rows of the table, and rows that the model's memory rests on.
    level : float
        Of tables from an unchanged source, at most this share is called changed.
    changes : list of Change
        Everything that was compared, the largest change first; those that make a refit due before all others.
    new_columns : list of str
        Columns that the fit did not have. The model does not see them.
    not_compared : list of str
        What could not be compared, and why, in sentences.
    """

    due: bool
    table: str
    n_rows: int
    n_remembered: int
    level: float
    changes: list[Change]
    new_columns: list[str]
    not_compared: list[str]

    def reasons(self) -> list[Change]:
        """The changes that make a refit due, the largest first."""
        return [change for change in self.changes if change.matters(self.level)]

    def sentences(self) -> list[str]:
        """The verdict in words, the most important first."""
        told = [self.headline()]
        largest = list({(change.column or change.matter): change for change in reversed(self.reasons())}.values())[::-1]
        told += [f"{sentence(change)}." for change in largest[:MOST_NAMED]]
        if len(largest) > MOST_NAMED:
            told.append(f"And {len(largest) - MOST_NAMED} more.")
        if self.new_columns:
            listed = ", ".join(map(value_words, self.new_columns[:MOST_NAMED]))
            told.append(f"New columns, which the model does not use: {listed}.")
        return told + self.not_compared

    def headline(self) -> str:
        """The verdict in one sentence."""
        rows = f"{self.n_rows:,} {'row' if self.n_rows == 1 else 'rows'}"
        if not self.due:
            return f"No refit is due: nothing has changed by much in {rows}."
        columns = {change.column for change in self.reasons() if change.column is not None}
        named = f"{len(columns)} {'column has' if len(columns) == 1 else 'columns have'} changed" if columns else ""
        rows_differ = "rows score otherwise" if any(c.column is None for c in self.reasons()) else ""
        return f"A refit is due: {' and '.join(part for part in (named, rows_differ) if part)} in {rows}."

    def columns(self) -> list[dict[str, Any]]:
        """For each column its largest change that matters, or else its largest; the columns that moved most first."""
        largest: dict[str, Change] = {}
        for change in self.changes:
            if change.column is not None:
                largest.setdefault(change.column, change)
        return [_plain(change, self.level) for change in largest.values()]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, as JSON can have them."""
        rows = {change.matter: _plain(change, self.level) for change in self.changes if change.column is None}
        return {
            "due": self.due,
            "table": self.table,
            "n_rows": self.n_rows,
            "n_remembered": self.n_remembered,
            "level": self.level,
            "summary": self.sentences(),
            "alarms": rows.get(ALARMS),
            "scores": rows.get(SCORES),
            "columns": self.columns(),
            "changes": [_plain(change, self.level) for change in self.changes],
            "new_columns": self.new_columns,
            "not_compared": self.not_compared,
        }

    def __repr__(self) -> str:
        return "\n".join(self.sentences())

    def _repr_html_(self) -> str:
        shown = [
            {"column": change["column"], "moved": f"{change['effect']:.0%}", "what": change["words"]}
            for change in self.columns()[: 2 * MOST_NAMED]
        ]
        return html_table(shown, self.headline())


def make_verdict(
    table: str,
    n_rows: int,
    n_remembered: int,
    level: float,
    changes: Sequence[Change],
    new_columns: list[str],
    not_compared: list[str],
) -> Verdict:
    """Put the changes that matter first, and say whether there are any."""
    ranked = sorted(changes, key=lambda change: (not change.matters(level), change.matter != GONE, -change.effect))
    due = any(change.matters(level) for change in ranked)
    return Verdict(due, table, n_rows, n_remembered, level, ranked, new_columns, not_compared)


def sentence(change: Change) -> str:
    """A change in words, with its column."""
    words = change.words if change.column is None else f"{value_words(change.column)} {change.words}"
    return f"{words[0].upper()}{words[1:]}" if change.column is None else words


def _plain(change: Change, level: float) -> dict[str, Any]:
    return {**asdict(change), "matters": change.matters(level)}
