"""φ of many members at once: their parameters stacked, one batched computation for all.

`LeakyLayers` is the paper's φ, with hidden layers or without. `OwnNetworks` stacks modules that the user's factory has
made, with `torch.func`; where a module cannot be stacked, members are computed one after the other within each step.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap
from torch.nn import functional as F  # noqa: N812

from rdplearn._model.losses import REPRESENTATION_SLOPE
from rdplearn._model.representation import Representation
from rdplearn._types import Floats, Rows, dense, row_blocks
from rdplearn.errors import warn_user

ROWS_AT_ONCE = 2048


class StackedPhi(Protocol):
    """φ of all members of a stack. parameters, buffers : of shape (n_members, ...); parameters are learned."""

    parameters: list[Tensor]
    buffers: dict[str, Tensor]

    def __call__(self, rows: Tensor) -> Tensor: ...
    def write_back(self) -> None: ...


class LeakyLayers:
    """Leaky layers of all members.

    phis : φ of each member, all of the same sizes but for their columns; trained in place by `write_back`
    slope : of the last layer for negative numbers; the others have the paper's
    """

    def __init__(self, phis: list[Representation], device: torch.device, slope: float = REPRESENTATION_SLOPE) -> None:
        self.phis, self.slope = phis, slope
        self.n_columns = max(phi.weights.shape[0] for phi in phis)
        self.buffers: dict[str, Tensor] = {}
        self.layers: list[tuple[Tensor, Tensor]] = []
        for layers in zip(*(phi.layers for phi in phis), strict=True):
            weights = np.stack([with_rows(weights, max(len(w) for w, _ in layers)) for weights, _ in layers])
            bias = np.stack([bias for _, bias in layers])[:, None]  # (n_members, 1, n_units)
            self.layers.append((leaf(weights, device), leaf(bias, device)))
        self.parameters = [parameter for layer in self.layers for parameter in layer]

    def __call__(self, rows: Tensor) -> Tensor:
        """Take rows (n_members, batch_size, n_columns), or a block-diagonal sparse matrix of them, to φ."""
        (weights, bias), *deeper = self.layers
        if rows.is_sparse:
            n_members, _, n_units = weights.shape
            product = torch.sparse.mm(rows, weights.reshape(-1, n_units))
            phi = product.reshape(n_members, -1, n_units) + bias
        else:
            phi = torch.baddbmm(bias, rows, weights)
        for weights, bias in deeper:
            phi = torch.baddbmm(bias, F.leaky_relu(phi, REPRESENTATION_SLOPE), weights)
        return phi if self.slope == 1 else F.leaky_relu(phi, self.slope)

    def write_back(self) -> None:
        """Put the trained numbers where they came from."""
        for number, phi in enumerate(self.phis):
            for (weights, bias), (into_weights, into_bias) in zip(self.layers, phi.layers, strict=True):
                into_weights[:] = weights[number].detach().cpu().numpy()[: len(into_weights)]
                into_bias[:] = bias[number, 0].detach().cpu().numpy()


class OwnNetwork:
    """A module of the user's as a representation: NumPy or CSR rows in, NumPy out."""

    def __init__(self, module: nn.Module, n_components: int) -> None:
        self.module, self.n_components = module, n_components

    def __call__(self, rows: Rows) -> Floats:
        """Take rows (n_rows, n_columns) to (n_rows, n_components)."""
        device = next(self.module.parameters()).device
        self.module.eval()
        result = np.empty((rows.shape[0], self.n_components), dtype=np.float32)
        with torch.no_grad():
            for block in row_blocks(rows.shape[0], ROWS_AT_ONCE):
                some = torch.from_numpy(np.ascontiguousarray(dense(rows[block])))
                result[block] = self.module(some.to(device)).cpu().numpy()
        return result

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Parameters and buffers, by their names in the module."""
        return as_arrays(self.module.state_dict())

    def load(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        """Take over parameters and buffers from `arrays`."""
        fill(self.module.state_dict(), arrays)

    def before_activation(self, rows: Rows, product: object = None) -> Floats:
        """φ(x): a network of one's own has its activation inside."""
        return self(rows)


