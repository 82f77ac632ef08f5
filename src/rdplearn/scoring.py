r"""Anomaly scores: how badly the learned representation agrees with the random one.

With the novelty loss, a row's score is the mean squared residual :math:`\frac{1}{K} \|\phi(x) - \eta(x)\|^2`. Without
it φ and η need not agree, and a row is scored by its mean distance, in φ's space, to the nearest row of small random
subsamples of the rows that boosting kept.

All members are scored by one product of a block of rows with their weights side by side; cost is linear in the rows and
memory bounded by the block. A row's score does not depend on the others in its block but for the rounding of single
precision, for BLAS adds up in an order that varies with a row's place: relative differences stay below 1e-5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed

from rdplearn.losses import REPRESENTATION_SLOPE, leaky
from rdplearn.matrix import Matrix, row_blocks
from rdplearn.problem import Phi
from rdplearn.random_mapping import MAPPING_SLOPE, Mapping, Projection, Rows, activate
from rdplearn.representation import Representation
from rdplearn.threads import one_blas_thread

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

N_SUBSAMPLES, SUBSAMPLE_SIZE = 50, 8
# The plain formulas pass over each number of φ and η seven times; from here on one compiled pass is sooner done.
NUMBERS_WORTH_COMPILING = 3e8
SLOPES = {"leaky": MAPPING_SLOPE, "linear": 1.0}
BLOCK = 128  # rows at a time: with all members' numbers they stay in the processor's cache


@dataclass(frozen=True)
class Member:
    """What scoring needs of one trained member.

    references : (N_SUBSAMPLES * SUBSAMPLE_SIZE, n_components), φ of the subsamples; None with the novelty loss on
    """

    representation: Phi
    mapping: Mapping
    references: Floats | None = None


class Ensemble:
    """The members side by side.

    weights : (n_columns, n_members * n_components); bias : (n_members * n_components,)
    deeper : of further layers of φ, weights (n_members, n_in, n_out) and bias (n_members, 1, n_out)
    networks : φ of each member where it is a network of the user's own; weights and bias are empty then
    mappings : one projection for all members with its weights side by side likewise, or a mapping for each
    references : (n_members, n_references, n_components) or None
    """

    def __init__(self, n_members: int, example: Member) -> None:
        phi = example.representation
        layers = phi.layers if isinstance(phi, Representation) else [(np.empty((0, 0)), np.empty(0))]
        (weights, bias), *deeper = layers
        self.n_members, self.n_components = n_members, phi.n_components
        self.weights = np.zeros((len(weights), n_members * bias.size), dtype=np.float32)
        self.bias = np.zeros(n_members * bias.size, dtype=np.float32)
        self.deeper = [
            (np.zeros((n_members, *w.shape), np.float32), np.zeros((n_members, 1, b.size), np.float32))
            for w, b in deeper
        ]
        self.networks: list[Phi] | None = None if isinstance(phi, Representation) else [phi] * n_members
        self.mappings: Projection | list[Mapping] = [example.mapping] * n_members
        self.references: Floats | None = None
        if example.references is not None:
            self.references = np.zeros((n_members, *example.references.shape), dtype=np.float32)
        elif isinstance(example.mapping, Projection):
            n_columns, n_targets = example.mapping.weights.shape
            self.mappings = Projection(
                np.zeros((n_columns, n_members * n_targets), dtype=np.float32),
                np.zeros(n_members * n_targets, dtype=np.float32),
                example.mapping.activation,
            )

    def put(self, number: int, member: Member) -> None:
        """Take in one member."""
        if self.networks is not None:
            self.networks[number] = member.representation
        else:
            (weights, bias), *deeper = member.representation.layers
            here = slice(number * bias.size, (number + 1) * bias.size)
            self.weights[:, here], self.bias[here] = weights, bias
            for (all_weights, all_bias), (weights, bias) in zip(self.deeper, deeper, strict=True):
                all_weights[number], all_bias[number] = weights, bias
        here = slice(number * self.n_components, (number + 1) * self.n_components)
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
        if self.networks is not None:
            return np.stack([network(rows) for network in self.networks], axis=1)
        phi = np.asarray(rows @ self.weights)
        phi += self.bias
        np.maximum(phi, np.float32(REPRESENTATION_SLOPE) * phi, out=phi)
        phi = phi.reshape(phi.shape[0], self.n_members, -1)
        for weights, bias in self.deeper:
            phi = leaky((phi.transpose(1, 0, 2) @ weights + bias).transpose(1, 0, 2), REPRESENTATION_SLOPE)
        return phi

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
        if self.deeper or self.networks is not None:
            return self.member_scores
        slope = SLOPES.get(self.mappings.activation)
        if slope is None:
            return self.member_scores
        from rdplearn import kernels  # here, because importing Numba takes longer than scoring a small table

        shape = (self.n_members, self.n_components)
        bias, mapping_weights = self.bias.reshape(shape), self.mappings.weights

        def fused_scores(rows: Rows) -> Floats:
            scores = np.empty((rows.shape[0], self.n_members), dtype=np.float32)
            projected = np.asarray(rows @ self.weights).reshape(-1, *shape)
            targets = np.asarray(rows @ mapping_weights).reshape(-1, *shape)
            kernels.novelty_scores(projected, bias, targets, np.float32(slope), scores)
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


def score_rows(
    matrix: Matrix, view: Callable[[Matrix], Rows], ensemble: Ensemble, n_jobs: int | None, *, by_member: bool = False
) -> Doubles:
    """Anomaly score of every row, a block at a time, blocks spread over threads: (n_rows,), or (n_rows, n_members)."""
    score = ensemble.scorer(matrix.shape[0])

    def score_stretch(stretch: slice) -> Floats:
        rows = view(matrix[stretch])
        scores = np.concatenate([score(rows[block]) for block in row_blocks(rows.shape[0], BLOCK)])
        return scores if by_member else scores.mean(axis=1)

    # Many blocks go to a thread at a time, so that handing them out costs nothing.
    stretches = row_blocks(matrix.shape[0], 16 * BLOCK)
    with one_blas_thread():
        parts = Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(score_stretch)(s) for s in stretches)
    return np.concatenate(parts).astype(np.float64)
