"""Charts as plain dictionaries, in the form that Plotly draws: the page of a report holds them as they are.

`rdplearn.plots` gives the same charts as figures. No colour is set here but in `rdplearn.report.style`, whose templates
are applied where a chart is shown. Texts of the table go through `plain`, so that none of them is read as markup.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rdplearn._types import Doubles
from rdplearn.report.style import ORDINARY, ORDINARY_FILL, template

if TYPE_CHECKING:
    import plotly.graph_objects as go

Chart = dict[str, Any]

STEEP = 100.0  # a few rows would vanish beside this many times as many: counts are drawn on a logarithmic axis
SMALLEST_RATIO = 1e-12  # of two scores on one logarithmic axis
LONGEST_NAME = 32
LOST = 1e300
LOSSES = ("novelty_loss", "distance_loss", "reconstruction_loss")


def score_distribution(edges: Sequence[float], counts: Sequence[int], threshold: float | None) -> Chart:
    """How many rows have which score, counted in bins; the first shape is the line, the second what lies beyond it."""
    heights = np.asarray(counts, dtype=np.float64)
    is_steep = bool(heights.max() >= STEEP * heights[heights > 0].min())
    drawn = np.where(heights == 0, 0.5, heights) if is_steep else heights  # a logarithm has no zero
    words = [
        f"{count:,} {'row' if count == 1 else 'rows'}<br>score {short(low)} to {short(high)}"
        for count, low, high in zip(counts, edges[:-1], edges[1:], strict=True)
    ]
    trace = {
        "type": "scatter",
        "x": list(edges),
        "y": [*drawn.tolist(), float(drawn[-1])],
        "text": [*words, words[-1]],
        "hoverinfo": "text",
        "mode": "lines",
        "line": {"shape": "hv", "width": 1, "color": ORDINARY},
        "fill": "tozeroy",
        "fillcolor": ORDINARY_FILL,
    }
    x_axis: Chart = {"title": {"text": "anomaly score"}, "showgrid": False}
    if edges[0] > SMALLEST_RATIO * edges[-1] > 0:
        x_axis |= {"type": "log", **_log_ticks(edges[0], edges[-1])}
    y_axis: Chart = {"title": {"text": "rows"}, "rangemode": "tozero", "fixedrange": True}
    if is_steep:
        y_axis["title"] = {"text": "rows, logarithmic"}
        y_axis |= {"type": "log", "range": [math.log10(0.7), math.log10(heights.max() * 1.4)], "dtick": 1}
    shapes = [] if threshold is None else _line_and_beyond(threshold, max(edges[-1], threshold))
    return _chart([trace], height=260, hovermode="x", xaxis=x_axis, yaxis=y_axis, shapes=shapes)


def rarity(scores: Doubles) -> Doubles:
    """How rare each score is: 100 if one row in 100 scores as high. 1 for the lowest score, n_rows for the highest.

    Examples
    --------
    >>> rarity(np.array([0.1, 0.9, 0.5, 0.2])).tolist()
    [1.0, 4.0, 2.0, 1.3333333333333333]
    """
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return len(scores) / ranks


def row_map(points: Doubles, rarity: Doubles, texts: Sequence[str] | None) -> Chart:
    """Rows as points in the plane, coloured by how rare a score like theirs is."""
    highest = max(1.0, math.log10(max(rarity, default=1.0)))
    ticks = range(int(highest) + 1)
    trace = {
        **_points(points, texts),
        "marker": {"color": np.log10(rarity).tolist(), "coloraxis": "coloraxis", "size": 6, "line": {"width": 0}},
    }
    bar = {
        "tickvals": list(ticks),
        "ticktext": [f"{10**tick:,}" for tick in ticks],
        "title": {"text": "one row in this many scores as high", "side": "bottom"},
        "orientation": "h",
        "y": -0.02,
        "yanchor": "top",
        "len": 1.0,
    }
    return _chart([trace], **_map_layout(), coloraxis={"cmin": 0, "cmax": highest, "colorbar": bar})


def cluster_map(points: Doubles, clusters: npt.NDArray[np.int64], texts: Sequence[str] | None) -> Chart:
    """Rows as points in the plane, a colour for each cluster."""
    traces = []
    for cluster in range(int(clusters.max(initial=-1)) + 1):  # empty ones too: each keeps its colour
        here = np.flatnonzero(clusters == cluster)
        of_cluster = None if texts is None else [texts[row] for row in here.tolist()]
        trace = {**_points(points[here], of_cluster), "name": f"cluster {cluster}"}
        traces.append(trace | {"marker": {"size": 6, "opacity": 0.75, "line": {"width": 0}}})
    return _chart(traces, **_map_layout(), showlegend=True, legend={"y": -0.02, "yanchor": "top"})


def contributions(columns: Sequence[str], amounts: Doubles, notes: Sequence[str] | None) -> Chart:
    """Bars of what each column adds to a score, the largest on top; what lowers it points to the left."""
    order = np.argsort(-np.abs(amounts), kind="stable")
    traces = []
    for name, is_side in (("raises the score", amounts >= 0), ("lowers the score", amounts < 0)):
        here = order[is_side[order]]
        of_side = None if notes is None else [plain(notes[column]) for column in here]
        bars = {"x": amounts[here].tolist(), "y": [plain(columns[column]) for column in here], **_hover(of_side)}
        traces.append({"type": "bar", "orientation": "h", "name": name, **bars})
    names = [plain(columns[column]) for column in order]
    axis = {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": names,
        "autorange": "reversed",
        "tickvals": names,
        "ticktext": [plain(_shortened(columns[column])) for column in order],
        "showgrid": False,
    }
    has_lower = bool(np.any(amounts < 0))
    return _chart(
        traces, height=80 + 26 * len(names), bargap=0.35, barmode="relative", showlegend=has_lower, yaxis=axis
    )


def training_curves(history: Sequence[Mapping[str, float]]) -> Chart:
    """The losses during training, mean over members, one round after the other."""
    curves = mean_losses(history)
    rounds = sorted({record["round"] for record in curves})
    longest = max((record["step"] for record in curves), default=1.0)
    traces: list[Chart] = []
    for loss in LOSSES:
        if not any(record.get(loss, 0.0) > 0 for record in curves):
            continue
        steps: list[float | None] = []
        values: list[float | None] = []
        for number in rounds:
            records = [record for record in curves if record["round"] == number]
            steps += [number * longest + record["step"] for record in records] + [None]
            values += [record[loss] for record in records] + [None]  # a gap between rounds
        curve = {"x": steps[:-1], "y": values[:-1], "mode": "lines+markers", "marker": {"size": 4}}
        traces.append({"type": "scatter", "name": loss.replace("_", " "), **curve})
    x_axis = {
        "title": {"text": "steps of training, by round"},
        "tickvals": [(number + 0.5) * longest for number in rounds],
        "ticktext": [f"round {int(number) + 1}" for number in rounds],
        "showgrid": False,
    }
    losses = [value for trace in traces for value in trace["y"] if value is not None and value > 0]
    y_axis = {"title": {"text": "loss"}, "type": "log"} | (_log_ticks(min(losses), max(losses)) if losses else {})
    faint = {"width": 1, "color": ORDINARY_FILL}
    borders = [_upright(number * longest) | {"line": faint} for number in rounds[1:]]
    return _chart(traces, height=280, showlegend=True, xaxis=x_axis, yaxis=y_axis, shapes=borders)


def mean_losses(history: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """The records of all members, averaged for each round and step.

    Examples
    --------
    >>> record = {"round": 0, "step": 10, "novelty_loss": 1.0}
    >>> mean_losses([record | {"member": 0}, record | {"member": 1, "novelty_loss": 3.0}])
    [{'round': 0, 'step': 10, 'novelty_loss': 2.0}]
    """
    gathered: dict[tuple[int, int], list[Mapping[str, float]]] = {}
    for record in history:
        gathered.setdefault((int(record.get("round", 0)), int(record["step"])), []).append(record)
    return [
        {"round": number, "step": step}
        | {loss: _finite_mean([r[loss] for r in records]) for loss in LOSSES if loss in records[0]}
        for (number, step), records in sorted(gathered.items())
    ]


def roc_curve(false_alarms: Sequence[float], found: Sequence[float], area: float) -> Chart:
    """Share of the labelled anomalies that is found, against the share of normal rows reported with them."""
    return _curve(false_alarms, found, f"ROC, area {area:.3f}", "normal rows reported", "anomalies found", [0, 1])


def precision_recall_curve(
    recall: Sequence[float], precision: Sequence[float], area: float, share_of_anomalies: float
) -> Chart:
    """Share of anomalies among the reported rows, against the share of anomalies found."""
    title = f"Precision and recall, average {area:.3f}"
    chance = [share_of_anomalies, share_of_anomalies]
    return _curve(recall, precision, title, "anomalies found", "anomalies among the reported", chance)


def cluster_sizes(sizes: Sequence[int]) -> Chart:
    """Bars of how many rows each cluster has."""
    names = [f"cluster {number}" for number in range(len(sizes))]
    bar = {"type": "bar", "orientation": "h", "hoverinfo": "none"}
    bars = [bar | {"x": [size], "y": [name], "text": [f"{size:,}"]} for name, size in zip(names, sizes, strict=True)]
    return _chart(
        bars,
        barmode="stack",  # each in its own place, in its own colour
        height=60 + 26 * len(sizes),
        bargap=0.35,
        yaxis={"autorange": "reversed", "showgrid": False},
        xaxis={"title": {"text": "rows"}, "rangemode": "tozero"},
    )


def two_distributions(places: Sequence[str], at_fit: Sequence[float], now: Sequence[float]) -> Chart:
    """Bars of the share of rows in each place, at fit and now."""
    names = [plain(_shortened(place)) for place in places]
    positions = list(range(len(names)))  # two places may have one name
    bar = {"type": "bar", "x": positions, "hoverinfo": "text"}
    traces = [
        bar
        | {
            "y": list(shares),
            "name": name,
            "hovertext": [f"{place}: {share:.1%} {name}" for place, share in zip(names, shares, strict=True)],
        }
        for name, shares in (("now", now), ("at fit", at_fit))
    ]
    return _chart(
        traces,
        height=240,
        showlegend=True,
        bargap=0.2,
        xaxis={"tickvals": positions, "ticktext": names, "tickangle": -40, "showgrid": False},
        yaxis={"tickformat": ".0%", "rangemode": "tozero", "fixedrange": True},
    )


def plain(text: str) -> str:
    """A text of the table as Plotly shows it unchanged: what looks like markup is none.

    Examples
    --------
    >>> plain("a<b & c")
    'a&lt;b &amp; c'
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def short(number: float) -> str:
    """A score in four digits.

    Examples
    --------
    >>> short(0.0123456), short(12345.6)
    ('0.01235', '1.235e+04')
    """
    return f"{number:.4g}"


