"""A map of rows: the learned representation φ in two dimensions.

The plane is that of the two main directions of φ (principal components) among the rows drawn, so that rows lie close
together that the model finds alike. For clusters it is the plane that tells their centres apart. It takes a fraction of
a second and is the same every time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.extmath import randomized_svd

from rdplearn._feedback.reviewed import Reviewed
from rdplearn._types import Doubles
from rdplearn._views.matrix import read_matrix
from rdplearn.detector import RDPDetector


def place_on_map(estimator: Any, X: Any) -> Doubles:
    """Where rows lie on the map: (n_rows, 2).

    Parameters
    ----------
    estimator : fitted `RDPDetector`, `RDPTransformer` or `RDPClusterer`
    X : array, sparse matrix or data frame of shape (n_rows, n_columns), a few thousand rows

    Examples
    --------
    >>> import numpy as np
    >>> from rdplearn import RDPDetector
    >>> table = np.random.default_rng(0).normal(size=(200, 4))
    >>> detector = RDPDetector(n_members=2, n_rounds=1, n_steps=50, random_state=0).fit(table)
    >>> place_on_map(detector, table).shape
    (200, 2)
    """
    matrix = read_matrix(estimator, X, reset=False)
    features = learned_features(estimator, matrix).astype(np.float64)
    features -= features.mean(axis=0)
    if hasattr(estimator, "cluster_centers_"):
        centre_of_row = estimator.cluster_centers_[estimator.predict(matrix)].astype(np.float64)
        apart = main_directions(centre_of_row - centre_of_row.mean(axis=0))
        within = main_directions(features - features @ apart @ apart.T)
        directions = np.hstack([apart, within])[:, :2]
    else:
        directions = main_directions(features)
    points = np.zeros((len(features), 2))
    points[:, : directions.shape[1]] = features @ directions
    return points


def main_directions(centred: Doubles) -> Doubles:
    """Up to two unit vectors along which rows around zero differ most, fewer if they do not: (n_features, 0 to 2).

    Examples
    --------
    >>> np.abs(main_directions(np.array([[3.0, 0.0], [-3.0, 0.0]]))).round(6).tolist()
    [[1.0], [0.0]]
    """
    _, lengths, directions = randomized_svd(centred, min(2, *centred.shape), random_state=0)
    return directions[lengths > 1e-9 * max(1.0, float(np.abs(centred).max()))].T


def learned_features(estimator: Any, matrix: Any) -> npt.NDArray[Any]:
    """φ(x) of each row, all members side by side: (n_rows, n_features).

    Members of a detector that see the columns in different ways count alike, whatever the scale of their views.
    """
    if isinstance(estimator, RDPDetector | Reviewed):
        parts = []
        for panel in estimator.panels_:
            last = panel.last_rounds(1)
            phi = last.represent(panel.view(matrix), slice(0, last.n_seats)).reshape(matrix.shape[0], -1)
            spread = float(np.sqrt(phi.var(axis=0).mean()))
            parts.append(phi / spread if spread > 0 else phi)
        return np.hstack(parts)
    transformer = getattr(estimator, "transformer_", estimator)
    return np.asarray(transformer.transform(matrix))
