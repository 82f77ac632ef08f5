"""New members in place of the oldest ones: how an ensemble goes on with further rows.

Members are renewed in turn, by their numbers, so that each keeps its place: its view of the columns and its kind of
mapping. New rows bring one new member for as many rows as a member draws, but no more than half of the ensemble: what
was normal before is forgotten over several tables, not at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rdplearn._model.combination import Combination, geometric_mean, mean_of
from rdplearn._model.panel import Member, Panel
from rdplearn._training.members import Team
from rdplearn._types import Ints


def members_to_renew(n_members: int, n_renewed: int, n_rows: int, n_draws: int) -> Ints:
    """The numbers of the oldest members, ascending, as many as the new rows are enough for.

    n_renewed : how many were renewed before; n_draws : rows that a member draws

    Examples
    --------
    >>> members_to_renew(10, 0, n_rows=2500, n_draws=1024).tolist()
    [0, 1, 2]
    >>> members_to_renew(10, 8, n_rows=100_000, n_draws=1024).tolist()
    [0, 1, 2, 8, 9]
    """
    n_new = int(np.clip(-(-n_rows // n_draws), 1, -(-n_members // 2)))
    return np.sort((n_renewed + np.arange(n_new)) % n_members)


def teams_of(teams: Sequence[Team], numbers: Ints) -> list[Team]:
    """The plans of some members, numbered from 0, with how they come about."""
    places = {int(number): place for place, number in enumerate(numbers)}
    some = [
        ([replace(plan, number=places[plan.number]) for plan in of_team if plan.number in places], settings)
        for of_team, settings in teams
    ]
    return [team for team in some if team[0]]


def renewed_panels(panels: Sequence[Panel], numbers: Ints, fresh: Sequence[Panel]) -> list[Panel]:
    """The panels without the members of these numbers, and the panels of those that take their place."""
    kept = [panel.some_members(np.flatnonzero(~np.isin(panel.members, numbers))) for panel in panels]
    for panel in fresh:
        panel.members = numbers[panel.members]
    return [*(panel for panel in kept if len(panel.members)), *fresh]


def renewed_combination(
    combination: Combination, numbers: Ints, members: Sequence[Member], teams: Sequence[Ints]
) -> Combination:
    """How the scores of old and new members become one: either kind counts by its number, within it as before.

    teams : the numbers of members that have a voice together
    """
    if not combination.geometric:
        return mean_of(len(combination.weights))
    weights = combination.weights.copy()
    spreads = {number: member.spread for number, member in zip(numbers, members, strict=True)}
    for team in teams:
        new = np.array([number for number in team if number in spreads], dtype=np.int64)
        kept = np.setdiff1d(team, new)
        if len(new):
            weights[new] = geometric_mean([spreads[number] for number in new]).weights * len(new)
            weights[kept] *= len(kept) / max(weights[kept].sum(), np.finfo(np.float64).tiny)
            weights[team] /= weights[team].sum()
    return replace(combination, weights=weights)


def renewed_history(
    history: Sequence[dict[str, float]], numbers: Ints, members: Sequence[Member]
) -> list[dict[str, float]]:
    """The losses of the members that there are now, in their order."""
    kept = [record for record in history if record["member"] not in numbers]
    new = [
        {**record, "member": int(number)}
        for number, member in zip(numbers, members, strict=True)
        for record in member.history
    ]
    return sorted([*kept, *new], key=lambda record: record["member"])
