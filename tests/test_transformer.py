"""RDPTransformer from outside: it learns, it is the same however it is asked, and it says what is wrong."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from rdplearn import RandomMapping, RDPTransformer, RDPWarning, TableError
from rdplearn import transformer as transformers
from rdplearn._training import features
from tests.conftest import assert_same_to_rounding

QUICK = {"n_components": 8, "n_steps": 60, "batch_size": 32, "random_state": 0}


def groups(n_rows: int = 150, n_columns: int = 20, seed: int = 0):
    """Three groups of rows along different directions. Returns the table and the groups."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n_rows) % 3
    table = 3.0 * rng.normal(size=(3, n_columns))[labels] + rng.normal(size=(n_rows, n_columns))
    return table, labels


def words(n_rows: int = 300, n_columns: int = 400, seed: int = 0) -> tuple[sp.csr_array, np.ndarray]:
    """Counts of words, mostly zero; each of three groups has words of its own."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n_rows) % 3
    rates = np.full((3, n_columns), 0.01)
    for group in range(3):
        rates[group, 40 * group : 40 * group + 40] = 0.15
    return sp.csr_array(rng.poisson(rates[labels]).astype(float)), labels


def fitted(X, **changes) -> RDPTransformer:
    return RDPTransformer(**{**QUICK, **changes}).fit(X)


def paper(X, **changes) -> RDPTransformer:
    return RDPTransformer.paper(**{**QUICK, **changes}).fit(X)


def separation(features: np.ndarray, labels: np.ndarray) -> float:
    """Mean squared distance between group means, over the mean spread within groups."""
    means = np.stack([features[labels == group].mean(axis=0) for group in np.unique(labels)])
    within = np.mean([features[labels == group].var(axis=0).sum() for group in np.unique(labels)])
    return float(means.var(axis=0).sum() / within)


# learning


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_learning_happens(kind):
    X, labels = groups() if kind == "dense" else words()
    options = {"n_components": None, "batch_size": 128}
    untrained = fitted(X, n_steps=1, learning_rate=1e-9, **options)
    trained = fitted(X, n_steps=300, **options)
    assert trained.history_[-1]["distance_loss"] < 0.6 * trained.history_[0]["distance_loss"]
    before, after = untrained.feature_map_.phi.weights, trained.feature_map_.phi.weights
    assert np.linalg.norm(after - before) > np.linalg.norm(before)
    assert separation(trained.transform(X), labels) > 1.5 * separation(untrained.transform(X), labels)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_papers_setting_learns_to_predict_distances(kind):
    X = groups()[0] if kind == "dense" else words()[0]
    transformer = paper(X, n_steps=500, reconstruction_weight=0.0, views="minmax")
    assert transformer.history_[-1]["distance_loss"] < 0.9 * transformer.history_[0]["distance_loss"]
    assert transformer.decoder_ is None


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_papers_setting_learns_to_give_rows_back(kind):
    X = groups()[0] if kind == "dense" else words()[0]
    transformer = paper(X, n_steps=500, learning_rate=1.0, views="minmax")
    rows = X if kind == "dense" else X.toarray()
    width = np.ptp(rows, axis=0)
    width[width == 0] = 1.0
    off = (transformer.inverse_transform(transformer.transform(X)) - rows) / width
    assert np.mean(off**2) < 0.95 * np.mean(np.var(rows / width, axis=0))  # which the mean row would leave


def test_the_papers_setting_is_the_papers():
    params = RDPTransformer.paper().get_params()
    assert params["n_components"] == 1024
    assert params["mapping"] == "leaky"  # with as many targets
    assert params["n_steps"] == 30_000
    assert params["batch_size"] == 192
    assert params["distance_weight"] == params["reconstruction_weight"] == 1
    assert RDPTransformer.paper(n_steps=7).n_steps == 7


def test_features_beat_pixels_for_a_linear_classifier_of_few_rows():
    pixels, labels = load_digits(return_X_y=True)
    transformer = RDPTransformer(n_steps=200, random_state=0)
    features = transformer.fit_transform(pixels)
    assert features.shape == (1797, 128)
    accuracies = [
        LogisticRegression(max_iter=2000).fit(rows[::20], labels[::20]).score(rows, labels)
        for rows in (features, pixels / 16)
    ]
    assert accuracies[0] > accuracies[1] - 0.02
    assert accuracies[0] > 0.8


@pytest.mark.parametrize(
    "options",
    [
        {"mapping": "linear"},
        {"mapping": "leaky"},
        {"mapping": RandomMapping("sparse", n_targets=30)},
        {"mapping": RandomMapping("fourier", n_targets=64)},
        {"mapping": RandomMapping("fourier", bandwidth=2.0)},
        {"mapping": "identity"},
        {"mapping": PCA(4)},
        {"mapping": np.sin},
        {"views": "minmax"},
        {"views": "unchanged"},
        {"views": "unit", "inner_product": "plain"},
        {"inner_product": "unit", "mapping": "linear"},
        {"pairs": "one"},
        {"pairs": "one", "mapping": RandomMapping("leaky", n_targets=5), "dropout": 0.2},
        {"pairs": "one", "inner_product": "plain", "distance_weight": 0.01, "max_grad_norm": 1.0},
        {"pairs": "one", "views": "unit", "mapping": "fourier"},
    ],
    ids=str,
)
def test_every_variant_keeps_groups_apart(options):
    X, labels = groups()
    assert separation(fitted(X, n_steps=150, **options).transform(X), labels) > 1.0


# the rule


def test_the_rule_looks_at_the_values_not_at_the_format():
    X, _ = words()
    ours, theirs = fitted(X), fitted(X.toarray())
    assert ours.chosen_.mapping == theirs.chosen_.mapping == "linear"
    assert_same_to_rounding(ours.transform(X), theirs.transform(X.toarray()), after_steps=100)
    filled, _ = groups()
    ours, theirs = fitted(sp.csr_array(filled)), fitted(filled)
    assert ours.chosen_.mapping == theirs.chosen_.mapping == "fourier"
    assert_same_to_rounding(ours.transform(filled), theirs.transform(filled), after_steps=1000)


def test_few_columns_keep_the_length_of_rows():
    """Rows along one direction, near and far: at length 1 they would be the same."""
    rng = np.random.default_rng(0)
    distance = np.repeat([1.0, 2.0, 6.0], 40)
    table = distance[:, None] * np.array([1.0, 2.0]) + 0.05 * rng.normal(size=(120, 2))
    assert separation(fitted(table, n_steps=200).transform(table), distance) > 5


def test_large_tables_are_prepared_a_batch_at_a_time(monkeypatch):
    X, _ = groups()
    whole = fitted(X).transform(X)
    monkeypatch.setattr(transformers, "LARGEST_COPY", 0)
    assert_same_to_rounding(fitted(X).transform(X), whole, after_steps=100)


def test_the_rotation_is_the_same_algorithm(monkeypatch):
    X = np.random.default_rng(0).normal(size=(30, 200))
    rotated = fitted(X)
    monkeypatch.setattr(features, "rotation_pays", lambda task, settings: False)
    assert_same_to_rounding(fitted(X).transform(X), rotated.transform(X), after_steps=10_000)


def test_one_partner_learns_from_a_sample_of_a_large_table(monkeypatch):
    monkeypatch.setattr(transformers, "TRAINING_ROWS", 40)
    X, _ = groups()
    assert paper(X).transform(X).shape == (150, 8)


# the same result however it is asked for


def reversed_within_rows(X: sp.csr_array) -> sp.csr_array:
    order = np.concatenate([np.arange(end - 1, start - 1, -1) for start, end in pairwise(X.indptr)])
    return sp.csr_array((X.data[order], X.indices[order], X.indptr), shape=X.shape)


def in_two_halves(X: sp.csr_array) -> sp.csr_array:
    return sp.csr_array((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)


def with_a_stored_zero(X: sp.csr_array) -> sp.csr_array:
    absent = np.setdiff1d(np.arange(X.shape[1]), X.indices[: X.indptr[1]])[0]
    later = np.arange(len(X.indptr)) > 0
    return sp.csr_array((np.append(0.0, X.data), np.append(absent, X.indices), X.indptr + later), shape=X.shape)


def with_long_indices(X: sp.csr_array) -> sp.csr_array:
    wide = X.copy()
    wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return wide


@pytest.mark.parametrize("make", [fitted, paper])
@pytest.mark.parametrize(
    "container",
    [sp.csc_array, sp.csr_matrix, reversed_within_rows, in_two_halves, with_a_stored_zero, with_long_indices],
)
def test_the_result_does_not_depend_on_the_container(make, container):
    X, _ = words()
    same = container(X)
    assert_same_to_rounding(make(same).transform(same), make(X).transform(X), after_steps=1000)


@pytest.mark.parametrize("frame", [pd.DataFrame, lambda X: pl.DataFrame(X, schema=[str(c) for c in range(20)])])
def test_frames_give_the_same_features(frame):
    X, _ = groups()
    table = pd.DataFrame(X, columns=[str(c) for c in range(20)]) if frame is pd.DataFrame else frame(X)
    assert_same_to_rounding(fitted(table).transform(table), fitted(X).transform(X), after_steps=60)


def test_features_have_names_and_frames_come_out():
    table = pd.DataFrame(groups()[0], columns=[f"c{i}" for i in range(20)], index=np.arange(150) + 7)
    transformer = RDPTransformer(**QUICK).set_output(transform="pandas")
    features = transformer.fit_transform(table)
    assert features.columns[0] == "rdptransformer0"
    assert features.index[0] == 7
    assert transformer.get_feature_names_out().tolist() == features.columns.tolist()


def test_negative_sparse_entries_are_values_like_any_other():
    X, labels = words()
    negative = X.copy()
    negative.data *= -1
    # the same inner products, so the same weights
    assert_same_to_rounding(fitted(negative).transform(negative), -fitted(X).transform(X), after_steps=1000)
    assert separation(fitted(negative, n_steps=200).transform(negative), labels) > 1


@pytest.mark.parametrize("make", [fitted, paper])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_same_seed_gives_the_same_features_for_any_n_jobs(make, kind, monkeypatch):
    monkeypatch.setattr("rdplearn._scoring.features.BLOCK", 16)
    X = groups()[0] if kind == "dense" else words()[0]
    one, two = make(X), make(X, n_jobs=2)
    assert np.array_equal(one.transform(X), two.transform(X))
    assert not np.array_equal(one.transform(X), make(X, random_state=1).transform(X))


def test_both_engines_give_the_same_features():
    for X in (groups()[0], words()[0]):
        plain, fused = (paper(X, engine=engine).transform(X) for engine in ("numpy", "numba"))
        np.testing.assert_allclose(fused, plain, rtol=1e-3, atol=1e-3 * np.abs(plain).max())


def test_labels_are_not_looked_at():
    X, labels = groups()
    assert np.array_equal(fitted(X).transform(X), RDPTransformer(**QUICK).fit(X, labels).transform(X))


def test_clone_pickle_and_pipeline():
    X, labels = groups()
    transformer = fitted(X)
    assert np.array_equal(pickle.loads(pickle.dumps(transformer)).transform(X), transformer.transform(X))
    assert clone(transformer).get_params() == transformer.get_params()
    assert make_pipeline(RDPTransformer(**QUICK), LogisticRegression()).fit(X, labels).score(X, labels) > 0.95


def test_progress_goes_to_stderr(capsys):
    fitted(groups()[0], verbose=1)
    captured = capsys.readouterr()
    assert "rdplearn" in captured.err
    assert not captured.out


# the way back


@pytest.mark.parametrize("views", ["minmax", "unchanged"])
def test_inverse_transform_brings_rows_back(views):
    rng = np.random.default_rng(0)
    table = rng.random((200, 2)) @ rng.random((2, 6))
    if views == "minmax":
        table = 50 + 200 * table
    transformer = paper(table, views=views, n_steps=4000, dropout=0.0, max_grad_norm=1.0)
    back = transformer.inverse_transform(transformer.transform(table))
    assert back.shape == table.shape
    assert np.mean((back - table) ** 2) < 0.1 * table.var(axis=0).mean()


def test_inverse_transform_says_what_is_missing():
    X, _ = groups()
    with pytest.raises(NotFittedError):
        RDPTransformer.paper().inverse_transform(X)
    transformer = fitted(X)
    assert not hasattr(transformer, "inverse_transform")
    with pytest.raises(AttributeError) as told:
        transformer.inverse_transform(transformer.transform(X))
    assert "Fit with pairs='one' and a 'reconstruction_weight' above 0" in str(told.value.__cause__)
    transformer = paper(X, n_steps=2)
    with pytest.raises(ValueError, match=r"takes features, 8 columns .* Got 20 columns instead"):
        transformer.inverse_transform(X)


# bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, "'n_components' parameter of RDPTransformer must be"),
        ({"pairs": "some"}, "'pairs' parameter of RDPTransformer must be"),
        ({"dropout": 0.1}, "'dropout' parameter of RDPTransformer must be 0.0 with pairs='all'. Got 0.1"),
        ({"reconstruction_weight": 1.0}, "'reconstruction_weight' parameter .* pass pairs='one'"),
        ({"max_grad_norm": 0.1}, "'max_grad_norm' parameter .* must be None with pairs='all'"),
        ({"inner_product": "l1"}, "'inner_product' parameter .* with pairs='all'. Got 'l1'"),
        ({"pairs": "one", "inner_product": "unit"}, "must be 'l1' or 'plain' with pairs='one'"),
        ({"distance_weight": 0.0}, "there would be nothing to learn"),
        ({"pairs": "one", "reconstruction_weight": 1.0, "views": "unit"}, "cannot be brought back"),
        ({"n_components": 10**9}, "must fit the table. Got 1,000,000,000"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_wrong_parameters_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        fitted(groups()[0], **options)


def test_more_linear_components_than_the_table_has_is_a_warning():
    X, _ = words(n_rows=20)
    with pytest.warns(RDPWarning, match="n_components=50 is more than .* at most 20 of them are independent"):
        fitted(X, n_components=50)


@pytest.mark.parametrize("make", [fitted, paper])
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_nan_and_infinity_are_errors_that_name_the_column(make, wrong):
    X, _ = groups()
    X[5, 3] = wrong
    with pytest.raises(TableError, match=r"column 3 in 1 row\(s\) \(first: row 5\)"):
        make(X)


@pytest.mark.parametrize("make", [fitted, paper])
@pytest.mark.parametrize(
    "table",
    [
        np.zeros((20, 12)),
        np.ones((20, 12)),
        np.vstack([np.ones((20, 12)), np.zeros((1, 12))]),
        np.eye(12),
        np.arange(20.0)[:, None],
        np.random.default_rng(0).normal(size=(2, 15)),
        1e300 * np.random.default_rng(0).normal(size=(20, 12)),
        1e-300 * np.random.default_rng(0).normal(size=(20, 12)),
        sp.csr_array((20, 30)),
        sp.csr_array(1e300 * np.eye(30)),
        np.random.default_rng(0).integers(0, 2, size=(20, 12)).astype(bool),
    ],
    ids=[
        "zeros",
        "ones",
        "one other",
        "identity",
        "one column",
        "two rows",
        "huge",
        "tiny",
        "empty",
        "huge sparse",
        "bool",
    ],
)
def test_odd_tables_give_finite_features(make, table, recwarn):
    options = {"views": "minmax"} if make is paper else {}
    features = make(table, n_steps=20, **options).transform(table)
    assert features.shape == (table.shape[0], 8)
    assert np.isfinite(features).all()


def test_unseen_columns_and_far_rows_stay_finite():
    X, _ = words()
    transformer = fitted(X)
    far = sp.csr_array(1e200 * np.eye(2, 400))
    assert np.isfinite(transformer.transform(far)).all()
    dense = groups()[0]
    assert np.isfinite(fitted(dense).transform(1e200 * dense[:5])).all()
