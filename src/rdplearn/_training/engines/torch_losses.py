"""The losses of `losses.py` on stacked tensors; their gradients are left to autograd.

Every loss is one number for each member; the sum over members is what is differentiated, so that no member's gradient
depends on another's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from rdplearn._training.engines.torch_networks import EachMember
from rdplearn._views.unit_rows import SMALLEST_NORM


def novelty_loss(phi: Tensor, eta: Tensor) -> Tensor:
    """Mean squared difference of representation and targets, by member. phi, eta : (n_members, n_rows, n_units)."""
    difference = phi - eta
    return (difference * difference).mean(dim=(1, 2))


def inverse_l1_norms(vectors: Tensor) -> Tensor:
    """1 / L1 norm of every vector; 0 for a vector of zeros."""
    norms = vectors.abs().sum(dim=-1)
    return torch.where(norms > SMALLEST_NORM, 1.0 / norms.clamp(min=SMALLEST_NORM), 0.0)


def pair_products(vectors: Tensor, partner: Tensor, scale: Tensor | None) -> Tensor:
    """Inner product of every row with its partner: (n_members, n_rows).

    partner : (n_members * n_rows,), the partner's place among the rows of all members
    scale : what each vector is multiplied with first, (n_members, n_rows), or None
    """
    of_partner = vectors.flatten(0, 1).index_select(0, partner).view_as(vectors)
    products = (vectors * of_partner).sum(dim=2)
    if scale is None:
        return products
    return products * scale * scale.flatten().index_select(0, partner).view_as(scale)


def squared_error(predicted: Tensor, wanted: Tensor) -> Tensor:
    """The paper's `l`: (predicted - wanted)^2."""
    difference = predicted - wanted
    return difference * difference


class DistanceLoss:
    """Loss of each member's predicted inner products, with the user's `l` or squared error."""

    def __init__(self, function: Callable[..., Any] | None) -> None:
        self.function, self.each = function, EachMember("distance_loss")

    def __call__(self, predicted: Tensor, wanted: Tensor) -> Tensor:
        """Mean over the pairs of each member. predicted, wanted : (n_members, n_pairs)."""
        if self.function is None:
            return squared_error(predicted, wanted).mean(dim=1)
        return self.each(self._of_one, predicted, wanted)

    def _of_one(self, predicted: Tensor, wanted: Tensor) -> Tensor:
        assert self.function is not None
        return checked_loss(self.function(predicted, wanted), "distance_loss").mean()


class AuxiliaryLoss:
    """A loss of the user's, of each member."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name, self.function, self.each = name, function, EachMember(f"auxiliary_losses[{name!r}]")

    def __call__(self, rows: Tensor, phi: Tensor, eta: Tensor, partner: Tensor) -> Tensor:
        """One number for each member; all arguments have members first. partner : (n_members, n_rows), places."""
        return self.each(self._of_one, rows, phi, eta, partner)

    def _of_one(self, rows: Tensor, phi: Tensor, eta: Tensor, partner: Tensor) -> Tensor:
        return checked_loss(self.function(rows, phi, eta, partner), f"auxiliary_losses[{self.name!r}]").mean()


def checked_loss(loss: Any, what: str) -> Tensor:
    """The loss, if it is a tensor of real numbers."""
    if not isinstance(loss, Tensor) or not loss.is_floating_point():
        raise TypeError(f"The function {what} must return a tensor of losses or one loss. Got {type(loss).__name__}.")
    return loss


def all_pair_products(phi: Tensor, *, unit: bool) -> Tensor:
    """Inner products of all pairs of different rows, (1, n_pairs). phi : (1, n_rows, n_units); unit : at length 1."""
    compared = unit_rows(phi[0]) if unit else phi[0]
    return off_diagonal(compared @ compared.T)[None]


def off_diagonal(square: Tensor) -> Tensor:
    """All numbers of a square matrix but those of its diagonal, as a vector."""
    n_rows = len(square)
    return square.flatten()[1:].view(n_rows - 1, n_rows + 1)[:, :-1].flatten()


def unit_rows(vectors: Tensor) -> Tensor:
    """Divide every row by its length; a row of zeros stays as it is."""
    lengths = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)
    return torch.where(lengths > SMALLEST_NORM, vectors / lengths.clamp(min=SMALLEST_NORM), 0.0)
