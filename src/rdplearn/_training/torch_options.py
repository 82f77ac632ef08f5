"""What only PyTorch can do: other networks, other losses, other devices. Settings and their checks, without PyTorch.

Importing rdplearn never imports PyTorch; an estimator asks for it when its engine is ``"torch"``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

from sklearn.utils._param_validation import StrOptions

Device = Literal["auto", "cpu", "cuda", "mps"]
# None, widths of hidden layers, or a function of (n_columns, n_components) that returns an nn.Module
Network: TypeAlias = Any
AuxiliaryLosses: TypeAlias = Mapping[str, tuple[Callable[..., Any], float]]

INSTALL = "pip install 'rdplearn[torch]'"
DEVICES = ("auto", "cpu", "cuda", "mps")
TAKEN_NAMES = ("distance", "novelty", "reconstruction")
TORCH_CONSTRAINTS: dict[str, list[Any]] = {
    "network": [None, "array-like", callable],
    "distance_loss": [None, callable],
    "auxiliary_losses": [None, dict],
    "device": [StrOptions(set(DEVICES))],
    "compile": ["boolean"],
}


@dataclass(frozen=True)
class TorchSettings:
    """What the torch engine is asked for, under the estimators' own parameter names."""

    network: Network = None
    distance_loss: Callable[..., Any] | None = None
    auxiliary_losses: AuxiliaryLosses = field(default_factory=dict)
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
        """The first parameter that only PyTorch can serve."""
        asked = {name: getattr(self, name) for name in ("network", "distance_loss", "auxiliary_losses", "compile")}
        asked["device"] = self.device not in ("auto", "cpu")
        return next((name for name, value in asked.items() if value is not None and value is not False and value), None)


NOTHING_WANTED = TorchSettings()


def torch_settings(estimator: Any) -> TorchSettings:
    """Collect and check an estimator's parameters for PyTorch."""
    owner = type(estimator).__name__
    _check_network(estimator.network, owner)
    _check_auxiliary_losses(estimator.auxiliary_losses, owner)
    return TorchSettings(
        network=estimator.network,
        distance_loss=estimator.distance_loss,
        auxiliary_losses=dict(estimator.auxiliary_losses or {}),
        device=estimator.device,
        compile=bool(estimator.compile),
    )


def engine_for(owner: str, engine: str, settings: TorchSettings) -> Any:
    """The engine asked for; of ``"auto"``, PyTorch if something is wanted that only it can do.

    Examples
    --------
    >>> engine_for("RDPDetector", "numba", TorchSettings())
    'numba'
    >>> engine_for("RDPDetector", "numba", TorchSettings(network=[64]))
    Traceback (most recent call last):
    ValueError: The 'network' parameter of RDPDetector needs engine='torch'. Got engine='numba' instead.
    """
    reason = settings.needs_torch()
    if engine in ("numba", "numpy") and reason is not None:
        raise ValueError(f"The {reason!r} parameter of {owner} needs engine='torch'. Got engine={engine!r} instead.")
    if engine == "auto" and reason is not None:
        engine = "torch"
    if engine == "torch":
        require_torch(owner)
    return engine


def require_torch(owner: str) -> None:
    """Raise an error that names the remedy unless PyTorch is installed."""
    if find_spec("torch") is None:
        raise ImportError(f"engine='torch' of {owner} needs PyTorch, which is not installed. Run: {INSTALL}")


def _check_network(network: Any, owner: str) -> None:
    if network is None or callable(network):
        return
    widths = list(network)
    if not widths or not all(isinstance(width, Integral) and int(width) > 0 for width in widths):
        raise ValueError(
            f"The 'network' parameter of {owner} must be None, a list of the widths of hidden layers, or a function of "
            f"(n_columns, n_components) that returns an nn.Module. Got {network!r:.60} instead."
        )


def _check_auxiliary_losses(losses: Any, owner: str) -> None:
    for name, pair in (losses or {}).items():
        is_pair = isinstance(pair, tuple | list) and len(pair) == 2 and callable(pair[0]) and isinstance(pair[1], Real)
        if not isinstance(name, str) or not is_pair or not pair[1] > 0:
            raise ValueError(
                f"The 'auxiliary_losses' parameter of {owner} must be a dictionary of name: (function, weight), with "
                f"weights above 0. Got {name!r}: {pair!r:.60} instead."
            )
        if name in TAKEN_NAMES:
            raise ValueError(
                f"The 'auxiliary_losses' parameter of {owner} must not use the name of a built-in loss. Got {name!r}: "
                "choose another name."
            )
