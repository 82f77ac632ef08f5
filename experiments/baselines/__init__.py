"""The competitors, one a file, behind two small interfaces.

A detector has `fit(rows)` and `score(rows)`, higher for anomalies; a representation has `fit(rows)` and
`transform(rows)`. Constructors only store; `seed` is keyword-only. Rows are dense or CSR. A detector that is
an ensemble may offer `member_scores(rows)`, one row of scores a member, and one that boosts
`round_scores(rows)`. One that cannot take a table of this size raises `TooLargeError`.
"""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np

from experiments.preprocessing import Rows


class TooLargeError(Exception):
    """A method declines a table that is too large for it, and says why; anything else that goes wrong is a fault."""


class Detector(Protocol):
    """Scores rows: higher is more anomalous."""

    def fit(self, rows: Rows) -> Self: ...

    def score(self, rows: Rows) -> np.ndarray: ...


class Representation(Protocol):
    """Maps rows to new columns."""

    def fit(self, rows: Rows) -> Self: ...

    def transform(self, rows: Rows) -> np.ndarray: ...
