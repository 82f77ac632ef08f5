"""RDPClusterer from outside: it finds groups, it fits in where K-means does, and it says what is wrong."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import MiniBatchKMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rdplearn import RDPClusterer, RDPTransformer, clusterer
from tests.test_transformer import groups, words


def fitted(X, **changes) -> RDPClusterer:
    options = {"n_clusters": 3, "transformer": RDPTransformer(n_steps=100), "random_state": 0}
    return RDPClusterer(**{**options, **changes}).fit(X)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_groups_are_found(kind):
    X, labels = groups() if kind == "dense" else words()
    model = fitted(X)
    assert adjusted_rand_score(labels, model.labels_) > 0.95
    assert np.array_equal(model.predict(X), model.labels_)
    assert np.array_equal(model.transform(X).argmin(axis=1), model.labels_)
    assert model.transform(X).shape == (len(labels), 3)
    assert model.cluster_centers_.shape == (3, model.transformer_.n_components_)
    assert model.inertia_ == pytest.approx(np.sum(model.transform(X).min(axis=1).astype(float) ** 2), rel=1e-3)


def test_new_rows_join_the_groups_that_were_found():
    X, labels = groups()
    model = fitted(X[:100])
    assert adjusted_rand_score(labels[100:], model.predict(X[100:])) > 0.95


def test_fit_predict_is_fit_then_labels():
    X, _ = groups()
    options = {"n_clusters": 3, "random_state": 0}
    assert np.array_equal(RDPClusterer(**options).fit_predict(X), RDPClusterer(**options).fit(X).labels_)


def test_the_papers_setting_and_other_transformers_serve_as_well():
    X, labels = groups()
    few_steps = RDPTransformer.paper(n_components=64, n_steps=100, views="minmax")
    assert adjusted_rand_score(labels, fitted(X, transformer=few_steps).labels_) > 0.9
    assert adjusted_rand_score(labels, fitted(X, transformer=PCA(3)).labels_) > 0.9


def test_many_rows_are_grouped_by_mini_batches(monkeypatch):
    monkeypatch.setattr(clusterer, "MANY_ROWS", 100)
    X, labels = groups()
    model = fitted(X)
    assert isinstance(model.kmeans_, MiniBatchKMeans)
    assert adjusted_rand_score(labels, model.labels_) > 0.9


def test_restarts_keep_the_best():
    X, _ = groups(n_rows=300)
    once, often = (fitted(X, n_clusters=9, n_init=n_init).inertia_ for n_init in (1, 20))
    assert often <= once


def test_the_same_seed_gives_the_same_groups_and_the_transformer_is_left_alone():
    X, _ = groups()
    transformer = RDPTransformer(n_steps=30)
    one, two = fitted(X, transformer=transformer), fitted(X, transformer=transformer)
    assert np.array_equal(one.labels_, two.labels_)
    assert np.array_equal(one.cluster_centers_, two.cluster_centers_)
    assert not hasattr(transformer, "feature_map_")
    assert transformer.random_state is None


def test_clone_pickle_names_and_frames():
    X, _ = groups()
    table = pd.DataFrame(X, columns=[f"c{c}" for c in range(20)])
    model = fitted(table)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(table), model.labels_)
    assert model.get_feature_names_out().tolist() == ["rdpclusterer0", "rdpclusterer1", "rdpclusterer2"]
    assert model.feature_names_in_[0] == "c0"
    assert clone(model).n_clusters == 3
    assert np.array_equal(fitted(X).labels_, model.labels_)


def test_pipeline_and_grid_search():
    X, labels = groups()
    pipeline = make_pipeline(StandardScaler(), RDPClusterer(transformer=RDPTransformer(n_steps=30), random_state=0))
    search = GridSearchCV(
        pipeline,
        {"rdpclusterer__n_clusters": [2, 3], "rdpclusterer__transformer__n_components": [4, 16]},
        scoring="adjusted_rand_score",
        cv=2,
    ).fit(X, labels)
    assert search.best_params_["rdpclusterer__n_clusters"] == 3
    assert search.best_score_ > 0.9


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_more_groups_than_distinct_rows_is_an_error(container):
    table = np.repeat(np.eye(4), 5, axis=0)
    with pytest.raises(ValueError, match=r"at most the number of distinct rows. Got 5 for 4 distinct among 20 rows"):
        fitted(container(table), n_clusters=5)
    assert len(set(fitted(container(table), n_clusters=4).labels_.tolist())) == 4


@pytest.mark.parametrize("options", [{"n_clusters": 0}, {"n_init": 0}, {"transformer": "svd"}], ids=str)
def test_wrong_parameters_are_named(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))!r} parameter of RDPClusterer must be"):
        fitted(groups()[0], **options)
