"""Which fit it is: all that must be the same for a fit to be continued, in words that are the same in every process."""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np
import scipy.sparse as sp

from rdplearn._types import Matrix, row_blocks
from rdplearn._version import __version__
from rdplearn.callbacks import KeepRounds, find, record_every

NOT_COMPARED = ("n_jobs", "verbose", "random_state", "callbacks")


def identity_of(estimator: Any, matrix: Matrix) -> dict[str, Any]:
    """What must be the same for a fit to be continued: version, parameters and table."""
    parameters = {name: value for name, value in estimator.get_params(deep=False).items() if name not in NOT_COMPARED}
    return {
        "library": __version__,
        "estimator": type(estimator).__name__,
        **{name: in_words(value) for name, value in parameters.items()},
        "record_every": in_words(record_every(estimator.callbacks)),
        "keep_rounds": in_words(find(KeepRounds, estimator.callbacks) is not None),
        "table": checksum(matrix),
    }


def in_words(value: Any, known: frozenset[int] = frozenset()) -> Any:
    """A parameter as text that is the same in every process: functions by their names and by what they do.

    known : functions that are being told already, by their addresses

    Examples
    --------
    >>> in_words(len), in_words(0.5), in_words({"contrast": (len, 2.0)})
    ('builtins.len', '0.5', {'contrast': ['builtins.len', '2.0']})
    >>> in_words(lambda row: row + 1) == in_words(lambda row: row + 2)
    False
    """
    if isinstance(value, dict):
        return {str(name): in_words(part, known) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [in_words(part, known) for part in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: in_words(getattr(value, field.name), known) for field in fields(value)}
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"array {checksum(np.atleast_1d(value))}"
    if isinstance(value, partial):
        return ["partial", in_words(value.func, known), in_words(value.args, known), in_words(value.keywords, known)]
    if isinstance(value, MethodType):
        return ["method", in_words(value.__func__, known), in_words(value.__self__, known)]
    if isinstance(value, FunctionType):
        return [f"{value.__module__}.{value.__qualname__}", *inside_of(value, known)]
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    kind = type(value)
    if " at 0x" not in repr(value):
        return repr(value)
    called = vars(kind).get("__call__")
    of_class = inside_of(called, known) if isinstance(called, FunctionType) else []
    plain = {name: part for name, part in getattr(value, "__dict__", {}).items() if is_plain(part)}
    name = f"{kind.__module__}.{kind.__qualname__}"
    return [name, *of_class, in_words(plain, known)] if of_class or plain else name


def is_plain(value: Any) -> bool:
    """Whether an attribute can be told in words without going in circles."""
    return isinstance(value, bool | int | float | str | np.ndarray | np.generic | FunctionType | None)


def inside_of(function: FunctionType, known: frozenset[int]) -> list[Any]:
    """What a function does: a checksum of its code, its defaults, and the values of names from around it.

    Functions that it calls are known by their names alone.
    """
    if id(function) in known:
        return []
    known = known | {id(function)}
    code = hashlib.blake2b(repr(code_of(function.__code__)).encode(), digest_size=16).hexdigest()
    held = [cell.cell_contents for cell in function.__closure__ or () if cell_is_filled(cell)]
    brought = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values(), *held]
    return [code, *(in_words(part, known) for part in brought if part is not function)]


def cell_is_filled(cell: Any) -> bool:
    """Whether a name that a function brought along has a value."""
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


def code_of(code: CodeType) -> tuple[Any, ...]:
    """What a piece of code does, without where it stands."""
    constants = [
        code_of(constant) if isinstance(constant, CodeType) else sorted(map(repr, constant))
        if isinstance(constant, frozenset) else repr(constant)
        for constant in code.co_consts
    ]  # fmt: skip
    return code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_freevars


def checksum(matrix: Matrix) -> str:
    """Of the shape and every value of a table."""
    digest = hashlib.blake2b(repr((matrix.shape, str(matrix.dtype))).encode(), digest_size=16)
    for block in row_blocks(matrix.shape[0]):
        rows = matrix[block]
        parts = (rows.data, rows.indices, rows.indptr) if sp.issparse(rows) else (rows,)
        for part in parts:
            digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()
