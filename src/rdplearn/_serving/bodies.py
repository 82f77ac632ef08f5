"""JSON records: the table's own columns, a JSON object for each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from pydantic_core import from_json

from rdplearn._serving.problems import bad_request, unusable_rows
from rdplearn.table.json_lines import written
from rdplearn.table.wording import shown

NUMBERS, TEXTS, TRUTHS, NOTHING = {int, float}, {str}, {bool}, type(None)
NO_NUMBERS = {"NaN", "Infinity", "-Infinity"}


def parse_json(body: bytes) -> Any:
    """What a body says; NaN and infinity are no JSON.

    Examples
    --------
    >>> parse_json(b'[{"age": 31}]')
    [{'age': 31}]
    >>> parse_json(b'[{"age": NaN}]')  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    rdplearn._serving.problems.ProblemError: The body is not JSON: ... Write null for a missing value.
    """
    try:
        return from_json(body, allow_inf_nan=False)
    except ValueError as fault:
        hint = " Write null for a missing value." if any(word.encode() in body for word in NO_NUMBERS) else ""
        raise bad_request(f"The body is not JSON: {str(fault)[:200]}.{hint}") from None


def read_records(body: bytes) -> pa.RecordBatch:
    """The rows of a list of JSON objects, all with the same keys.

    Examples
    --------
    >>> read_records(b'[{"age": 31, "city": "Oslo"}, {"age": null, "city": "Rome"}]').to_pylist()
    [{'age': 31.0, 'city': 'Oslo'}, {'age': nan, 'city': 'Rome'}]
    """
    records = parse_json(body)
    if isinstance(records, dict):
        raise bad_request("The body is one JSON object. Put it into a list: [{...}], an object for each row.")
    if not isinstance(records, list) or not all(type(record) is dict for record in records):
        raise bad_request("The body must be a list of JSON objects, one for each row: [{...}, {...}].")
    if not records:
        raise unusable_rows("There are no rows in the request. Send at least one.")
    names = list(records[0])
    keys = records[0].keys()
    for place, record in enumerate(records):
        if record.keys() != keys:
            raise unusable_rows(_different_keys(keys, record.keys(), place + 1))
    columns = [column_of([record[name] for record in records]) for name in names]
    return pa.RecordBatch.from_arrays(columns, names=names)


def column_of(cells: list[Any]) -> pa.Array:
    """JSON values as a column: numbers, texts or truth values; mixed ones as the texts that they are written as.

    Examples
    --------
    >>> column_of([1, "one", [1]]).to_pylist()
    ['1', 'one', '[1]']
    """
    kinds = set(map(type, cells)) - {NOTHING}
    if kinds and kinds <= NUMBERS:
        try:
            return pa.array(np.array(cells, dtype=np.float64))
        except OverflowError:  # a whole number with hundreds of digits
            pass
    if kinds == TRUTHS:
        return pa.array(cells, pa.bool_())
    texts = cells if kinds <= TEXTS else [written(cell) for cell in cells]
    try:
        return pa.array(texts, pa.string() if kinds else pa.null())
    except UnicodeEncodeError:
        raise bad_request("The body has half of a surrogate pair in a text. Write texts as valid Unicode.") from None


def _different_keys(first: Any, other: Any, row: int) -> str:
    missing, more = sorted(first - other), sorted(other - first)
    told = f"lacks {shown(missing[0])}" if missing else f"has {shown(more[0])} besides"
    return f"Row {row} of the request {told}. Give all rows the columns of the first; null is a missing value."
