"""What is typical of each cluster: in the columns that tell it from the whole table, its usual values and all rows'.

How far a cluster stands out in a column is a number from 0 to 1: the largest difference of the two distribution
functions for numbers and dates (Kolmogorov-Smirnov), half the sum of the differences of shares for the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rdplearn._types import Doubles
from rdplearn.report.column_contents import ORDERED, column_contents, moment_words
from rdplearn.table import TableEncoder
from rdplearn.table.encoded_column import EncodedColumn
from rdplearn.table.typical import Typical

Ints = npt.NDArray[np.integer]

MIDDLE = (0.25, 0.75)  # half of a cluster's numbers lie between its typical ones
MOST_COLUMNS, MOST_VALUES = 6, 2
TELLING = 0.1  # a column in which a cluster is nearer than this to all rows tells nothing


def typical_of_clusters(
    rows: pa.Table, clusters: Ints, n_clusters: int, encoder: TableEncoder
) -> list[list[dict[str, Any]]]:
    """For each cluster its most telling columns: ``column``, ``typical``, ``overall``, ``distance`` from all rows."""
    telling: list[list[dict[str, Any]]] = [[] for _ in range(n_clusters)]
    for column in encoder.columns_:
        if column.is_left_out or column.kind == "text":
            continue
        for cluster, entry in enumerate(_compare(column, rows, clusters, n_clusters, encoder)):
            if entry is not None:
                telling[cluster].append(entry)
    ranked = [sorted(entries, key=lambda entry: -entry["distance"])[:MOST_COLUMNS] for entries in telling]
    return [[entry for entry in entries if entry["distance"] >= TELLING] for entries in ranked]


def _compare(
    column: EncodedColumn, rows: pa.Table, clusters: Ints, n_clusters: int, encoder: TableEncoder
) -> list[dict[str, Any] | None]:
    contents = column_contents(column, rows, encoder)
    inside = [clusters == cluster for cluster in range(n_clusters)]
    if column.kind in ORDERED:
        compared = [compare_numbers(contents, here) for here in inside]
        overall, words = _range_words(contents, column.kind), [_range_words(contents[h], column.kind) for h in inside]
    else:
        compared = [compare_texts(contents, here) for here in inside]
        overall, words = _value_words(contents), [_value_words(contents[here]) for here in inside]
    return [
        {"column": column.source, "typical": words[cluster], "overall": overall, "distance": distance}
        if words[cluster]
        else None
        for cluster, distance in enumerate(compared)
    ]


def compare_numbers(values: Doubles, of_cluster: npt.NDArray[np.bool_]) -> float:
    """Largest difference between the distribution functions of a cluster and of all rows.

    Examples
    --------
    >>> compare_numbers(np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, True, False, False]))
    0.5
    """
    known = np.sort(values[~np.isnan(values)])
    inside = np.sort(values[of_cluster & ~np.isnan(values)])
    if len(inside) == 0:
        return 0.0
    below = np.searchsorted(known, known, side="right") / len(known)
    below_inside = np.searchsorted(inside, known, side="right") / len(inside)
    return float(np.max(np.abs(below - below_inside)))


def compare_texts(texts: npt.NDArray[np.object_], of_cluster: npt.NDArray[np.bool_]) -> float:
    """Half the sum of the differences between the shares that values have in a cluster and in all rows.

    Examples
    --------
    >>> compare_texts(np.array(["a", "a", "b", "b"], dtype=object), np.array([True, True, False, False]))
    0.5
    """
    _, codes = np.unique(texts.astype(str), return_inverse=True)
    if not of_cluster.any():
        return 0.0
    everywhere = np.bincount(codes) / len(codes)
    inside = np.bincount(codes[of_cluster], minlength=len(everywhere)) / of_cluster.sum()
    return float(np.abs(everywhere - inside).sum() / 2)


def _range_words(values: Doubles, kind: str) -> str:
    known = values[~np.isnan(values)]
    if len(known) == 0:
        return ""
    low, high = (float(np.quantile(known, share)) for share in MIDDLE)
    if kind == "number":
        return Typical(low=low, high=high).words()
    return Typical(low=moment_words(low, kind), high=moment_words(high, kind)).words()


def _value_words(texts: npt.NDArray[np.object_]) -> str:
    if len(texts) == 0:
        return ""
    values, counts = np.unique(texts.astype(str), return_counts=True)
    top = np.argsort(-counts, kind="stable")[:MOST_VALUES]
    return Typical(values=values[top].tolist(), shares=(counts[top] / len(texts)).tolist()).words()
