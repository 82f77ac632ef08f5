"""A fitted encoder as plain values and back, with every value checked on the way in.

A model file may come from anywhere: nothing is executed, no attribute is set that was not asked for, and
whatever is not of the expected type or range is a `ModelFileError`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from rdplearn._files.checked_values import as_mapping, make, require
from rdplearn.errors import ModelFileError, TableError
from rdplearn.table.cells import TextRules
from rdplearn.table.column_types import KINDS
from rdplearn.table.encoded_column import EncodedColumn
from rdplearn.table.encodings import PERIODS, Boolean, Category, Date, LeftOut, Number, Text, Time, Year
from rdplearn.table.typical import Typical

CLASSES: dict[str, Any] = {made.kind: made for made in (Number, Year, Boolean, Category, Date, Time, Text)}
PARTS = ("encoding", "typical")  # of a column that are dataclasses themselves
MOST_TEXT_COLUMNS = 1 << 16
OWNER = "The table encoding"
# What files of format 1 do not say, and mean.
RULES_OF_FORMAT_1 = {"date_format": None, "plain_numbers": True, "strict": True}
COLUMN_OF_FORMAT_1 = {"marks_misfits": False, "is_estimate": False}
ENCODINGS_OF_FORMAT_1: dict[Any, dict[str, Any]] = {
    "number": {"decimal": None, "dress": None},
    "date": {"is_compact": False},
}


def column_to_dict(column: EncodedColumn) -> dict[str, Any]:
    plain = {field.name: getattr(column, field.name) for field in fields(column) if field.name not in PARTS}
    return {
        **plain,
        "typical": asdict(column.typical),
        "encoding": {**asdict(column.encoding), "kind": column.kind, "used": not column.is_left_out},
    }


def column_from_dict(state: Any) -> EncodedColumn:
    state = as_mapping(state, "a column", OWNER)
    encoding = dict(as_mapping(state.get("encoding"), "an encoding", OWNER))
    kind, used = encoding.pop("kind", None), encoding.pop("used", None)
    if kind not in KINDS or not isinstance(used, bool) or (used and kind not in CLASSES):
        raise ModelFileError(f"The table encoding names an unknown kind of column, {kind!r:.60}.")
    made = make(CLASSES[kind], encoding, OWNER) if used else make(LeftOut, {**encoding, "kind": kind}, OWNER)
    if isinstance(made, Date) and not set(made.periods) <= set(PERIODS):
        raise ModelFileError("The table encoding names an unknown period of time.")
    if isinstance(made, Text) and not 1 <= made.n_buckets <= MOST_TEXT_COLUMNS:
        raise ModelFileError(f"The table encoding asks for {made.n_buckets} columns of text.")
    if isinstance(made, Number) and made.decimal not in (None, ".", ","):
        raise ModelFileError(f"The table encoding names an unknown decimal mark, {made.decimal!r:.60}.")
    typical = make(Typical, as_mapping(state.get("typical"), "typical values", OWNER), OWNER)
    if type(typical.low) is not type(typical.high) or len(typical.values) != len(typical.shares):
        raise ModelFileError("The table encoding has impossible typical values.")
    if isinstance(made, Number) and made.is_duration and isinstance(typical.low, float | int):
        typical = made.typical(typical.low, float(typical.high or 0.0))
    plain = {name: value for name, value in state.items() if name not in PARTS}
    column: EncodedColumn = make(EncodedColumn, plain, OWNER, encoding=made, typical=typical)
    return column


def _from_format_1(state: Mapping[str, Any]) -> dict[str, Any]:
    """The state of an older file with what it does not say; whatever else is wrong with it is found later."""
    columns = state.get("columns")
    newer = []
    for column in columns if isinstance(columns, list) else []:
        column = as_mapping(column, "a column", OWNER)
        encoding = as_mapping(column.get("encoding"), "an encoding", OWNER)
        kind = encoding.get("kind")
        added = ENCODINGS_OF_FORMAT_1.get(kind, {}) if isinstance(kind, str) and encoding.get("used") is True else {}
        newer.append({**COLUMN_OF_FORMAT_1, **column, "encoding": {**added, **encoding}})
    rules = {**RULES_OF_FORMAT_1, **as_mapping(state.get("rules"), "the rules for text", OWNER)}
    return {**state, "rules": rules, "columns": newer if isinstance(columns, list) else columns}


def read_state(state: Any, version: int) -> dict[str, Any]:
    """Check the outer values of `TableEncoder.to_dict`."""
    state = as_mapping(state, "the table encoding", OWNER)
    if state.get("format") == 1 and type(state.get("format")) is int:
        state = {**_from_format_1(state), "format": version}
    if state.get("format") != version:
        raise ModelFileError(
            f"The table encoding has format {state.get('format')!r:.60}; this version reads format {version}."
        )
    expected = {"n_rows": int, "sparse": bool, "ignore": list[str], "columns": list}
    for name, kind in expected.items():
        require(name, state.get(name), kind, OWNER)
    try:
        rules = make(TextRules, as_mapping(state.get("rules"), "the rules for text", OWNER), OWNER)
    except TableError as fault:
        raise ModelFileError(f"The table encoding has impossible rules for text: {fault}") from None
    sources = [as_mapping(column, "a column", OWNER).get("source") for column in state["columns"]]
    if not sources or not all(isinstance(source, str) for source in sources) or len(set(sources)) < len(sources):
        raise ModelFileError("The table encoding has no columns, or two of the same name.")
    return {**{name: state[name] for name in expected}, "rules": rules}
