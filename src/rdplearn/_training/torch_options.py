"""What only PyTorch can do: other networks, other losses, other devices. Options and their checks, without PyTorch.

Importing rdplearn never imports PyTorch; an estimator asks for it when its engine is ``"torch"``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from numbers import Integral, Real
from typing import Any, Literal

INSTALL = "pip install 'rdplearn[torch]'"
DEVICES = ("auto", "cpu", "cuda", "mps")
Device = Literal["auto", "cpu", "cuda", "mps"]
TAKEN_NAMES = ("distance", "novelty", "reconstruction")


@dataclass(frozen=True)
class TorchOptions:
    """What PyTorch is asked for: an estimator's `torch` parameter. See `docs/torch.md`.

    Parameters
    ----------
    network : list of int or callable, default=None
        φ with hidden leaky layers of these widths, or a function of (n_columns, n_components) that makes an
        ``nn.Module``, for each member anew; by default the paper's φ, one layer.
    distance_loss : callable, default=None
        Takes predicted and wanted inner products to a loss; by default the squared error.
    auxiliary_losses : dict of name: (callable, weight), default=None
        Further losses, each a function of (rows, representation, targets, partner), tensors of one batch. With
        ``pairs="all"`` of the transformer the targets are the wanted inner products of the batch, (n_rows, n_rows).
    device : {"auto", "cpu", "cuda", "mps"}, default="auto"
        Where PyTorch computes.
    compile : bool, default=False
        Let ``torch.compile`` speed up the steps; where that fails, training goes on without it.

    Examples
    --------
    >>> from rdplearn import RDPDetector, TorchOptions
    >>> detector = RDPDetector(torch=TorchOptions(network=[64, 32]))
    """

    network: Sequence[int] | Callable[[int, int], Any] | None = None
    distance_loss: Callable[..., Any] | None = None
    auxiliary_losses: Mapping[str, tuple[Callable[..., Any], float]] | None = None
    device: Device = "auto"
    compile: bool = False

    @property
    def widths(self) -> tuple[int, ...] | None:
        """Widths of φ's hidden layers, none for the paper's φ; None if φ is a network of the user's own."""
        return None if callable(self.network) else tuple(int(width) for width in self.network or ())

    @property
    def sees_columns(self) -> bool:
        """Whether some code of the user's is shown the columns, so that they must be the table's own and dense."""
        return callable(self.network) or bool(self.auxiliary_losses)

    def needs_torch(self) -> str | None:
        """The first option that only PyTorch can serve."""
        asked = {name: getattr(self, name) for name in ("network", "distance_loss", "auxiliary_losses", "compile")}
        asked["device"] = self.device not in ("auto", "cpu")
        return next((name for name, value in asked.items() if value is not None and value is not False and value), None)


NOTHING_WANTED = TorchOptions()


def torch_options(estimator: Any) -> TorchOptions:
    """Give the options of an estimator, checked."""
    options = estimator.torch
    if options is None:
        return NOTHING_WANTED
    if not isinstance(options, TorchOptions):
        raise ValueError(
            f"The 'torch' parameter of {type(estimator).__name__} must be rdplearn.TorchOptions or None. Got "
            f"{options!r:.60}: write TorchOptions(network=[64, 32]), for example."
        )
    _check_network(options.network)
    _check_auxiliary_losses(options.auxiliary_losses)
    if not (options.distance_loss is None or callable(options.distance_loss)):
        raise ValueError(
            "The 'distance_loss' of TorchOptions must be a function of predicted and wanted inner products, or None. "
            f"Got {options.distance_loss!r:.60} instead."
        )
    if options.device not in DEVICES:
        raise ValueError(
            f"The 'device' of TorchOptions must be among {', '.join(DEVICES)}. Got {options.device!r:.60} instead."
        )
    return options


def engine_for(owner: str, engine: str, options: TorchOptions) -> Any:
    """The engine asked for; of ``"auto"``, PyTorch if something is wanted that only it can do.

    Examples
    --------
    >>> engine_for("RDPDetector", "numba", TorchOptions())
    'numba'
    >>> engine_for("RDPDetector", "numba", TorchOptions(network=[64]))
    Traceback (most recent call last):
    ValueError: The 'network' of TorchOptions needs engine='torch' of RDPDetector. Got engine='numba' instead.
    """
    reason = options.needs_torch()
    if engine in ("numba", "numpy") and reason is not None:
        raise ValueError(
            f"The {reason!r} of TorchOptions needs engine='torch' of {owner}. Got engine={engine!r} instead."
        )
    if engine == "auto" and reason is not None:
        engine = "torch"
    if engine == "torch":
        require_torch(owner)
    return engine


def require_torch(owner: str) -> None:
    """Raise an error that names the remedy unless PyTorch is installed."""
    if find_spec("torch") is None:
        raise ImportError(f"engine='torch' of {owner} needs PyTorch, which is not installed. Run: {INSTALL}")


def _check_network(network: Any) -> None:
    if network is None or callable(network):
        return
    is_list = isinstance(network, Sequence) and not isinstance(network, str)
    if not is_list or not network or not all(isinstance(width, Integral) and int(width) > 0 for width in network):
        raise ValueError(
            "The 'network' of TorchOptions must be None, a list of the widths of hidden layers, or a function of "
            f"(n_columns, n_components) that returns an nn.Module. Got {network!r:.60} instead."
        )


def _check_auxiliary_losses(losses: Any) -> None:
    if not isinstance(losses, Mapping | None):
        raise ValueError(
            "The 'auxiliary_losses' of TorchOptions must be a dictionary of name: (function, weight). Got "
            f"{losses!r:.60} instead."
        )
    for name, pair in (losses or {}).items():
        is_pair = isinstance(pair, tuple | list) and len(pair) == 2 and callable(pair[0]) and isinstance(pair[1], Real)
        if not isinstance(name, str) or not is_pair or not pair[1] > 0:
            raise ValueError(
                "The 'auxiliary_losses' of TorchOptions must be a dictionary of name: (function, weight), with weights "
                f"above 0. Got {name!r}: {pair!r:.60} instead."
            )
        if name in TAKEN_NAMES:
            raise ValueError(
                f"The 'auxiliary_losses' of TorchOptions must not use the name of a built-in loss. Got {name!r}: "
                "choose another name."
            )
