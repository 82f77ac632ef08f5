"""A table of numbers in partitions: what a first look at each says of the whole, and rows drawn from all of them.

Rows are counted through all partitions, in their order, so that a number means the same row wherever it lies, and
drawing row numbers uniformly is fair whatever the sizes of partitions. Only drawn rows travel, and between workers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import dask.array as da
import dask.dataframe as dd
import numpy as np
import scipy.sparse as sp
from dask.delayed import Delayed
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from rdplearn._distributed.client import Tasks
from rdplearn._distributed.parquet_parts import dataset_frame
from rdplearn._training.flops import Filling
from rdplearn._types import Doubles, Ints, Matrix
from rdplearn._views.matrix import canonical_csr, check_finite, frame_values, is_frame, text_checked
from rdplearn._views.minmax import MinMaxView, column_ranges, min_max_view, zero_counts
from rdplearn.errors import TableError

Collection: TypeAlias = Any  # a Dask data frame or array, which have no types


def as_collection(X: Any) -> Collection:
    """A Dask data frame or array of whatever is in partitions."""
    if isinstance(X, dd.DataFrame):
        return X
    if not isinstance(X, da.Array):
        if type(X).__module__.split(".")[0] == "dask":
            raise TableError(f"A table has rows and columns. Got a Dask {type(X).__name__}; pass a frame or array.")
        return dataset_frame(X)
    if X.ndim != 2:
        raise TableError(f"A table has rows and columns. Got an array with {X.ndim} dimensions; pass one with 2.")
    return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X


def partitions_of(collection: Collection) -> list[Delayed]:
    """A task for each partition."""
    tasks = collection.to_delayed()
    return list(tasks[:, 0] if isinstance(collection, da.Array) else tasks)


def column_names_of(collection: Collection) -> list[Any] | None:
    """The names of the columns; an array has none."""
    return None if isinstance(collection, da.Array) else list(collection.columns)


def read_partition(partition: Any, names: Sequence[Any] | None, n_columns: int, place: int) -> Matrix:
    """One partition as a matrix, its columns in the order of the whole table; complaints say which it is."""
    if partition.shape[0] == 0:
        return np.empty((0, n_columns))
    try:
        if names is not None:
            absent = [name for name in names if name not in partition.columns]
            if absent:
                raise TableError(f"Column {absent[0]!r} is missing. Give all partitions the same columns.")
            partition = partition[list(names)]
        values = frame_values(partition) if is_frame(partition) else text_checked(partition)
        matrix = check_array(values, accept_sparse=["csr", "csc"], dtype="numeric", ensure_all_finite=False)
        matrix = canonical_csr(matrix) if sp.issparse(matrix) else matrix
        check_finite(matrix, None if names is None else [str(name) for name in names])
    except ValueError as fault:
        raise TableError(f"In partition {place}, whose rows count from 0: {fault}") from None
    return matrix


@dataclass(frozen=True)
class Look:
    """What a first look at a partition finds.

    low, high, n_zeros : (n_columns,), of every column
    """

    n_rows: int
    low: Doubles
    high: Doubles
    n_zeros: Ints
    n_stored: int
    is_sparse: bool


def look_at_partition(partition: Any, names: Sequence[Any] | None, n_columns: int, place: int) -> Look:
    """See that a partition can be used, and what is in it."""
    matrix = read_partition(partition, names, n_columns, place)
    if matrix.shape[1] != n_columns:
        raise TableError(f"Partition {place} has {matrix.shape[1]} columns, and the table has {n_columns}.")
    if matrix.shape[0] == 0:
        none = np.zeros(n_columns, dtype=np.int64)
        return Look(0, np.full(n_columns, np.inf), np.full(n_columns, -np.inf), none, 0, is_sparse=False)
    low, high = column_ranges(matrix)
    n_stored = matrix.nnz if sp.issparse(matrix) else matrix.size
    return Look(
        matrix.shape[0], low, high, zero_counts(matrix, np.ones(n_columns, dtype=bool)), n_stored, sp.issparse(matrix)
    )


def take_from_partition(
    partition: Any, names: Sequence[Any] | None, n_columns: int, place: int, wanted: Mapping[str, Ints]
) -> dict[str, Matrix]:
    """Rows of a partition, for each purpose those that are wanted."""
    matrix = read_partition(partition, names, n_columns, place)
    return {purpose: matrix[rows] for purpose, rows in wanted.items()}


def pick(taken: Mapping[str, Matrix], purpose: str) -> Matrix:
    """The rows for one purpose."""
    return taken[purpose]


def joined(pieces: Sequence[Matrix]) -> Matrix:
    """Rows from several partitions, one after the other."""
    if len(pieces) == 1:
        return pieces[0]
    return sp.csr_array(sp.vstack(pieces, format="csr")) if sp.issparse(pieces[0]) else np.concatenate(pieces)


class PartitionedMatrix:
    """A matrix whose rows lie in partitions on a cluster; `look` has been at all of them.

    ends : (n_partitions,), how many rows there are up to the end of each
    """

    def __init__(self, collection: Collection, tasks: Tasks) -> None:
        self.tasks = tasks
        self.partitions = partitions_of(collection)
        self.names, self.n_columns = column_names_of(collection), int(collection.shape[1])
        if self.n_columns == 0:
            raise TableError("The table has no columns. Pass at least one numeric column.")
        self.example = None if isinstance(collection, da.Array) else collection._meta
        self.looks: list[Look] = self._look()
        self.ends = np.cumsum([look.n_rows for look in self.looks])
        self.n_rows = int(self.ends[-1])

    @property
    def low(self) -> Doubles:
        """Smallest value of every column."""
        return np.min([look.low for look in self.looks], axis=0)

    @property
    def high(self) -> Doubles:
        """Largest value of every column."""
        return np.max([look.high for look in self.looks], axis=0)

    @property
    def is_constant(self) -> bool:
        """Whether all rows are equal."""
        return bool(np.all(self.low == self.high))

    def introduce(self, estimator: BaseEstimator, *, min_rows: int) -> None:
        """Give the estimator the names and number of the columns, as a matrix on one machine would."""
        if self.n_rows < min_rows:
            owner = type(estimator).__name__
            raise TableError(f"The table has {self.n_rows} row(s), and {owner} needs {min_rows} at least.")
        example = np.empty((1, self.n_columns)) if self.example is None else self.example
        validate_data(estimator, example, reset=True, skip_check_array=True)

    def min_max(self) -> MinMaxView:
        """The paper's view, of the ranges of all rows."""
        n_zeros = np.sum([look.n_zeros for look in self.looks], axis=0)
        return min_max_view(self.low, self.high, n_zeros, self.n_rows)

    def filling(self) -> Filling:
        """How full the rows are."""
        is_sparse = any(look.is_sparse for look in self.looks)
        n_stored = sum(look.n_stored for look in self.looks)
        return Filling(n_stored / self.n_rows if is_sparse else self.n_columns, self.n_columns, is_sparse)

    def draw(self, wanted: Mapping[str, Ints]) -> dict[str, list[Delayed]]:
        """Tasks for rows: for each purpose those of the given numbers, ascending, in pieces to be `joined`."""
        starts = self.ends - [look.n_rows for look in self.looks]
        bounds = {purpose: np.searchsorted(rows, [*starts, self.n_rows]) for purpose, rows in wanted.items()}
        pieces: dict[str, list[Delayed]] = {purpose: [] for purpose in wanted}
        for place, partition in enumerate(self.partitions):
            here = {
                purpose: rows[bounds[purpose][place] : bounds[purpose][place + 1]] - starts[place]
                for purpose, rows in wanted.items()
                if bounds[purpose][place] < bounds[purpose][place + 1]
            }
            if not here:
                continue
            taken = self._on_partition("rdp-draw-rows", take_from_partition, place, partition, here)
            for number, purpose in enumerate(here):
                pieces[purpose].append(self.tasks.named(f"rdp-pick-rows-{place}-{number}", pick, taken, purpose))
        return pieces

    def _look(self) -> list[Look]:
        looks = [
            self._on_partition("rdp-look-part", look_at_partition, place, partition)
            for place, partition in enumerate(self.partitions)
        ]
        return self.tasks.results(self.tasks.start(looks))

    def _on_partition(self, name: str, function: Any, place: int, partition: Delayed, *more: Any) -> Delayed:
        return self.tasks.named(f"{name}-{place}", function, partition, self.names, self.n_columns, place, *more)
