"""Every competitor learns: its loss falls, it finds planted anomalies, it keeps groups apart."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from experiments.baselines.coherence_pursuit import COP, coherence
from experiments.baselines.ensemble import Ensemble, sample_rows
from experiments.baselines.iforest import IForest
from experiments.baselines.lesinn import lesinn_scores
from sklearn.cluster import KMeans
from sklearn.metrics import roc_auc_score

from experiments import methods, small_sets
from rdplearn.evaluation import clustering_scores

NEEDS = {
    "AE": "torch", "REPEN": "torch", "DAGMM": "torch", "AE features": "torch",
    "kNN": "pyod", "LOF": "pyod", "ECOD": "pyod", "PCA": "pyod", "MCD": "pyod", "OCSVM": "pyod",
    "DeepSVDD": "pyod", "INNE": "pyod", "LODA": "pyod", "EIF": "isotree",
    "UMAP": "umap", "Doc2Vec": "gensim", "RotNet": "torch",
}  # fmt: skip
OPTIONS = {
    "AE": {"n_members": 2, "n_steps": 200},
    "REPEN": {"n_members": 2, "n_steps": 100},
    "DAGMM": {"n_members": 2, "n_epochs": 250},
}


def length_of(name):
    """What a competitor calls the length of its training; on the few rows here an epoch is a step."""
    return "n_epochs" if name == "DAGMM" else "n_steps"


def made(name, seed=0, **options):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{name} needs {NEEDS[name]}")
    return methods.make(name, seed=seed, **options)


DETECTORS = [
    "iForest", "AE", "REPEN", "DAGMM", "kNN", "LOF", "ECOD", "PCA", "MCD", "OCSVM",
    "DeepSVDD", "INNE", "LODA", pytest.param("EIF", marks=pytest.mark.apart),
]  # fmt: skip


@pytest.mark.parametrize("name", DETECTORS)
@pytest.mark.filterwarnings("ignore")  # competitors complain in their own ways
def test_detector_finds_planted_anomalies(name, planted):
    rows, labels = planted
    scores = made(name, **OPTIONS.get(name, {})).fit(rows).score(rows)
    assert scores.shape == (310,)
    assert np.unique(scores).size > 200
    assert roc_auc_score(labels, scores) > (0.7 if name in ("DAGMM", "DeepSVDD") else 0.95)


def test_mcd_takes_tables_most_of_whose_rows_are_the_same():
    pytest.importorskip("pyod", reason="MCD needs pyod")
    rows = np.zeros((400, 3))
    rows[:40] = np.random.default_rng(0).normal(size=(40, 3))
    scores = made("MCD").fit(rows).score(rows)
    assert scores[:40].mean() > scores[40:].max()


def test_pca_turns_to_double_precision_where_single_does_not_converge(planted, monkeypatch):
    pytest.importorskip("pyod", reason="PCA needs pyod")
    rows, _ = planted
    expected = made("PCA").fit(rows).score(rows)
    svd, tried = scipy.linalg.svd, []

    def svd_of_doubles(table, **options):
        tried.append(table.dtype)
        if table.dtype != np.float64:
            raise np.linalg.LinAlgError("SVD did not converge")
        return svd(table, **options)

    monkeypatch.setattr(scipy.linalg, "svd", svd_of_doubles)
    np.testing.assert_allclose(made("PCA").fit(rows).score(rows), expected, rtol=1e-2)
    assert tried == [np.float32, np.float64]


def test_cblof_takes_more_clusters_where_eight_are_all_alike():
    pytest.importorskip("pyod", reason="CBLOF needs pyod")
    centres = 100.0 * np.eye(8)
    rows = np.repeat(centres, 50, axis=0) + np.random.default_rng(0).normal(size=(400, 8))
    model = made("CBLOF").fit(rows)
    assert model.n_clusters == 16
    assert np.isfinite(model.score(rows)).all()


@pytest.mark.parametrize("name", ["AE", "REPEN", "DAGMM"])
def test_loss_of_every_member_falls_and_seeds_repeat(name, planted):
    rows, _ = planted
    options = {**OPTIONS[name], "n_members": 1, length_of(name): 80}
    first, again, other = (made(name, seed=seed, **options).fit(rows) for seed in (0, 0, 1))
    (member,) = first.members_
    fallen = 0.995 if name == "REPEN" else 0.9  # REPEN starts at its margin of 1,000 and has far to go
    assert np.mean(member.losses_[-10:]) < fallen * np.mean(member.losses_[:3])
    np.testing.assert_array_equal(first.score(rows), again.score(rows))
    assert not np.array_equal(first.score(rows), other.score(rows))


@pytest.mark.parametrize("name", ["iForest", "AE", "REPEN", "DAGMM", "kNN"])
@pytest.mark.filterwarnings("ignore")
def test_sparse_rows_score_like_dense_ones(name, planted):
    rows, _ = planted
    options = {"n_members": 1, length_of(name): 20} if name in OPTIONS else {}
    dense_scores = made(name, **options).fit(rows).score(rows)
    sparse_scores = made(name, **options).fit(sp.csr_array(rows)).score(sp.csr_array(rows))
    assert np.corrcoef(dense_scores, sparse_scores)[0, 1] > 0.999


def test_penalised_autoencoder_scores_by_the_distance_to_the_mean_row(planted):
    rows, _ = planted
    scores = made("AE", n_members=1, n_steps=300).fit(rows).score(rows)
    distances = ((rows - rows.mean(axis=0)) ** 2).mean(axis=1)
    assert np.corrcoef(scores, distances)[0, 1] > 0.98


def test_autoencoder_without_the_penalty_learns(planted):
    rows, _ = planted
    plain, penalised = (
        made("AE", n_members=1, n_steps=400, activity_penalty=penalty).fit(rows).score(rows) for penalty in (0.0, 0.1)
    )
    assert np.median(plain) < 0.7 * np.median(penalised)


def test_energy_is_that_of_a_gaussian():
    torch = pytest.importorskip("torch", reason="DAGMM needs torch")
    from experiments.baselines.dagmm import energy, mixture_of
    from scipy.stats import multivariate_normal

    codes = torch.from_numpy(np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32))
    mixture = mixture_of(codes, torch.ones(50, 1))
    expected = -multivariate_normal(mixture.means[0], mixture.covariances[0]).logpdf(codes)
    np.testing.assert_allclose(energy(codes, mixture), expected, rtol=1e-4)


def test_mixture_of_numbers_that_say_the_same_has_a_density():
    torch = pytest.importorskip("torch", reason="DAGMM needs torch")
    from experiments.baselines.dagmm import energy, mixture_of

    numbers = np.random.default_rng(0).normal(scale=100, size=(200, 1)).astype(np.float32)
    codes = torch.from_numpy(np.repeat(numbers, 8, axis=1))
    assert torch.isfinite(energy(codes, mixture_of(codes, torch.full((200, 2), 0.5)))).all()


@pytest.mark.parametrize(("n_rows", "n_columns", "n_components"), [(50, 1, 1), (50, 9, 4), (50, 30, 6), (20, 30, 4)])
def test_code_of_dagmm_has_half_the_numbers_up_to_a_limit_and_few_beside_the_rows(n_rows, n_columns, n_components):
    torch = pytest.importorskip("torch", reason="DAGMM needs torch")
    rows = np.random.default_rng(0).random((n_rows, n_columns), dtype=np.float32)
    (member,) = made("DAGMM", n_members=1, max_components=6, n_epochs=1).fit(rows).members_
    assert member.encoder_(torch.from_numpy(rows)).shape == (n_rows, n_components)


@pytest.mark.parametrize(("n_rows", "n_steps"), [(20, 2), (2_500, 5)])
def test_an_epoch_of_dagmm_is_as_many_batches_as_hold_the_rows(n_rows, n_steps):
    rows = np.random.default_rng(0).random((n_rows, 4), dtype=np.float32)
    (member,) = made("DAGMM", n_members=1, n_epochs=2).fit(rows).members_
    assert len(member.losses_) == n_steps


def test_dagmm_sees_the_code_and_how_far_and_in_which_direction_the_reconstruction_is(planted):
    torch = pytest.importorskip("torch", reason="DAGMM needs torch")
    rows, _ = planted
    (member,) = made("DAGMM", n_members=1, max_components=4, n_epochs=5).fit(rows).members_
    table = torch.from_numpy(np.vstack([rows[:50], np.zeros(rows.shape[1])]).astype(np.float32))
    with torch.no_grad():
        seen, errors = member._codes(table)
        code = member.encoder_(table)
        again = member.decoder_(code)
    assert seen.shape == (51, 6)
    np.testing.assert_array_equal(seen[:, :4], code)
    np.testing.assert_allclose(seen[:50, 4], (table - again).norm(dim=1)[:50] / table.norm(dim=1)[:50], rtol=1e-4)
    expected = torch.nn.functional.cosine_similarity(table, again)
    np.testing.assert_allclose(seen[:, 5], expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(errors, (table - again).square().mean(dim=1), rtol=1e-4)
    assert np.isfinite(member.score(table.numpy())).all()


def test_lesinn_is_the_mean_distance_to_nearest_of_samples():
    rows = np.array([[0.0], [1.0], [10.0]])
    scores = lesinn_scores(rows, rows, n_samples=4, sample_size=3)  # every sample holds every row
    np.testing.assert_allclose(scores, 0, atol=1e-7)
    far = lesinn_scores(np.array([[14.0]]), rows, n_samples=4, sample_size=3)
    np.testing.assert_allclose(far, 4)


def test_ensemble_is_the_mean_of_members_fitted_to_different_rows(planted):
    rows, _ = planted
    ensemble = Ensemble(lambda seed: IForest(n_trees=10, seed=seed), n_members=3, max_samples=100, seed=4).fit(rows)
    scores = ensemble.member_scores(rows)
    assert scores.shape == (3, 310)
    np.testing.assert_allclose(ensemble.score(rows), scores.mean(axis=0))
    assert sample_rows(rows, 100, seed=1).shape == (100, 12)
    assert sample_rows(rows, 1_000, seed=1) is rows


REPRESENTATIONS = {
    "Org": {}, "SRP": {"n_components": 12}, "AE features": {"n_components": 20, "n_steps": 100},
    "COP": {"n_components": 6}, "SVD": {"n_components": 6}, "UMAP": {"n_components": 2},
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in REPRESENTATIONS if name != "UMAP"])
def test_representation_keeps_groups_apart(name, three_groups):
    rows, groups = three_groups
    features = made(name, **REPRESENTATIONS[name]).fit(rows).transform(rows)
    assert features.shape[0] == 120
    clusters = KMeans(3, n_init=5, random_state=0).fit(features).labels_
    assert clustering_scores(groups, clusters)["nmi"] > 0.95


@pytest.mark.parametrize("name", ["SRP", "AE features", "COP", "SVD"])
def test_sparse_rows_are_represented_like_dense_ones(name, three_groups):
    rows, _ = three_groups
    options = REPRESENTATIONS[name]
    features = made(name, **options).fit(rows).transform(rows)
    np.testing.assert_allclose(
        made(name, **options).fit(sp.csr_array(rows)).transform(sp.csr_array(rows)), features, atol=1e-3
    )


def test_hessian_embedding_unrolls_a_curve():
    position = np.sort(np.random.default_rng(0).uniform(0, 3, 150))
    curve = np.column_stack([np.cos(position), np.sin(position), position]).astype(np.float32)
    features = made("HLLE", n_components=1).fit(curve).transform(curve)
    assert abs(np.corrcoef(features[:, 0], position)[0, 1]) > 0.95


def test_coherence_is_low_for_outliers_and_the_basis_is_orthonormal():
    random = np.random.default_rng(0)
    inliers = random.normal(size=(60, 2)) @ random.normal(size=(2, 30))
    rows = np.vstack([inliers, random.normal(size=(5, 30))])
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert coherence(unit)[60:].max() < coherence(unit)[:60].min()
    features = COP(n_components=2).fit(rows).transform(rows)
    # inliers lie in the subspace found, so their lengths survive; outliers lose most of theirs
    np.testing.assert_allclose(np.linalg.norm(features[:60], axis=1), np.linalg.norm(inliers, axis=1), rtol=1e-3)
    assert (np.linalg.norm(features[60:], axis=1) < 0.8 * np.linalg.norm(rows[60:], axis=1)).all()


def test_umap_keeps_groups_apart(three_groups):
    import warnings

    pytest.importorskip("umap", reason="UMAP needs umap-learn")
    rows, groups = three_groups
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        features = methods.make("UMAP", seed=0, n_components=2).fit(rows).transform(rows)
    clusters = KMeans(3, n_init=5, random_state=0).fit(features).labels_
    assert clustering_scores(groups, clusters)["nmi"] > 0.95


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_doc2vec_tells_topics_apart():
    model = made("Doc2Vec", n_components=8, n_epochs=60)
    texts, topics = small_sets.texts()
    features = model.fit(texts).transform(texts)
    assert features.shape == (120, 8)
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    same = topics[:, None] == topics
    assert (unit @ unit.T)[same].mean() > (unit @ unit.T)[~same].mean() + 0.05
    assert model.transform(["wheat and corn"]).shape == (1, 8)


def test_rotnet_learns_to_tell_turns():
    model = made("RotNet", n_blocks=2, n_layers=1, n_components=32, n_steps=40, batch_size=16)
    pictures = np.tile(np.linspace(0, 1, 16, dtype=np.float32), (24, 16)) * np.linspace(0.5, 1, 24)[:, None]
    model.fit(pictures.astype(np.float32))
    assert np.mean(model.losses_[-5:]) < 0.5 * model.losses_[0]
    assert model.transform(pictures.astype(np.float32)).shape == (24, 32)


def test_rotnet_refuses_what_is_no_square():
    model = made("RotNet")
    with pytest.raises(ValueError, match=r"needs square pictures. Got 12 columns"):
        model.fit(np.zeros((3, 12), np.float32))
