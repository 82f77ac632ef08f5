r"""Random mappings :math:`\eta`: where the supervision comes from.

A random mapping takes rows to `n_targets` numbers and is never trained. Inner products of its outputs stand in for the
distances that φ learns to predict:

- ``"leaky"`` (the paper's default): :math:`\eta(x) = \max(Ax, 0.25 Ax)`, entries of `A` drawn from :math:`N(0, 2/D)`.
- ``"orthogonal"``: the same, but the directions of components are at right angles to each other, as many at a time as
  there are columns. Each of them is drawn as a leaky one is; together they leave no side of the rows unseen, so that
  one draw says nearly the same as the next. Not in the paper.
- ``"linear"``: :math:`\eta(x) = Ax` with entries from :math:`N(0, 1/K)`, so that inner products are preserved
  (equations 5 to 7).
- ``"sparse"``: the same with most entries zero, scikit-learn's density :math:`1/\sqrt{D}` (the paper's SRP_SS).
- ``"fourier"``: :math:`\eta(x) = \sqrt{2/K} \cos(Ax + u)`; inner products approximate the kernel
  :math:`\exp(-\|x - y\|^2 / 2h^2)` of bandwidth `h` (equation 8), by default the median distance between rows.
- ``"identity"``: the original space (Org_SS).
- ``"few"``: each number looks at one to three columns only and bends at a random row `r`: leaky as above on
  :math:`a \cdot (x - x_r)` with normal `a`, brought to mean 0 and standard deviation 1 over the rows. Not in the paper:
  anomalies that show in few of many columns are not averaged away.

A scikit-learn transformer or a plain function serves as well: see `draw_mapping`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg.lapack import dtrtri
from sklearn.base import clone
from sklearn.metrics.pairwise import euclidean_distances

from rdplearn._types import Floats, Ints, Rows, dense, row_blocks
from rdplearn.errors import TableError, unknown_choice

MAPPING_NAMES = ("leaky", "orthogonal", "linear", "sparse", "fourier", "identity", "few")
MAPPING_SLOPE = 0.25
ROWS_FOR_BANDWIDTH = 256
MOST_COLUMNS_SEEN = 3  # by a number of the mapping "few"
MANY_ROWS, TALL = 256, 8  # of a matrix that is drawn at right angles: this many, and times its columns
NUMBERS_AT_ONCE = 2**14
SMALLEST_DEVIATION = np.float32(1e-3)
LARGEST_IDENTITY = 512 * 2**20  # bytes of dense targets beyond which the original space of sparse rows is refused


@dataclass(frozen=True)
class RandomMapping:
    r"""A random mapping η with options: for an estimator's `mapping` parameter, where a name alone is not enough.

    Parameters
    ----------
    kind : {"auto", "leaky", "orthogonal", "linear", "sparse", "fourier", "identity", "few"}, transformer or callable
        What the `mapping` parameter takes by itself; "auto" by default.
    n_targets : int, default=None
        Components of η(x), the paper's K. By default as many as φ has, which the novelty loss requires; the transformer
        with ``pairs="all"`` has infinitely many.
    bandwidth : float, default=None
        Of the kind "fourier", on the rows as members see them: :math:`\exp(-\|x - y\|^2 / 2 h^2)`. By default the
        median distance between rows, and :math:`1/\sqrt 2` between rows of length 1.

    Examples
    --------
    >>> from rdplearn import RandomMapping, RDPDetector
    >>> detector = RDPDetector(mapping=RandomMapping("fourier", bandwidth=0.5))
    """

    kind: Any = "auto"
    n_targets: int | None = None
    bandwidth: float | None = None

    def draw(self, rows: Rows, kept: npt.NDArray[np.int64], n_components: int, rng: np.random.Generator) -> Mapping:
        """Draw a mapping for rows like these; see `draw_mapping`."""
        return draw_mapping(self.kind, rows, kept, self.n_targets or n_components, rng, self.bandwidth)


def with_options(mapping: Any) -> RandomMapping:
    """The `mapping` parameter of an estimator, or one of several, with its options."""
    return mapping if isinstance(mapping, RandomMapping) else RandomMapping(mapping)


def check_mapping(mapping: Any, owner: str, *, in_turn: bool = False) -> None:
    """Raise an error unless this can be a `mapping` parameter. in_turn : as one of several, which are not "auto"."""
    wanted = with_options(mapping)
    names = MAPPING_NAMES if in_turn and wanted is not mapping else ("auto", *MAPPING_NAMES)
    is_known = isinstance(wanted.kind, str) and wanted.kind in names
    if isinstance(wanted.kind, str) and not is_known:
        raise ValueError(unknown_choice("mapping", owner, wanted.kind, names))
    if (
        not is_known
        and not callable(wanted.kind)
        and not (hasattr(wanted.kind, "fit") and hasattr(wanted.kind, "transform"))
    ):
        raise ValueError(
            f"The 'mapping' parameter of {owner} must be a name, a transformer, a callable or RandomMapping. Got "
            f"{wanted.kind!r:.60} instead."
        )
    n_targets, bandwidth = wanted.n_targets, wanted.bandwidth
    if n_targets is not None and (not isinstance(n_targets, Integral) or n_targets < 1):
        raise ValueError(f"The 'n_targets' of RandomMapping must be an integer from 1. Got {n_targets!r:.60} instead.")
    if n_targets is not None and wanted.kind != "auto" and (not is_known or wanted.kind == "identity"):
        raise ValueError(
            "The 'n_targets' of RandomMapping must be None for the original space and for a mapping of your own, which "
            f"set their own number. Got {n_targets}."
        )
    if bandwidth is not None and (wanted.kind != "fourier" or not isinstance(bandwidth, Real) or not bandwidth > 0):
        raise ValueError(
            "The 'bandwidth' of RandomMapping must be a positive number, and goes with the kind 'fourier'. Got "
            f"{bandwidth!r:.60} for {wanted.kind!r:.60}."
        )


class Mapping(Protocol):
    """Takes rows (n_rows, n_columns) to targets (n_rows, n_targets)."""

    def __call__(self, rows: Rows) -> Floats: ...


@dataclass(frozen=True)
class Projection:
    """A mapping that is a matrix product followed by a function of each number.

    weights : (n_columns, n_targets); offset : (n_targets,), added before the function
    centre : (n_targets,), taken off after it
    """

    weights: Floats
    offset: Floats
    centre: Floats
    activation: Literal["leaky", "linear", "cosine"]

    def __call__(self, rows: Rows) -> Floats:
        return self.activate(np.asarray(rows @ self.weights), self.weights.shape[1])

    def activate(self, projected: Floats, n_targets: int, some: slice = slice(None)) -> Floats:
        """Go on from `rows @ weights` of some of the targets, in place.

        n_targets : of one member, where many members stand side by side
        """
        targets = activate(projected, self.offset[some], self.activation, n_targets)
        if self.centre.any():
            targets -= self.centre[some]
        return targets

    def some(self, here: slice | Ints) -> Projection:
        """The same with some of the targets."""
        return Projection(self.weights[:, here], self.offset[here], self.centre[here], self.activation)


@dataclass(frozen=True)
class Identity:
    """The original space."""

    def __call__(self, rows: Rows) -> Floats:
        if not sp.issparse(rows):
            return rows
        if 4 * rows.shape[0] * rows.shape[1] > LARGEST_IDENTITY:
            raise TableError(
                f"mapping='identity' needs the rows as a dense matrix, and {rows.shape[0]:,} sparse rows of "
                f"{rows.shape[1]:,} columns are too many for that. Use mapping='linear' or 'sparse', which preserve "
                "the same inner products, or a smaller max_samples."
            )
        return rows.toarray()


@dataclass(frozen=True)
class UserMapping:
    """A function of the rows, or a fitted transformer's `transform`, that the user brought along."""

    function: Callable[[Rows], Any]

    def __call__(self, rows: Rows) -> Floats:
        targets = np.ascontiguousarray(dense(self.function(rows)), dtype=np.float32)
        if targets.ndim != 2 or len(targets) != rows.shape[0] or not np.isfinite(targets).all():
            raise ValueError(
                "The 'mapping' must return one finite vector of numbers for each row, an array of shape "
                f"({rows.shape[0]}, n_targets). Got an array of shape {targets.shape}"
                f"{'' if np.isfinite(targets).all() else ' with NaN or infinity'} instead."
            )
        return targets


