"""What model files hold of every estimator: its parameters, as plain values, and the history of its training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from rdplearn._model.mapping import RandomMapping, with_options
from rdplearn._training.torch_options import TorchOptions, torch_options
from rdplearn.errors import ModelFileError

Estimator = TypeVar("Estimator")

# how to run it is the business of the machine that it runs on
NOT_STORED = ("n_jobs", "verbose", "callbacks")
OUTPUTS = (None, "default", "pandas", "polars")  # of scikit-learn's `set_output`
GONE = ("record_every", "keep_rounds", "distance_loss", "auxiliary_losses")  # of files of format 1


def plain_parameters(estimator: Any) -> dict[str, Any]:
    """Parameters as JSON has them. A generator in place of a seed has no plain value and is left out."""
    parameters = {name: value for name, value in estimator.get_params(deep=False).items() if name not in NOT_STORED}
    if "torch" in parameters:
        parameters["torch"] = _plain_torch(torch_options(estimator))
    if "mapping" in parameters:
        parameters["mapping"] = plain_mapping(parameters["mapping"])
    plain = {name: plain_value(value) for name, value in parameters.items()}
    if not isinstance(plain["random_state"], int | None):
        del plain["random_state"]
    return plain


def plain_value(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return [plain_value(part) for part in value] if isinstance(value, tuple | list) else value


def plain_mapping(mapping: Any) -> Any:
    """A `mapping` parameter as JSON has it: a name, an object with options, or a list of these."""
    if isinstance(mapping, list | tuple):
        return [plain_mapping(each) for each in mapping]
    if not isinstance(with_options(mapping).kind, str):
        raise ValueError(
            "A model with a 'mapping' of your own cannot be stored: a model file holds no code. Got "
            f"{mapping!r:.60}: pickle the estimator instead, or use one of the built-in mappings."
        )
    if isinstance(mapping, str):
        return mapping
    return {name: plain_value(value) for name, value in asdict(mapping).items()}


def _plain_torch(options: TorchOptions) -> dict[str, Any] | None:
    """What is stored of the options of PyTorch: the widths of φ's hidden layers."""
    if callable(options.network):
        raise ValueError(
            "A model with a 'network' function of your own cannot be stored: a model file holds no code. Pickle the "
            "estimator instead, or fit with a list of widths."
        )
    for name in ("distance_loss", "auxiliary_losses"):
        if getattr(options, name):
            raise ValueError(
                f"The {name!r} of TorchOptions cannot be stored: a model file holds no code. What was learned does not "
                "need it any more: call set_params(torch=...) with TorchOptions that have the network alone, or None."
            )
    return {"network": list(options.widths or ())} if options.network else None


def widths_of(estimator: Any) -> tuple[int, ...]:
    """Widths of φ's hidden layers; a network of the user's own is never stored."""
    return torch_options(estimator).widths or ()


def with_parameters(
    kind: Callable[..., Estimator], parameters: dict[str, Any], check: Callable[[Estimator], object], owner: str
) -> Estimator:
    """Make an unfitted estimator with the parameters of a file, once it has checked them."""
    parameters = of_today(parameters)
    known = set(kind().get_params(deep=False)) - set(NOT_STORED)  # type: ignore[attr-defined]
    unknown = sorted(set(parameters) - known)
    if unknown:
        raise ModelFileError(f"{owner} has an unknown parameter, {unknown[0]!r:.60}.")
    if "torch" in parameters:
        parameters["torch"] = _rebuilt_options(TorchOptions, parameters["torch"], ("network",), owner)
    if "mapping" in parameters:
        parameters["mapping"] = rebuilt_mapping(parameters["mapping"], owner)
    estimator = kind(**parameters)
    try:
        check(estimator)
    except (ValueError, TypeError) as fault:
        raise ModelFileError(f"{owner} has an impossible parameter: {' '.join(str(fault).split())[:160]}") from None
    return estimator


