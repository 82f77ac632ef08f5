"""The answers that were told, row by row, in an order of their own: when they were told leaves no trace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from rdplearn._feedback.process import MEANT
from rdplearn._types import Doubles, Ints, Matrix
from rdplearn.errors import unknown_choice

ANSWERS = ("anomalous", "normal", "unsure")


@dataclass
class Told:
    """What was told about one row.

    row : (1, n_columns), float64, dense or CSR
    answers : one or several, sorted; they may contradict each other
    name : what explanations call the row
    """

    row: Matrix
    answers: list[str]
    name: str | None = None

    @property
    def meant(self) -> float | None:
        """The mean of the answers as a score; None if nobody was sure."""
        sure = [MEANT[answer] for answer in self.answers if answer in MEANT]
        return sum(sure) / len(sure) if sure else None

    @property
    def verdict(self) -> str:
        """The answers in a word."""
        sure = {answer for answer in self.answers if answer != "unsure"}
        return sure.pop() if len(sure) == 1 else "contradictory" if sure else "unsure"


@dataclass
class Answers:
    """All answers. `told` goes from the bytes of a row to what was told about it."""

    told: dict[bytes, Told] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(len(told.answers) for told in self.told.values())

    def add(self, rows: Matrix, answers: Sequence[str], names: Sequence[str | None]) -> None:
        """Take in an answer about each row."""
        for place, (key, answer, name) in enumerate(zip(row_keys(rows), answers, names, strict=True)):
            known = self.told.setdefault(key, Told(rows[[place]].astype(np.float64), []))
            known.answers = sorted([*known.answers, answer])
            known.name = min(filter(None, (known.name, name)), key=lambda text: (len(text), text), default=None)

    def remove(self, rows: Matrix) -> int:
        """Forget what was told about rows. Returns how many of them had an answer."""
        return sum(self.told.pop(key, None) is not None for key in row_keys(rows))

    def in_order(self) -> list[Told]:
        """What was told, in the order of the rows themselves."""
        return [told for _, told in sorted(self.told.items())]

    def sure(self) -> list[Told]:
        """The rows that somebody was sure about, in the same order."""
        return [told for told in self.in_order() if told.meant is not None]


def weighed(told: Sequence[Told]) -> tuple[Doubles, Ints]:
    """The mean of the answers about each row, and how many were sure."""
    counts = [sum(answer in MEANT for answer in each.answers) for each in told]
    return np.array([each.meant for each in told], dtype=np.float64), np.array(counts)


def stacked(rows: Sequence[Matrix]) -> Matrix:
    """Rows one below the other."""
    return sp.csr_array(sp.vstack(rows, format="csr")) if sp.issparse(rows[0]) else np.concatenate(rows)


def row_keys(rows: Matrix) -> list[bytes]:
    """Bytes that are equal for equal rows, dense or sparse.

    Examples
    --------
    >>> dense = np.array([[0, 2.5], [1, 0]])
    >>> row_keys(dense) == row_keys(sp.csr_array(dense)), len(set(row_keys(dense)))
    (True, 2)
    """
    if not sp.issparse(rows):
        return [_key(np.flatnonzero(row), row[row != 0]) for row in np.asarray(rows, dtype=np.float64)]
    keys = []
    for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        filled = rows.data[start:end] != 0
        keys.append(_key(rows.indices[start:end][filled], rows.data[start:end][filled]))
    return keys


def _key(columns: Any, values: Any) -> bytes:
    return bytes(columns.astype(np.int64).tobytes() + values.astype(np.float64).tobytes())


def checked_answers(answers: Any, n_rows: int) -> list[str]:
    """The answers, one for each row; one answer alone is about all of them."""
    told = list(answers) if isinstance(answers, Iterable) and not isinstance(answers, str) else [answers] * n_rows
    if len(told) != n_rows:
        raise ValueError(
            f"The 'answers' parameter of tell needs an answer for each of the {n_rows} rows. Got {len(told)}: pass as "
            "many, or one word for all."
        )
    for answer in told:
        if answer not in ANSWERS:
            raise ValueError(unknown_choice("answers", "tell", answer, ANSWERS))
    return [str(answer) for answer in told]


def checked_names(names: Any, n_rows: int) -> list[str | None]:
    """What explanations call the rows; None where nobody said. A name alone is that of the only row."""
    if names is None:
        return [None] * n_rows
    several = names if isinstance(names, Iterable) and not isinstance(names, str) else [names]
    told = [None if name is None else str(name) for name in several]
    if len(told) != n_rows:
        raise ValueError(
            f"The 'names' parameter of tell needs a name for each of the {n_rows} rows. Got {len(told)}: pass as many."
        )
    return told
