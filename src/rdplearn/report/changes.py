"""The findings of `watch` as one plain dictionary, for its page."""

from __future__ import annotations

from typing import Any

from rdplearn._watch.verdict import Verdict
from rdplearn.report.making import describe_making, short_name
from rdplearn.table_model import TableModel

MOST_DRAWN, MOST_LISTED = 12, 200


def changes_report(model: TableModel, verdict: Verdict) -> dict[str, Any]:
    """Gather what a page tells about the changes that `watch` found, as plain values; `write_page` makes the page.

    Parameters
    ----------
    model : the fitted `TableModel` that was watched
    verdict : as `rdplearn.watch` gives it

    Examples
    --------
    >>> import pyarrow as pa
    >>> from rdplearn import RDPDetector, TableModel, watch
    >>> table = pa.table({"age": [31, 57, 44, 45, 44] * 40, "city": ["Oslo", "Rome"] * 100})
    >>> model = TableModel(RDPDetector(n_members=2, n_rounds=1, n_steps=50, random_state=0)).fit(table)
    >>> changes_report(model, watch(model, table))["verdict"]["words"]
    'No refit is due: nothing has changed by much in 200 rows.'
    """
    found = verdict.to_dict()
    changes = found["changes"]
    drawn = [change for change in changes if change["places"] and any(change["now"])]
    return {
        "kind": "changes",
        "summary": found["summary"][1:],
        "verdict": {
            "level": "poor" if verdict.due else "good",
            "title": "The model does not fit this table any more" if verdict.due else "The model fits this table",
            "words": verdict.headline(),
        },
        "table": {"name": short_name(verdict.table), "n_rows": verdict.n_rows, "n_columns": len(found["columns"])},
        "changes": {
            **{name: found[name] for name in ("due", "level", "n_rows", "n_remembered")},
            "drawn": drawn[:MOST_DRAWN],
            "listed": changes[:MOST_LISTED],
            "n_unlisted": max(len(changes) - MOST_LISTED, 0),
        },
        **describe_making(model),
    }
