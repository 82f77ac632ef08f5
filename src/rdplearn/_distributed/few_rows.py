"""The few rows of a table in partitions that a person looks at: those worth asking about, and those with answers."""

from __future__ import annotations

from typing import Any

import dask
from dask.delayed import delayed

from rdplearn._distributed.fitting import on_one_thread
from rdplearn._distributed.lazy_results import check_columns, in_order
from rdplearn._distributed.partitions import Collection, joined, partitions_of
from rdplearn._distributed.worker_memory import keep_freed_memory
from rdplearn._feedback.asking import check_wish
from rdplearn._types import Ints
from rdplearn.errors import TableError
from rdplearn.table_model import TableModel

MOST_FROM_A_PARTITION = 1_000  # rows that come here to be chosen from, besides those that have answers


def in_memory(collection: Collection) -> Any:
    """All rows of a collection."""
    return _stacked(dask.compute(*partitions_of(collection)))


def worth_asking(model: Any, collection: Collection, n: int = 1, *, strategy: str = "top") -> Any:
    """The rows that `next` proposes, the first the most worth it; each partition sends its best to be chosen from."""
    check_wish(n, strategy)
    if not isinstance(model, TableModel):
        check_columns(model, collection)
    answered = model.estimator.answers_ if isinstance(model, TableModel) else model.answers_
    n_from_each = max(MOST_FROM_A_PARTITION, n) + len(answered)
    shared = delayed(on_one_thread(model), pure=False, traverse=False)
    best = [
        delayed(best_rows, pure=False)(
            part, shared, n_from_each, strategy, dask_key_name=f"rdp-ask-part-{place}-{shared.key}"
        )
        for place, part in enumerate(partitions_of(collection))
    ]
    rows = _stacked(dask.compute(*best))
    return rows_at(rows, model.next(rows, n, strategy=strategy))


def best_rows(partition: Any, model: Any, n: int, strategy: str) -> Any:
    """The rows of one partition that are worth asking about, in their order."""
    if partition.shape[0] == 0:
        return partition
    keep_freed_memory()
    rows = in_order(partition, model)
    return rows_at(rows, model.asking(rows).best(n, strategy=strategy))


def rows_at(rows: Any, places: Ints) -> Any:
    """Rows of a frame or matrix by their places."""
    return rows.iloc[places] if hasattr(rows, "iloc") else rows[places]


def _stacked(parts: Any) -> Any:
    filled = [part for part in parts if part.shape[0]]
    if not filled:
        raise TableError("There are no rows in the table. Pass one with at least one row.")
    if not hasattr(filled[0], "iloc"):
        return joined(filled)
    import pandas as pd

    return pd.concat(filled)
