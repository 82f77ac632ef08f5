"""UMAP (McInnes, Healy, Melville 2018): umap-learn's, its own defaults but for the number of columns."""

from __future__ import annotations

from typing import Self

import numpy as np

from experiments.preprocessing import Rows


class UMAP:
    """A neighbourhood graph, laid out in `n_components` dimensions."""

    def __init__(self, *, n_components: int = 10, seed: int = 0) -> None:
        self.n_components = n_components
        self.seed = seed

    def fit(self, rows: Rows) -> Self:
        import umap
        from scipy.sparse import csr_matrix, issparse

        table = csr_matrix(rows) if issparse(rows) else rows  # umap-learn knows the older class only
        self.layout_ = umap.UMAP(n_components=self.n_components, random_state=self.seed, n_jobs=1).fit(table)
        self._fitted_rows = rows
        return self

    def transform(self, rows: Rows) -> np.ndarray:
        return self.layout_.embedding_ if rows is self._fitted_rows else self.layout_.transform(rows)
