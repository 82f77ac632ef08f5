"""The findings of a detector in a table, as one plain dictionary: all that the page shows, and what `--json` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rdplearn._explain.explanation import Explanation
from rdplearn._results.scored import scored_rows
from rdplearn._types import Doubles, dense
from rdplearn.errors import told_already
from rdplearn.report.evaluation_curves import describe_evaluation
from rdplearn.report.gathering import N_TOP, GatheredRows
from rdplearn.report.learned_map import place_on_map
from rdplearn.report.listing import list_rows, shown_columns
from rdplearn.report.making import describe_making, describe_table
from rdplearn.report.score_line import describe_scores
from rdplearn.report.spreads import ColumnSpreads
from rdplearn.report.summary import summarise_detection
from rdplearn.report.verdict import verdict_on_ranking
from rdplearn.table import open_table
from rdplearn.table_model import TableModel, threshold_of

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
    """Like `detection_report`, for rows that were gathered while they were scored for another purpose."""
    table = describe_table(gathered.table, gathered.n_rows)
    scores, listed, sample = gathered.scores(), gathered.listed(), gathered.sample().rows
    described = describe_scores(scores, threshold_of(model.estimator))
    n_alarms = min(described["n_reported"], gathered.n_kept)
    with told_already():
        explanation = model.explain(gathered.highest(max(n_alarms, listed.n_top)))
        points = place_on_map(model.estimator, model.encoder.transform(listed.rows))
        assessment = model.estimator.assess(model.encoder.transform(sample), n_rows=gathered.n_rows).to_dict()
    reasons = explanation.of_rows(np.arange(listed.n_top))
    drivers = rank_drivers(explanation.of_rows(np.arange(n_alarms)) if n_alarms else reasons)
    columns = shown_columns(gathered.table.column_names, ids, gathered.label, [driver["column"] for driver in drivers])
    spreads = ColumnSpreads(sample, model.encoder, explanation.column_names)
    rows = list_rows(listed, scores, points, reasons, columns, spreads)
    found: dict[str, Any] = {
        "kind": "detection",
        "table": table | {"columns": listed.rows.column_names},
        "verdict": verdict_on_ranking(assessment["stability"], gathered.n_rows),
        "scores": described,
        "trust": {part: assessment[part] for part in ("stability", "alarms", "n_judged")},
        "n_alarms_explained": n_alarms,
        "kinds": describe_kinds(explanation.of_rows(np.arange(n_alarms)), scores) if n_alarms else [],
        "drivers": drivers[:MOST_DRIVERS],
        "ids": list(ids),
        "shown_columns": columns,
        "n_explained": listed.n_top,
        "rows": rows,
        "spreads": {"n_rows": sample.num_rows, "columns": spreads.as_dict(named_columns(rows))},
        **describe_making(model),
    }
    if gathered.evaluation is not None:
        found["evaluation"] = {"label": gathered.label, **describe_evaluation(gathered.evaluation)}
    return {"summary": summarise_detection(found), **found}


def describe_kinds(alarms: Explanation, scores: Doubles) -> list[dict[str, Any]]:
    """The kinds of anomalies among explained rows, which are those with the highest scores, the highest first."""
    numbers = np.argsort(-scores, kind="stable")[: len(alarms)] + 1
    return [kind.to_dict(numbers.tolist()) for kind in alarms.kinds()]


def named_columns(rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """The columns that the reasons of rows name."""
    return {column["column"] for row in rows if row["reasons"] for column in row["reasons"]["columns"]}


def rank_drivers(explanation: Explanation) -> list[dict[str, Any]]:
    """Each column's part of what raises the scores of the explained rows.

    The largest part comes first; ``n_rows`` counts the rows in which the column has the largest part.
    """
    contributions = dense(explanation.contributions)
    shares = explanation.column_shares()
    leading = np.bincount(np.argmax(contributions, axis=1), minlength=len(shares))
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
