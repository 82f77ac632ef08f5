r"""Anomaly scores: how badly the learned representation agrees with the random one.

With the novelty loss, a row's score is the mean squared residual :math:`\frac{1}{K} \|\phi(x) - \eta(x)\|^2`. Without
it φ and η need not agree, and a row is scored by its mean distance, in φ's space, to the nearest row of small random
subsamples of the rows that boosting kept.

All members are scored by one product of a block of rows with their weights side by side; cost is linear in the rows and
memory bounded by the block. A row's score does not depend on the others in its block but for the rounding of single
precision, for BLAS adds up in an order that varies with a row's place: relative differences stay below 1e-5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed

from rdplearn.combination import Combination
from rdplearn.losses import REPRESENTATION_SLOPE
from rdplearn.matrix import Matrix, row_blocks
from rdplearn.random_mapping import MAPPING_SLOPE, Mapping, Projection, Rows, activate
from rdplearn.representation import Representation
from rdplearn.threads import one_blas_thread

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

N_SUBSAMPLES, SUBSAMPLE_SIZE = 50, 8
# The plain formulas pass over each number of φ and η seven times; from here on one compiled pass is sooner done.
NUMBERS_WORTH_COMPILING = 3e8
SLOPES = {"leaky": MAPPING_SLOPE, "linear": 1.0}
_rows_so_far: ContextVar[int] = ContextVar("rows_so_far", default=0)
BLOCK = 128  # rows at a time: with all members' numbers they stay in the processor's cache


@dataclass(frozen=True)
class Member:
    """What scoring needs of one trained member.

    references : (N_SUBSAMPLES * SUBSAMPLE_SIZE, n_components), φ of the subsamples; None with the novelty loss on
    typical : median score of the rows that the member has drawn
    """

    representation: Representation
    mapping: Mapping
    references: Floats | None = None
    typical: float = 1.0


class Ensemble:
    """Members of one round side by side.

    weights : (n_columns, n_members * n_components); bias : (n_members * n_components,)
    mappings : one projection for all members with its weights side by side likewise, or a mapping for each
    references : (n_members, n_references, n_components) or None
    typical : (n_members,), median score of the rows that each member has drawn
    """

    def __init__(self, n_members: int, example: Member) -> None:
        n_columns, n_components = example.representation.weights.shape
        self.n_members, self.n_components = n_members, n_components
        self.weights = np.zeros((n_columns, n_members * n_components), dtype=np.float32)
        self.bias = np.zeros(n_members * n_components, dtype=np.float32)
        self.typical = np.ones(n_members, dtype=np.float32)
        self.mappings: Projection | list[Mapping] = [example.mapping] * n_members
        self.references: Floats | None = None
        if example.references is not None:
            self.references = np.zeros((n_members, *example.references.shape), dtype=np.float32)
        elif isinstance(example.mapping, Projection):
            n_targets = example.mapping.weights.shape[1]
            self.mappings = Projection(
                np.zeros((n_columns, n_members * n_targets), dtype=np.float32),
                np.zeros(n_members * n_targets, dtype=np.float32),
                example.mapping.activation,
            )

    def put(self, number: int, member: Member) -> None:
        """Take in one member."""
        here = slice(number * self.n_components, (number + 1) * self.n_components)
        self.weights[:, here] = member.representation.weights
        self.bias[here] = member.representation.bias
        self.typical[number] = member.typical
        if self.references is not None:
            self.references[number] = member.references
        elif isinstance(self.mappings, Projection):
            assert isinstance(member.mapping, Projection)
            self.mappings.weights[:, here] = member.mapping.weights
            self.mappings.offset[here] = member.mapping.offset
        else:
            self.mappings[number] = member.mapping

    def represent(self, rows: Rows) -> Floats:
        """φ of all members: (n_rows, n_members, n_components)."""
        phi = np.asarray(rows @ self.weights)
        phi += self.bias
        np.maximum(phi, np.float32(REPRESENTATION_SLOPE) * phi, out=phi)
        return phi.reshape(-1, self.n_members, self.n_components)

    def targets(self, rows: Rows) -> Floats:
        """η of all members: (n_rows, n_members, n_targets)."""
        if isinstance(self.mappings, Projection):
            projected = np.asarray(rows @ self.mappings.weights)
            eta = activate(projected, self.mappings.offset, self.mappings.activation, self.n_components)
            return eta.reshape(-1, self.n_members, self.n_components)
        return np.stack([mapping(rows) for mapping in self.mappings], axis=1)

    def scorer(self, n_rows: int) -> Callable[[Rows], Floats]:
        """Give the function that scores a block by every member: compiled if so many rows are worth it."""
        if not isinstance(self.mappings, Projection) or n_rows * self.bias.size < NUMBERS_WORTH_COMPILING:
            return self.member_scores
        slope = SLOPES.get(self.mappings.activation)
        if slope is None:
            return self.member_scores
        from rdplearn import kernels  # here, because importing Numba takes longer than scoring a small table

        shape = (self.n_members, self.n_components)
        bias, mapping_weights = self.bias.reshape(shape), self.mappings.weights
        offset = self.mappings.offset.reshape(shape)

        def fused_scores(rows: Rows) -> Floats:
            scores = np.empty((rows.shape[0], self.n_members), dtype=np.float32)
            projected = np.asarray(rows @ self.weights).reshape(-1, *shape)
            targets = np.asarray(rows @ mapping_weights).reshape(-1, *shape)
            kernels.novelty_scores(projected, bias, targets, offset, np.float32(slope), scores)
            return scores

        return fused_scores

    def member_scores(self, rows: Rows) -> Floats:
        """Anomaly score by every member: (n_rows, n_members)."""
        phi = self.represent(rows)
        if self.references is None:
            return novelty_scores(phi, self.targets(rows))
        return np.stack(
            [nearest_subsample_scores(phi[:, m], self.references[m]) for m in range(self.n_members)], axis=1
        )


@dataclass(frozen=True)
class Panel:
    """Members that share a view of the columns and a kind of mapping.

    members : their numbers among all members
    ensembles : one for each round
    """

    members: Ints
    view: Callable[[Matrix], Rows]
    ensembles: list[Ensemble]

    def last_rounds(self, n_rounds: int) -> Panel:
        """The same members with their last rounds only."""
        return replace(self, ensembles=self.ensembles[-n_rounds:])

    def one_round(self, number: int) -> Panel:
        """The same members with a single round."""
        return replace(self, ensembles=[self.ensembles[number]])


def novelty_scores(phi: Floats, eta: Floats) -> Floats:
    """Mean squared residual along the last axis; overwrites `phi`."""
    phi -= eta
    return np.einsum("...k,...k->...", phi, phi) / np.float32(phi.shape[-1])


def nearest_subsample_scores(phi: Floats, references: Floats) -> Floats:
    """Mean, over the subsamples, of the distance to the nearest of their rows.

    phi : (n_rows, n_components); references : (N_SUBSAMPLES * SUBSAMPLE_SIZE, n_components)
    """
    squared = phi @ references.T
    squared *= -2.0
    squared += np.einsum("ij,ij->i", phi, phi)[:, None]
    squared += np.einsum("ij,ij->i", references, references)
    nearest = squared.reshape(len(phi), N_SUBSAMPLES, SUBSAMPLE_SIZE).min(axis=2)
    return np.sqrt(np.maximum(nearest, 0.0)).mean(axis=1)


def score_rows(matrix: Matrix, panels: list[Panel], combination: Combination, n_jobs: int | None) -> Doubles:
    """Anomaly score of every row by all members together: (n_rows,)."""
    return combination.over_members(scaled_member_scores(matrix, panels, combination, n_jobs))


@contextmanager
def rows_so_far(n_rows: int) -> Iterator[None]:
    """Say that what is scored inside is the end of so many rows of a table that comes in batches.

    The later batches of a long table are scored by the compiled kernel though each is small. Which of them depends on
    their place in the table alone, so that another pass gives the same scores to the last bit.
    """
    token = _rows_so_far.set(n_rows)
    try:
        yield
    finally:
        _rows_so_far.reset(token)


def scaled_member_scores(
    matrix: Matrix, panels: list[Panel], combination: Combination, n_jobs: int | None
) -> npt.NDArray[np.floating]:
    """Anomaly score of every row by every member, mean over rounds, on the scale that the combination averages on.

    Rows are scored a block at a time, and blocks are spread over threads. Shape (n_rows, n_members).
    """
    n_rows = max(matrix.shape[0], _rows_so_far.get())
    scorers = [[ensemble.scorer(n_rows) for ensemble in panel.ensembles] for panel in panels]

    def score_stretch(stretch: slice) -> Floats:
        scores = np.empty((stretch.stop - stretch.start, len(combination.weights)), dtype=np.float32)
        for panel, of_rounds in zip(panels, scorers, strict=True):
            rows = panel.view(matrix[stretch])
            for block in row_blocks(rows.shape[0], BLOCK):
                scaled = [
                    combination.to_scale(score(rows[block]), ensemble.typical)
                    for score, ensemble in zip(of_rounds, panel.ensembles, strict=True)
                ]
                scores[block, panel.members] = np.mean(scaled, axis=0)
        return scores

    # Many blocks go to a thread at a time, so that handing them out costs nothing.
    stretches = row_blocks(matrix.shape[0], 16 * BLOCK)
    with one_blas_thread():
        parts = Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(score_stretch)(s) for s in stretches)
    return np.concatenate(parts)
