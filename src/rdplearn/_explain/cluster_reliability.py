"""Whether clusters are there at all, without labels: how tight they are, how steady, and whether anything parts them.

Everything here is a plain function of the rows' features and the centres that K-means found among them.

*Silhouette.* How much nearer a row is to its own cluster than to the next, from -1 to 1, averaged.

*Stability.* K-means is run on two random halves of the rows, and both results group all of them. Their agreement is the
adjusted Rand index: 1 for the same groups, 0 for no more than chance.

*Space between clusters.* Both figures are high for one arch of rows that K-means has cut in four: the pieces are tight,
and the cuts fall at the same places every time. What tells clusters from pieces is that few rows lie where two of them
meet. On the line through two centres, rows are counted in a band at the middle and inside each cluster (the middle half
of its rows). If the band is less than half as dense as the thinner cluster, the two are apart; in a table without
structure it is about as dense, or denser. Centres come from one half of the rows and the counts from the other, or in
many columns any cut would seem to have space around it. Clusters that are not apart make one group.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_samples
from threadpoolctl import threadpool_limits

from rdplearn._explain.notebook import html_table
from rdplearn._types import Doubles, Ints

MOST_ROWS, MOST_FOR_SILHOUETTE = 4_000, 2_000
N_SPLITS, N_RESTARTS = 5, 2
SEED = 0  # the same rows give the same words
N_NEIGHBOURS = 6  # of a cluster, by their centres: those further off do not touch it
BAND = 0.25  # half its width, where the two centres are at -1 and 1
APART = 0.5  # of the density inside the thinner cluster
DOUBT = 2  # rows midway that a small sample may have missed
STEADY = 0.8  # clusters that halves of the rows agree on
FEWEST_OF_A_CLUSTER = 4  # rows, on average
TINY = float(np.finfo(np.float64).tiny)

Level = Literal["clear", "some", "shaky", "none", "unknown"]


@dataclass(frozen=True)
class JudgedCluster:
    """One cluster: its rows among those judged, their mean silhouette, and the group of clusters that it is part of.

    Clusters of one group run into each other; None stands where there is nothing to say.
    """

    cluster: int
    n_judged: int
    silhouette: float | None
    group: int | None


@dataclass(frozen=True, repr=False)
class ClusterAssessment:
    """What can be said of clusters without labels.

    n_rows : of the table
    n_judged : rows that it rests on, a random sample of a large table
    silhouette : from -1 to 1, mean over rows
    stability : 1 if halves of the rows give the same clusters, 0 if they agree no more than by chance
    n_groups : how many there are when clusters that run into each other are taken together

    The last three are None of a single cluster, and of fewer than four rows for each cluster.
    """

    n_rows: int
    n_judged: int
    silhouette: float | None
    stability: float | None
    n_groups: int | None
    clusters: list[JudgedCluster]

    @property
    def level(self) -> Level:
        """Whether all clusters are apart, some, or none; shaky if other rows would be grouped differently."""
        if self.n_groups is None or self.stability is None:
            return "unknown"
        if self.n_groups == 1:
            return "none"
        if self.stability < STEADY:
            return "shaky"
        return "clear" if self.n_groups == len(self._filled()) else "some"

    def words(self) -> str:
        """Whether there are clusters, and how far to trust them."""
        n_filled = len(self._filled())
        if self.silhouette is None or self.stability is None or self.n_groups is None:
            why = "all rows are in one" if n_filled < 2 else f"{self.n_judged:,} rows are too few for {n_filled:,}"
            return f"Whether these clusters are apart cannot be said: {why}."
        all_of_them = "Both" if n_filled == 2 else f"All {n_filled:,}"
        told = {
            "clear": f"{all_of_them} clusters are apart: few rows lie between them.",
            "some": f"Only {self.n_groups:,} groups are apart. {self._running_together()}",
            "shaky": "Do not rely on these clusters: other rows of the same kind would be grouped differently. Try "
            "another number of clusters.",
            "none": f"There are no clusters here. The rows are one group that was cut into {n_filled:,} parts: where "
            "two parts meet, rows are about as dense as inside them.",
        }[self.level]
        agreement = f"clusters of two halves of the rows agree to {max(self.stability, 0.0):.0%}"
        return f"{told} Silhouette {self.silhouette:.2f} (1 is tight and far apart, 0 is neither); {agreement}."

    def __repr__(self) -> str:
        return self.words()

    def _repr_html_(self) -> str:
        """What a notebook shows: the sentences, and a row for each cluster."""
        rows = [
            {"cluster": each.cluster, "rows judged": f"{each.n_judged:,}"}
            | {"silhouette": "" if each.silhouette is None else f"{each.silhouette:.2f}"}
            for each in self.clusters
        ]
        return html_table(rows, self.words())

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON, with the level and the sentences."""
        return {"level": self.level, "words": self.words(), **asdict(self)}

    def _filled(self) -> list[JudgedCluster]:
        return [cluster for cluster in self.clusters if cluster.n_judged]

    def _running_together(self) -> str:
        groups: dict[int | None, list[str]] = {}
        for cluster in self._filled():
            groups.setdefault(cluster.group, []).append(str(cluster.cluster))
        joined = [f"{', '.join(names[:-1])} and {names[-1]}" for names in groups.values() if len(names) > 1]
        return f"These run into each other: {'; '.join(joined)}."


