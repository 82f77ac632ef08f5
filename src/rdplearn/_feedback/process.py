r"""What answers say of all other rows: a Gaussian process whose mean is the detector's own score.

With :math:`f(x)` the detector's score and :math:`f_m(x)` that of its member `m`, all on their `Scale`, and
:math:`n(x, y)` the nearness of two rows, the true score is :math:`f + g`, where :math:`g` is Gaussian with covariance

.. math:: a^2 n(x, y) + b^2 f(x) f(y) + \frac{c^2}{M} \sum_m f_m(x) f_m(y):

near rows move together, and the detector as a whole, or some of its members, may deserve more or less trust. Where many
answers have found next to nothing, they may deserve much less: :math:`b^2` and :math:`c^2` then grow, so that rows of
another kind come up. An answer is the true score, 5 for an anomaly and -2 for a normal row, with an error whose
variance allows for wrong answers; one that all others contradict is trusted less. Contradictory answers about one row
meet in the middle. A part of the error is the same for all answers: a person who calls far fewer rows anomalous than
the detector does, or far more, says so with every answer, and that is no news about any one row.

All of it depends on the answers together, not on their order. With more than `MOST_POINTS` different answered rows, the
nearest to each other are taken as one, with the mean of their answers: time and memory stay bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

from rdplearn._feedback.columns import Seen, farthest_first, nearness
from rdplearn._types import Doubles, Floats, Ints

MEANT = {"anomalous": 5.0, "normal": -2.0}
NEAR_VARIANCE, TRUST_VARIANCE, MEMBERS_VARIANCE, ERROR_VARIANCE = 16.0, 0.3, 1.0, 6.0
SHARED_VARIANCE = 4.0  # of the error that all answers share
DOUBT = 0.5
MOST_POINTS = 300
PATIENCE, MOST_DOUBT = 10.0, 10.0  # normal answers for each anomalous one, and one more, before trust is in doubt


@dataclass(frozen=True)
class Process:
    """A Gaussian process that has seen answers.

    points : (n_points,), the answered rows, or those that stand for them, as answers see them
    opinions : (n_points, 1 + n_members), what the detector and its members say of them, on their scale
    weights : (n_points,), how much each moves the rows around it
    variances : (1 + n_members,), how far trust in the detector, and in each of its members, may change
    lower : (n_points, n_points), Cholesky factor of the answers' covariance
    nearest : (n_answers,), the point that each answered row is taken as
    """

    points: Seen
    opinions: Doubles
    weights: Doubles
    variances: Doubles
    lower: Doubles
    nearest: Ints

    def moves(self, near: Floats, opinions: Doubles) -> Doubles:
        """How far the answers move each row. near : (n_rows, n_points), opinions : (n_rows, 1 + n_members)."""
        return near_moves(near, self.weights) + self.trust_moves(opinions)

    def trust_moves(self, opinions: Doubles) -> Doubles:
        """The part that comes of more or less trust in the detector and its members."""
        return opinions @ (self.variances * (self.weights @ self.opinions))

    def parts(self, near: Floats, opinions: Doubles) -> Doubles:
        """The part that each point has in the moves, (n_rows, n_points)."""
        return covariance(near, opinions, self.opinions, self.variances) * self.weights

    def uncertainty(self, near: Floats, opinions: Doubles) -> Doubles:
        """The standard deviation of each row's true score, given the answers."""
        of_rows = covariance(near, opinions, self.opinions, self.variances)
        explained = solve_triangular(self.lower, of_rows.T, lower=True)
        return np.sqrt(np.maximum(prior_variance(opinions, self.variances) - np.sum(explained**2, axis=0), 0.0))

    def first_answers(self, points: Ints) -> list[int]:
        """For each of some points, the first answered row that it stands for."""
        return [int(np.argmax(self.nearest == point)) for point in points]


def near_moves(near: Floats, weights: Doubles) -> Doubles:
    """The part that comes of nearness to answered rows. near : (n_rows, n_points); weights : (n_points,)."""
    return (near @ (NEAR_VARIANCE * weights).astype(np.float32)).astype(np.float64)


def trust_variances(n_members: int, doubt: float = 1.0) -> Doubles:
    """How far trust in the detector, and in each of its members, may change: (1 + n_members,)."""
    return doubt * np.concatenate([[TRUST_VARIANCE], np.full(n_members, MEMBERS_VARIANCE / n_members)])


def doubt_of(meant: Doubles, n_told: Ints) -> float:
    """How much further trust may change than before any answer: the more, the longer answers find nothing.

    Examples
    --------
    >>> normal, n_told = np.full(60, MEANT["normal"]), np.ones(60, dtype=int)
    >>> doubt_of(normal[:10], n_told[:10]), doubt_of(normal, n_told)
    (1.0, 6.0)
    >>> doubt_of(np.append(normal, MEANT["anomalous"]), np.append(n_told, 1))
    3.0
    """
    n_anomalous = float(n_told @ (meant - MEANT["normal"])) / (MEANT["anomalous"] - MEANT["normal"])
    n_normal = float(n_told.sum()) - n_anomalous
    return float(np.clip(n_normal / (PATIENCE * (1 + n_anomalous)), 1.0, MOST_DOUBT))


def covariance(near: Floats, opinions: Doubles, of_points: Doubles, variances: Doubles) -> Doubles:
    """How the true scores of rows go with those of points, (n_rows, n_points)."""
    return NEAR_VARIANCE * near.astype(np.float64) + opinions * variances @ of_points.T


def prior_variance(opinions: Doubles, variances: Doubles) -> Doubles:
    """The variance of a row's true score before any answer."""
    return NEAR_VARIANCE + opinions**2 @ variances


def learn_process(
    points: Seen, opinions: Doubles, meant: Doubles, n_told: Ints, *, shared_variance: float = SHARED_VARIANCE
) -> Process:
    """Learn from answers.

    Parameters
    ----------
    points : (n_answers,), different rows, in an order that does not depend on when they were told
    opinions : (n_answers, 1 + n_members), what the detector and its members say of them
    meant : (n_answers,), the mean of the answers about each
    n_told : (n_answers,), how many these were
    shared_variance : of the error that all answers share
    """
    variances = trust_variances(opinions.shape[1] - 1, doubt_of(meant, n_told))
    nearest = np.arange(len(points))
    surprise = meant - opinions[:, 0]
    if len(points) > MOST_POINTS:
        chosen, nearest = farthest_first(points, MOST_POINTS)
        totals = np.bincount(nearest, n_told)
        surprise = np.bincount(nearest, n_told * surprise) / totals
        points, opinions, n_told = points[chosen], opinions[chosen], totals
    of_points = covariance(nearness(points, points), opinions, opinions, variances) + shared_variance
    error = ERROR_VARIANCE / n_told
    error = error * (1 + DOUBT * contradiction(of_points + np.diag(error), surprise))
    lower: Any = cholesky(of_points + np.diag(error), lower=True)
    return Process(points, opinions, cho_solve((lower, True), surprise), variances, lower, nearest)


def contradiction(of_answers: Doubles, surprise: Doubles) -> Doubles:
    """How far each answer is from what all others say of its row: squared, in variances, beyond the first.

    An answer alone among contrary ones is more likely wrong, and counts for less.
    """
    lower = cholesky(of_answers, lower=True)
    precision = np.diag(cho_solve((lower, True), np.eye(len(surprise))))
    left_out = cho_solve((lower, True), surprise) / precision  # the answer minus its prediction without it
    return np.maximum(left_out**2 * precision - 1, 0.0)
