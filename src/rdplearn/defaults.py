r"""What ``"auto"`` and None mean: for the detector a rule of the table's shape, for the transformer of how full it is.

`DETECTOR_PAPER` and `TRANSFORMER_PAPER` are the paper's settings. What a fit has chosen is its `chosen_`. Labels have
no part in any rule.

**The detector** (`choose_for_detector`)

One rule for all shapes, and no limit at which it jumps: what is left open follows from two shares.

- The *patience* of members rises from 0 to 1 with the columns (a half at 150 of them) and with the rows (a half at
  15,000, in a table of more than a few columns). 60 steps say little of hundreds of columns; and to score many rows
  takes so long that a longer training is hardly noticed, but that components count.
- The *width* rises from 0 to 1 with the columns, a half at 500. Of thousands of columns, components that look at one to
  three each see next to nothing, and robust scales blow up the many columns that are nearly constant: there the paper's
  view does better, more members have to agree, each needs more rows, and the last round says as much as all.

=================  ==============================================  ============================  ====================
left open          small table                                     full patience                 full width, beside it
=================  ==============================================  ============================  ====================
members            10                                              10                            12
components         64                                              32                            32
views              robust, rank, robust, robust+rank,              the same                      minmax, robust
                   rank+surprise
mapping η          few for one in five, orthogonal for the rest    orthogonal                    orthogonal
steps in a round   60                                              240                           120
rows in a step     40                                              40                            80
learning rate      2                                               a half                        1
even residuals     1                                               0                             0
rows of a member   1,024                                           1,024                         4,096
rounds that score  the last 2                                      the last 2                    the last
=================  ==============================================  ============================  ====================

In between, steps and rates are in between, and views and mappings change one member after the other. `docs/default.md`
has the figures.

**The transformer** (`choose_for_transformer`), with all pairs of a batch

===============  ==========================================  =========================================
left open        mostly zeros (below 10 % non-zero)          otherwise
===============  ==========================================  =========================================
views            columns evened out, row to length 1         columns to [0, 1], centred, row to length 1
mapping η        linear: inner products                      Fourier features: :math:`e^{-\|x - y\|^2}`
φ                linear, 32 components                       leaky, 128 components
inner products   of φ as it is                               of φ's rows at length 1
===============  ==========================================  =========================================

Texts are nearly orthogonal to each other, and 32 components at length 1 cannot be: training would spend them on
spreading rows out. Where rows are near each other, as in measurements and images, a kernel that tells near from far
does more. Below ten columns a row's length is a good part of what it says, so rows are centred and keep it, and the
kernel's bandwidth is the median distance between them. With one partner a row, the paper's setting, rows are scaled to
[0, 1] and η is leaky.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from rdplearn._model.inner_products import LINEAR_MAPPINGS
from rdplearn._model.losses import REPRESENTATION_SLOPE
from rdplearn._model.mapping import RandomMapping, with_options
from rdplearn._types import Matrix
from rdplearn._views.minmax import MinMaxView, UnchangedView, fit_min_max
from rdplearn._views.unit_rows import (
    CentredRows,
    WeightedUnitRows,
    fit_centred_rows,
    fit_weighted_unit_rows,
    is_mostly_zero,
)

__all__ = [
    "DETECTOR_PAPER",
    "TRANSFORMER_PAPER",
    "DetectorChoices",
    "TransformerChoices",
    "choose_for_detector",
    "choose_for_transformer",
    "in_turn",
    "patience_for",
    "usual_for_shape",
    "width_of",
]

DETECTOR_PAPER: dict[str, Any] = {
    "n_members": 30,
    "n_components": 50,
    "views": "minmax",
    "mapping": "leaky",
    "distance_weight": 1.0,
    "novelty_weight": 1.0,
    "inner_product": "l1",
    "n_rounds": 8,
    "filter_fraction": 0.05,
    "score_rounds": 1,
    "n_steps": 6000,
    "batch_size": 192,
    "learning_rate": 0.1,
    "momentum": 0.9,
    "max_grad_norm": 0.1,
    "dropout": 0.1,
    "shrinkage": 0.0,
    "start_scale": 1.0,
    "even_residuals": False,
    "max_samples": 10_000,
    "bootstrap": True,
    "combination": "mean",
}
TRANSFORMER_PAPER: dict[str, Any] = {
    "n_components": 1024,
    "pairs": "one",
    "views": "unchanged",
    "mapping": "leaky",
    "inner_product": "l1",
    "distance_weight": 1.0,
    "reconstruction_weight": 1.0,
    "n_steps": 30_000,
    "batch_size": 192,
    "learning_rate": 0.1,
    "momentum": 0.9,
    "max_grad_norm": 0.1,
    "dropout": 0.1,
}

GOLDEN = 0.6180339887498949  # its multiples, without the whole part, fall evenly between 0 and 1
VIEWS = ("robust", "rank", "robust", "robust+rank", "rank+surprise")
WIDE_VIEWS = ("minmax", "robust")
FEWEST_UNIT = 10  # columns: of fewer, a row's length is a good part of what it says
UNIT_BANDWIDTH = float(np.sqrt(0.5))  # between rows of length 1: exp(-|x - y|^2)
COMPONENTS_LINEAR, COMPONENTS_LEAKY = 32, 128
START_LINEAR, START_LEAKY = 0.01, 0.1

FeatureView = MinMaxView | UnchangedView | CentredRows | WeightedUnitRows


@dataclass(frozen=True)
class DetectorChoices:
    """Parameters of the detector with nothing left open; members take turns in `views` and `mapping`."""

    n_members: int
    views: tuple[str, ...]
    mapping: tuple[Any, ...]
    n_components: int
    n_steps: int
    batch_size: int
    learning_rate: float
    even_residuals: float
    max_samples: float
    score_rounds: int
    distance_members: int = 0


def usual_for_shape(n_rows: int, n_columns: int) -> DetectorChoices:
    """What the detector chooses for a table of this shape if all is left open.

    Examples
    --------
    >>> [usual_for_shape(n_rows, 20).n_steps for n_rows in (5_000, 15_000, 100_000)]
    [62, 121, 240]
    >>> usual_for_shape(2_000, 5_000).views
    ('minmax', 'robust')
    """
    patience, width = patience_for(n_rows, n_columns), width_of(n_columns)
    n_members = round(10 + 2 * width)
    views = [turn_of(number, WIDE_VIEWS if goes_along(number, width) else VIEWS) for number in range(n_members)]
    is_few = [number % 5 == 0 and not goes_along(number, patience) for number in range(n_members)]
    return DetectorChoices(
        n_members=n_members,
        views=repeated_part(views),
        mapping=repeated_part(["few" if few else "orthogonal" for few in is_few]),
        n_components=round(64 * 0.5**patience),
        n_steps=round(60 * 4**patience * 0.5**width),
        batch_size=round(40 * 2**width),
        learning_rate=2 * 0.25**patience * 2**width,
        even_residuals=1.0 - patience,
        max_samples=round(1_024 * 4**width),
        score_rounds=round(2 - width),
        distance_members=4,
    )


def patience_for(n_rows: int, n_columns: int) -> float:
    """How long members train, from 0 to 1: the longer, the more columns there are, or rows of more than a few columns.

    Examples
    --------
    >>> [round(patience_for(*shape), 2) for shape in ((2_000, 10), (20_000, 10), (2_000, 150), (20_000, 3))]
    [0.0, 0.72, 0.5, 0.0]
    """
    for_rows = rise(n_rows, 15_000, 4) * rise(n_columns, 7, 8)
    return 1.0 - (1.0 - for_rows) * (1.0 - rise(n_columns, 150, 2))


def width_of(n_columns: int) -> float:
    """How far a table is one of very many columns, from 0 to 1.

    Examples
    --------
    >>> [round(width_of(n_columns), 2) for n_columns in (100, 500, 2_000)]
    [0.0, 0.5, 1.0]
    """
    return rise(n_columns, 500, 4)


def rise(value: float, half: float, power: int) -> float:
    """From 0 to 1, a half where the value is `half`; the larger the power, the steeper."""
    return (value / half) ** power / (1.0 + (value / half) ** power)


def goes_along(number: int, share: float) -> bool:
    """Whether this member is among the share of members that do something; as the share grows, one follows another."""
    return (number + 1) * GOLDEN % 1.0 < share


def repeated_part(turns: Sequence[str]) -> tuple[str, ...]:
    """The shortest part of a sequence that makes all of it when it is repeated.

    Examples
    --------
    >>> repeated_part(["robust", "rank", "robust", "rank", "robust"])
    ('robust', 'rank')
    """
    lengths = range(1, len(turns) + 1)
    return next(tuple(turns[:n]) for n in lengths if all(turn == turns[place % n] for place, turn in enumerate(turns)))


def choose_for_detector(n_rows: int, n_columns: int, given: dict[str, Any]) -> DetectorChoices:
    """Settle what the user has left open ("auto" or None) for a table of this shape.

    given : the detector's parameters. More steps than usual are smaller ones, and each component learns as fast however
        many there are.

    Examples
    --------
    >>> from rdplearn import RDPDetector
    >>> chosen = choose_for_detector(500, 5, RDPDetector(n_steps=120).get_params())
    >>> chosen.n_steps, round(chosen.learning_rate, 2), chosen.n_members
    (120, 1.0, 10)
    """
    usual = usual_for_shape(n_rows, n_columns)
    settled = {field.name: given[field.name] for field in fields(usual) if given.get(field.name) is not None}
    settled["distance_members"] = n_distance_members(usual, given)
    more_steps, more_components = (
        settled.get(name, getattr(usual, name)) / getattr(usual, name) for name in ("n_steps", "n_components")
    )
    settled.setdefault("learning_rate", usual.learning_rate * more_components / more_steps)
    if "even_residuals" in settled:
        settled["even_residuals"] = float(settled["even_residuals"])
    for name in ("views", "mapping"):
        settled[name] = getattr(usual, name) if is_open(settled[name]) else tuple(turns(settled[name]))
    mappings = [mapping for each in settled["mapping"] for mapping in with_kind(each, usual.mapping)]
    return replace(usual, **{**settled, "mapping": tuple(mappings)})


def n_distance_members(usual: DetectorChoices, given: dict[str, Any]) -> int:
    """How many members predict distances beside the others: none where the user says what the losses are."""
    has_own_losses = given["torch"] is not None and given["torch"].auxiliary_losses
    is_left_open = given["distance_weight"] is None and given["novelty_weight"] > 0 and not has_own_losses
    if not is_left_open or given["combination"] != "geometric":
        return 0
    return min(usual.distance_members, given["n_members"] or usual.n_members)


def with_kind(mapping: Any, usual: tuple[Any, ...]) -> list[Any]:
    """A mapping, or the usual ones with its options if it leaves its kind open."""
    if isinstance(mapping, RandomMapping) and is_open(mapping.kind):
        return [replace(mapping, kind=kind) for kind in usual]
    return [mapping]


def is_open(value: Any) -> bool:
    """Tell whether the user leaves the choice to the rule."""
    return isinstance(value, str) and value == "auto"


def turn_of(number: int, choices: Sequence[Any]) -> Any:
    """What a member has of choices that members take turns in."""
    return choices[number % len(choices)]


def in_turn(choices: Sequence[Any], n_members: int) -> list[Any]:
    """What each member has of choices that they take turns in.

    Examples
    --------
    >>> in_turn(("robust", "rank"), 3)
    ['robust', 'rank', 'robust']
    """
    return [turn_of(number, choices) for number in range(n_members)]


def turns(value: Any) -> list[Any]:
    """One choice for all members, or those that they take turns in, as a list."""
    return list(value) if isinstance(value, list | tuple) else [value]


@dataclass(frozen=True)
class TransformerChoices:
    """What the transformer learns from a table, with nothing left open.

    view : how rows are prepared; bandwidth : of Fourier features, None for the median distance between rows
    slope : of φ for negative numbers
    unit_in_loss : compare inner products of φ's rows at length 1; unit_features : give features length 1
    start : standard deviation of W at the start, times the square root of the components
    """

    view: FeatureView
    mapping: Any
    bandwidth: float | None
    n_components: int
    slope: float
    unit_in_loss: bool
    unit_features: bool
    start: float


def choose_for_transformer(matrix: Matrix, given: dict[str, Any]) -> TransformerChoices:
    """Settle what the user has left open ("auto" or None). given : the transformer's parameters.

    Examples
    --------
    >>> from rdplearn import RDPTransformer
    >>> chosen = choose_for_transformer(np.eye(20), RDPTransformer().get_params())
    >>> chosen.mapping, chosen.n_components
    ('linear', 32)
    """
    pairs, inner_product = given["pairs"], given["inner_product"]
    wanted = with_options(given["mapping"])
    mostly_zero = matrix.shape[1] >= FEWEST_UNIT and is_mostly_zero(matrix)
    mapping, bandwidth = wanted.kind, wanted.bandwidth
    if is_open(mapping):
        mapping = "leaky" if pairs == "one" else "linear" if mostly_zero else "fourier"
    view = fit_feature_view(matrix, pairs, given["views"], mostly_zero=mostly_zero)
    unit_rows = isinstance(view, WeightedUnitRows) or (isinstance(view, CentredRows) and view.unit)
    if bandwidth is None and unit_rows:
        bandwidth = UNIT_BANDWIDTH
    name = mapping if isinstance(mapping, str) else None
    is_linear = pairs == "all" and name in LINEAR_MAPPINGS
    unit_in_loss = pairs == "all" and (inner_product == "unit" or (inner_product == "auto" and name == "fourier"))
    return TransformerChoices(
        view=view,
        mapping=mapping,
        bandwidth=bandwidth,
        n_components=given["n_components"] or (COMPONENTS_LINEAR if is_linear else COMPONENTS_LEAKY),
        slope=1.0 if is_linear else REPRESENTATION_SLOPE,
        unit_in_loss=unit_in_loss,
        unit_features=pairs == "all" and (unit_in_loss or unit_rows),
        start=START_LINEAR if is_linear else START_LEAKY,
    )


def fit_feature_view(matrix: Matrix, pairs: str, views: str, *, mostly_zero: bool) -> FeatureView:
    """Learn how rows are prepared."""
    if views == "unchanged":
        return UnchangedView()
    if views == "minmax" or (views == "auto" and pairs == "one"):
        return fit_min_max(matrix)
    if mostly_zero:
        return fit_weighted_unit_rows(matrix)
    return fit_centred_rows(matrix, unit=views == "unit" or matrix.shape[1] >= FEWEST_UNIT)
