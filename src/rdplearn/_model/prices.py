r"""What a voice pays to be heard: the price falls with what it is better at than the other voice.

The voice of distances pays a *price* first, so that it is heard only when it is sure: anomalies may be among the rows
that it knows. How well does it know the table? Made-up rows tell (`made_up_rows.py`). If it tells them from rows of the
table better than members with the novelty loss do, its price falls, and its members score by more rows; if it is
clearly better, the others pay in its place. If it alone sees holes between the rows, its price falls by more than half.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rdplearn._types import Doubles

PRICE = 1.2  # in nats, of a voice of distances that tells made-up rows as well as the other voice does
CLEARLY = 0.15  # telling so many more of the made-up rows is worth one price
HOLES, HOLES_WORTH = (0.3, 0.4), 0.6  # telling so many more rows between others is worth this part of a price
LIMITS = (-1.0, 2.0)  # of how many prices it is worth; beyond one, the other voice pays
ODD = 0.8  # share of the rows of the table that are not odd
DECIMALS = 12  # of a price


def fair_prices(made_up: Sequence[float], between: Sequence[float] = (0.0, 0.0)) -> list[float]:
    """What the two voices pay, by how many made-up rows novelty tells from rows of the table, and how many distance.

    made_up : where nothing goes together, see `share_told`; between : where they lie between rows, see `share_beyond`

    Examples
    --------
    >>> [fair_prices((0.7, told)) for told in (0.55, 0.7, 0.85, 1.0)]
    [[0.0, 2.4], [0.0, 1.2], [0.0, 0.0], [1.2, 0.0]]
    >>> [fair_prices((0.7, 0.7), (0.2, told)) for told in (0.5, 0.55, 0.9)]
    [[0.0, 1.2], [0.0, 0.84], [0.0, 0.48]]
    """
    knows_more = (made_up[1] - made_up[0]) / CLEARLY
    sees_holes = float(np.interp(between[1] - between[0], HOLES, (0.0, HOLES_WORTH)))
    of_distance = round(PRICE * (1.0 - float(np.clip(knows_more + sees_holes, *LIMITS))), DECIMALS)
    return [max(0.0, -of_distance), max(0.0, of_distance)]


def share_told(made_up: Doubles, real: Doubles) -> float:
    """How often a made-up row has a higher score than a row of the table; a tie counts half.

    Examples
    --------
    >>> share_told(np.array([1.0, 3.0]), np.array([0.0, 2.0, 3.0]))
    0.5833333333333334
    """
    real = np.sort(real)
    below = [np.searchsorted(real, made_up, side) for side in ("left", "right")]
    return float(np.mean(below)) / len(real)


def share_beyond(made_up: Doubles, real: Doubles) -> float:
    """How many made-up rows have a higher score than four in five rows of the table.

    Examples
    --------
    >>> share_beyond(np.array([1.0, 5.0]), np.arange(5.0))
    0.5
    """
    return float(np.mean(made_up > np.quantile(real, ODD)))