def _chart(traces: list[Chart], *, height: int, showlegend: bool = False, **layout: Any) -> Chart:
    return {"data": traces, "layout": {"height": height, "showlegend": showlegend, **layout}}


def _curve(
    x: Sequence[float], y: Sequence[float], title: str, x_title: str, y_title: str, chance: list[float]
) -> Chart:
    drawn: Chart = {"type": "scatter", "mode": "lines"}
    traces = [
        drawn | {"x": list(x), "y": list(y), "line": {"width": 2}, "name": "this model"},
        drawn | {"x": [0, 1], "y": chance, "line": {"dash": "dot", "width": 1}, "name": "pure chance"},
    ]
    return _chart(
        traces,
        height=320,
        title={"text": title, "font": {"size": 14}, "x": 0, "xref": "paper"},
        margin={"t": 36, "r": 24},
        xaxis={"title": {"text": x_title}, "range": [-0.01, 1.01], "tickformat": ".0%"},
        yaxis={"title": {"text": y_title}, "range": [-0.01, 1.03], "tickformat": ".0%"},
    )


def _map_layout() -> Chart:
    """A map without axes: its directions mean nothing, only what lies near what."""
    return {"height": 440, "dragmode": "select", "xaxis": {"visible": False}, "yaxis": {"visible": False}}


