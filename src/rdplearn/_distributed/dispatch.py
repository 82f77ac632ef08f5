"""Which function does on partitions what a method does on one machine."""

from __future__ import annotations

import os
from typing import Any

from rdplearn._distributed.client import Tasks, current_client
from rdplearn._distributed.few_rows import in_memory, worth_asking
from rdplearn._distributed.fitting import fit_detector, fit_features
from rdplearn._distributed.lazy_results import encoded_lazily, lazily
from rdplearn._distributed.parquet_parts import Dataset, open_dataset
from rdplearn._distributed.partitions import Collection, as_collection
from rdplearn._distributed.table_passes import fit_encoder, fit_table_model, partitioned_table
from rdplearn._types import TableColumns
from rdplearn.clusterer import RDPClusterer
from rdplearn.detector import RDPDetector
from rdplearn.errors import TableError
from rdplearn.table import TableEncoder
from rdplearn.table_model import TableModel

# What these make of a table is looked at by people, and needs few rows.
FOR_ROWS_IN_MEMORY = {
    "partial_fit": "the new rows, such as X.compute(), or fit again",
    "explain": "the rows to explain, such as X.loc[found].compute()",
    "asking": "the rows worth a look, such as X[model.decision_function(X) < 0].compute(), or call next",
    "assess": "a random sample of the rows, such as X.sample(frac=0.01, random_state=0).compute()",
}
ABOUT_FEW_ROWS = ("tell", "take_back", "mute")  # a person knows these rows, so that they are few


def on_partitions(owner: Any, method: str, X: Any, *arguments: Any, **named: Any) -> Any:
    """Do on a table in partitions what a method does: at once what is about few rows, and `fit`, all else lazily."""
    if method in FOR_ROWS_IN_MEMORY:
        raise TableError(
            f"The '{method}' method of {type(owner).__name__} takes rows in memory. Got a table in partitions "
            f"({type(X).__name__}): pass {FOR_ROWS_IN_MEMORY[method]}."
        )
    if method in ABOUT_FEW_ROWS:
        return getattr(owner, method)(in_memory(as_collection(X)), *arguments, **named)
    if method == "next":
        return worth_asking(owner, as_collection(X), *arguments, **named)
    if method == "fit":
        return fit(owner, X, Tasks(current_client()))
    if isinstance(owner, TableEncoder):
        return encoded_lazily(owner, as_collection(X))
    return lazily(owner, method, as_collection(X))


def fit(owner: Any, X: Any, tasks: Tasks) -> Any:
    """Fit an estimator, an encoder, or both, on the cluster."""
    if isinstance(owner, TableEncoder):
        return fit_encoder(owner, partitioned_table(as_table_source(X), tasks), tasks)
    if isinstance(owner, TableModel):
        table = partitioned_table(as_table_source(X), tasks)
        return fit_table_model(
            owner,
            table,
            tasks,
            lambda estimator, matrix, columns: fit_estimator(estimator, matrix, Tasks(tasks.client), columns),
        )
    collection = as_collection(X)
    fit_estimator(owner, collection, tasks)
    if isinstance(owner, RDPClusterer):
        owner.labels_ = owner.predict(collection)
    return owner


def fit_estimator(estimator: Any, collection: Collection, tasks: Tasks, columns: TableColumns | None = None) -> None:
    """Fit an estimator on a collection of numbers. columns : of the table that they are the encoding of."""
    if isinstance(estimator, RDPDetector):
        fit_detector(estimator, collection, tasks, columns)
    else:
        fit_features(estimator, collection, tasks)


def as_table_source(X: Any) -> Collection | Dataset:
    """A Dask collection, or the parts of a Parquet dataset, which workers read a batch at a time."""
    if isinstance(X, Dataset):
        return X
    return open_dataset(X) if isinstance(X, str | os.PathLike) else as_collection(X)
