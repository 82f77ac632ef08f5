"""Which columns made a row anomalous, and how that is told in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rdplearn._explain.kinds import Kind, Oddity, kinds_of, oddity_of
from rdplearn._explain.notebook import html_table
from rdplearn._explain.sentences import sentence, share_of, subject_of, verb_of, words_of
from rdplearn._types import Doubles, Ints, dense
from rdplearn.table.typical import Typical

SHOWN_ROWS = 10
CORRELATED, WITHIN = 0.9, 0.5  # columns share the reason from this correlation and this share of the contribution on
FEWEST_TO_COMPARE = 5  # typical rows
WORTH_A_WORD = 0.1  # of what raises a score
LEAST_TOLD = 0.005  # of what raises a score: less would be told as 0%
MOST_COMPARED = 32  # columns of a row, those with the largest contributions


@dataclass(frozen=True, repr=False)
class Explanation:
    """For each row, the part of its anomaly score that each column accounts for.

    Attributes
    ----------
    column_names : list of str, (n_columns,)
    contributions : (n_rows, n_columns), float64; CSR for sparse rows without groups
        They add up, row by row, to `anomaly_scores` minus `baseline`, but for the rounding of double precision.
    anomaly_scores : (n_rows,)
        The negative of `score_samples`.
    baseline : float
        The anomaly score of the most typical row.
    values : (n_rows, n_columns)
        What stands in the rows; CSR where `contributions` is.
    typical : list of Typical, (n_columns,)
    typical_rows : (n_typical, n_columns), optional
        Typical rows, by which columns that go together are known; NaN for groups of several columns.
    places : (n_rows,), optional
        Where the rows stand in the table they were taken from, from 0; by default 0, 1, 2 and so on.
    pairs : (n_rows, 2), optional
        Two columns that carry a row together: mending one of them changes nothing. -1 in rows without such columns.

    Two columns *share the reason* in a row if their values go together in the typical rows (a correlation beyond 0.9,
    up or down) or are both missing, both raise the score, and the lesser contribution is at least half of the greater:
    which of them comes first is left to chance. `columns_of` names them to each other, and `sentences` tells them as "a
    or b", or "a and b missing". The two columns of `pairs` share the reason as well: "a and b together".

    Examples
    --------
    >>> explanation = Explanation(
    ...     column_names=["amount", "items"],
    ...     contributions=np.array([[0.6, 0.2]]),
    ...     anomaly_scores=np.array([0.9]),
    ...     baseline=0.1,
    ...     values=np.array([[9800.0, 31.0]]),
    ...     typical=[Typical(low=20.0, high=310.0), Typical(low=1.0, high=7.0)],
    ... )
    >>> for sentence in explanation.sentences(0):
    ...     print(sentence)
    amount 9,800 (typical 20 to 310) accounts for 75% of the score
    items 31 (typical 1 to 7) accounts for 25% of the score
    >>> explanation
    1 row explained. A typical row has score 0.1.
    Row 0 has score 0.9: amount 9,800 (typical 20 to 310) accounts for 75% of it, items 31 (typical 1 to 7) for 25%.
    """

    column_names: list[str]
    contributions: Any
    anomaly_scores: Doubles
    baseline: float
    values: Any
    typical: list[Typical]
    typical_rows: Any = None
    places: Ints | None = None
    pairs: Ints | None = None

    def __len__(self) -> int:
        return len(self.anomaly_scores)

    def __repr__(self) -> str:
        """The first rows by their places, and what raises their scores."""
        rows = [
            f"Row {self._place(row)} has score {self.anomaly_scores[row]:.4g}: {self._sentence(row)}."
            for row in self._first_rows()
        ]
        return "\n".join([self._caption(), *rows])

    def _repr_html_(self) -> str:
        """What a notebook shows: the same as a table."""
        rows = [
            {"row": self._place(row), "score": f"{self.anomaly_scores[row]:.4g}"}
            | {"what raises it": self._sentence(row)}
            for row in self._first_rows()
        ]
        return html_table(rows, self._caption())

    def _place(self, row: int) -> int:
        return row if self.places is None else int(self.places[row])

    def _first_rows(self) -> range:
        return range(min(len(self), SHOWN_ROWS))

    def _caption(self) -> str:
        rows = "1 row" if len(self) == 1 else f"{len(self):,} rows"
        more = f", the first {SHOWN_ROWS} of them shown" if len(self) > SHOWN_ROWS else ""
        return f"{rows} explained{more}. A typical row has score {self.baseline + 0.0:.4g}."

    def of_rows(self, rows: Ints) -> Explanation:
        """The explanation of some of the rows, by their places."""
        return replace(
            self,
            contributions=self.contributions[rows],
            anomaly_scores=self.anomaly_scores[rows],
            values=self.values[rows],
            places=np.asarray(rows) if self.places is None else self.places[rows],
            pairs=None if self.pairs is None else self.pairs[rows],
        )

    def to_dicts(self, *, n_columns: int | None = None) -> list[dict[str, Any]]:
        """All rows as plain values for JSON, each with its columns, the largest contribution first.

        Parameters
        ----------
        n_columns : int, optional
            How many columns of each row; by default all that contribute, up or down.
        """
        return [
            {
                "anomaly_score": float(self.anomaly_scores[row]),
                "baseline": self.baseline,
                "columns": self.columns_of(row, n_columns=n_columns),
            }
            for row in range(len(self))
        ]

    def columns_of(self, row: int, *, n_columns: int | None = None) -> list[dict[str, Any]]:
        """One row's columns as plain values, the largest contribution first; those without any are left out.

        ``share`` is a column's part, from 0 to 1, of all that raises this row's score; ``shared_with`` names the others
        that share the reason; ``only_together`` says that mending one of these changes nothing; ``is_usual`` says that
        the value is typical of its column, and at most odd in this row.
        """
        contributions, values = self._row(row)
        raised = float(np.sum(np.maximum(contributions, 0.0)))
        order = np.argsort(-contributions, kind="stable")
        order = order[contributions[order] != 0.0]
        pair = () if self.pairs is None else tuple(column for column in self.pairs[row].tolist() if column >= 0)
        together = self._sharing(order, contributions, values, pair)
        return [
            {
                "column": self.column_names[column],
                "value": plain(values[column]),
                "typical": self.typical[column].words(),
                "is_usual": oddity_of(plain(values[column]), self.typical[column]) is Oddity.ELSEWHERE,
                "contribution": float(contributions[column]),
                "share": max(float(contributions[column]), 0.0) / raised if raised > 0 else 0.0,
                "shared_with": [self.column_names[other] for other in together.get(int(column), ()) if other != column],
                "only_together": int(column) in pair,
            }
            for column in order[:n_columns]
        ]

    def sentences(self, row: int, *, n_columns: int = 3) -> list[str]:
        """What raises a row's score, in words, the most important column first, with those that share its reason."""
        reasons = self._reasons(row)
        told = [columns for place, columns in enumerate(reasons) if place == 0 or share_of(columns) >= LEAST_TOLD]
        return [sentence(*columns) for columns in told[:n_columns]]

    def in_short(self, row: int, *, n_columns: int = 3) -> list[str]:
        """The same in fewer words: the first reason, and the others that make up a tenth of the score."""
        return [f"{words_of(columns)}: {share_of(columns):.0%}" for columns in self._main_reasons(row, n_columns)]

    def _sentence(self, row: int) -> str:
        """The same as one sentence."""
        told = [f"{subject_of(columns)} for {share_of(columns):.0%}" for columns in self._main_reasons(row)]
        if not told:
            return "no column raises it"
        first, _, share = told[0].rpartition(" for ")
        return ", ".join([f"{first} {verb_of(self._main_reasons(row)[0])} for {share} of it", *told[1:]])

    def _main_reasons(self, row: int, n_columns: int = 3) -> list[list[dict[str, Any]]]:
        reasons = self._reasons(row)[:n_columns]
        return [columns for place, columns in enumerate(reasons) if place == 0 or share_of(columns) >= WORTH_A_WORD]

    def _reasons(self, row: int) -> list[list[dict[str, Any]]]:
        """The columns that raise a row's score, those that share a reason together.

        The reason with the largest contribution comes first, the others by what their columns have together.
        """
        found = []
        left = {column["column"]: column for column in self.columns_of(row) if column["contribution"] > 0}
        while left:
            first = next(iter(left.values()))
            found.append([left.pop(name) for name in (first["column"], *first["shared_with"]) if name in left])
        return [*found[:1], *sorted(found[1:], key=share_of, reverse=True)]

    def kinds(self) -> list[Kind]:
        """The rows by their first reasons: those with the same reason are one kind, the kind with most rows first."""
        return kinds_of(self)

    def column_shares(self) -> Doubles:
        """Each column's part of all that raises the scores of these rows; adds up to 1. Shape (n_columns,)."""
        contributions = self.contributions
        raising = contributions.maximum(0) if sp.issparse(contributions) else np.maximum(contributions, 0)
        totals = np.asarray(raising.sum(axis=0), dtype=np.float64).ravel()
        return totals / max(float(totals.sum()), np.finfo(np.float64).tiny)

    def _sharing(
        self, order: Ints, contributions: Doubles, values: npt.NDArray[Any], pair: tuple[int, ...]
    ) -> dict[int, list[int]]:
        """For columns that share the reason with others: all of these.

        order : the largest contribution first; pair : two columns that do so in any case
        """
        first_two = sorted(pair, key=lambda column: -contributions[column])
        found: dict[int, list[int]] = dict.fromkeys(pair, first_two)
        order = order[contributions[order] > 0][:MOST_COMPARED]
        missing = np.array([plain(values[column]) is None for column in order], dtype=bool)
        some = None if self.typical_rows is None else dense(self.typical_rows[:, order])
        for place, first in enumerate(order):
            if int(first) in found:
                continue
            near = np.arange(place + 1, len(order))
            near = near[contributions[order[near]] >= WITHIN * contributions[first]]
            shares = [
                (missing[place] and missing[n])
                or (some is not None and not missing[[place, n]].any() and go_together(some[:, [place, n]]))
                for n in near
            ]
            others = [int(order[n]) for n in near[np.array(shares, dtype=bool)] if int(order[n]) not in found]
            if others:
                found |= {column: [int(first), *others] for column in (int(first), *others)}
        return found

    def _row(self, row: int) -> tuple[Doubles, npt.NDArray[Any]]:
        if sp.issparse(self.contributions):
            return self.contributions[[row]].toarray()[0], self.values[[row]].toarray()[0]
        return self.contributions[row], self.values[row]


