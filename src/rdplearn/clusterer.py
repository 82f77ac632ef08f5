"""RDPClusterer: groups of rows, by K-means on features that were learned by predicting random distances."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, clone
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from rdplearn._explain.cluster_reliability import MOST_ROWS, ClusterAssessment, assess_clusters
from rdplearn._model.products import in_steady_blocks, row_products
from rdplearn._model.threads import one_blas_thread
from rdplearn._to_dask import for_partitions
from rdplearn._training.engines.engine import ENGINES
from rdplearn._types import Floats, Matrix, dense, draw_seed, drawn_rows
from rdplearn._views.matrix import read_matrix
from rdplearn.transformer import RDPTransformer

Clusters = npt.NDArray[np.int32]

MANY_ROWS = 50_000  # beyond this, K-means learns from mini-batches


class RDPClusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Group rows without labels: features by predicting random distances (RDP), then K-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of groups; at most the number of distinct rows.
    transformer : RDPTransformer or any scikit-learn transformer, default=None
        What learns the features; it is cloned. By default ``RDPTransformer()``; ``RDPTransformer.paper()`` is the
        paper's setting. Where its `random_state` is None, it is seeded by this estimator's.
    n_init : int, default=10
        Restarts of K-means; the one with the smallest inertia counts.
    engine : {"auto", "numba", "numpy", "torch"}, default="auto"
        Engine of ``RDPTransformer()``, when `transformer` is None.
    n_jobs : int, default=None
        Threads of ``RDPTransformer()``, when `transformer` is None.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        The group of every row that was fitted, 0, ..., n_clusters - 1.
    cluster_centers_ : ndarray of shape (n_clusters, n_components)
        Centres of the groups, among the features.
    inertia_ : float
        Sum of squared distances of the rows' features to the centre of their group.
    transformer_ : the fitted transformer
    kmeans_ : the fitted `KMeans`, or `MiniBatchKMeans` beyond 50,000 rows
    n_features_in_ : int
    feature_names_in_ : ndarray of str, when the table had names

    See Also
    --------
    RDPTransformer : The features alone.
    sklearn.cluster.KMeans : The same methods with the same meaning, on the columns themselves.

    Notes
    -----
    A grid search needs a `scoring` of its own, such as ``"adjusted_rand_score"`` where labels are known or the
    silhouette where they are not: inertia cannot be compared between different features.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from rdplearn import RDPClusterer
    >>> from rdplearn.evaluation import clustering_scores
    >>> measurements, grower = load_wine(return_X_y=True)
    >>> groups = RDPClusterer(n_clusters=3, random_state=0).fit_predict(measurements)
    >>> clustering_scores(grower, groups)["nmi"] > 0.8
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "transformer": [HasMethods(["fit", "transform"]), None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "engine": [StrOptions(set(ENGINES))],
        "n_jobs": [Interval(Integral, 1, None, closed="left"), Interval(Integral, None, -1, closed="right"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        transformer: Any = None,
        n_init: int = 10,
        engine: Literal["auto", "numba", "numpy", "torch"] = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.transformer = transformer
        self.n_init = n_init
        self.engine = engine
        self.n_jobs = n_jobs
        self.random_state = random_state

    @for_partitions
    def fit(self, X: Any, y: object = None) -> Self:
        """Learn features and groups from all that `RDPTransformer` is fitted on; `y` is ignored."""
        self._validate_params()
        matrix = read_matrix(self, X, reset=True, min_rows=2)
        self._check_distinct_rows(matrix)
        random = check_random_state(self.random_state)
        self.transformer_ = self._make_transformer(random).fit(matrix)
        features = self._features(matrix)
        self.kmeans_ = self._make_kmeans(len(features), random)
        # one thread: the order in which several add up the centres is left to chance
        with warnings.catch_warnings(), threadpool_limits(limits=1):
            # rows that differ may have equal features; that clusters are fewer then is seen from the labels
            warnings.filterwarnings("ignore", message="Number of distinct clusters")
            self.kmeans_.fit(features)
        self.inertia_, self.cluster_centers_ = float(self.kmeans_.inertia_), self.kmeans_.cluster_centers_
        self.labels_ = self._nearest(features)
        return self

    @for_partitions
    def predict(self, X: Any) -> Clusters:
        """The group of every row, that with the nearest centre. Shape (n_rows,)."""
        check_is_fitted(self)
        return self._nearest(self._features(read_matrix(self, X, reset=False)))

    @for_partitions
    def transform(self, X: Any) -> Floats:
        """Distance of every row's features to each centre. Shape (n_rows, n_clusters)."""
        check_is_fitted(self)
        return self._distances(self._features(read_matrix(self, X, reset=False)))

    @for_partitions
    def assess(self, X: Any, *, n_rows: int | None = None) -> ClusterAssessment:
        """Whether there are clusters at all, how tight and how steady they are, without labels.

        Judged by at most 4,000 rows, drawn at random; see `docs/representation.md`. `n_rows` is how many the table
        has, if `X` is only a random sample of it.

        Examples
        --------
        >>> import numpy as np
        >>> from rdplearn import RDPClusterer
        >>> table = np.random.default_rng(0).normal(size=(500, 3))
        >>> RDPClusterer(4, random_state=0).fit(table).assess(table).words()[:28]
        'There are no clusters here. '
        """
        check_is_fitted(self)
        matrix = read_matrix(self, X, reset=False)
        features = self._features(matrix[drawn_rows(matrix.shape[0], MOST_ROWS, 0)])
        return assess_clusters(features, self.cluster_centers_, n_rows=n_rows or matrix.shape[0])

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def _make_transformer(self, random: np.random.RandomState) -> Any:
        own = RDPTransformer(engine=self.engine, n_jobs=self.n_jobs)
        transformer = own if self.transformer is None else clone(self.transformer)
        if transformer.get_params(deep=False).get("random_state", 0) is None:
            transformer.set_params(random_state=draw_seed(random))
        return transformer

    def _make_kmeans(self, n_rows: int, random: np.random.RandomState) -> KMeans | MiniBatchKMeans:
        kind = KMeans if n_rows <= MANY_ROWS else MiniBatchKMeans
        return kind(self.n_clusters, n_init=self.n_init, random_state=draw_seed(random))

    def _features(self, matrix: Matrix) -> Floats:
        return np.ascontiguousarray(dense(self.transformer_.transform(matrix)), dtype=np.float32)

    def _nearest(self, features: Floats) -> Clusters:
        return np.argmin(self._distances(features), axis=1).astype(np.int32)

    def _distances(self, features: Floats) -> Floats:
        """Distance to each centre, (n_rows, n_clusters); unlike K-means', the same bits for a row anywhere."""
        centres = self.cluster_centers_
        distances = np.empty((len(features), len(centres)), dtype=np.float32)
        with one_blas_thread():
            return in_steady_blocks(features, lambda block: distances_between(block, centres), distances)

    def _check_distinct_rows(self, matrix: Matrix) -> None:
        n_distinct = count_distinct_rows(matrix, self.n_clusters)
        if n_distinct < self.n_clusters:
            raise ValueError(
                f"The 'n_clusters' parameter of RDPClusterer must be at most the number of distinct rows. Got "
                f"{self.n_clusters} for {n_distinct} distinct among {matrix.shape[0]} rows: pass a smaller number."
            )


