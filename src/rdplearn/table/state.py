"""A fitted encoder as plain values and back, with every value checked on the way in.

A model file may come from anywhere: nothing is executed, no attribute is set that was not asked for, and
whatever is not of the expected type or range is a `ModelFileError`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, TypeVar, cast, get_type_hints

from rdplearn.errors import ModelFileError, TableError
from rdplearn.table.cells import TextRules
from rdplearn.table.column_types import KINDS
from rdplearn.table.encoded_column import EncodedColumn
from rdplearn.table.encodings import PERIODS, Boolean, Category, Date, LeftOut, Number, Text, Time

CLASSES: dict[str, Any] = {made.kind: made for made in (Number, Boolean, Category, Date, Time, Text)}
MOST_TEXT_COLUMNS = 1 << 16
Made = TypeVar("Made")


def column_to_dict(column: EncodedColumn) -> dict[str, Any]:
    plain = {field.name: getattr(column, field.name) for field in fields(column) if field.name != "encoding"}
    return {
        **plain,
        "encoding": {**asdict(column.encoding), "kind": column.kind, "used": not column.is_left_out},
    }


def column_from_dict(state: Any) -> EncodedColumn:
    state = _mapping(state, "a column")
    encoding = dict(_mapping(state.get("encoding"), "an encoding"))
    kind, used = encoding.pop("kind", None), encoding.pop("used", None)
    if kind not in KINDS or not isinstance(used, bool) or (used and kind not in CLASSES):
        raise ModelFileError(f"The table encoding names an unknown kind of column, {kind!r:.60}.")
    made = _make(CLASSES[kind], encoding) if used else _make(LeftOut, {**encoding, "kind": kind})
    if isinstance(made, Date) and not set(made.periods) <= set(PERIODS):
        raise ModelFileError("The table encoding names an unknown period of time.")
    if isinstance(made, Text) and not 1 <= made.n_buckets <= MOST_TEXT_COLUMNS:
        raise ModelFileError(f"The table encoding asks for {made.n_buckets} columns of text.")
    plain = {name: value for name, value in state.items() if name != "encoding"}
    column: EncodedColumn = _make(EncodedColumn, plain, encoding=made)
    return column


def read_state(state: Any, version: int) -> dict[str, Any]:
    """Check the outer values of `TableEncoder.to_dict`."""
    state = _mapping(state, "the table encoding")
    if state.get("format") != version:
        raise ModelFileError(
            f"The table encoding has format {state.get('format')!r:.60}; this version reads format {version}."
        )
    expected = {"n_rows": int, "sparse": bool, "ignore": list[str], "columns": list}
    for name, kind in expected.items():
        _require(name, state.get(name), kind)
    try:
        rules = _make(TextRules, _mapping(state.get("rules"), "the rules for text"))
    except TableError as fault:
        raise ModelFileError(f"The table encoding has impossible rules for text: {fault}") from None
    sources = [_mapping(column, "a column").get("source") for column in state["columns"]]
    if not sources or not all(isinstance(source, str) for source in sources) or len(set(sources)) < len(sources):
        raise ModelFileError("The table encoding has no columns, or two of the same name.")
    return {**{name: state[name] for name in expected}, "rules": rules}


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ModelFileError(f"The table encoding holds {type(value).__name__} in place of {what}.")
    return value


def _make(made: type[Made], values: Mapping[str, Any], **ready: Any) -> Made:
    """Build a dataclass from plain values of exactly the types that its fields declare."""
    declared = {field.name for field in fields(cast(Any, made))} - set(ready)
    hints = {name: hint for name, hint in get_type_hints(made).items() if name in declared}
    if set(values) != set(hints):
        differing = sorted(set(map(str, values)) ^ set(hints))
        raise ModelFileError(
            f"The table encoding has {made.__name__} with a missing or unknown value, {differing[0]!r:.60}."
        )
    for name, hint in hints.items():
        _require(name, values[name], hint)
    return made(**values, **ready)


def _require(name: str, value: Any, hint: Any) -> None:
    if not _fits(value, hint):
        raise ModelFileError(f"The table encoding has an impossible {name!r}: {value!r:.60}.")


def _fits(value: Any, hint: Any) -> bool:
    if hint in (list[str], tuple[str, ...]):
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if hint in (str | None, bool | None):
        return value is None or isinstance(value, hint)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if hint is float:
        is_number = isinstance(value, float | int) and not isinstance(value, bool)
        return is_number and abs(value) <= sys.float_info.max
    return isinstance(value, hint)
