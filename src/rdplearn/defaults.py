r"""How members look at a table, and for how long, where the user leaves it open: a rule of its shape.

=================  ==============================================  ============  =======================================
left open          narrow: up to 500 columns                       tall          wide: more than 500 columns
=================  ==============================================  ============  =======================================
members            10                                              8             20
views              robust, rank, robust, robust+rank,              as narrow     minmax, robust, rank, minmax, robust
                   rank+surprise
mapping η          few, leaky, leaky, leaky, leaky                 leaky         leaky
steps in a round   60                                              240           240
rows in a step     40                                              20            40
learning rate      2                                               1             1
even residuals     yes                                             no            no
rows of a member   1,024                                           1,024         4,096
rounds that score  the last 3                                      the last 4    the last 4
=================  ==============================================  ============  =======================================

A narrow table is tall if it has more than 10,000 rows and more than 7 columns. To score it takes so long that a longer
training is hardly noticed, and it pays: there are enough columns for anomalies that are unusual in none of them.

Of thousands of columns, numbers that look at one to three columns each see next to nothing, and robust scales blow up
the many columns that are nearly constant. The paper's view and mapping, with more steps, do better there. No two
members see the same of so many columns, and it takes more of them to agree. `docs/default.md` has the figures. Labels
have no part in the rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

MOST_NARROW = 500  # columns
MOST_LOW = 10_000  # rows
FEW_COLUMNS = 7
USUAL_COMPONENTS = 64  # the learning rates below are for so many numbers in φ


@dataclass(frozen=True)
class Outlook:
    """Parameters of the detector with nothing left open; members take turns in `views` and `mapping`.

    `views` depend on the columns alone: a detector from a file does not know how many rows it was fitted on.
    """

    n_members: int
    views: tuple[str, ...]
    mapping: tuple[Any, ...]
    n_steps: int
    batch_size: int
    learning_rate: float
    even_residuals: bool
    max_samples: float
    score_rounds: int


NARROW = Outlook(
    n_members=10,
    views=("robust", "rank", "robust", "robust+rank", "rank+surprise"),
    mapping=("few", "leaky", "leaky", "leaky", "leaky"),
    n_steps=60,
    batch_size=40,
    learning_rate=2.0,
    even_residuals=True,
    max_samples=1_024,
    score_rounds=3,
)
TALL = replace(
    NARROW,
    n_members=8,
    mapping=("leaky",),
    n_steps=240,
    batch_size=20,
    learning_rate=1.0,
    even_residuals=False,
    score_rounds=4,
)
WIDE = Outlook(
    n_members=20,
    views=("minmax", "robust", "rank", "minmax", "robust"),
    mapping=("leaky",),
    n_steps=240,
    batch_size=40,
    learning_rate=1.0,
    even_residuals=False,
    max_samples=4_096,
    score_rounds=4,
)


def choose_outlook(
    n_rows: int,
    n_columns: int,
    *,
    n_components: int,
    n_members: int | None,
    views: str | Sequence[str],
    mapping: Any,
    n_steps: int | None,
    batch_size: int | None,
    learning_rate: float | None,
    even_residuals: bool | None,
    max_samples: float | None,
    score_rounds: int | None,
) -> Outlook:
    """Settle what the user has left open ("auto" or None) for a table of this shape.

    More steps than usual are smaller ones, and each of `n_components` numbers learns as fast however many there are.
    """
    usual = fitting(n_rows, n_columns)
    n_steps = n_steps or usual.n_steps
    pace = n_components / USUAL_COMPONENTS * usual.n_steps / n_steps
    return Outlook(
        n_members=n_members or usual.n_members,
        views=usual.views if is_open(views) else tuple(turns(views)),
        mapping=usual.mapping if is_open(mapping) else tuple(turns(mapping)),
        n_steps=n_steps,
        batch_size=batch_size or usual.batch_size,
        learning_rate=learning_rate or usual.learning_rate * pace,
        even_residuals=usual.even_residuals if even_residuals is None else even_residuals,
        max_samples=max_samples or usual.max_samples,
        score_rounds=score_rounds or usual.score_rounds,
    )


def fitting(n_rows: int, n_columns: int) -> Outlook:
    """The outlook on a table of this shape if all is left open.

    Examples
    --------
    >>> [fitting(*shape).n_steps for shape in ((10_000, 20), (10_001, 20), (10_001, 7), (100, 501))]
    [60, 240, 60, 240]
    """
    if n_columns > MOST_NARROW:
        return WIDE
    return TALL if n_rows > MOST_LOW and n_columns > FEW_COLUMNS else NARROW


def is_open(value: Any) -> bool:
    """Tell whether the user leaves the choice to the rule."""
    return isinstance(value, str) and value == "auto"


def in_turn(choices: Sequence[Any], n_members: int) -> list[Any]:
    """What each member has of choices that they take turns in.

    Examples
    --------
    >>> in_turn(("robust", "rank"), 3)
    ['robust', 'rank', 'robust']
    """
    return [choices[member % len(choices)] for member in range(n_members)]


def turns(value: Any) -> list[Any]:
    """One choice for all members, or those that they take turns in, as a list."""
    return list(value) if isinstance(value, list | tuple) else [value]
