r"""Anomaly scores: how badly the learned representation agrees with the random one.

With the novelty loss, a row's score is the mean squared residual :math:`\frac{1}{K} \|\phi(x) - \eta(x)\|^2`. Without
it φ and η need not agree, and a row is scored by its mean distance, in φ's space, to the nearest row of small random
subsamples of the rows that boosting kept.

All members are scored by one product of a block of rows with their weights side by side; cost is linear in the rows and
memory bounded by the block. A row's score does not depend on the others, to the last bit: sums over a row's numbers are
taken one number after the other, by the plain formulas and by the compiled pass alike, and `products.py` sees to
the products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from joblib import Parallel, delayed

from rdplearn._model.combination import Combination
from rdplearn._model.losses import REPRESENTATION_SLOPE, leaky
from rdplearn._model.mapping import MAPPING_SLOPE, Mapping, Projection
from rdplearn._model.products import BLOCK, in_steady_blocks, row_products
from rdplearn._model.representation import Representation
from rdplearn._threads import one_blas_thread
from rdplearn._training.task import Phi
from rdplearn._types import Doubles, Floats, Ints, Matrix, Rows, row_blocks
from rdplearn._views.view import SeenRows, View

N_SUBSAMPLES, SUBSAMPLE_SIZE = 50, 8
# The plain formulas pass over each number of φ and η seven times; from here on one compiled pass is sooner done.
NUMBERS_WORTH_COMPILING = 2e8
SLOPES = {"leaky": MAPPING_SLOPE, "linear": 1.0}
NUMBERS_AT_ONCE = 1500  # of φ: enough to keep BLAS busy, and for a block of rows still in the cache
STRETCH = 8 * BLOCK  # rows go to a thread so many at a time, so that handing them out costs nothing
_rows_so_far: ContextVar[int] = ContextVar("rows_so_far", default=0)


@dataclass(frozen=True)
class Member:
    """What scoring needs of one trained member.

    references : (N_SUBSAMPLES * SUBSAMPLE_SIZE, n_components), φ of the subsamples; None with the novelty loss on
    typical : median score of the rows that the member has drawn
    """

    representation: Phi
    mapping: Mapping
    references: Floats | None = None
    typical: float = 1.0


class Ensemble:
    """Members of one round side by side.

    weights : (n_columns, n_members * n_components); bias : (n_members * n_components,)
    deeper : weights (n_members, n_in, n_out) and bias (n_members, n_out) of φ's further layers, if it has any; then
        `weights` and `bias` are as wide as the first one
    networks : φ of each member where it is a network of the user's own; `weights` and `bias` are empty then
    mappings : one projection for all members with its weights side by side likewise, or a mapping for each
    references : (n_members, n_references, n_components) or None
    typical : (n_members,), median score of the rows that each member has drawn
    """

    def __init__(self, n_members: int, example: Member) -> None:
        phi = example.representation
        is_own = not isinstance(phi, Representation)
        (weights, bias), *deeper = [(np.empty((0, 0)), np.empty(0))] if is_own else phi.layers
        self.n_members, self.n_components = n_members, phi.n_components
        self.weights = np.zeros((len(weights), n_members * bias.size), dtype=np.float32, order="F")
        self.bias = np.zeros(n_members * bias.size, dtype=np.float32)
        self.deeper = [tuple(np.zeros((n_members, *part.shape), np.float32) for part in layer) for layer in deeper]
        self.networks: list[Phi] | None = [phi] * n_members if is_own else None
        self.typical = np.ones(n_members, dtype=np.float32)
        self.mappings: Projection | list[Mapping] = [example.mapping] * n_members
        self.references: Floats | None = None
        if example.references is not None:
            self.references = np.zeros((n_members, *example.references.shape), dtype=np.float32)
        elif isinstance(example.mapping, Projection):
            n_columns, n_targets = example.mapping.weights.shape
            self.mappings = Projection(
                np.zeros((n_columns, n_members * n_targets), dtype=np.float32, order="F"),
                np.zeros(n_members * n_targets, dtype=np.float32),
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
            for all_members, one_member in zip(self.deeper, deeper, strict=True):
                all_members[0][number], all_members[1][number] = one_member
        here = slice(number * self.n_components, (number + 1) * self.n_components)
        self.typical[number] = member.typical
        if self.references is not None:
            self.references[number] = member.references
        elif isinstance(self.mappings, Projection):
            assert isinstance(member.mapping, Projection)
            self.mappings.weights[:, here] = member.mapping.weights
            self.mappings.offset[here] = member.mapping.offset
            self.mappings.centre[here] = member.mapping.centre
        else:
            self.mappings[number] = member.mapping

    @property
    def multiplies_rows_alone(self) -> bool:
        """Whether nothing is multiplied but the rows themselves, with the weights of φ and η."""
        is_flat = not self.deeper and self.networks is None
        return is_flat and self.references is None and isinstance(self.mappings, Projection)

    def represent(self, rows: Rows, some: slice) -> Floats:
        """φ of some members: (n_rows, n_some, n_components)."""
        if self.networks is not None:
            return np.stack([network(rows) for network in self.networks[some]], axis=1)
        n_first = self.bias.size // self.n_members
        here = slice(some.start * n_first, some.stop * n_first)
        phi = row_products(rows, self.weights[:, here])
        phi += self.bias[here]
        phi = leaky(phi, REPRESENTATION_SLOPE).reshape(rows.shape[0], -1, n_first)
        if not self.deeper:
            return phi
        return np.stack([self._go_deeper(phi[:, place], some.start + place) for place in range(phi.shape[1])], axis=1)

    def targets(self, rows: Rows, some: slice) -> Floats:
        """η of some members: (n_rows, n_some, n_targets)."""
        if isinstance(self.mappings, Projection):
            here = self._numbers_of(some)
            projected = row_products(rows, self.mappings.weights[:, here])
            eta = self.mappings.activate(projected, self.n_components, here)
            return eta.reshape(rows.shape[0], -1, self.n_components)
        return np.stack([mapping(rows) for mapping in self.mappings[some]], axis=1)

    def scorer(self, n_numbers: float) -> Callable[[Rows], Floats]:
        """Give the function that scores a block by every member: compiled if so many numbers of φ are worth it."""
        if not isinstance(self.mappings, Projection) or n_numbers < NUMBERS_WORTH_COMPILING:
            return self.member_scores
        slope = SLOPES.get(self.mappings.activation)
        if self.deeper or self.networks is not None:
            return self.member_scores
        return self.member_scores if slope is None else partial(self.member_scores, target_slope=slope)

    def member_scores(self, rows: Rows, target_slope: float | None = None) -> Floats:
        """Anomaly score by every member: (n_rows, n_members).

        target_slope : of η for negative numbers; if given, one compiled pass does the work of the plain formulas
        """
        scores = np.empty((self.n_members, rows.shape[0]), dtype=np.float32)
        for some in row_blocks(self.n_members, max(1, NUMBERS_AT_ONCE // self.n_components)):
            if target_slope is not None:
                self._score_in_one_pass(rows, some, target_slope, scores[some])
                continue
            phi = self.represent(rows, some)
            if self.references is None:
                scores[some] = novelty_scores(phi, self.targets(rows, some)).T
            else:
                references = self.references[some]
                scores[some] = [nearest_subsample_scores(phi[:, m], each) for m, each in enumerate(references)]
        return scores.T

    def _score_in_one_pass(self, rows: Rows, some: slice, target_slope: float, scores: Floats) -> None:
        from rdplearn._training.engines import (
            dense_kernels as kernels,  # here, because importing Numba takes longer than scoring a small table
        )

        assert isinstance(self.mappings, Projection)
        here = self._numbers_of(some)
        shape = (len(scores), self.n_components, rows.shape[0])
        projected = row_products(rows, self.weights[:, here]).T.reshape(shape)
        targets = row_products(rows, self.mappings.weights[:, here]).T.reshape(shape)
        constants = (self.bias, self.mappings.offset, self.mappings.centre)
        bias, offset, centre = (constant[here].reshape(shape[:2]) for constant in constants)
        kernels.novelty_scores(projected, bias, targets, offset, centre, np.float32(target_slope), scores)

    def _go_deeper(self, phi: Floats, number: int) -> Floats:
        """Take the output of a member's first layer through the others: (n_rows, n_components)."""
        for weights, bias in self.deeper:
            phi = leaky(row_products(phi, weights[number]) + bias[number], REPRESENTATION_SLOPE)
        return phi

    def _numbers_of(self, some: slice) -> slice:
        return slice(some.start * self.n_components, some.stop * self.n_components)