class OwnNetworks:
    """The users' modules of all members, stacked."""

    def __init__(self, networks: list[OwnNetwork], device: torch.device) -> None:
        self.networks = networks
        modules = [network.module.to(device).train() for network in networks]
        parameters, self.buffers = stack_module_state(modules)
        self.named = {name: value.detach().requires_grad_() for name, value in parameters.items()}
        self.parameters = list(self.named.values())
        self.base = copy.deepcopy(modules[0]).to("meta")
        self.each = EachMember("network")

    def __call__(self, rows: Tensor) -> Tensor:
        """Take rows (n_members, batch_size, n_columns) to φ."""
        return self.each(self._of_one, self.named, self.buffers, rows)

    def _of_one(self, parameters: dict[str, Tensor], buffers: dict[str, Tensor], rows: Tensor) -> Tensor:
        return functional_call(self.base, (parameters, buffers), (rows,))

    def write_back(self) -> None:
        """Put the trained numbers into the modules."""
        for number, network in enumerate(self.networks):
            fill(network.module.state_dict(), as_arrays(part({**self.named, **self.buffers}, number)))
            network.module.eval()


class EachMember:
    """Apply a function of the user's to every member of a stack: at once if it can be, else one after the other."""

    def __init__(self, what: str) -> None:
        self.what, self.at_once = what, True

    def __call__(self, function: Callable[..., Tensor], *stacked: Any) -> Tensor:
        """Call the function with each member's part of every argument; the results are stacked."""
        if self.at_once:
            try:
                return vmap(function, randomness="different")(*stacked)
            except (RuntimeError, ValueError, NotImplementedError) as fault:
                results = self._one_by_one(function, stacked)  # raises what is the function's own fault
                self.at_once = False
                warn_user(
                    f"The {self.what!r} cannot be computed for all members at once "
                    f"({' '.join(str(fault).split())[:160]}); it is computed for one after the other, which is slower."
                )
                return results
        return self._one_by_one(function, stacked)

    @staticmethod
    def _one_by_one(function: Callable[..., Tensor], stacked: tuple[Any, ...]) -> Tensor:
        first = stacked[-1]
        return torch.stack([function(*(part(argument, m) for argument in stacked)) for m in range(len(first))])


def part(stacked: Any, number: int) -> Any:
    """One member's part of a stacked tensor, or of each tensor in a dictionary."""
    if isinstance(stacked, dict):
        return {name: value[number] for name, value in stacked.items()}
    return stacked[number]


def make_network(
    factory: Callable[[int, int], Any], n_columns: int, n_components: int, example: Rows, rng: np.random.Generator
) -> OwnNetwork:
    """Let the user's factory make a module, from a seed of its own, and see that it takes rows to components.

    example : a few rows
    """
    with seeded(int(rng.integers(2**63))):
        module = factory(n_columns, n_components)
    if not isinstance(module, nn.Module) or not any(p.requires_grad for p in module.parameters()):
        raise TypeError(
            "The 'network' function must return a torch.nn.Module with parameters to learn. Got "
            f"{type(module).__name__} instead."
        )
    rows = torch.from_numpy(np.ascontiguousarray(dense(example)))
    with torch.no_grad():
        shape = tuple(module.to("cpu").eval()(rows).shape)
    if shape != (len(rows), n_components):
        raise ValueError(
            f"The 'network' must take rows of shape (n_rows, {n_columns}) to an output of shape (n_rows, "
            f"{n_components}), 'n_components' of them for each row. For {len(rows)} rows it gave shape {shape}."
        )
    return OwnNetwork(module, n_components)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Start PyTorch's own generator from a seed within a `with` block, and leave it as it was after it."""
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        yield


def numbered(name: str, tensors: list[Tensor]) -> dict[str, Tensor]:
    """Tensors under a name and a number each."""
    return {f"{name}_{number}": tensor for number, tensor in enumerate(tensors)}


def as_arrays(tensors: dict[str, Tensor]) -> dict[str, npt.NDArray[Any]]:
    """Tensors as NumPy arrays."""
    return {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}


def fill(tensors: dict[str, Tensor], arrays: dict[str, npt.NDArray[Any]]) -> None:
    """Put arrays into the tensors of the same names."""
    with torch.no_grad():
        for name, tensor in tensors.items():
            tensor.copy_(torch.from_numpy(arrays[name]))


def leaf(values: npt.NDArray[Any], device: torch.device) -> Tensor:
    """Numbers to be learned."""
    return torch.tensor(values, device=device).requires_grad_()


def with_rows(weights: Floats, n_rows: int) -> Floats:
    """Weights with rows of zeros added below, so that members of different widths can be stacked."""
    return np.pad(weights, ((0, n_rows - len(weights)), (0, 0)))
