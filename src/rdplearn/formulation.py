r"""Which distances are predicted, and how: a rule that looks at the table and never at labels.

With all pairs of a batch (`gram.py`), what a user leaves open is settled by how full the table is:

===============  ==========================================  =========================================
left open        mostly zeros (below 10 % non-zero)          otherwise
===============  ==========================================  =========================================
rows             columns evened out, row to length 1         columns to [0, 1], centred, row to length 1
mapping η        linear: inner products                      Fourier features: :math:`e^{-\|x - y\|^2}`
φ                linear, 32 units                            leaky, 128 units
inner products   of φ as it is                               of φ's rows at length 1
===============  ==========================================  =========================================

Texts are nearly orthogonal to each other, and 32 units at length 1 cannot be: training would spend them on spreading
rows out. Where rows are near each other, as in measurements and images, a kernel that tells near from far does more.
Below ten columns a row's length is a good part of what it says, so rows are centred and keep it, and the kernel's
bandwidth is the median distance between them.

With one partner a row, the paper's setting, rows are scaled to [0, 1] and η is leaky.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rdplearn._model.inner_products import LINEAR_MAPPINGS
from rdplearn._model.losses import REPRESENTATION_SLOPE
from rdplearn._types import Matrix, Rows
from rdplearn._views.minmax import MinMaxView, UnchangedView, fit_min_max
from rdplearn._views.unit_rows import (
    CentredRows,
    WeightedUnitRows,
    fit_centred_rows,
    fit_weighted_unit_rows,
    is_mostly_zero,
)

FEW_COLUMNS = 10
UNIT_BANDWIDTH = float(np.sqrt(0.5))  # between rows of length 1: exp(-|x - y|^2)
UNITS_LINEAR, UNITS_LEAKY = 32, 128
START_LINEAR, START_LEAKY = 0.01, 0.1

Pairs = Literal["all", "one"]
Scaling = Literal["auto", "unit", "minmax"] | None
FeatureView = MinMaxView | UnchangedView | CentredRows | WeightedUnitRows


@dataclass(frozen=True)
class Formulation:
    """What is learned from a table, with nothing left open.

    bandwidth : of Fourier features; None for the median distance between rows
    slope : of φ for negative numbers
    unit_in_loss : compare inner products of φ's rows at length 1; unit_features : give features length 1
    start : standard deviation of W at the start, times the square root of the units
    """

    view: FeatureView
    mapping: str | Callable[[Rows], Any] | object
    bandwidth: float | None
    n_components: int
    slope: float
    unit_in_loss: bool
    unit_features: bool
    start: float


def choose_formulation(
    matrix: Matrix,
    *,
    pairs: Pairs,
    scaling: Scaling,
    mapping: Any,
    bandwidth: float | None,
    inner_product: str,
    n_components: int | None,
) -> Formulation:
    """Settle what the user has left open ("auto" or None).

    Examples
    --------
    >>> left = {"scaling": "auto", "mapping": "auto", "bandwidth": None, "inner_product": "auto", "n_components": None}
    >>> chosen = choose_formulation(np.eye(20), pairs="all", **left)
    >>> chosen.mapping, chosen.n_components
    ('linear', 32)
    """
    mostly_zero = matrix.shape[1] >= FEW_COLUMNS and is_mostly_zero(matrix)
    if isinstance(mapping, str) and mapping == "auto":
        mapping = "leaky" if pairs == "one" else "linear" if mostly_zero else "fourier"
    view = fit_view(matrix, pairs, scaling, mostly_zero=mostly_zero)
    unit_rows = isinstance(view, WeightedUnitRows) or (isinstance(view, CentredRows) and view.unit)
    if bandwidth is None and unit_rows:
        bandwidth = UNIT_BANDWIDTH
    name = mapping if isinstance(mapping, str) else None
    is_linear = pairs == "all" and name in LINEAR_MAPPINGS
    unit_in_loss = pairs == "all" and (inner_product == "unit" or (inner_product == "auto" and name == "fourier"))
    return Formulation(
        view=view,
        mapping=mapping,
        bandwidth=bandwidth,
        n_components=n_components or (UNITS_LINEAR if is_linear else UNITS_LEAKY),
        slope=1.0 if is_linear else REPRESENTATION_SLOPE,
        unit_in_loss=unit_in_loss,
        unit_features=pairs == "all" and (unit_in_loss or unit_rows),
        start=START_LINEAR if is_linear else START_LEAKY,
    )


def fit_view(matrix: Matrix, pairs: Pairs, scaling: Scaling, *, mostly_zero: bool) -> FeatureView:
    """Learn how rows are prepared."""
    if scaling is None:
        return UnchangedView()
    if scaling == "minmax" or (scaling == "auto" and pairs == "one"):
        return fit_min_max(matrix)
    if mostly_zero:
        return fit_weighted_unit_rows(matrix)
    return fit_centred_rows(matrix, unit=scaling == "unit" or matrix.shape[1] >= FEW_COLUMNS)
