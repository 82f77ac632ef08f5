"""A map of rows: the learned representation φ in two dimensions.

The plane is that of the two main directions of φ (principal components) among the rows drawn, so rows that the model
finds alike lie close together, and distances can be compared. It takes a fraction of a second and is the same every
time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.decomposition import PCA

from rdplearn.detector import RDPDetector

Doubles = npt.NDArray[np.float64]


def place_on_map(estimator: Any, matrix: Any) -> Doubles:
    """Where rows lie on the map: (n_rows, 2).

    Parameters
    ----------
    estimator : fitted `RDPDetector`, `RDPTransformer` or `RDPClusterer`
    matrix : (n_rows, n_columns), few thousand rows as the estimator takes them

    Examples
    --------
    >>> import numpy as np
    >>> from rdplearn import RDPDetector
    >>> table = np.random.default_rng(0).normal(size=(200, 4))
    >>> detector = RDPDetector(n_members=2, n_rounds=1, n_steps=50, random_state=0).fit(table)
    >>> place_on_map(detector, table).shape
    (200, 2)
    """
    features = learned_features(estimator, matrix).astype(np.float64)
    plane = np.zeros((len(features), 2))
    n_directions = min(2, *features.shape)
    if len(features) > 1:
        directions = PCA(n_directions, svd_solver="randomized", random_state=0)
        plane[:, :n_directions] = directions.fit_transform(features)
    return plane


def learned_features(estimator: Any, matrix: Any) -> npt.NDArray[Any]:
    """φ(x) of each row, all members side by side: (n_rows, n_features)."""
    if isinstance(estimator, RDPDetector):
        rows = estimator.view_(matrix)
        return estimator.ensembles_[-1].represent(rows).reshape(matrix.shape[0], -1)
    transformer = getattr(estimator, "transformer_", estimator)
    return np.asarray(transformer.transform(matrix))