def rebuilt_mapping(value: Any, owner: str) -> Any:
    """The `mapping` parameter that was stored."""
    if isinstance(value, list):
        return [rebuilt_mapping(each, owner) for each in value]
    return value if isinstance(value, str) else _rebuilt_options(RandomMapping, value, (), owner)


def _rebuilt_options(kind: Callable[..., Any], value: Any, names: Sequence[str], owner: str) -> Any:
    """Options from a JSON object with these entries, or with all that there are; None if there are none."""
    if value is None:
        return None
    wanted = set(names) or {field.name for field in fields(cast(Any, kind))}
    if not isinstance(value, dict) or set(value) != wanted or not isinstance(value.get("kind", ""), str):
        raise ModelFileError(f"{owner} has an impossible parameter: {value!r:.60}.")
    return kind(**value)


def of_today(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a file of format 1 under the names of today.

    Examples
    --------
    >>> of_today({"network": [8], "mapping": "fourier", "n_targets": None, "bandwidth": 0.5, "keep_rounds": False})
    {'mapping': {'kind': 'fourier', 'n_targets': None, 'bandwidth': 0.5}, 'torch': {'network': [8]}}
    """
    now = {name: value for name, value in parameters.items() if name not in GONE}
    if "network" in now:
        network = now.pop("network")
        now["torch"] = {"network": network} if network else None
    if "scaling" in now:
        scaling = now.pop("scaling")
        now["views"] = "unchanged" if scaling is None else scaling
    n_targets, bandwidth = now.pop("n_targets", None), now.pop("bandwidth", None)
    if n_targets is not None or bandwidth is not None:
        kinds = now.get("mapping", "auto")
        options = [
            {
                "kind": kind,
                "n_targets": None if kind == "identity" else n_targets,
                "bandwidth": bandwidth if kind == "fourier" else None,
            }
            for kind in (kinds if isinstance(kinds, list) else [kinds])
        ]
        now["mapping"] = options if isinstance(kinds, list) else options[0]
    return now


def stored_names(estimator: Any) -> list[str] | None:
    """The names of the columns at fit, if they had any."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def take_columns(estimator: Any, n_columns: int, names: list[str] | None) -> None:
    """Give an estimator the columns that it was fitted on."""
    estimator.n_features_in_ = n_columns
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def stored_output(estimator: Any) -> str | None:
    """The kind of frame that `set_output` has asked for; None if it was not called."""
    kind: str | None = getattr(estimator, "_sklearn_output_config", {}).get("transform")
    return kind


def take_output(estimator: Any, kind: str | None, owner: str) -> None:
    """Give an estimator the kind of frame that its `transform` makes."""
    if kind not in OUTPUTS:
        raise ModelFileError(f"{owner} has an impossible 'output': {kind!r:.60}.")
    if kind is not None:
        estimator.set_output(transform=kind)


def history_array(
    history: list[dict[str, float]], counts: Sequence[str], numbers: Sequence[str]
) -> npt.NDArray[np.float64]:
    """(n_records, n_counts + n_numbers); a loss that is no number any more is stored as the largest one."""
    rows = [[record[name] for name in (*counts, *numbers)] for record in history]
    array = np.array(rows, dtype=np.float64).reshape(len(rows), len(counts) + len(numbers))
    return np.nan_to_num(array, nan=np.finfo(np.float64).max)


def rebuild_history(array: Any, counts: Sequence[str], numbers: Sequence[str]) -> list[dict[str, float]]:
    """Give the records that an array was made of.

    Examples
    --------
    >>> records = [{"step": 10, "distance_loss": 0.25}]
    >>> rebuild_history(history_array(records, ["step"], ["distance_loss"]), ["step"], ["distance_loss"])
    [{'step': 10, 'distance_loss': 0.25}]
    """
    return [
        dict(zip(counts, map(int, row[: len(counts)]), strict=True))
        | dict(zip(numbers, row[len(counts) :], strict=True))
        for row in array.tolist()
    ]