def joined(parts: Sequence[Explanation]) -> Explanation:
    """Explanations of dense rows that follow each other, by one model, as one."""
    return replace(
        parts[0],
        contributions=np.concatenate([part.contributions for part in parts]),
        anomaly_scores=np.concatenate([part.anomaly_scores for part in parts]),
        values=np.concatenate([part.values for part in parts]),
        pairs=None
        if any(part.pairs is None for part in parts)
        else np.concatenate([part.pairs for part in parts if part.pairs is not None]),
    )


def go_together(pair: npt.NDArray[np.float64]) -> bool:
    """Whether two columns, (n_rows, 2), are correlated so much that one stands for the other.

    Examples
    --------
    >>> up = np.arange(9.0)
    >>> go_together(np.stack([up, -2 * up], axis=1)), go_together(np.stack([up, up % 2], axis=1))
    (True, False)
    """
    if len(pair) < FEWEST_TO_COMPARE or not np.isfinite(pair).all():
        return False
    largest = np.abs(pair).max(axis=0)
    centred = pair / np.where(largest > 0, largest, 1.0)
    centred = centred - centred.mean(axis=0)
    first, second = np.sqrt(np.sum(centred**2, axis=0))
    return bool(first * second > 0 and abs(centred[:, 0] @ centred[:, 1]) > CORRELATED * first * second)


def plain(value: Any) -> Any:
    """A value as JSON can have it: dates and the like as text, what is no number as None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
