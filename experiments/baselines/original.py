"""Org: the original space, nothing learned."""

from __future__ import annotations

from typing import Self

from experiments.preprocessing import Rows


class Original:
    """Gives rows back as they are, sparse rows too."""

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed

    def fit(self, rows: Rows) -> Self:
        return self

    def transform(self, rows: Rows) -> Rows:
        return rows
