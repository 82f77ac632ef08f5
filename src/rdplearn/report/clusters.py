"""The clusters of a table, as one plain dictionary: all that the page shows, and what `--json` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rdplearn._results.clustered import ClusterAgreement, ClusteredRows, clustered_rows
from rdplearn.errors import told_already
from rdplearn.report.cluster_values import typical_of_clusters
from rdplearn.report.gathering import SEED, evenly
from rdplearn.report.learned_map import place_on_map
from rdplearn.report.listing import cell_values, shortened, shown_columns
from rdplearn.report.making import describe_making, describe_table
from rdplearn.report.summary import summarise_clusters
from rdplearn.report.verdict import verdict_on_clusters
from rdplearn.table import RowSample, RowSampler, Table, open_table
from rdplearn.table_model import TableModel

N_SAMPLED, N_DRAWN = 10_000, 1_500


class GatheredClusters:
    """Takes in rows with their clusters, and keeps what a report needs: all clusters, and a uniform sample of the rows.

    Parameters
    ----------
    table : the table that is being clustered
    label : column of classes to compare with, if any
    """

    def __init__(self, table: Table, *, label: str | None = None) -> None:
        self.table, self.label = table, label
        self.n_rows = 0
        self.agreement = ClusterAgreement(label, table.name) if label is not None else None
        self._clusters: list[npt.NDArray[np.int32]] = []
        self._sampler = RowSampler(N_SAMPLED, seed=SEED)

    def add(self, clustered: ClusteredRows) -> None:
        """Take in the next rows."""
        self._clusters.append(clustered.clusters)
        self._sampler.add(clustered.rows)
        if self.agreement is not None:
            self.agreement.add(clustered)
        self.n_rows += len(clustered.clusters)

    def clusters(self) -> npt.NDArray[np.int32]:
        """The clusters of all rows, in the order of the table."""
        return np.concatenate(self._clusters)

    def sample(self) -> RowSample:
        """The sampled rows."""
        return self._sampler.sample()


def cluster_report(
    model: TableModel, table: Any, *, ids: Sequence[str] = (), label: str | None = None
) -> dict[str, Any]:
    """Cluster a table and gather everything that a report tells about its clusters, as `detection_report` does.

    Parameters
    ----------
    model : fitted `TableModel` of an `RDPClusterer`
    label : column of classes, to compare the clusters with afterwards

    Examples
    --------
    >>> import pyarrow as pa
    >>> from rdplearn import RDPClusterer, TableModel
    >>> table = pa.table({"age": [20 + n % 5 + 40 * (n % 2) for n in range(200)]})
    >>> model = TableModel(RDPClusterer(2, random_state=0)).fit(table)
    >>> [cluster["n_rows"] for cluster in cluster_report(model, table)["clusters"]]
    [100, 100]
    """
    opened = open_table(table)
    gathered = GatheredClusters(opened, label=label)
    for clustered in clustered_rows(model, opened):
        gathered.add(clustered)
    return describe_clusters(model, gathered, ids=ids)


def describe_clusters(model: TableModel, gathered: GatheredClusters, *, ids: Sequence[str] = ()) -> dict[str, Any]:
    """Like `cluster_report`, for rows that were gathered while they were clustered for another purpose."""
    table = describe_table(gathered.table, gathered.n_rows)
    n_clusters = model.estimator.n_clusters
    clusters, sample = gathered.clusters(), gathered.sample()
    sizes = np.bincount(clusters, minlength=n_clusters)
    typical = typical_of_clusters(sample.rows, clusters[sample.places], n_clusters, model.encoder)
    few = evenly(np.arange(len(sample.places)), N_DRAWN)
    drawn, places = sample.rows.take(few), sample.places[few]
    with told_already():
        points = place_on_map(model.estimator, model.encoder.transform(drawn))
        trust = model.assess(sample.rows, n_rows=gathered.n_rows).to_dict()
    columns = shown_columns(gathered.table.column_names, ids, gathered.label, drivers=[])
    values = [cell_values(drawn.column(name), name, model.encoder) for name in columns]
    found: dict[str, Any] = {
        "kind": "clusters",
        "table": table,
        "verdict": verdict_on_clusters(trust),
        "trust": trust,
        "clusters": [
            {
                "cluster": cluster,
                "n_rows": int(sizes[cluster]),
                "share": float(sizes[cluster] / gathered.n_rows),
                "typical": typical[cluster],
            }
            for cluster in range(n_clusters)
        ],
        "ids": list(ids),
        "shown_columns": columns,
        "rows": [
            {
                "row": int(places[number]) + 1,
                "cluster": int(clusters[places[number]]),
                "x": shortened(float(points[number, 0])),
                "y": shortened(float(points[number, 1])),
                "values": [of_column[number] for of_column in values],
            }
            for number in range(len(places))
        ],
        **describe_making(model),
    }
    if gathered.agreement is not None:
        found["evaluation"] = {"label": gathered.label, **gathered.agreement.figures()}
    return {"summary": summarise_clusters(found), **found}
