"""Twenty shapes with anomalies of a known kind, made up: what a detector sees, and what it is blind to.

Each shape has 2,500 rows, of which 50 are anomalies, and is drawn with seeds 0 to 2: "gallery/ring_0" is the ring of
seed 0. Shapes were settled before a detector had seen them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from experiments.preprocessing import Table

N_ROWS, N_ODD, SEEDS = 2_500, 50, (0, 1, 2)
Parts = tuple[np.ndarray, np.ndarray]  # normal rows, anomalies
Rng = np.random.Generator


def ring(rng: Rng, n: int, n_odd: int) -> Parts:
    """A circle with noise; anomalies inside."""
    return _on_sphere(rng, n, 2), 0.5 * _in_ball(rng, n_odd, 2)


def shell(rng: Rng, n: int, n_odd: int) -> Parts:
    """The surface of a ball in 5 columns; anomalies inside."""
    return _on_sphere(rng, n, 5), 0.6 * _in_ball(rng, n_odd, 5)


def spiral(rng: Rng, n: int, n_odd: int) -> Parts:
    """Two turns of a spiral; anomalies between the arms."""
    turn = 4 * np.pi * np.sqrt(rng.uniform(0.05, 1, n))
    curve = np.column_stack([turn * np.cos(turn), turn * np.sin(turn)]) / (4 * np.pi)
    return _noisy(rng, curve, 0.02), _away_from(rng, curve, n_odd, 0.12)


def two_moons(rng: Rng, n: int, n_odd: int) -> Parts:
    """Two half circles that reach into each other; anomalies off both."""
    angle, second = rng.uniform(0, np.pi, n), rng.random(n) < 0.5
    upper = np.column_stack([np.cos(angle), np.sin(angle)])
    curve = np.where(second[:, None], [1.0, 0.5] - upper, upper)
    return _noisy(rng, curve, 0.06), _away_from(rng, curve, n_odd, 0.3)


def between_clusters(rng: Rng, n: int, n_odd: int) -> Parts:
    """Five clusters in 4 columns; anomalies half way between two of them."""
    centres = 6 * np.vstack([np.eye(4), np.full(4, 0.5) * [-1, 1, -1, 1]])
    first = rng.integers(0, 5, n_odd)
    middle = (centres[first] + centres[(first + rng.integers(1, 5, n_odd)) % 5]) / 2
    return _noisy(rng, centres[rng.integers(0, 5, n)], 0.6), _noisy(rng, middle, 0.4)


def bimodal_hole(rng: Rng, n: int, n_odd: int) -> Parts:
    """Three columns that are high or low; anomalies in the middle of all."""
    return _noisy(rng, rng.choice([-3.0, 3.0], (n, 3)), 0.5), rng.uniform(-1.5, 1.5, (n_odd, 3))


def two_densities(rng: Rng, n: int, n_odd: int) -> Parts:
    """A dense cluster and a loose one; anomalies near the dense one, as far from it as rows of the other are apart."""
    dense = rng.random(n) < 0.5
    rows = np.where(dense[:, None], rng.normal(0, 0.1, (n, 2)), rng.normal([6, 0], 1, (n, 2)))
    return rows, rng.uniform(0.6, 1.0, (n_odd, 1)) * _directions(rng, n_odd, 2)


def off_sine(rng: Rng, n: int, n_odd: int) -> Parts:
    """A sine in two of 3 columns; anomalies have usual values in each column, off the curve."""

    def rows(count: int, off: np.ndarray) -> np.ndarray:
        x = rng.uniform(0, 4 * np.pi, count)
        return np.column_stack([x, np.sin(x) + off, rng.uniform(-1, 1, count)])

    off = rng.uniform(0.4, 1.2, n_odd) * rng.choice([-1, 1], n_odd)
    odd = rows(n_odd, off)
    odd[:, 1] = np.where(np.abs(odd[:, 1]) > 1.1, odd[:, 1] - 2 * off, odd[:, 1])  # to the other side of the curve
    return rows(n, rng.normal(0, 0.08, n)), odd


def monotone_time(rng: Rng, n: int, n_odd: int) -> Parts:
    """A counter, a value that rises with it, two others; anomalies have the value of another time."""
    time = np.sort(rng.uniform(0, 1, n))
    odd_time = rng.uniform(0, 1, n_odd)
    other = (odd_time + rng.uniform(0.2, 0.8, n_odd)) % 1
    rows = np.column_stack([1_000 * time, 10 * time + rng.normal(0, 0.3, n), rng.normal(size=(n, 2))])
    odd = np.column_stack([1_000 * odd_time, 10 * other + rng.normal(0, 0.3, n_odd), rng.normal(size=(n_odd, 2))])
    return rows, odd


def high_correlation(rng: Rng, n: int, n_odd: int) -> Parts:
    """Ten columns that two factors explain; in anomalies the columns are drawn apart."""
    rows = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 10)) + rng.normal(0, 0.3, (n, 10))
    return rows, _columns_apart(rng, rows, n_odd)


def subspace_pairs(rng: Rng, n: int, n_odd: int) -> Parts:
    """Ten pairs of columns that go together; in anomalies two pairs do not."""
    shared = rng.normal(size=(n + n_odd, 10, 1))
    rows = (shared + rng.normal(0, 0.25, (n + n_odd, 10, 2))).reshape(-1, 20)
    odd = rows[n:].copy()
    for row in odd:
        for pair in rng.choice(10, 2, replace=False):
            row[2 * pair + 1] = -np.sign(row[2 * pair]) * rng.uniform(0.8, 2.0)
    return rows[:n], odd


def noise_columns(rng: Rng, n: int, n_odd: int) -> Parts:
    """Eight correlated columns among 100 of noise; in anomalies the eight are drawn apart and twice as large."""
    told = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 8)) + rng.normal(0, 0.3, (n, 8))
    odd = 2 * _columns_apart(rng, told, n_odd)
    return np.hstack([told, rng.normal(size=(n, 100))]), np.hstack([odd, rng.normal(size=(n_odd, 100))])


def one_hot(rng: Rng, n: int, n_odd: int) -> Parts:
    """Four categories of five values, one-hot, that mostly go together; anomalies combine them at random."""
    kind = rng.integers(0, 5, n)
    values = np.where(rng.random((n, 4)) < 0.9, kind[:, None], rng.integers(0, 5, (n, 4)))
    odd = rng.integers(0, 5, (n_odd, 4))
    return np.eye(5)[values].reshape(n, 20), np.eye(5)[odd].reshape(n_odd, 20)


def likert(rng: Rng, n: int, n_odd: int) -> Parts:
    """Fifteen answers from 1 to 5 of three traits; anomalies answer at random."""
    traits = np.repeat(rng.normal(size=(n, 3)), 5, axis=1)
    rows = np.clip(np.round(3 + traits + rng.normal(0, 0.5, (n, 15))), 1, 5)
    return rows, rng.integers(1, 6, (n_odd, 15)).astype(float)


def binary(rng: Rng, n: int, n_odd: int) -> Parts:
    """Thirty yes-or-no columns of three kinds of rows; in anomalies each is drawn apart."""
    rates = rng.choice([0.08, 0.85], (3, 30), p=[0.7, 0.3])
    rows = (rng.random((n, 30)) < rates[rng.integers(0, 3, n)]).astype(float)
    return rows, _columns_apart(rng, rows, n_odd)


def poisson_counts(rng: Rng, n: int, n_odd: int) -> Parts:
    """Eight counts that grow with the size of a row; in anomalies two are four times what the size says."""
    rates = rng.uniform(1, 8, 8)

    def expected(count: int) -> np.ndarray:
        return rng.gamma(4, 0.25, (count, 1)) * rates

    odd = expected(n_odd)
    for row in odd:
        row[rng.choice(8, 2, replace=False)] *= 4
    return rng.poisson(expected(n)).astype(float), rng.poisson(odd).astype(float)


def heavy_tails(rng: Rng, n: int, n_odd: int) -> Parts:
    """Six columns with heavy tails, where a single far value is usual; anomalies are far out in all."""
    odd = rng.uniform(2.5, 5, (n_odd, 6)) * rng.choice([-1, 1], (n_odd, 6))
    return rng.standard_t(2, (n, 6)), odd


def heavy_correlated_tails(rng: Rng, n: int, n_odd: int) -> Parts:
    """Six columns that have heavy tails together; anomalies of usual size go against the correlation."""

    def stretched(normal: np.ndarray) -> np.ndarray:
        return normal / np.sqrt(rng.chisquare(2, (len(normal), 1)) / 2)

    rows = stretched(rng.normal(size=(n, 1)) + rng.normal(0, 0.3, (n, 6)))
    return rows, _columns_apart(rng, np.clip(rows, *np.quantile(rows, [0.02, 0.98])), n_odd)


def lattice(rng: Rng, n: int, n_odd: int) -> Parts:
    """Two columns rounded to halves; anomalies lie between the steps."""
    odd = np.round(2 * rng.normal(size=(n_odd, 2))) / 2 + rng.uniform(0.15, 0.35, (n_odd, 2))
    return np.round(2 * rng.normal(size=(n, 2))) / 2, odd


def local_within_clusters(rng: Rng, n: int, n_odd: int) -> Parts:
    """Five clusters of different width and direction; anomalies are odd for their own cluster alone."""
    centres = rng.uniform(-8, 8, (5, 3))
    axes = np.stack([np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(5)])
    widths = np.array([0.15, 0.3, 0.5, 0.8, 1.2])[:, None] * [1.0, 0.6, 0.2]
    normal, odd = rng.integers(0, 5, n), rng.integers(0, 5, n_odd)
    scores = rng.normal(size=(n, 3))
    far = rng.normal(size=(n_odd, 3))
    far[:, 2] = rng.uniform(5, 8, n_odd) * rng.choice([-1, 1], n_odd)
    rows = centres[normal] + np.einsum("nk,nkd->nd", scores * widths[normal], axes[normal])
    return rows, centres[odd] + np.einsum("nk,nkd->nd", far * widths[odd], axes[odd])


SHAPES: tuple[Callable[[Rng, int, int], Parts], ...] = (
    ring, shell, spiral, two_moons, between_clusters, bimodal_hole, two_densities, off_sine, monotone_time,
    high_correlation, subspace_pairs, noise_columns, one_hot, likert, binary, poisson_counts, heavy_tails,
    heavy_correlated_tails, lattice, local_within_clusters,
)  # fmt: skip


def draw(shape: Callable[[Rng, int, int], Parts], seed: int) -> Table:
    """Draw a shape, its rows in random order.

    Examples
    --------
    >>> rows, labels = draw(ring, seed=0)
    >>> rows.shape, int(labels.sum())
    ((2500, 2), 50)
    """
    rng = np.random.default_rng([SHAPES.index(shape), seed])
    normal, odd = shape(rng, N_ROWS - N_ODD, N_ODD)
    order = rng.permutation(N_ROWS)
    labels = np.repeat([0, 1], [len(normal), len(odd)])
    return np.vstack([normal, odd])[order].astype(np.float32), labels[order]


SETS: dict[str, Callable[[], Table]] = {
    f"gallery/{shape.__name__}_{seed}": functools.partial(draw, shape, seed) for shape in SHAPES for seed in SEEDS
}


def title(name: str) -> str:
    """Name the shape of a set.

    Examples
    --------
    >>> title("gallery/two_moons_1")
    'two moons'
    """
    return name.removeprefix("gallery/").rpartition("_")[0].replace("_", " ")


def seed_of(name: str) -> int:
    """Tell which seed a set was drawn with.

    Examples
    --------
    >>> seed_of("gallery/two_moons_1")
    1
    """
    return int(name.rpartition("_")[2])


def _noisy(rng: Rng, rows: np.ndarray, scale: float) -> np.ndarray:
    return rows + rng.normal(0, scale, rows.shape)


def _directions(rng: Rng, n: int, n_columns: int) -> np.ndarray:
    normal = rng.normal(size=(n, n_columns))
    return normal / np.linalg.norm(normal, axis=1, keepdims=True)


def _on_sphere(rng: Rng, n: int, n_columns: int) -> np.ndarray:
    return _directions(rng, n, n_columns) * rng.normal(1, 0.05, (n, 1))


def _in_ball(rng: Rng, n: int, n_columns: int) -> np.ndarray:
    return _directions(rng, n, n_columns) * rng.uniform(0, 1, (n, 1)) ** (1 / n_columns)


def _away_from(rng: Rng, curve: np.ndarray, n: int, distance: float) -> np.ndarray:
    """Points within the range of a curve that keep a distance from it."""
    points = rng.uniform(curve.min(axis=0), curve.max(axis=0), (40 * n, curve.shape[1]))
    nearest = np.array([np.sqrt(((curve - point) ** 2).sum(axis=1).min()) for point in points])
    return points[nearest > distance][:n]


def _columns_apart(rng: Rng, rows: np.ndarray, n: int) -> np.ndarray:
    """Rows whose columns are each drawn by themselves, so that every value is usual and their combination is not."""
    return np.column_stack([rng.choice(column, n) for column in rows.T])
