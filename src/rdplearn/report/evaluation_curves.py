"""How scores agree with labels that the model never saw: areas and curves, in few points."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import precision_recall_curve, roc_curve

from rdplearn._results.scored import Evaluation
from rdplearn.report.gathering import evenly

MOST_POINTS = 400


def describe_evaluation(evaluation: Evaluation) -> dict[str, Any]:
    """The areas under both curves, the rows that they rest on, and the curves, as plain values."""
    figures = evaluation.figures()  # refuses labels of one kind only
    labels, scores = evaluation.labelled()
    false_alarms, found, _ = roc_curve(labels, scores)
    precision, recall, _ = precision_recall_curve(labels, scores)  # its last point is no threshold's
    return {
        **figures,
        "roc": {"false_alarms": thinned(false_alarms), "found": thinned(found)},
        "precision_recall": {"recall": thinned(recall[-2::-1]), "precision": thinned(precision[-2::-1])},
    }


def thinned(points: npt.NDArray[np.float64]) -> list[float]:
    """At most 400 points of a curve, its ends among them.

    Examples
    --------
    >>> curve = thinned(np.linspace(0, 1, 5000))
    >>> len(curve), curve[0], curve[-1]
    (400, 0.0, 1.0)
    """
    return [float(point) for point in evenly(points, MOST_POINTS)]