def assess_clusters(features: Any, centres: Any, *, n_rows: int | None = None) -> ClusterAssessment:
    """Say whether there are clusters, and how steady they are.

    Parameters
    ----------
    features : (n_judged, n_features), a few thousand rows
    centres : (n_clusters, n_features)
    n_rows : of the table, if the features are those of a sample of it

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, np.pi, 1000)
    >>> arch = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    >>> found = assess_clusters(arch, KMeans(4, n_init=10, random_state=0).fit(arch).cluster_centers_)
    >>> found.silhouette > 0.5, found.stability > 0.7, found.level
    (True, True, 'none')
    >>> blobs = rng.normal(size=(1000, 2)) + 10 * rng.integers(3, size=(1000, 1))
    >>> assess_clusters(blobs, KMeans(3, n_init=10, random_state=0).fit(blobs).cluster_centers_).level
    'clear'
    """
    rng = np.random.default_rng(SEED)
    n_rows = len(features) if n_rows is None else n_rows
    features, centres = np.asarray(features, dtype=np.float64), np.asarray(centres, dtype=np.float64)
    labels = nearest(features, centres)
    sizes = np.bincount(labels, minlength=len(centres))
    filled = np.flatnonzero(sizes)
    if len(filled) < 2 or len(features) < FEWEST_OF_A_CLUSTER * len(filled):
        judged = [JudgedCluster(number, int(size), None, None) for number, size in enumerate(sizes)]
        return ClusterAssessment(n_rows, len(features), None, None, None, judged)
    with threadpool_limits(limits=1):  # the order in which several threads add up is left to chance
        silhouette, of_cluster = mean_silhouettes(features, labels, len(centres), rng)
        stability, between = compare_halves(features, centres[filled], rng)
    n_groups, groups = connected_components(between > APART, directed=False)
    group_of = dict(zip(filled.tolist(), groups.tolist(), strict=True))
    judged = [
        JudgedCluster(number, int(size), of_cluster[number], group_of.get(number)) for number, size in enumerate(sizes)
    ]
    return ClusterAssessment(n_rows, len(features), silhouette, stability, int(n_groups), judged)


