"""One door for all reports: the findings of a model in a table, and the page about them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from rdplearn._feedback.reviewed import Reviewed
from rdplearn._files.atomic import checked_target
from rdplearn.clusterer import RDPClusterer
from rdplearn.detector import RDPDetector
from rdplearn.report.clusters import cluster_report
from rdplearn.report.detection import detection_report
from rdplearn.report.gathering import N_TOP
from rdplearn.report.page import write_page
from rdplearn.table_model import TableModel


def write_report(
    model: TableModel,
    table: Any,
    path: str | os.PathLike[str],
    *,
    ids: Sequence[str] = (),
    label: str | None = None,
    n_top: int = N_TOP,
) -> dict[str, Any]:
    """Write a page about a table: which of its rows are unusual and why, or how they fall into clusters.

    The page is one HTML file that any browser opens, without a network.

    Parameters
    ----------
    model : fitted `TableModel` of an `RDPDetector` or an `RDPClusterer`
    table : path, pandas, polars or Arrow table, or 2-D array
    path : of the page; an existing one is replaced when the new one is complete
    ids : columns that tell a reader which row it is; they head the list of rows
    label : column to compare with afterwards: 1 for anomalies and 0 for the rest, or classes for clusters
    n_top : how many of the highest rows are listed and explained

    Returns
    -------
    dict of plain values: all that the page shows

    Examples
    --------
    >>> import pyarrow as pa, rdplearn
    >>> from tempfile import mkdtemp
    >>> table = pa.table({"age": [31, 57, 44, 45, 44] * 40 + [250], "city": ["Oslo", "Rome", "Rome"] * 67})
    >>> detector = rdplearn.RDPDetector(n_members=2, n_rounds=1, n_steps=50, random_state=0)
    >>> model = rdplearn.TableModel(detector).fit(table)
    >>> found = rdplearn.write_report(model, table, mkdtemp() + "/report.html")
    >>> found["summary"][0][:36]
    'The table has 201 rows and 2 columns'
    """
    _require_reported(model)  # before the work, not after it
    checked_target(path)
    found = findings(model, table, ids=ids, label=label, n_top=n_top)
    write_page(found, path)
    return found


def findings(
    model: TableModel, table: Any, *, ids: Sequence[str] = (), label: str | None = None, n_top: int = N_TOP
) -> dict[str, Any]:
    """All that a report tells about a table, as plain values."""
    _require_reported(model)
    if isinstance(model.estimator, RDPClusterer):
        return cluster_report(model, table, ids=ids, label=label)
    return detection_report(model, table, ids=ids, label=label, n_top=n_top)


def _require_reported(model: Any) -> None:
    """See that a model is one that reports are about."""
    estimator = model.estimator if isinstance(model, TableModel) else model
    if isinstance(model, TableModel) and isinstance(estimator, RDPDetector | Reviewed | RDPClusterer):
        return
    raise TypeError(
        f"A report needs a TableModel of an RDPDetector or an RDPClusterer. Got {type(model).__name__}"
        f"{f' of {type(estimator).__name__}' if estimator is not model else ''} instead: "
        "TableModel(RDPDetector()).fit(table) makes one."
    )