def activate(projected: Floats, offset: Floats, activation: str, n_targets: int) -> Floats:
    """Apply a projection's function to `rows @ weights`, in place.

    projected : (n_rows, any multiple of n_targets), so that many members can stand side by side
    """
    if activation == "leaky":
        if offset.any():
            projected += offset
        return np.maximum(projected, np.float32(MAPPING_SLOPE) * projected, out=projected)
    if activation == "cosine":
        projected += offset
        np.cos(projected, out=projected)
        projected *= np.float32(np.sqrt(2.0 / n_targets))
    return projected


def draw_mapping(
    kind: str | Callable[[Rows], Any] | object,
    rows: Rows,
    kept: npt.NDArray[np.int64],
    n_targets: int,
    rng: np.random.Generator,
    bandwidth: float | None = None,
) -> Mapping:
    """Draw a random mapping for rows like these.

    Parameters
    ----------
    kind : one of `MAPPING_NAMES`, a scikit-learn transformer or a function of the rows
        A transformer is cloned, given a seed if it takes one, and fitted on the kept rows; a function is used as it
        is and must always give the same answer for the same row.
    rows : (n_rows, n_columns)
    kept : indices of the rows that count, repeated ones as often as they stand there
    n_targets : int
        Components of η(x); a transformer, a function and the identity have a number of their own.
    bandwidth : float, optional
        Of the Fourier features; by default the median distance between rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.random((5, 3), dtype=np.float32)
    >>> draw_mapping("leaky", rows, np.arange(5), 4, rng)(rows).shape
    (5, 4)
    """
    n_columns = rows.shape[1]
    zeros = np.zeros(n_targets, dtype=np.float32)
    if kind == "leaky":
        return Projection(gaussian((n_columns, n_targets), 2.0 / n_columns, rng), zeros, zeros, "leaky")
    if kind == "orthogonal":
        return Projection(at_right_angles((n_columns, n_targets), 2.0 / n_columns, rng), zeros, zeros, "leaky")
    if kind == "linear":
        return Projection(gaussian((n_columns, n_targets), 1.0 / n_targets, rng), zeros, zeros, "linear")
    if kind == "sparse":
        return Projection(sparse_signs(n_columns, n_targets, rng), zeros, zeros, "linear")
    if kind == "fourier":
        width = median_distance(rows[rng.choice(kept, ROWS_FOR_BANDWIDTH)]) if bandwidth is None else bandwidth
        offset = (2 * np.pi * rng.random(n_targets)).astype(np.float32)
        return Projection(gaussian((n_columns, n_targets), width**-2, rng), offset, zeros, "cosine")
    if kind == "identity":
        return Identity()
    if kind == "few":
        return few_columns(rows, kept, n_targets, rng)
    if hasattr(kind, "fit") and hasattr(kind, "transform"):
        transformer = clone(kind)
        if "random_state" in transformer.get_params(deep=False):
            transformer.set_params(random_state=int(rng.integers(2**31)))
        return UserMapping(transformer.fit(rows[kept]).transform)
    assert callable(kind)  # the estimator has checked it
    return UserMapping(kind)


