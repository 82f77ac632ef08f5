"""A Parquet dataset as parts: the files of a folder, or those that a pattern matches, in the order of their names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask.dataframe as dd
import pyarrow as pa

from rdplearn.errors import TableError
from rdplearn.table import Table, open_table

if TYPE_CHECKING:
    import pandas as pd

ENDINGS = (".parquet", ".pq")


@dataclass(frozen=True)
class Part:
    """One file of a dataset.

    name : its path below the folder of the dataset
    n_rows : in the file; first_row : how many rows come before it in the dataset
    stamp : size and time of the file when its rows were counted
    """

    path: str
    name: str
    n_rows: int
    first_row: int
    stamp: tuple[int, int] | None = None

    def open(self) -> Table:
        """The part as a table that is read a batch at a time."""
        return open_table(self.path, format="parquet")

    def changed(self) -> TableError:
        """What to say when the file is not the one any more whose rows were counted."""
        return TableError(
            f"'{self.path}' has changed since its {self.n_rows:,} rows were counted. Repeat the command when nothing "
            "writes to the table any more."
        )


@dataclass(frozen=True)
class Dataset:
    """The parts of a dataset, with all its column names."""

    name: str
    parts: list[Part]
    column_names: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        """Rows of all parts."""
        return sum(part.n_rows for part in self.parts)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All rows, one part after the other, on this machine."""
        for part in self.parts:
            yield from part.open().batches()


def open_dataset(where: str | os.PathLike[str]) -> Dataset:
    """Find the parts of a dataset and count their rows, which takes their last bytes alone.

    Parameters
    ----------
    where : a folder, searched to its depth, or a pattern such as ``sales/2024-*.parquet``
    """
    paths, base = find_parts(os.fspath(where))
    parts: list[Part] = []
    names: tuple[str, ...] | None = None
    first_row = 0
    for path in paths:
        stamp = stamp_of(path)
        n_rows, columns = look_at_footer(path)
        if names is not None and set(columns) != set(names):
            differing = sorted(set(columns) ^ set(names))[0]
            raise TableError(
                f"Column {differing!r} is in some parts of '{where}' and not in others (first: '{path}'). Give all "
                "parts the same columns."
            )
        names = names or columns
        parts.append(Part(path, os.path.relpath(path, base), n_rows, first_row, stamp))
        first_row += n_rows
    return Dataset(repr(os.fspath(where)), parts, names or ())


def find_parts(where: str) -> tuple[list[str], str]:
    """The files of a dataset, and the folder that all of them are in.

    Files and folders whose names begin with a dot or an underscore are not part of a dataset, as elsewhere.
    """
    if os.path.isdir(where):
        found = [
            os.path.join(folder, file)
            for folder, below, files in os.walk(where)
            if not (below.sort() or is_hidden(os.path.relpath(folder, where)))
            for file in files
            if file.endswith(ENDINGS) and not is_hidden(file)
        ]
        base = where
    elif has_magic(where):
        found = [path for path in glob(where, recursive=True) if os.path.isfile(path)]
        base = os.path.commonpath([os.path.dirname(path) or "." for path in found]) if found else "."
    else:
        found, base = ([where] if os.path.isfile(where) else []), os.path.dirname(where) or "."
    if not found:
        raise TableError(f"There are no Parquet files at '{where}'. Pass a folder with some, or a pattern in quotes.")
    return sorted(set(found)), base


def stamp_of(path: str) -> tuple[int, int] | None:
    """Size and time of a file; None if there is none."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_size, status.st_mtime_ns


def look_at_footer(path: str) -> tuple[int, tuple[str, ...]]:
    """How many rows and which columns a Parquet file has."""
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(path)
    except (OSError, pa.ArrowException) as fault:
        raise TableError(f"Cannot read '{path}': {' '.join(str(fault).split())[:200]}.") from None
    return metadata.num_rows, tuple(metadata.schema.to_arrow_schema().names)


def dataset_frame(source: Any) -> dd.DataFrame:
    """A Parquet dataset as a lazy data frame, a partition for each file: an Arrow dataset, a folder, or a pattern."""
    if isinstance(source, str | os.PathLike):
        dataset = open_dataset(source)
        return _frame_of([part.path for part in dataset.parts], list(dataset.column_names))
    fragments = list(source.get_fragments())
    if not fragments:
        raise TableError("There are no files in the dataset. Pass one with at least one.")
    return _frame_of([fragment.path for fragment in fragments], list(source.schema.names))


def _frame_of(paths: Sequence[str], columns: list[str]) -> dd.DataFrame:
    frame: dd.DataFrame = dd.from_map(read_frame, list(paths), columns=columns, meta=read_frame(paths[0], columns, 0))
    return frame


def read_frame(path: str, columns: list[str], n_rows: int | None = None) -> pd.DataFrame:
    """The rows of one Parquet file, its columns in the given order."""
    import pyarrow.parquet as pq

    if n_rows == 0:
        return pq.read_schema(path).empty_table().select(columns).to_pandas()
    return pq.read_table(path, columns=columns, partitioning=None).select(columns).to_pandas()


def is_hidden(path: str) -> bool:
    """Whether those who read folders of Parquet files pass over a file at this place below the folder."""
    return any(name.startswith(("_", ".")) and name not in (".", "..") for name in Path(path).parts)
