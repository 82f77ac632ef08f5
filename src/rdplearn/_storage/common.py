"""What model files hold of every estimator: its parameters, as plain values, and the history of its training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from rdplearn.errors import ModelFileError

Estimator = TypeVar("Estimator")

# how to run it is the business of the machine that it runs on
NOT_STORED = ("n_jobs", "verbose", "device", "compile", "callbacks")


def plain_parameters(estimator: Any) -> dict[str, Any]:
    """Parameters as JSON has them. A generator in place of a seed has no plain value and is left out."""
    parameters = {name: value for name, value in estimator.get_params(deep=False).items() if name not in NOT_STORED}
    plain = {name: _plain(value) for name, value in parameters.items()}
    mappings = plain.get("mapping", "")
    if not all(isinstance(mapping, str) for mapping in (mappings if isinstance(mappings, list) else [mappings])):
        raise ValueError(
            "A model with a 'mapping' of your own cannot be stored: a model file holds no code. Got "
            f"{mappings!r:.60}: pickle the estimator instead, or use one of the built-in mappings."
        )
    _require_no_code(estimator)
    if not isinstance(plain["random_state"], int | None):
        del plain["random_state"]
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return [_plain(part) for part in value] if isinstance(value, tuple | list) else value


def _require_no_code(estimator: Any) -> None:
    if callable(getattr(estimator, "network", None)):
        raise ValueError(
            "A model with a 'network' function of your own cannot be stored: a model file holds no code. Pickle the "
            "estimator instead, or fit with a list of widths."
        )
    for name in ("distance_loss", "auxiliary_losses"):
        if getattr(estimator, name, None):
            raise ValueError(
                f"The {name!r} of {type(estimator).__name__} cannot be stored: a model file holds no code. What was "
                f"learned does not need it any more: call set_params({name}=None) before you save."
            )


def with_parameters(
    kind: Callable[..., Estimator], parameters: dict[str, Any], check: Callable[[Estimator], object], owner: str
) -> Estimator:
    """Make an unfitted estimator with the parameters of a file, once it has checked them."""
    known = set(kind().get_params(deep=False)) - set(NOT_STORED)  # type: ignore[attr-defined]
    unknown = sorted(set(parameters) - known)
    if unknown:
        raise ModelFileError(f"{owner} has an unknown parameter, {unknown[0]!r:.60}.")
    estimator = kind(**parameters)
    try:
        check(estimator)
    except (ValueError, TypeError) as fault:
        raise ModelFileError(f"{owner} has an impossible parameter: {' '.join(str(fault).split())[:160]}") from None
    return estimator


def stored_names(estimator: Any) -> list[str] | None:
    """The names of the columns at fit, if they had any."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def take_columns(estimator: Any, n_columns: int, names: list[str] | None) -> None:
    """Give an estimator the columns that it was fitted on."""
    estimator.n_features_in_ = n_columns
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)


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
