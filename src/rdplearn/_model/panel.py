"""Trained members, alone and side by side: what a fitted detector is made of.

A `Member` is what boosting hands over, with a `Round` for each of its rounds that count. Members that share a view of
the columns and a kind of mapping sit in one `Panel`, the weights of all their rounds side by side, so that one product
with a block of rows serves them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace

import numpy as np

from rdplearn._model.anomaly_scores import N_SUBSAMPLES
from rdplearn._model.losses import REPRESENTATION_SLOPE, leaky
from rdplearn._model.mapping import Mapping, Projection
from rdplearn._model.products import row_products
from rdplearn._model.representation import Phi, Representation
from rdplearn._types import Floats, Ints, Rows
from rdplearn._views.view import View


@dataclass(frozen=True)
class Round:
    """What scoring needs of one round of a member.

    references : (n_references, n_components), φ of the subsamples, one after the other; None with the novelty loss on
    n_subsamples : how many these are; neighbour : which of them counts, see `nearest_subsample_scores`
    typical : median score of the rows that the member has drawn
    """

    phi: Phi
    mapping: Mapping
    references: Floats | None = None
    typical: float = 1.0
    n_subsamples: int = N_SUBSAMPLES
    neighbour: int = 0


@dataclass
class Member:
    """A member after boosting.

    rounds : the last ones, as many as are to be kept
    spread : standard deviation of the logarithms of its scores over the rows that it has drawn
    history : losses of every stretch of every round
    """

    number: int
    rounds: list[Round] = field(default_factory=list)
    spread: float = 1.0
    history: list[dict[str, float]] = field(default_factory=list)


class Panel:
    """Members that share a view of the columns and a kind of mapping, all their rounds side by side.

    Round after round, and member after member within a round: there are `n_seats` of them.

    members : their numbers among all members
    weights : (n_columns, n_seats * n_components); bias : (n_seats * n_components,)
    deeper : weights (n_seats, n_in, n_out) and bias (n_seats, n_out) of φ's further layers, if it has any; then
        `weights` and `bias` are as wide as the first one
    networks : φ of each seat where it is a network of the user's own; `weights` and `bias` are empty then
    mappings : one projection for all with its weights side by side likewise, or a mapping for each
    references : (n_seats, n_references, n_components) or None; n_subsamples, neighbour : of each seat
    typical : (n_seats,), median score of the rows that each member has drawn
    """

    def __init__(self, members: Sequence[int] | Ints, view: View, n_rounds: int, example: Round) -> None:
        self.members, self.view, self.n_rounds = np.asarray(members), view, n_rounds
        n_seats, phi = self.n_seats, example.phi
        is_own = not isinstance(phi, Representation)
        (weights, bias), *deeper = [(np.empty((0, 0)), np.empty(0))] if is_own else phi.layers
        self.n_components = phi.n_components
        self.weights = np.zeros((len(weights), n_seats * bias.size), dtype=np.float32, order="F")
        self.bias = np.zeros(n_seats * bias.size, dtype=np.float32)
        self.deeper = [tuple(np.zeros((n_seats, *part.shape), np.float32) for part in layer) for layer in deeper]
        self.networks: list[Phi] | None = [phi] * n_seats if is_own else None
        self.typical = np.ones(n_seats, dtype=np.float32)
        self.mappings: Projection | list[Mapping] = [example.mapping] * n_seats
        self.references: Floats | None = None
        self.n_subsamples, self.neighbour = example.n_subsamples, example.neighbour
        if example.references is not None:
            self.references = np.zeros((n_seats, *example.references.shape), dtype=np.float32)
        elif isinstance(example.mapping, Projection):
            n_columns, n_targets = example.mapping.weights.shape
            self.mappings = Projection(
                np.zeros((n_columns, n_seats * n_targets), dtype=np.float32, order="F"),
                np.zeros(n_seats * n_targets, dtype=np.float32),
                np.zeros(n_seats * n_targets, dtype=np.float32),
                example.mapping.activation,
            )

    @property
    def n_seats(self) -> int:
        """Rounds times members."""
        return self.n_rounds * len(self.members)

    def put(self, place: int, rounds: Iterable[Round]) -> None:
        """Take in all rounds of one member. place : among the members of this panel."""
        for number, trained in enumerate(rounds):
            self._put_round(number * len(self.members) + place, trained)

    def _put_round(self, seat: int, trained: Round) -> None:
        if self.networks is not None:
            self.networks[seat] = trained.phi
        else:
            (weights, bias), *deeper = trained.phi.layers
            here = slice(seat * bias.size, (seat + 1) * bias.size)
            self.weights[:, here], self.bias[here] = weights, bias
            for all_seats, one_seat in zip(self.deeper, deeper, strict=True):
                all_seats[0][seat], all_seats[1][seat] = one_seat
        self.typical[seat] = trained.typical
        if self.references is not None:
            self.references[seat] = trained.references
        elif isinstance(self.mappings, Projection):
            assert isinstance(trained.mapping, Projection)
            here = self.components_of(slice(seat, seat + 1))
            self.mappings.weights[:, here] = trained.mapping.weights
            self.mappings.offset[here] = trained.mapping.offset
            self.mappings.centre[here] = trained.mapping.centre
        else:
            self.mappings[seat] = trained.mapping

    def last_rounds(self, n_rounds: int) -> Panel:
        """The same members with their last rounds only."""
        return self._rounds(max(0, self.n_rounds - n_rounds), self.n_rounds)

    def one_round(self, number: int) -> Panel:
        """The same members with a single round."""
        return self._rounds(number, number + 1)

    def _rounds(self, first: int, end: int) -> Panel:
        """Some of the rounds, looking at the same arrays."""
        if (first, end) == (0, self.n_rounds):
            return self
        some = copy(self)
        some.n_rounds = end - first
        seats = slice(first * len(self.members), end * len(self.members))
        n_first = self.bias.size // self.n_seats
        here = slice(seats.start * n_first, seats.stop * n_first)
        some.weights, some.bias, some.typical = self.weights[:, here], self.bias[here], self.typical[seats]
        some.deeper = [tuple(part[seats] for part in layer) for layer in self.deeper]
        some.networks = None if self.networks is None else self.networks[seats]
        some.references = None if self.references is None else self.references[seats]
        if isinstance(self.mappings, Projection):
            some.mappings = self.mappings.some(self.components_of(seats))
        else:
            some.mappings = self.mappings[seats]
        return some

    def some_members(self, places: Ints) -> Panel:
        """Some of the members with all their rounds. places : among the members of this panel."""
        if len(places) == len(self.members):
            return self
        some = copy(self)
        some.members = self.members[places]
        seats = (np.arange(self.n_rounds)[:, None] * len(self.members) + places).ravel()
        first = _blocks(seats, self.bias.size // self.n_seats)
        some.weights, some.bias, some.typical = self.weights[:, first], self.bias[first], self.typical[seats]
        some.deeper = [tuple(part[seats] for part in layer) for layer in self.deeper]
        some.networks = None if self.networks is None else [self.networks[seat] for seat in seats]
        some.references = None if self.references is None else self.references[seats]
        if isinstance(self.mappings, Projection):
            some.mappings = self.mappings.some(_blocks(seats, self.n_components))
        else:
            some.mappings = [self.mappings[seat] for seat in seats]
        return some

    def with_references(self, n_each: int) -> Panel:
        """The same members with at most so many rows in each subsample that they score by."""
        if self.references is None or n_each * self.n_subsamples >= self.references.shape[1]:
            return self
        some = copy(self)
        by_subsample = self.references.reshape(self.n_seats, self.n_subsamples, -1, self.n_components)
        some.references = by_subsample[:, :, :n_each].reshape(self.n_seats, -1, self.n_components)
        return some

    def for_sparse_rows(self) -> Panel:
        """The same with weights in the order that SciPy wants: it would turn them around for every block."""
        turned = copy(self)
        turned.weights = np.ascontiguousarray(self.weights)
        if isinstance(self.mappings, Projection):
            turned.mappings = replace(self.mappings, weights=np.ascontiguousarray(self.mappings.weights))
        return turned

    def components_of(self, seats: slice) -> slice:
        """Where the components of some seats stand."""
        return slice(seats.start * self.n_components, seats.stop * self.n_components)

    @property
    def multiplies_rows_alone(self) -> bool:
        """Whether nothing is multiplied but the rows themselves, with the weights of φ and η."""
        is_flat = not self.deeper and self.networks is None
        return is_flat and self.references is None and isinstance(self.mappings, Projection)

    def represent(self, rows: Rows, some: slice) -> Floats:
        """φ of some seats: (n_rows, n_some, n_components)."""
        if self.networks is not None:
            return np.stack([network(rows) for network in self.networks[some]], axis=1)
        n_first = self.bias.size // self.n_seats
        here = slice(some.start * n_first, some.stop * n_first)
        phi = row_products(rows, self.weights[:, here])
        phi += self.bias[here]
        phi = leaky(phi, REPRESENTATION_SLOPE).reshape(rows.shape[0], -1, n_first)
        if not self.deeper:
            return phi
        return np.stack([self._go_deeper(phi[:, place], some.start + place) for place in range(phi.shape[1])], axis=1)

    def _go_deeper(self, phi: Floats, seat: int) -> Floats:
        """Take the output of a first layer through the others: (n_rows, n_components)."""
        for weights, bias in self.deeper:
            phi = leaky(row_products(phi, weights[seat]) + bias[seat], REPRESENTATION_SLOPE)
        return phi

    def targets(self, rows: Rows, some: slice) -> Floats:
        """η of some seats: (n_rows, n_some, n_targets)."""
        if isinstance(self.mappings, Projection):
            here = self.components_of(some)
            projected = row_products(rows, self.mappings.weights[:, here])
            eta = self.mappings.activate(projected, self.n_components, here)
            return eta.reshape(rows.shape[0], -1, self.n_components)
        return np.stack([mapping(rows) for mapping in self.mappings[some]], axis=1)


def _blocks(seats: Ints, size: int) -> Ints:
    """Where blocks of numbers stand, one for each seat."""
    return (seats[:, None] * size + np.arange(size)).ravel()
