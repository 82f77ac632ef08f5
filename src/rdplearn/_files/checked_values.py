"""Plain values from a file that may come from anywhere: checked one by one against the types that are wanted.

Nothing is executed, no attribute is set that was not asked for, and whatever is not of the expected type or range is a
`ModelFileError` that says whose value it was.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from rdplearn.errors import ModelFileError

Made = TypeVar("Made")


def as_mapping(value: Any, what: str, owner: str) -> Mapping[str, Any]:
    """The value, if it is a JSON object."""
    if not isinstance(value, Mapping):
        raise ModelFileError(f"{owner} holds {type(value).__name__} in place of {what}.")
    return value


def make(made: type[Made], values: Mapping[str, Any], owner: str, **ready: Any) -> Made:
    """Build a dataclass from plain values of exactly the types that its fields declare.

    Examples
    --------
    >>> from dataclasses import make_dataclass
    >>> Point = make_dataclass("Point", [("x", float), ("y", float)])
    >>> make(Point, {"x": 1.0, "y": 2}, "The file")
    Point(x=1.0, y=2)
    >>> make(Point, {"x": 1.0, "y": "2"}, "The file")
    Traceback (most recent call last):
    rdplearn.errors.ModelFileError: The file has an impossible 'y': '2'.
    """
    declared = {field.name for field in fields(cast(Any, made))} - set(ready)
    hints = {name: hint for name, hint in get_type_hints(made).items() if name in declared}
    if set(values) != set(hints):
        differing = sorted(set(map(str, values)) ^ set(hints))
        raise ModelFileError(f"{owner} has {made.__name__} with a missing or unknown value, {differing[0]!r:.60}.")
    for name, hint in hints.items():
        require(name, values[name], hint, owner)
    return made(**values, **ready)


def require(name: str, value: Any, hint: Any, owner: str) -> None:
    """Raise an error unless the value is of the type."""
    if not _fits(value, hint):
        raise ModelFileError(f"{owner} has an impossible {name!r}: {value!r:.60}.")


def _fits(value: Any, hint: Any) -> bool:
    for inner in (list[str], float, dict[str, Any]):
        if hint == inner | None:
            return value is None or _fits(value, inner)
    if get_origin(hint) in (list, tuple):
        return isinstance(value, list) and all(_fits(item, get_args(hint)[0]) for item in value)
    if hint == float | str | None:
        return value is None or isinstance(value, str) or _fits(value, float)
    if hint == int | None:
        return value is None or _fits(value, int)
    if hint in (str | None, bool | None):
        return value is None or isinstance(value, hint)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if hint is float:
        is_number = isinstance(value, float | int) and not isinstance(value, bool)
        return is_number and abs(value) <= sys.float_info.max
    return isinstance(value, dict if hint == dict[str, Any] else hint)
