"""Rows with their clusters, batch by batch: as they are written, the most typical of each, how they agree with labels.

Labels are looked at after the clusters are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rdplearn._results.batches import RowsWithResults, numbered_results
from rdplearn._results.formats import ROW, as_json_rows, numbered_rows
from rdplearn._results.labels import ClassCodes
from rdplearn.table import Table
from rdplearn.table_model import TableModel

CLUSTER, DISTANCE = "cluster", "distance"


@dataclass(frozen=True)
class ClusteredRows(RowsWithResults):
    """Rows with their clusters, and the distance of each to its centre."""

    clusters: npt.NDArray[np.int32]
    distances: npt.NDArray[np.float32]
    n_clusters: int

    def columns(self) -> Mapping[str, npt.NDArray[Any]]:
        """Cluster, and distance to the centre."""
        return {CLUSTER: self.clusters, DISTANCE: self.distances}

    def tally(self) -> list[int]:
        """How many rows are in each cluster."""
        counts: list[int] = np.bincount(self.clusters, minlength=self.n_clusters).tolist()
        return counts


def clustered_rows(model: TableModel, table: Table, *, skip_rows: int = 0) -> Iterator[ClusteredRows]:
    """Give each row of a table of any size its cluster; batches are the same on every pass."""
    for rows, first_row, distances in numbered_results(model, table, model.estimator.transform, skip_rows):
        nearest = np.argmin(distances, axis=1).astype(np.int32)
        yield ClusteredRows(rows, first_row, nearest, distances.min(axis=1), distances.shape[1])


class CentralRows:
    """Keeps the row that is nearest to the centre of each cluster; of equal ones the first.

    Examples
    --------
    >>> import pyarrow as pa
    >>> central = CentralRows(["age"])
    >>> rows = pa.record_batch({"age": [31, 32, 80]})
    >>> central.add(ClusteredRows(rows, 1, np.array([0, 0, 1]), np.array([0.5, 0.1, 0.0]), 2))
    >>> central.as_dicts()
    {0: {'row': 2, 'age': 32}, 1: {'row': 3, 'age': 80}}
    """

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = [name for name in columns if name not in (ROW, CLUSTER, DISTANCE)]
        self._nearest: dict[int, tuple[float, dict[str, Any]]] = {}

    def add(self, clustered: ClusteredRows) -> None:
        """Take in the next rows."""
        for cluster in np.unique(clustered.clusters).tolist():
            places = np.flatnonzero(clustered.clusters == cluster)
            place = int(places[np.argmin(clustered.distances[places])])
            distance = float(clustered.distances[place])
            if distance < self._nearest.get(cluster, (np.inf, {}))[0]:
                row = numbered_rows(clustered.rows.slice(place, 1), clustered.first_row + place, self.columns, {})
                self._nearest[cluster] = distance, as_json_rows(row)[0]

    def merge(self, later: CentralRows) -> None:
        """Take in what was kept of rows that follow."""
        for cluster, (distance, row) in later._nearest.items():
            if distance < self._nearest.get(cluster, (np.inf, {}))[0]:
                self._nearest[cluster] = distance, row

    def as_dicts(self) -> dict[int, dict[str, Any]]:
        """For each cluster that has rows, its most central one."""
        return {cluster: self._nearest[cluster][1] for cluster in sorted(self._nearest)}


class ClusterAgreement:
    """Compares clusters with a column of classes, empty where unknown.

    Exact figures need all clusters: 8 bytes of memory for each labelled row.
    """

    def __init__(self, label: str, table: str) -> None:
        self._classes = ClassCodes(label, table)
        self._codes: list[npt.NDArray[np.int32]] = []
        self._clusters: list[npt.NDArray[np.int32]] = []

    def add(self, clustered: ClusteredRows) -> None:
        """Take in the next rows."""
        codes, known = self._classes.read(clustered.rows)
        self._codes.append(codes[known])
        self._clusters.append(clustered.clusters[known])

    def figures(self) -> Mapping[str, float]:
        """The scores of `rdplearn.evaluation.clustering_scores`, with the numbers of rows and classes behind them."""
        from rdplearn.evaluation import clustering_scores

        self._classes.require_two()
        codes = np.concatenate(self._codes)
        scores = clustering_scores(codes, np.concatenate(self._clusters))
        return {"n_labelled": len(codes), "n_classes": len(self._classes), **scores}
