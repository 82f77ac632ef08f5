"""What members say of rows of the fit, as if these were new: a member that was trained on a row knows it by heart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rdplearn._model.combination import SMALLEST_SCORE, SMALLEST_SPREAD
from rdplearn._types import Doubles, Flags, Ints

MIDDLE_OF_NORMAL = (0.1587, 0.8413)  # two standard deviations apart in a normal distribution


def of_others(
    scaled: npt.NDArray[np.floating], seen: Flags, weights: Doubles, teams: Sequence[Ints]
) -> npt.NDArray[np.floating]:
    """What members say of rows of the fit, as if these were new: by those members alone that have not seen a row.

    A row counts by how far it is from what its judges say of unseen rows. Few judges differ more by chance than a whole
    team: what chance adds, told by how much judges of the same row differ, is taken off again.

    scaled : as in `Combination.over_members`; seen : (n_rows, n_members), whether a member was trained on a row
    Rows that a whole team has seen are left out, unless that is true of all.

    Examples
    --------
    >>> seen = np.array([[True, False], [False, True], [True, True]])
    >>> of_others(np.array([[0.0, 2.0], [3.0, 1.0], [1.0, 1.0]]), seen, np.full(2, 0.5), [np.arange(2)]).tolist()
    [[3.0, 2.0], [3.0, 2.0]]
    """
    is_judged = have_judges(seen, teams)
    if not is_judged.any():
        return scaled
    filled, seen = scaled[is_judged].copy(), seen[is_judged]
    for team in teams:
        filled[:, team] = _by_judges(filled[:, team].astype(np.float64), ~seen[:, team], weights[team])
    return filled


def have_judges(seen: Flags, teams: Sequence[Ints]) -> Flags:
    """For which rows every team has a member that has not seen them."""
    return np.all([~seen[:, team].all(axis=1) for team in teams], axis=0)


def _by_judges(scaled: Doubles, judges: Flags, weights: Doubles) -> Doubles:
    """`of_others` of one team. judges : (n_rows, n_members), of which each row has one at least."""
    usual = np.array([np.median(said[by] if by.any() else said) for said, by in zip(scaled.T, judges.T, strict=True)])
    shares = weights * judges
    shares /= shares.sum(axis=1, keepdims=True)
    apart = scaled - usual
    ours = (shares * apart).sum(axis=1)
    chance = (shares**2).sum(axis=1)  # of the variance of one judge; less of many
    of_judge = np.sum(shares * (apart - ours[:, None]) ** 2) / max(np.sum(1.0 - chance), SMALLEST_SPREAD)
    low, high = np.quantile(ours, MIDDLE_OF_NORMAL)
    of_row = max(((high - low) / 2) ** 2 - of_judge * float(chance.mean()), 0.0)
    of_team = of_row + of_judge * np.sum((weights / weights.sum()) ** 2)
    shrunk = np.sqrt(of_team / np.maximum(of_row + of_judge * chance, SMALLEST_SCORE))
    return np.asarray(usual + (np.minimum(shrunk, 1.0) * ours)[:, None])
