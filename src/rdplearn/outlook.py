r"""How many members look at a table, how, and for how long, where the user leaves it open: a rule of its width.

=================  ==============================================  =======================================
left open          up to 500 columns                               more
=================  ==============================================  =======================================
members            10                                              20
views              robust, rank, robust, robust+rank,              minmax, robust, rank, minmax, robust
                   rank+surprise
mapping η          few, leaky, leaky, leaky, leaky                 leaky
steps in a round   60                                              240
even residuals     yes                                             no
=================  ==============================================  =======================================

Of thousands of columns, numbers that look at one to three columns each see next to nothing, and robust scales blow up
the many columns that are nearly constant. The paper's view and mapping, with more steps, do better there. No two
members see the same of so many columns, and it takes more of them to agree. `docs/default.md` has the figures. Labels
have no part in the rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MOST_NARROW = 500  # columns


@dataclass(frozen=True)
class Outlook:
    """With nothing left open; members take turns in `views` and `mapping`."""

    n_members: int
    views: tuple[str, ...]
    mapping: tuple[Any, ...]
    n_steps: int
    even_residuals: bool


NARROW = Outlook(
    n_members=10,
    views=("robust", "rank", "robust", "robust+rank", "rank+surprise"),
    mapping=("few", "leaky", "leaky", "leaky", "leaky"),
    n_steps=60,
    even_residuals=True,
)
WIDE = Outlook(
    n_members=20,
    views=("minmax", "robust", "rank", "minmax", "robust"),
    mapping=("leaky",),
    n_steps=240,
    even_residuals=False,
)


def choose_outlook(
    n_columns: int,
    *,
    n_members: int | None,
    views: str | Sequence[str],
    mapping: Any,
    n_steps: int | None,
    even_residuals: bool | None,
) -> Outlook:
    """Settle what the user has left open ("auto" or None) for a table of so many columns.

    Examples
    --------
    >>> choose_outlook(1_000, n_members=None, views="rank", mapping="auto", n_steps=100, even_residuals=None)
    Outlook(n_members=20, views=('rank',), mapping=('leaky',), n_steps=100, even_residuals=False)
    """
    fitting = NARROW if n_columns <= MOST_NARROW else WIDE
    return Outlook(
        n_members=n_members or fitting.n_members,
        views=fitting.views if is_open(views) else tuple(turns(views)),
        mapping=fitting.mapping if is_open(mapping) else tuple(turns(mapping)),
        n_steps=n_steps or fitting.n_steps,
        even_residuals=fitting.even_residuals if even_residuals is None else even_residuals,
    )


def is_open(value: Any) -> bool:
    """Tell whether the user leaves the choice to the rule."""
    return isinstance(value, str) and value == "auto"


def turns(value: Any) -> list[Any]:
    """One choice for all members, or those that they take turns in, as a list."""
    return list(value) if isinstance(value, list | tuple) else [value]