@dataclass(frozen=True)
class Panel:
    """Members that share a view of the columns and a kind of mapping.

    members : their numbers among all members
    ensembles : one for each round
    """

    members: Ints
    view: View
    ensembles: list[Ensemble]

    def last_rounds(self, n_rounds: int) -> Panel:
        """The same members with their last rounds only."""
        return replace(self, ensembles=self.ensembles[-n_rounds:])

    def one_round(self, number: int) -> Panel:
        """The same members with a single round."""
        return replace(self, ensembles=[self.ensembles[number]])

    def scorer(self, n_numbers: float, combination: Combination) -> Callable[[Rows], Floats]:
        """Give the function that scores seen rows by every member: the mean over rounds, on the scale."""
        together = joined(self.ensembles)
        score_block = together.scorer(n_numbers)
        n_rounds, n_members = len(self.ensembles), len(self.members)

        def score(rows: Rows) -> Floats:
            of_rounds = np.empty((rows.shape[0], n_rounds * n_members), dtype=np.float32)
            # For every product with sparse rows SciPy turns the weights around: the fewer blocks, the better.
            n_at_once = STRETCH if sp.issparse(rows) and together.multiplies_rows_alone else BLOCK
            in_steady_blocks(rows, score_block, of_rounds, n_at_once)
            scaled = combination.to_scale(of_rounds, together.typical)
            if n_rounds == 1:
                return scaled
            return np.add.reduce(scaled.reshape(-1, n_rounds, n_members), axis=1) / np.float32(n_rounds)

        return score


