"""Charts of what was found, as Plotly figures: those of the report, for notebooks.

Every function takes plain arrays and returns a figure. Names and values of a table are shown as they are, whatever they
contain. A figure turns dark with ``figure.update_layout(template=rdplearn.plots.template("dark"))``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rdplearn._explain import reliability as trust
from rdplearn.report import charts
from rdplearn.report.charts import figure_of, rarity
from rdplearn.report.style import template

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = [
    "cluster_map",
    "cluster_sizes",
    "contributions",
    "precision_recall_curve",
    "rarity",
    "roc_curve",
    "row_map",
    "score_distribution",
    "template",
    "training_curves",
]


def score_distribution(scores: npt.ArrayLike, threshold: float | None = None) -> go.Figure:
    """How many rows have which anomaly score, and where the line is drawn.

    The axis of counts is logarithmic if the few rows with high scores could not be seen otherwise.

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
    counted = trust.score_distribution(np.asarray(scores, dtype=np.float64))
    return figure_of(charts.score_distribution(counted.edges, counted.counts, threshold))


def row_map(points: npt.ArrayLike, rarity: npt.ArrayLike, texts: Sequence[str] | None = None) -> go.Figure:
    """Rows as points in the plane, coloured by how rare a score like theirs is.

    Parameters
    ----------
    points : (n_rows, 2), such as `rdplearn.report.place_on_map` gives
    rarity : (n_rows,), as `rarity` gives it: 100 for a score that one row in 100 reaches
    texts : what to show when the mouse rests on a row; Plotly reads markup such as ``<br>`` in them

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> figure = row_map(rng.normal(size=(50, 2)), rarity(rng.normal(size=50)))
    >>> len(figure.data[0].x)
    50
    """
    where, rare = np.asarray(points, dtype=np.float64), np.asarray(rarity, dtype=np.float64)
    return figure_of(charts.row_map(where, rare, texts))


def cluster_map(points: npt.ArrayLike, clusters: npt.ArrayLike, texts: Sequence[str] | None = None) -> go.Figure:
    """Rows as points in the plane, coloured by the cluster they belong to; a click on a name hides a cluster.

    Examples
    --------
    >>> import numpy as np
    >>> figure = cluster_map(np.random.default_rng(0).normal(size=(4, 2)), [0, 1, 1, 0])
    >>> [trace.name for trace in figure.data]
    ['cluster 0', 'cluster 1']
    """
    return figure_of(charts.cluster_map(np.asarray(points, dtype=np.float64), np.asarray(clusters), texts))


def contributions(columns: Sequence[str], amounts: npt.ArrayLike, notes: Sequence[str] | None = None) -> go.Figure:
    """Bars of what each column adds to a score, the largest on top; what lowers the score points to the left.

    Parameters
    ----------
    columns : names
    amounts : (n_columns,) of one row, such as ``explanation.contributions[0]``, or of many together
    notes : what to show when the mouse rests on a bar, such as the actual and the typical value

    Examples
    --------
    >>> figure = contributions(["amount", "country"], [0.2, 0.7])
    >>> figure.data[0].y
    ('country', 'amount')
    """
    return figure_of(charts.contributions(columns, np.asarray(amounts, dtype=np.float64), notes))


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
    return figure_of(charts.training_curves(history))


def roc_curve(false_alarms: Sequence[float], found: Sequence[float], area: float) -> go.Figure:
    """Share of the labelled anomalies that is found, against the share of normal rows reported with them.

    Examples
    --------
    >>> roc_curve([0.0, 0.1, 1.0], [0.0, 0.9, 1.0], 0.9).layout.title.text
    'ROC, area 0.900'
    """
    return figure_of(charts.roc_curve(false_alarms, found, area))


def precision_recall_curve(
    recall: Sequence[float], precision: Sequence[float], area: float, share_of_anomalies: float
) -> go.Figure:
    """Share of anomalies among the reported rows, against the share of anomalies found; a line shows pure chance.

    Examples
    --------
    >>> precision_recall_curve([0.0, 1.0], [1.0, 0.5], 0.75, 0.1).layout.title.text
    'Precision and recall, average 0.750'
    """
    return figure_of(charts.precision_recall_curve(recall, precision, area, share_of_anomalies))


def cluster_sizes(sizes: Sequence[int]) -> go.Figure:
    """Bars of how many rows each cluster has.

    Examples
    --------
    >>> [bar.x for bar in cluster_sizes([30, 12]).data]
    [(30,), (12,)]
    """
    return figure_of(charts.cluster_sizes(sizes))