def gaussian(shape: tuple[int, int], variance: float, rng: np.random.Generator) -> Floats:
    """Draw a matrix of independent normal numbers."""
    matrix = rng.standard_normal(shape, dtype=np.float32)
    matrix *= np.float32(np.sqrt(variance))
    return matrix


def at_right_angles(shape: tuple[int, int], variance: float, rng: np.random.Generator) -> Floats:
    """Draw normal columns at right angles to each other, as many at a time as there are rows.

    Examples
    --------
    >>> drawn = at_right_angles((3, 4), 1.0, np.random.default_rng(0))
    >>> np.abs(np.triu(drawn[:, :3].T @ drawn[:, :3], k=1)).max().round(5).tolist()
    0.0
    """
    n_rows, n_columns = shape
    if n_rows >= max(MANY_ROWS, TALL * n_columns):
        return tall_at_right_angles(shape, variance, rng)
    drawn = np.sqrt(variance) * rng.standard_normal(shape)
    turned = np.empty(shape, dtype=np.float32)
    for first in range(0, n_columns, n_rows):
        some = drawn[:, first : first + n_rows]
        # Gram and Schmidt by way of Cholesky: of tall matrices a fraction of the time of a QR decomposition
        inverse, _ = dtrtri(np.linalg.cholesky(some.T @ some), lower=1)
        directions = some @ inverse.T
        turned[:, first : first + n_rows] = directions * np.linalg.norm(some, axis=0)
    return turned