def joined(ensembles: list[Ensemble]) -> Ensemble:
    """The members of several rounds side by side: one product serves all."""
    if len(ensembles) == 1:
        return ensembles[0]
    every = copy(ensembles[0])
    every.n_members = sum(ensemble.n_members for ensemble in ensembles)
    every.weights = np.hstack([ensemble.weights for ensemble in ensembles])
    every.bias = np.concatenate([ensemble.bias for ensemble in ensembles])
    every.typical = np.concatenate([ensemble.typical for ensemble in ensembles])
    layers = zip(*(ensemble.deeper for ensemble in ensembles), strict=True)
    every.deeper = [tuple(np.concatenate(parts) for parts in zip(*layer, strict=True)) for layer in layers]
    if every.networks is not None:
        every.networks = [network for ensemble in ensembles for network in ensemble.networks or ()]
    if every.references is not None:
        every.references = np.concatenate([cast(Floats, ensemble.references) for ensemble in ensembles])
    every.mappings = join_mappings([ensemble.mappings for ensemble in ensembles])
    return every


def join_mappings(mappings: list[Projection | list[Mapping]]) -> Projection | list[Mapping]:
    """The mappings of several rounds side by side."""
    projections = [mapping for mapping in mappings if isinstance(mapping, Projection)]
    if not projections:
        return [mapping for several in mappings for mapping in cast(list[Mapping], several)]
    return Projection(
        np.hstack([projection.weights for projection in projections]),
        np.concatenate([projection.offset for projection in projections]),
        np.concatenate([projection.centre for projection in projections]),
        projections[0].activation,
    )


def novelty_scores(phi: Floats, eta: Floats) -> Floats:
    """Mean squared residual along the last axis; overwrites `phi`."""
    phi -= eta
    return mean_squares(phi)


def mean_squares(residuals: Floats) -> Floats:
    """Mean square along the last axis; overwrites `residuals`."""
    residuals *= residuals
    return np.add.reduce(residuals, axis=-1) / np.float32(residuals.shape[-1])


def nearest_subsample_scores(phi: Floats, references: Floats) -> Floats:
    """Mean, over the subsamples, of the distance to the nearest of their rows.

    phi : (n_rows, n_components); references : (N_SUBSAMPLES * SUBSAMPLE_SIZE, n_components)
    """
    squared = row_products(phi, references.T)
    squared *= -2.0
    squared += np.add.reduce(phi * phi, axis=1)[:, None]
    squared += np.einsum("ij,ij->i", references, references)
    nearest = squared.reshape(len(phi), N_SUBSAMPLES, SUBSAMPLE_SIZE).min(axis=2)
    return np.sqrt(np.maximum(nearest, 0.0)).mean(axis=1)


def score_rows(matrix: Matrix, panels: list[Panel], combination: Combination, n_jobs: int | None) -> Doubles:
    """Anomaly score of every row by all members together: (n_rows,)."""
    return combination.over_members(scaled_member_scores(matrix, panels, combination, n_jobs))


@contextmanager
def rows_so_far(n_rows: int) -> Iterator[None]:
    """Say that what is scored inside is the end of so many rows of a table that comes in batches.

    The later batches of a long table are scored by the compiled kernel though each is small.
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
    n_numbers = n_rows * sum(ensemble.bias.size for panel in panels for ensemble in panel.ensembles)
    scorers = [panel.scorer(n_numbers, combination) for panel in panels]

    @np.errstate(over="ignore")  # farther than numbers go is infinitely anomalous
    def score_stretch(stretch: slice) -> Floats:
        scores = np.empty((stretch.stop - stretch.start, len(combination.weights)), dtype=np.float32)
        seen = SeenRows(matrix[stretch], [panel.view for panel in panels])
        for panel, score in zip(panels, scorers, strict=True):
            scores[:, panel.members] = score(seen.through(panel.view))
        return scores

    stretches = row_blocks(matrix.shape[0], STRETCH)
    with one_blas_thread():
        parts = Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(score_stretch)(s) for s in stretches)
    return np.concatenate(parts)
