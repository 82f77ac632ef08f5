"""Charts of what was found, as Plotly figures: those of the report, for notebooks.

Every function takes plain arrays and returns a figure. Names and values of a table are shown as they are, whatever they
contain. All colours come from the templates of `rdplearn.plot_style`; a figure turns dark with
``figure.update_layout(template=rdplearn.plots.template("dark"))``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rdplearn.plot_style import ORDINARY, ORDINARY_FILL
from rdplearn.plot_style import template as template

if TYPE_CHECKING:
    import plotly.graph_objects as go

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

N_BINS = 80
WIDE_RANGE = 20.0  # scores that differ by more than this factor are drawn on a logarithmic axis
STEEP = 50.0  # so are counts whose highest is more than this many times the typical one
LONGEST_NAME = 32


def score_distribution(scores: npt.ArrayLike, threshold: float | None = None) -> go.Figure:
    """How many rows have which anomaly score, and where the line is drawn.

    Parameters
    ----------
    scores : (n_rows,) anomaly scores, the higher the less normal: ``-detector.score_samples(X)``
    threshold : score above which rows are reported: ``-detector.offset_``

    Examples
    --------
    >>> import numpy as np
    >>> figure = score_distribution(np.random.default_rng(0).chisquare(5, size=1000), threshold=15.0)
    >>> figure.layout.shapes[0].x0
    15.0
    """
    return binned_distribution(*score_bins(np.asarray(scores, dtype=np.float64)), threshold)


def score_bins(scores: Doubles) -> tuple[list[float], list[int]]:
    """Edges of bins, rising, and the rows in each: of equal width, or of equal ratio if scores span several sizes.

    Examples
    --------
    >>> edges, counts = score_bins(np.array([1.0, 2.0, 3.0]))
    >>> edges[0], edges[-1], sum(counts)
    (1.0, 3.0, 3)
    """
    low, high = float(scores.min()), float(scores.max())
    if high <= low:
        return [low, high], [len(scores)]
    is_wide = low > 0 and high > WIDE_RANGE * low
    edges = np.geomspace(low, high, N_BINS + 1) if is_wide else np.linspace(low, high, N_BINS + 1)
    edges[0], edges[-1] = low, high  # rounding must not lose the ends
    return edges.tolist(), np.histogram(scores, edges)[0].tolist()


def binned_distribution(edges: Sequence[float], counts: Sequence[int], threshold: float | None = None) -> go.Figure:
    """`score_distribution` of rows that have been counted before, by `score_bins`.

    Counts are drawn on a logarithmic axis where the few rows of the tail would vanish beside the many of the body.
    """
    import plotly.graph_objects as go

    heights = np.asarray(counts, dtype=np.float64)
    is_steep = bool(heights.max() > STEEP * max(1.0, float(np.median(heights))))
    is_wide = edges[0] > 0 and edges[-1] > WIDE_RANGE * edges[0]
    words = [
        f"{count:,} {'row' if count == 1 else 'rows'}<br>score {short(low)} to {short(high)}"
        for count, low, high in zip(counts, edges[:-1], edges[1:], strict=True)
    ]
    drawn = np.where(heights == 0, 0.5, heights) if is_steep else heights  # a logarithm has no zero
    figure = go.Figure(
        go.Scatter(
            x=list(edges),
            y=[*drawn.tolist(), float(drawn[-1])],
            text=[*words, words[-1]],
            hoverinfo="text",
            mode="lines",
            line={"shape": "hv", "width": 1, "color": ORDINARY},
            fill="tozeroy",
            fillcolor=ORDINARY_FILL,
        )
    )
    _style(figure, height=260, hovermode="x")
    figure.update_xaxes(title_text="anomaly score", type="log" if is_wide else "linear", showgrid=False)
    figure.update_yaxes(title_text="rows", type="log" if is_steep else "linear", rangemode="tozero", fixedrange=True)
    if is_steep:
        figure.update_yaxes(range=[math.log10(0.7), math.log10(heights.max() * 1.4)], dtick=1)
    if threshold is not None:
        end = max(edges[-1], threshold)
        figure.add_shape(type="line", x0=threshold, x1=threshold, y0=0, y1=1, yref="paper", line={"width": 2})
        figure.add_shape(
            type="rect", x0=threshold, x1=end, y0=0, y1=1, yref="paper", line={"width": 0}, opacity=0.12, layer="below"
        )
    return figure


def rarity(scores: Doubles) -> Doubles:
    """Of how many rows each is the one that scores as high: 1 for the lowest score, n_rows for the highest.

    Examples
    --------
    >>> rarity(np.array([0.1, 0.9, 0.5, 0.2])).tolist()
    [1.0, 4.0, 2.0, 1.3333333333333333]
    """
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return len(scores) / ranks


def row_map(points: npt.ArrayLike, rarity: npt.ArrayLike, texts: Sequence[str] | None = None) -> go.Figure:
    """Rows as points in the plane, coloured by how rare a score like theirs is.

    Parameters
    ----------
    points : (n_rows, 2), such as `rdplearn.report.place_on_map` gives
    rarity : (n_rows,) as `rarity` gives it: 100 for a score that one row in 100 reaches
    texts : what to show when the mouse rests on a row

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> figure = row_map(rng.normal(size=(50, 2)), rarity(rng.normal(size=50)))
    >>> len(figure.data[0].x)
    50
    """
    import plotly.graph_objects as go

    where, rare = np.asarray(points, dtype=np.float64), np.asarray(rarity, dtype=np.float64)
    highest = max(1.0, math.ceil(math.log10(rare.max())) if len(rare) else 1.0)
    ticks = list(range(int(highest) + 1))
    figure = go.Figure(
        go.Scatter(
            x=where[:, 0].tolist(),
            y=where[:, 1].tolist(),
            mode="markers",
            marker={"color": np.log10(rare).tolist(), "coloraxis": "coloraxis", "size": 6, "line": {"width": 0}},
            **_hover(texts),
        )
    )
    _style(figure, height=460, dragmode="select")
    words = [f"1 row in {10**tick:,}" for tick in ticks[1:]]
    figure.update_layout(
        coloraxis={
            "cmin": 0,
            "cmax": highest,
            "colorbar": {"tickvals": ticks, "ticktext": ["every row", *words], "orientation": "h", "y": 1.0, "len": 1.0}
            | {"yanchor": "bottom", "title": {"text": "how rare a score like this is", "side": "top"}},
        }
    )
    _hide_axes(figure)
    return figure


def group_map(points: npt.ArrayLike, groups: npt.ArrayLike, texts: Sequence[str] | None = None) -> go.Figure:
    """Rows as points in the plane, coloured by the group they belong to; a click on a name hides a group.

    Examples
    --------
    >>> import numpy as np
    >>> figure = group_map(np.random.default_rng(0).normal(size=(4, 2)), [0, 1, 1, 0])
    >>> [trace.name for trace in figure.data]
    ['group 0', 'group 1']
    """
    import plotly.graph_objects as go

    where, of_row = np.asarray(points, dtype=np.float64), np.asarray(groups)
    figure = go.Figure()
    for group in np.unique(of_row):
        here = np.flatnonzero(of_row == group)
        figure.add_trace(
            go.Scatter(
                x=where[here, 0].tolist(),
                y=where[here, 1].tolist(),
                mode="markers",
                name=f"group {group}",
                marker={"size": 6, "opacity": 0.75, "line": {"width": 0}},
                **_hover(None if texts is None else [texts[row] for row in here]),
            )
        )
    _style(figure, height=460, dragmode="select", showlegend=True)
    _hide_axes(figure)
    return figure


def contributions(columns: Sequence[str], amounts: npt.ArrayLike, notes: Sequence[str] | None = None) -> go.Figure:
    """Bars of what each column adds to a score, the largest on top; what lowers the score points to the left.

    Parameters
    ----------
    columns : names
    amounts : (n_columns,) of one row, or sums over many rows
    notes : what to show when the mouse rests on a bar, such as the actual and the typical value

    Examples
    --------
    >>> figure = contributions(["amount", "country"], [0.2, 0.7])
    >>> figure.data[0].y
    ('country', 'amount')
    """
    import plotly.graph_objects as go

    values = np.asarray(amounts, dtype=np.float64)
    order = np.argsort(-np.abs(values), kind="stable")
    figure = go.Figure()
    for name, is_side in (("raises the score", values >= 0), ("lowers the score", values < 0)):
        here = order[is_side[order]]
        figure.add_trace(
            go.Bar(
                x=values[here].tolist(),
                y=[plain(columns[column]) for column in here],
                name=name,
                orientation="h",
                **_hover(None if notes is None else [plain(notes[column]) for column in here]),
            )
        )
    _style(figure, height=80 + 26 * len(values), bargap=0.35, barmode="relative", showlegend=bool((values < 0).any()))
    names = [plain(columns[column]) for column in order]
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=names,
        autorange="reversed",
        tickvals=names,
        ticktext=[plain(_shortened(columns[column])) for column in order],
        showgrid=False,
    )
    return figure


def training_curves(history: Sequence[Mapping[str, float]]) -> go.Figure:
    """The losses during training, mean over members, round after round.

    Parameters
    ----------
    history : of a fitted estimator: ``detector.history_``

    Examples
    --------
    >>> record = {"member": 0, "round": 0, "distance_loss": 0.1, "novelty_loss": 0.5}
    >>> figure = training_curves([record | {"step": 100}, record | {"step": 200, "novelty_loss": 0.2}])
    >>> figure.data[0].name, figure.data[0].y
    ('novelty loss', (0.5, 0.2))
    """
    import plotly.graph_objects as go

    curves = mean_losses(history)
    figure = go.Figure()
    rounds = sorted({record["round"] for record in curves})
    longest = max((record["step"] for record in curves), default=0.0)
    drawn = [loss for loss in LOSSES if any(record.get(loss, 0) > 0 for record in curves)]
    for loss in drawn:
        steps: list[float | None] = []
        values: list[float | None] = []
        for number in rounds:
            records = [record for record in curves if record["round"] == number]
            steps += [number * longest + record["step"] for record in records] + [None]
            values += [record[loss] for record in records] + [None]  # a gap between rounds
        figure.add_trace(
            go.Scatter(
                x=steps[:-1], y=values[:-1], mode="lines+markers", name=loss.replace("_", " "), marker={"size": 4}
            )
        )
    _style(figure, height=280, showlegend=True)
    figure.update_xaxes(
        title_text="steps of training, by round",
        tickvals=[(number + 0.5) * longest for number in rounds],
        ticktext=[f"round {int(number) + 1}" for number in rounds],
        showgrid=False,
    )
    figure.update_yaxes(title_text="loss", type="log", exponentformat="power", nticks=6)
    for number in rounds[1:]:
        figure.add_shape(type="line", x0=number * longest, x1=number * longest, y0=0, y1=1, yref="paper", line=FAINT)
    return figure


LOSSES = ("novelty_loss", "distance_loss", "reconstruction_loss")
FAINT = {"width": 1, "color": ORDINARY_FILL}


def mean_losses(history: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """The records of all members, averaged for each round and step.

    Examples
    --------
    >>> record = {"round": 0, "step": 10, "novelty_loss": 1.0}
    >>> mean_losses([record | {"member": 0}, record | {"member": 1, "novelty_loss": 3.0}])
    [{'round': 0, 'step': 10, 'novelty_loss': 2.0}]
    """
    gathered: dict[tuple[float, float], list[Mapping[str, float]]] = {}
    for record in history:
        gathered.setdefault((record.get("round", 0), record["step"]), []).append(record)
    return [
        {"round": number, "step": step}
        | {loss: float(np.mean([r[loss] for r in records])) for loss in LOSSES if loss in records[0]}
        for (number, step), records in sorted(gathered.items())
    ]


def roc_curve(false_alarms: Sequence[float], found: Sequence[float], area: float) -> go.Figure:
    """Share of the labelled anomalies that is found, against the share of normal rows reported with them.

    Examples
    --------
    >>> roc_curve([0.0, 0.1, 1.0], [0.0, 0.9, 1.0], 0.9).layout.title.text
    'ROC, area 0.900'
    """
    return _curve(false_alarms, found, f"ROC, area {area:.3f}", "normal rows reported", "anomalies found", [0, 1])


def precision_recall_curve(
    recall: Sequence[float], precision: Sequence[float], area: float, share_of_anomalies: float
) -> go.Figure:
    """Share of anomalies among the reported rows, against the share of anomalies found; a line shows pure chance.

    Examples
    --------
    >>> precision_recall_curve([0.0, 1.0], [1.0, 0.5], 0.75, 0.1).layout.title.text
    'Precision and recall, average precision 0.750'
    """
    title = f"Precision and recall, average precision {area:.3f}"
    chance = [share_of_anomalies, share_of_anomalies]
    return _curve(recall, precision, title, "anomalies found", "anomalies among the reported", chance)


def group_sizes(sizes: Sequence[int]) -> go.Figure:
    """Bars of how many rows each group has.

    Examples
    --------
    >>> group_sizes([30, 12]).data[0].x
    (30, 12)
    """
    import plotly.graph_objects as go

    names = [f"group {number}" for number in range(len(sizes))]
    text = [f"{size:,}" for size in sizes]
    figure = go.Figure(go.Bar(x=list(sizes), y=names, orientation="h", text=text, hoverinfo="none"))
    _style(figure, height=60 + 26 * len(sizes), bargap=0.35)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_xaxes(title_text="rows", rangemode="tozero")
    return figure


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


def _curve(
    x: Sequence[float], y: Sequence[float], title: str, x_title: str, y_title: str, chance: list[float]
) -> go.Figure:
    import plotly.graph_objects as go

    figure = go.Figure(go.Scatter(x=list(x), y=list(y), mode="lines", line={"width": 2}, name="this model"))
    figure.add_trace(go.Scatter(x=[0, 1], y=chance, mode="lines", line={"dash": "dot", "width": 1}, name="pure chance"))
    _style(figure, height=320, title={"text": title, "font": {"size": 14}, "x": 0, "xref": "paper"})
    figure.update_layout(margin={"t": 36})
    figure.update_xaxes(title_text=x_title, range=[-0.01, 1.01], tickformat=".0%")
    figure.update_yaxes(title_text=y_title, range=[-0.01, 1.03], tickformat=".0%")
    return figure


def _style(figure: go.Figure, *, height: int, **layout: Any) -> None:
    figure.update_layout(template=template("light"), height=height, **({"showlegend": False} | layout))


def _hide_axes(figure: go.Figure) -> None:
    """A map has no directions that mean anything; distances do."""
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, scaleanchor="x")


def _hover(texts: Sequence[str] | None) -> dict[str, Any]:
    return {"hoverinfo": "none"} if texts is None else {"hovertext": list(texts), "hoverinfo": "text"}


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
