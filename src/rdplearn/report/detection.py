"""The findings of a detector in a table, as one plain dictionary: all that the page shows, and what `--json` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rdplearn._explain.explanation import Explanation
from rdplearn._results.scored import scored_rows
from rdplearn.errors import told_already
from rdplearn.report.charts import rarity
from rdplearn.report.evaluation_curves import describe_evaluation
from rdplearn.report.gathering import N_TOP, GatheredRows
from rdplearn.report.learned_map import place_on_map
from rdplearn.report.listing import list_rows, shown_columns
from rdplearn.report.making import describe_making, describe_table
from rdplearn.report.score_line import describe_scores
from rdplearn.report.summary import summarise_detection
from rdplearn.table import open_table
from rdplearn.table_model import TableModel

MOST_DRIVERS = 15


def detection_report(
    model: TableModel, table: Any, *, ids: Sequence[str] = (), label: str | None = None, n_top: int = N_TOP
) -> dict[str, Any]:
    """Score a table, explain the highest rows, and gather everything that a report tells about them.

    Parameters
    ----------
    model : fitted `TableModel` of an `RDPDetector`
    table : path, pandas, polars or Arrow table, or 2-D array
    ids : columns that tell a reader which row it is; they head the list of rows
    label : column with 1 for anomalies and 0 for the rest, to compare the scores with afterwards
    n_top : how many of the highest rows are listed and explained

    Returns
    -------
    dict of plain values, as JSON can have them

    Examples
    --------
    >>> import pyarrow as pa
    >>> from rdplearn import RDPDetector, TableModel
    >>> table = pa.table({"age": [31, 57, 44, 45, 44] * 40 + [250], "city": ["Oslo", "Rome", "Rome"] * 67})
    >>> model = TableModel(RDPDetector(n_members=2, n_rounds=1, n_steps=50, random_state=0)).fit(table)
    >>> found = detection_report(model, table)
    >>> found["rows"][0]["row"], found["rows"][0]["reasons"]["columns"][0]["column"]
    (201, 'age')
    """
    opened = open_table(table)
    gathered = GatheredRows(opened, label=label, n_top=n_top)
    for scored in scored_rows(model, opened):
        gathered.add(scored)
    return describe_detection(model, gathered, ids=ids)


def describe_detection(model: TableModel, gathered: GatheredRows, *, ids: Sequence[str] = ()) -> dict[str, Any]:
    """The same, of rows that were gathered while they were scored for another purpose."""
    table = describe_table(gathered.table, gathered.n_rows)
    scores, listed = gathered.scores(), gathered.listed()
    with told_already():
        explanation = model.explain(listed.rows.slice(0, listed.n_top))
        points = place_on_map(model.estimator, model.encoder.transform(listed.rows))
        sample = model.encoder.transform(gathered.sample().rows)
    assessment = model.estimator.assess(sample, n_rows=gathered.n_rows).to_dict()
    drivers = rank_drivers(explanation, scores[listed.places[: listed.n_top]] > -model.estimator.offset_)
    columns = shown_columns(gathered.table.column_names, ids, gathered.label, [driver["column"] for driver in drivers])
    found: dict[str, Any] = {
        "kind": "detection",
        "table": table,
        "scores": describe_scores(scores, -float(model.estimator.offset_)),
        "trust": {part: assessment[part] for part in ("stability", "alarms", "n_judged")},
        "drivers": drivers[:MOST_DRIVERS],
        "ids": list(ids),
        "shown_columns": columns,
        "n_explained": listed.n_top,
        "rows": list_rows(
            listed.rows,
            listed.places,
            scores[listed.places],
            points,
            rarity(scores)[listed.places],
            explanation,
            columns,
            model.encoder,
        ),
        **describe_making(model),
    }
    if gathered.evaluation is not None:
        found["evaluation"] = {"label": gathered.label, **describe_evaluation(gathered.evaluation)}
    return {"summary": summarise_detection(found), **found}


def rank_drivers(explanation: Explanation, reported: Any) -> list[dict[str, Any]]:
    """Each column's part of what raises the scores of the reported rows (or, if there are none, of the highest).

    The largest part comes first; ``n_rows`` counts the rows in which the column has the largest part.
    """
    contributions = explanation.contributions
    contributions = contributions.toarray() if hasattr(contributions, "toarray") else np.asarray(contributions)
    raising = np.maximum(contributions[reported] if np.any(reported) else contributions, 0.0)
    totals = raising.sum(axis=0)
    leading = np.bincount(np.argmax(raising, axis=1), minlength=len(totals))
    shares = totals / max(float(totals.sum()), np.finfo(np.float64).tiny)
    return [
        {
            "column": explanation.column_names[place],
            "share": float(shares[place]),
            "n_rows": int(leading[place]),
            "typical": explanation.typical[place].words(),
        }
        for place in np.argsort(-shares, kind="stable")
        if shares[place] > 0
    ]