def compare_halves(features: Doubles, centres: Doubles, rng: np.random.Generator) -> tuple[float, Doubles]:
    """Cluster random halves of the rows; how far they agree, and how dense it is between each two clusters.

    Returns
    -------
    stability : float
    between : (n_clusters, n_clusters), as `densities_between` gives it, the middle one of several halves
    """
    agreements, between = [], []
    for _ in range(N_SPLITS):
        order = rng.permutation(len(features))
        halves = features[order[: len(order) // 2]], features[order[len(order) // 2 :]]
        found = [centres_like(centres, half, rng) for half in halves]
        agreements.append(adjusted_rand_score(*(nearest(features, of_half) for of_half in found)))
        between += [densities_between(halves[1], found[0]), densities_between(halves[0], found[1])]
    return float(np.mean(agreements)), np.median(between, axis=0)


def centres_like(centres: Doubles, rows: Doubles, rng: np.random.Generator) -> Doubles:
    """K-means among some of the rows; its centres in the order of those that they are nearest to."""
    seed = int(rng.integers(2**31))
    found = KMeans(len(centres), n_init=N_RESTARTS, random_state=seed).fit(rows).cluster_centers_
    return found[linear_sum_assignment(cdist(centres, found))[1]]


def densities_between(rows: Doubles, centres: Doubles) -> Doubles:
    """For each two neighbouring clusters, the density of rows midway, in units of that inside the thinner one.

    Returns
    -------
    (n_clusters, n_clusters), symmetric, 0 for two that are no neighbours

    Examples
    --------
    >>> line = np.linspace(0, 1, 1001)[:, None]
    >>> densities_between(line, np.array([[0.25], [0.75]])).round(1).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    >>> parted = line[(line[:, 0] < 0.4) | (line[:, 0] > 0.6)]
    >>> densities_between(parted, np.array([[0.2], [0.8]])).round(1).tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """
    labels = nearest(rows, centres)
    own = [rows[labels == number] for number in range(len(centres))]
    between = np.zeros((len(centres), len(centres)))
    for one, other in neighbouring(centres):
        axis, middle = (centres[other] - centres[one]) / 2, (centres[other] + centres[one]) / 2
        sides = [(own[number] - middle) @ axis / max(float(axis @ axis), TINY) for number in (one, other)]
        n_midway = sum(int(np.sum(np.abs(side) < BAND)) for side in sides)
        inside = min(density_inside(side) for side in sides)
        between[one, other] = between[other, one] = (n_midway + DOUBT) / (2 * BAND) / max(inside, TINY)
    return between


def neighbouring(centres: Doubles) -> list[tuple[int, int]]:
    """Pairs of clusters, of which one is among the few nearest to the other by their centres."""
    near = np.argsort(cdist(centres, centres), axis=1, kind="stable")[:, : N_NEIGHBOURS + 1]
    pairs = {(min(one, other), max(one, other)) for one, row in enumerate(near.tolist()) for other in row}
    return sorted(pair for pair in pairs if pair[0] != pair[1])


def density_inside(places: Doubles) -> float:
    """How densely the middle half of a cluster's rows lies along a line."""
    if len(places) == 0:
        return np.inf
    low, high = np.quantile(places, (0.25, 0.75))
    return len(places) / 2 / max(float(high - low), TINY)


def mean_silhouettes(
    features: Doubles, labels: Ints, n_clusters: int, rng: np.random.Generator
) -> tuple[float | None, list[float | None]]:
    """The mean silhouette of rows, or of a sample of many, and that of each cluster; None where there is no row."""
    if len(features) > MOST_FOR_SILHOUETTE:
        few = rng.choice(len(features), MOST_FOR_SILHOUETTE, replace=False)
        features, labels = features[few], labels[few]
    if len(np.unique(labels)) < 2:
        return None, [None] * n_clusters
    silhouettes = silhouette_samples(features, labels)
    of_clusters = [silhouettes[labels == number] for number in range(n_clusters)]
    return float(silhouettes.mean()), [float(some.mean()) if len(some) else None for some in of_clusters]


def nearest(rows: Doubles, centres: Doubles) -> Ints:
    """The cluster of each row, that with the nearest centre."""
    return np.argmin(cdist(rows, centres), axis=1)
