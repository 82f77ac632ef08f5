"""Whether there are clusters: found where they are, denied where there are none, said in words."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from rdplearn import RDPClusterer, TableModel
from rdplearn._explain.cluster_reliability import assess_clusters, densities_between, nearest


def centres_of(rows: np.ndarray, n_clusters: int) -> np.ndarray:
    return KMeans(n_clusters, n_init=10, random_state=0).fit(rows).cluster_centers_


def arch(n_rows: int = 1000) -> np.ndarray:
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, np.pi, n_rows)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) + rng.normal(0, 0.05, (n_rows, 2))


WITHOUT_CLUSTERS = {
    "arch": lambda rng: arch(),
    "one cloud": lambda rng: rng.normal(size=(1000, 3)),
    "a wide cloud of few rows": lambda rng: rng.normal(size=(150, 60)),
    "a box": lambda rng: rng.uniform(size=(1000, 2)),
    "a long tail": lambda rng: rng.exponential(size=(1000, 3)),
    "a line": lambda rng: rng.uniform(size=(1000, 1)) * [1.0, 2.0] + rng.normal(0, 0.01, (1000, 2)),
}


@pytest.mark.parametrize("name", WITHOUT_CLUSTERS)
@pytest.mark.parametrize("n_clusters", [2, 4, 7])
def test_one_whole_that_was_cut_is_called_one_whole(name, n_clusters):
    rows = WITHOUT_CLUSTERS[name](np.random.default_rng(1))
    found = assess_clusters(rows, centres_of(rows, n_clusters))
    assert (found.level, found.n_groups) == ("none", 1)
    assert found.words().startswith(
        f"There are no clusters here. The rows are one group that was cut into {n_clusters}"
    )


def test_tight_and_steady_pieces_of_an_arch_are_no_clusters():
    found = assess_clusters(arch(), centres_of(arch(), 4))
    assert found.silhouette > 0.5
    assert found.stability > 0.7
    assert found.level == "none"


@pytest.mark.parametrize("n_columns", [2, 40])
def test_clusters_that_are_there_are_found(n_columns):
    rows, _ = make_blobs(600, n_columns, centers=[[0] * n_columns, [8] * n_columns, [20] * n_columns], random_state=0)
    found = assess_clusters(rows, centres_of(rows, 3))
    assert (found.level, found.n_groups) == ("clear", 3)
    assert found.words().startswith("All 3 clusters are apart: few rows lie between them. Silhouette 0.")
    assert found.stability == pytest.approx(1.0)
    assert [cluster.group for cluster in found.clusters] == [0, 1, 2]
    assert min(cluster.silhouette for cluster in found.clusters) > 0.4


def test_clusters_that_run_into_each_other_are_named():
    rng = np.random.default_rng(0)
    long_one = rng.uniform(size=(400, 1)) * [4.0, 0.0] + rng.normal(0, 0.1, (400, 2))
    rows = np.vstack([long_one, rng.normal(10.0, 0.1, (400, 2))])
    found = assess_clusters(rows, np.array([[1.0, 0.0], [10.0, 10.0], [3.0, 0.0]]))
    assert found.n_groups == 2
    assert found.level == "some"
    assert "Only 2 groups are apart. These run into each other: 0 and 2." in found.words()


def test_too_few_clusters_for_groups_that_are_there_are_shaky():
    corners = 10.0 * np.array([[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1]])  # each as far from the others as any
    rows, _ = make_blobs(400, centers=corners, random_state=0)
    found = assess_clusters(rows, centres_of(rows, 2))
    assert found.level == "shaky"
    assert "Try another number of clusters." in found.words()


def test_one_cluster_and_few_rows_are_not_judged():
    rows = np.random.default_rng(0).normal(size=(10, 2))
    alone = assess_clusters(rows, rows[:1])
    assert (alone.level, alone.silhouette, alone.stability, alone.n_groups) == ("unknown", None, None, None)
    assert alone.words() == "Whether these clusters are apart cannot be said: all rows are in one."
    few = assess_clusters(rows, rows[:5])
    assert few.words() == "Whether these clusters are apart cannot be said: 10 rows are too few for 5."


def test_equal_rows_are_apart_from_others():
    rows = np.repeat([[0.0, 0.0], [1.0, 1.0]], [50, 50], axis=0)
    found = assess_clusters(rows, np.array([[0.0, 0.0], [1.0, 1.0]]))
    assert found.level == "clear"
    assert found.words().startswith("Both clusters are apart: few rows lie between them.")


def test_space_is_looked_for_in_rows_that_the_centres_do_not_come_from():
    noise = np.random.default_rng(0).normal(size=(100, 200))
    centres = centres_of(noise, 2)
    assert densities_between(noise, centres)[0, 1] < 0.5  # its own rows seem to leave space around any cut
    assert assess_clusters(noise, centres).n_groups == 1


def test_an_empty_cluster_is_passed_over():
    rows, _ = make_blobs(200, centers=[[0, 0], [20, 20]], random_state=0)
    found = assess_clusters(rows, np.array([[0.0, 0.0], [20.0, 20.0], [500.0, 500.0]]))
    assert found.level == "clear"
    assert (found.clusters[2].n_judged, found.clusters[2].silhouette, found.clusters[2].group) == (0, None, None)
    assert set(nearest(rows, np.array([[0.0, 0.0], [20.0, 20.0], [500.0, 500.0]]))) == {0, 1}


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_clusterer_assesses_its_clusters_the_same_every_time(form):
    rows = form(make_blobs(300, 3, centers=3, cluster_std=0.5, random_state=0)[0])
    model = RDPClusterer(3, random_state=0).fit(rows)
    found = model.assess(rows)
    assert found == model.assess(rows)
    assert (found.n_rows, found.n_judged, found.level) == (300, 300, "clear")
    assert json.loads(json.dumps(found.to_dict()))["words"] == found.words()


def test_a_large_table_is_judged_by_a_sample():
    rows = np.random.default_rng(0).normal(size=(5000, 2))
    found = RDPClusterer(2, random_state=0).fit(rows).assess(rows)
    assert (found.n_rows, found.n_judged) == (5000, 4000)


def test_the_clusters_of_a_table_are_assessed_like_those_of_its_matrix():
    table = pa.table({"age": [20 + number % 5 + 40 * (number % 2) for number in range(200)]})
    model = TableModel(RDPClusterer(2, random_state=0)).fit(table)
    assert model.assess(table) == model.estimator.assess(model.encoder.transform(table))
    assert model.assess(table, n_rows=10**6).n_rows == 10**6
