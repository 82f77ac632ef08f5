"""The charts of a report, by name, from its plain dictionary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rdplearn.report import charts
from rdplearn.report.charts import Chart, figure_of, plain, short
from rdplearn.table.typical import value_words

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST_HOVERED = 4


def figures(found: Mapping[str, Any]) -> dict[str, go.Figure]:
    """The charts of the page as Plotly figures, for notebooks.

    Parameters
    ----------
    found : as `detection_report` or `cluster_report` gives it, or as it was read from JSON

    Returns
    -------
    dict from ``map``, ``scores``, ``training``, ``roc``, ``precision_recall`` and ``sizes``, as far as they apply
    """
    return {name: figure_of(chart) for name, chart in report_charts(found).items()}


def report_charts(found: Mapping[str, Any]) -> dict[str, Chart]:
    """The same as plain values."""
    drawn = {"map": _map(found)} if "rows" in found else {}
    for number, change in enumerate(found.get("changes", {}).get("drawn", [])):
        drawn[f"change-{number}"] = charts.two_distributions(change["places"], change["at_fit"], change["now"])
    if "scores" in found:
        histogram = found["scores"]["histogram"]
        drawn["scores"] = charts.score_distribution(
            histogram["edges"], histogram["counts"], found["scores"]["threshold"]
        )
    if "clusters" in found:
        drawn["sizes"] = charts.cluster_sizes([cluster["n_rows"] for cluster in found["clusters"]])
    if found["training"]:
        drawn["training"] = charts.training_curves(found["training"])
    evaluation = found.get("evaluation", {})
    if "roc" in evaluation:
        drawn["roc"] = charts.roc_curve(**evaluation["roc"], area=evaluation["auc_roc"])
        share = evaluation["n_anomalies"] / evaluation["n_labelled"]
        drawn["precision_recall"] = charts.precision_recall_curve(
            **evaluation["precision_recall"], area=evaluation["auc_pr"], share_of_anomalies=share
        )
    return drawn


def map_order(found: Mapping[str, Any]) -> list[list[int]]:
    """For each trace of the map, the places of its points among the listed rows: the rarest are drawn last, on top."""
    rows = found["rows"]
    if "clusters" in found:
        n_clusters = 1 + max(row["cluster"] for row in rows)
        return [[place for place, row in enumerate(rows) if row["cluster"] == c] for c in range(n_clusters)]
    return [sorted(range(len(rows)), key=lambda place: rows[place]["score"])]


def _map(found: Mapping[str, Any]) -> Chart:
    rows = [found["rows"][place] for places in map_order(found) for place in places]
    points = np.array([[row["x"], row["y"]] for row in rows]).reshape(-1, 2)
    texts = [hover_text(row, found) for row in rows]
    if "clusters" in found:
        return charts.cluster_map(points, np.array([row["cluster"] for row in rows]), texts)
    return charts.row_map(points, np.array([row["rarity"] for row in rows]), texts)


def hover_text(row: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """What shows when the mouse rests on a row: which it is, its score, its main reasons or first values."""
    lines = [f"<b>row {row['row']:,}</b>"]
    if "score" in row:
        lines[0] += f"  score {short(row['score'])}"
    named = dict(zip(found["shown_columns"], row["values"], strict=True))
    lines += [_line(name, named[name]) for name in found["ids"]]
    if row.get("reasons"):
        raising = [column for column in row["reasons"]["columns"] if column["contribution"] > 0]
        lines += [_line(column["column"], column["value"], column["typical"]) for column in raising[:3]]
    else:
        chosen = [driver["column"] for driver in found.get("drivers", []) if driver["column"] in named]
        names = list(dict.fromkeys([*chosen, *(name for name in named if name not in found["ids"])]))
        lines += [_line(name, named[name]) for name in names[:MOST_HOVERED]]
    return "<br>".join(lines)


def _line(name: str, value: Any, typical: str = "") -> str:
    text = f"{value_words(name)} {value_words(value)}" + (f" (typical {value_words(typical)})" if typical else "")
    return plain(text)