def distances_between(features: Floats, centres: Floats) -> Floats:
    """Distance of each row of a block of features to each centre, (n_rows, n_centres), worked out in double precision.

    Examples
    --------
    >>> distances_between(np.array([[3.0, 4.0]], np.float32), np.zeros((1, 2), np.float32))
    array([[5.]], dtype=float32)
    """
    rows, centres = features.astype(np.float64), centres.astype(np.float64)
    squared = -2.0 * row_products(rows, centres.T)
    squared += np.einsum("ij,ij->i", rows, rows)[:, None]
    squared += np.einsum("ij,ij->i", centres, centres)
    return np.sqrt(np.maximum(squared, 0.0)).astype(np.float32)


def count_distinct_rows(matrix: Matrix, enough: int) -> int:
    """Count the distinct rows of a matrix, up to `enough` of them.

    Examples
    --------
    >>> count_distinct_rows(np.array([[1, 2], [1, 2], [3, 4]]), 10)
    2
    """
    seen = set()
    for number in range(matrix.shape[0]):
        if sp.issparse(matrix):
            here = slice(matrix.indptr[number], matrix.indptr[number + 1])
            values, columns = matrix.data[here], matrix.indices[here]
            seen.add((columns[values != 0].tobytes(), values[values != 0].tobytes()))
        else:
            seen.add((matrix[number] + 0).tobytes())  # plus zero: -0.0 is 0.0
        if len(seen) == enough:
            break
    return len(seen)
