"""Is a difference more than luck? Paired differences, and what is left of a choice on sets that had no say in it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Difference(NamedTuple):
    """A mean of paired differences and its standard error."""

    mean: float
    error: float

    def __str__(self) -> str:
        return f"{self.mean:+.3f}±{self.error:.3f}"


def paired(ours: np.ndarray, theirs: np.ndarray) -> Difference:
    """Compare over sets.

    Examples
    --------
    >>> print(paired(np.array([0.8, 0.9, 0.7]), np.array([0.7, 0.9, 0.6])))
    +0.067±0.033
    """
    difference = ours - theirs
    return Difference(float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(difference))))


class Corrected(NamedTuple):
    """What a choice brings where it was made, and where it was not; and how often each candidate was chosen.

    seen, unseen : (n_metrics,)
    """

    seen: np.ndarray
    unseen: np.ndarray
    choices: np.ndarray


def selection_corrected(gains: np.ndarray, n_splits: int = 1_000, seed: int = 0) -> Corrected:
    """Choose the candidate that gains most on a random half of the sets, and see what it gains on the other half.

    The best of many candidates is the best partly by luck. Its gain on sets that did not take part in the choice has
    no such luck in it.

    Parameters
    ----------
    gains : (n_candidates, n_sets, n_metrics), over the same reference; metrics count alike

    Examples
    --------
    >>> luck = np.random.default_rng(0).normal(size=(50, 20, 1))
    >>> corrected = selection_corrected(luck)
    >>> bool(corrected.seen[0] > 0.4), bool(abs(corrected.unseen[0]) < 0.2)
    (True, True)
    """
    rng = np.random.default_rng(seed)
    n_candidates, n_sets, _ = gains.shape
    seen, unseen, choices = [], [], np.zeros(n_candidates)
    for _ in range(n_splits):
        order = rng.permutation(n_sets)
        half, other = order[: n_sets // 2], order[n_sets // 2 :]
        chosen = int(np.argmax(gains[:, half].mean(axis=(1, 2))))
        seen.append(gains[chosen, half].mean(axis=0))
        unseen.append(gains[chosen, other].mean(axis=0))
        choices[chosen] += 1 / n_splits
    return Corrected(np.mean(seen, axis=0), np.mean(unseen, axis=0), choices)