def _points(points: Doubles, texts: Sequence[str] | None) -> Chart:
    where = {"x": points[:, 0].tolist(), "y": points[:, 1].tolist()}
    return {"type": "scatter", "mode": "markers", **where, **_hover(texts)}


def _hover(texts: Sequence[str] | None) -> Chart:
    return {"hoverinfo": "none"} if texts is None else {"hovertext": list(texts), "hoverinfo": "text"}


def _line_and_beyond(threshold: float, end: float) -> list[Chart]:
    beyond = {"type": "rect", "yref": "paper", "x0": threshold, "x1": end, "y0": 0, "y1": 1}
    return [
        _upright(threshold) | {"line": {"width": 2}},
        beyond | {"line": {"width": 0}, "opacity": 0.12, "layer": "below"},
    ]


def _upright(x: float) -> Chart:
    return {"type": "line", "yref": "paper", "x0": x, "x1": x, "y0": 0, "y1": 1}


def _log_ticks(low: float, high: float) -> Chart:
    """Round numbers along a logarithmic axis: 1, 2, 5, 10, or powers of ten alone where these would be too many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if len(powers) <= 5 else (1,)
    ticks = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
    if len(ticks) < 3:
        return {}  # on a short stretch Plotly finds better ones
    return {"tickvals": ticks, "ticktext": [f"{tick:,.6g}" for tick in ticks]}


def _finite_mean(losses: list[float]) -> float:
    """The mean; of a training that went astray a number that shows it, and that JSON can have."""
    return float(np.mean(np.nan_to_num(losses, nan=LOST, posinf=LOST).clip(max=LOST)))


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def figure_of(chart: Chart) -> go.Figure:
    """A chart as a Plotly figure, in light colours."""
    import plotly.graph_objects as go

    return go.Figure({"data": chart["data"], "layout": chart["layout"] | {"template": template("light")}})