def tall_at_right_angles(shape: tuple[int, int], variance: float, rng: np.random.Generator) -> Floats:
    """Draw the same for a matrix so tall that its columns nearly stand so as drawn: single precision will do."""
    drawn = many_normal(shape, variance, rng)
    products = (drawn.T @ drawn).astype(np.float64)
    inverse, _ = dtrtri(np.linalg.cholesky(products), lower=1)
    return drawn @ (inverse.T * np.sqrt(np.diagonal(products))).astype(np.float32)


def many_normal(shape: tuple[int, int], variance: float, rng: np.random.Generator) -> Floats:
    """Draw independent normal numbers in single precision as Box and Muller do.

    NumPy takes logarithms and cosines of many numbers at once: a fraction of the time of drawing one after the other.

    Examples
    --------
    >>> drawn = many_normal((1_000, 99), 4.0, np.random.default_rng(0))
    >>> drawn.shape, round(float(drawn.std()), 1)
    ((1000, 99), 2.0)
    """
    n_numbers = shape[0] * shape[1]
    drawn = np.empty((2, -(-n_numbers // 2)), dtype=np.float32)
    for some in row_blocks(drawn.shape[1], NUMBERS_AT_ONCE):
        shares, turns = rng.random((2, some.stop - some.start), dtype=np.float32)
        lengths = np.sqrt(np.float32(-2.0 * variance) * np.log(np.float32(1.0) - shares))
        angles = np.float32(2.0 * np.pi) * turns
        np.multiply(lengths, np.cos(angles), out=drawn[0, some])
        np.multiply(lengths, np.sin(angles), out=drawn[1, some])
    return drawn.ravel()[:n_numbers].reshape(shape)


def sparse_signs(n_columns: int, n_targets: int, rng: np.random.Generator) -> Floats:
    """Draw a matrix that is zero but for a share 1/sqrt(n_columns) of entries, which are +-1, scaled."""
    density = 1.0 / np.sqrt(n_columns)
    chosen = rng.random((n_columns, n_targets), dtype=np.float32) < density
    matrix = np.zeros((n_columns, n_targets), dtype=np.float32)
    matrix[chosen] = np.sqrt(1.0 / (density * n_targets)) * rng.choice([-1.0, 1.0], size=int(chosen.sum()))
    return matrix


def few_columns(rows: Rows, kept: npt.NDArray[np.int64], n_targets: int, rng: np.random.Generator) -> Projection:
    """Draw numbers that look at one to three columns each and bend at a random row."""
    n_columns = rows.shape[1]
    weights = np.zeros((n_columns, n_targets), dtype=np.float32)
    most = min(MOST_COLUMNS_SEEN, n_columns)
    n_seen = np.minimum(rng.integers(1, MOST_COLUMNS_SEEN + 1, size=(n_targets, 1)), most)
    seen = rng.permuted(np.tile(np.arange(n_columns), (n_targets, 1)), axis=1)[:, :most]
    drawn = np.sqrt(2.0 / n_seen) * rng.standard_normal(seen.shape)
    weights[seen, np.arange(n_targets)[:, None]] = np.where(np.arange(most) < n_seen, drawn, 0.0)
    bends = np.asarray(rows[rng.choice(kept, n_targets)] @ weights)
    offset = -np.diagonal(bends)
    targets = activate(np.asarray(rows[kept] @ weights), offset, "leaky", n_targets)
    evenly = np.full(len(kept), 1.0 / len(kept), dtype=np.float32)
    mean = evenly @ targets
    targets *= targets
    scale = np.maximum(np.sqrt(np.maximum(evenly @ targets - mean * mean, 0.0)), SMALLEST_DEVIATION)
    return Projection(weights / scale, offset / scale, mean / scale, "leaky")


def median_distance(rows: Rows) -> float:
    """Median distance between rows that differ; 1 if none do."""
    distances = euclidean_distances(rows)[np.triu_indices(rows.shape[0], k=1)]
    distances = distances[distances > 0]
    return float(np.median(distances)) if distances.size else 1.0
