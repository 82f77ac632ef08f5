"""Results of tables in partitions: lazy collections, partition by partition, with the caller's index."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import numpy.typing as npt
from dask.delayed import delayed
from sklearn.utils.validation import check_is_fitted

from rdplearn._distributed.fitting import on_one_thread
from rdplearn._distributed.partitions import Collection, column_names_of, partitions_of
from rdplearn._distributed.worker_memory import keep_freed_memory
from rdplearn.errors import TableError
from rdplearn.table import TableEncoder
from rdplearn.table_model import TableModel

if TYPE_CHECKING:
    import pandas as pd

TASKS = {"predict": "rdp-predict-part", "transform": "rdp-embed-part"}


@dataclass(frozen=True)
class Method:
    """A method of a fitted model, to be applied to partitions.

    columns : names of the results if a row has several, else None
    """

    name: str
    columns: tuple[str, ...] | None
    dtype: npt.DTypeLike

    @property
    def task(self) -> str:
        """What the dashboard calls it."""
        return TASKS.get(self.name, "rdp-score-part")

    def __call__(self, partition: Any, model: Any) -> Any:
        """Results for the rows of a partition, which may be none."""
        if partition.shape[0] == 0:
            return self.empty(partition)
        keep_freed_memory()
        results = np.asarray(getattr(model, self.name)(in_order(partition, model)), dtype=self.dtype)
        return self._with_index(results, partition.index) if hasattr(partition, "columns") else results

    def empty(self, partition: Any) -> Any:
        """Results for no rows."""
        results = np.empty((0,) if self.columns is None else (0, len(self.columns)), dtype=self.dtype)
        return self._with_index(results, partition.index[:0]) if hasattr(partition, "columns") else results

    def _with_index(self, results: npt.NDArray[Any], index: pd.Index) -> pd.Series | pd.DataFrame:
        import pandas as pd

        if self.columns is None:
            return pd.Series(results, index=index, name=self.name)
        return pd.DataFrame(results, index=index, columns=list(self.columns))


def lazily(model: Any, name: str, collection: Collection) -> Collection:
    """What a method of a fitted estimator or `TableModel` says of each row: a lazy series, frame or array."""
    if isinstance(model, TableModel):
        method = method_of(model.estimator, name)
    else:
        check_columns(model, collection)
        method = method_of(model, name)
    token = uuid.uuid4().hex[:8]
    shared = delayed(on_one_thread(model), pure=False, traverse=False, name=f"rdp-model-{token}")
    if isinstance(collection, dd.DataFrame):
        return collection.map_partitions(method, shared, meta=method.empty(collection._meta), token=method.task)
    n_out = () if method.columns is None else (len(method.columns),)
    blocks = [
        da.from_delayed(
            delayed(method, pure=False)(partition, shared, dask_key_name=f"{method.task}-{place}-{token}"),
            shape=(n_rows, *n_out),
            dtype=method.dtype,
        )
        for place, (partition, n_rows) in enumerate(zip(partitions_of(collection), collection.chunks[0], strict=True))
    ]
    return da.concatenate(blocks, allow_unknown_chunksizes=True)


def encoded_lazily(encoder: TableEncoder, collection: Collection) -> da.Array:
    """The matrix of a table in partitions: as many chunks of rows as it has partitions."""
    token = uuid.uuid4().hex[:8]
    shared = delayed(encoder, pure=False, traverse=False, name=f"rdp-encoder-{token}")
    if isinstance(collection, dd.DataFrame):
        meta = encoder.transform(collection._meta)
        return collection.map_partitions(encode_partition, shared, meta=meta, token="rdp-encode-part")
    blocks = [
        da.from_delayed(
            delayed(encode_partition, pure=False)(partition, shared, dask_key_name=f"rdp-encode-part-{place}-{token}"),
            (n_rows, len(encoder.feature_names_)),
            dtype=np.float32,
        )
        for place, (partition, n_rows) in enumerate(zip(partitions_of(collection), collection.chunks[0], strict=True))
    ]
    return da.concatenate(blocks, allow_unknown_chunksizes=True)


def encode_partition(partition: Any, encoder: TableEncoder) -> Any:
    """The matrix of one partition."""
    return encoder.transform(partition)


def method_of(estimator: Any, name: str) -> Method:
    """How the results of a method look."""
    check_is_fitted(estimator)
    if name == "transform":
        return Method(name, tuple(estimator.get_feature_names_out()), np.float32)
    if name == "member_scores":
        n_members = len(estimator.combination_.weights)
        return Method(name, tuple(f"member{number}" for number in range(n_members)), np.float64)
    if name == "round_scores":
        return Method(name, tuple(f"round{number}" for number in range(estimator._n_kept_rounds())), np.float64)
    if name == "muted":
        return Method(name, None, object)
    of_groups = np.int32 if hasattr(estimator, "n_clusters") else np.int64
    return Method(name, None, of_groups if name == "predict" else np.float64)


def check_columns(estimator: Any, collection: Collection) -> None:
    """See before any work that the table has the columns of the fit, in whatever order."""
    check_is_fitted(estimator)
    n_columns, names = int(collection.shape[1]), column_names_of(collection)
    if n_columns != estimator.n_features_in_:
        raise TableError(
            f"X has {n_columns} columns, and {type(estimator).__name__} was fitted on {estimator.n_features_in_}. "
            "Pass a table with the same columns."
        )
    fitted = getattr(estimator, "feature_names_in_", None)
    if names is not None and fitted is not None and set(names) != set(fitted):
        absent = sorted(set(fitted) - set(names))[0]
        raise TableError(f"Column {absent!r} of the fit is missing from X. Pass a table with the same columns.")


def in_order(partition: Any, model: Any) -> Any:
    """A partition with its columns in the order of the fit, if that knew their names."""
    names = getattr(model, "feature_names_in_", None)
    return partition if names is None or not hasattr(partition, "columns") else partition[list(names)]
