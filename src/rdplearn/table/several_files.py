"""Several files with the same columns as one table, one after the other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from glob import glob, has_magic
from typing import TYPE_CHECKING, Any

from rdplearn.errors import TableError
from rdplearn.table.wording import shown

if TYPE_CHECKING:
    import pyarrow as pa


def files_of(source: Any) -> list[str] | None:
    """The files that a pattern or a list of paths and patterns names, each once; None for anything else.

    A pattern's files come in the order of their names. The name of a file that is there is never a pattern.
    """
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        return _matching(path) if has_magic(path) and not os.path.exists(path) else None
    if not isinstance(source, list | tuple) or not source or not all(isinstance(p, str | os.PathLike) for p in source):
        return None
    files = list(dict.fromkeys(file for path in source for file in files_of(path) or [os.fspath(path)]))
    if len(files) > 1 and "-" in files:
        raise TableError("Standard input (-) is a table by itself. Leave out the other files, or write it to a file.")
    return files


def _matching(pattern: str) -> list[str]:
    found = sorted(path for path in glob(pattern, recursive=True) if os.path.isfile(path))
    if not found:
        raise TableError(f"No file matches {pattern!r}. Pass a pattern that does, in quotes.")
    return found


def require_same_columns(first: str, names: Sequence[str], other: str, others: Sequence[str]) -> None:
    """See that two files have the same columns, in whatever order.

    Examples
    --------
    >>> require_same_columns("'a.csv'", ["age", "city"], "'b.csv'", ["city", "town"])
    Traceback (most recent call last):
    rdplearn.errors.TableError: 'b.csv' lacks column 'age', which 'a.csv' has. Pass files with the same columns.
    """
    lacking = [name for name in names if name not in set(others)]
    surplus = [name for name in others if name not in set(names)]
    if lacking or surplus:
        who, whose, column = (other, first, lacking[0]) if lacking else (first, other, surplus[0])
        raise TableError(f"{who} lacks column {shown(column)}, which {whose} has. Pass files with the same columns.")


def one_after_the_other(
    reads: Sequence[Callable[[], Iterator[pa.RecordBatch]]], files: Sequence[str], columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """The rows of all files, with the columns in the order and of the types that the first has."""
    schema: pa.Schema | None = None
    for read, file in zip(reads, files, strict=True):
        for batch in read():
            chosen = batch.select(list(columns))
            schema = chosen.schema if schema is None else schema
            yield chosen if chosen.schema.equals(schema) else _in_types_of(schema, chosen, file, files[0])


def _in_types_of(schema: pa.Schema, batch: pa.RecordBatch, file: str, first: str) -> pa.RecordBatch:
    import pyarrow as pa

    columns = []
    for field, cells in zip(schema, batch.columns, strict=True):
        try:
            columns.append(cells.cast(field.type))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise TableError(
                f"Column {shown(field.name)} is {cells.type} in {file} and {field.type} in {first}. Write it with one "
                "type, or pass the files one by one."
            ) from None
    return pa.RecordBatch.from_arrays(columns, schema=schema)
