"""Model files of transformers and clusterers: what goes in comes out, to the last bit; tampering is told."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

import rdplearn
from rdplearn import ModelFileError, RandomMapping, RDPClusterer, RDPTransformer, TableModel
from tests.tampering import assert_refused, change_a_value, flip_bytes, parts_of, rewrite
from tests.test_storage import MIXED, Tamper

QUICK = {"n_components": 5, "n_steps": 10, "random_state": 0}
PAIRS = {**QUICK, "pairs": "one", "engine": "numpy"}
RNG = np.random.default_rng(0)
TABLES = {
    "dense": RNG.normal(size=(120, 12)),
    "few columns": RNG.normal(size=(120, 4)),
    "mostly zero": sp.random_array((120, 30), density=0.05, rng=np.random.default_rng(0), format="csr"),
}
TRANSFORMERS: dict[str, tuple[dict[str, Any], str]] = {
    "unit rows": (QUICK, "dense"),
    "centred rows": (QUICK, "few columns"),
    "weighted rows": (QUICK, "mostly zero"),
    "units left open": ({"n_steps": 5, "random_state": 1}, "dense"),
    "min-max": ({**QUICK, "views": "minmax"}, "mostly zero"),
    "as they are": ({**QUICK, "views": "unchanged", "mapping": RandomMapping("leaky", n_targets=np.int64(7))}, "dense"),
    "a bandwidth": (
        {**QUICK, "mapping": RandomMapping("fourier", bandwidth=0.5), "inner_product": "plain"},
        "few columns",
    ),
    "one partner": (PAIRS, "dense"),
    "reconstruction": ({**PAIRS, "reconstruction_weight": 1.0}, "dense"),
    "reconstruction alone": ({**PAIRS, "reconstruction_weight": 0.5, "distance_weight": 0.0}, "few columns"),
    "reconstruction of sparse rows": ({**PAIRS, "reconstruction_weight": 1.0, "views": "unchanged"}, "mostly zero"),
}


def assert_same_transformer(again: RDPTransformer, transformer: RDPTransformer, table: Any) -> None:
    features = transformer.transform(table)
    np.testing.assert_array_equal(again.transform(table), features)
    assert again.history_ == transformer.history_
    assert again.get_params() == transformer.get_params()
    assert again.n_components_ == transformer.n_components_
    assert again.get_feature_names_out().tolist() == transformer.get_feature_names_out().tolist()
    assert type(again.chosen_.view) is type(transformer.chosen_.view)
    for name in ("mapping", "bandwidth", "slope", "unit_in_loss", "unit_features", "start"):
        assert getattr(again.chosen_, name) == getattr(transformer.chosen_, name)
    assert (again.decoder_ is None) == (transformer.decoder_ is None)
    if transformer.decoder_ is not None:
        np.testing.assert_array_equal(again.inverse_transform(features), transformer.inverse_transform(features))


@pytest.mark.parametrize("kind", TRANSFORMERS)
def test_features_after_a_round_trip_are_the_same_to_the_last_bit(kind: str, tmp_path: Path):
    parameters, table = TRANSFORMERS[kind]
    transformer = RDPTransformer(**parameters).fit(TABLES[table])
    rdplearn.save(transformer, tmp_path / "model")
    again = rdplearn.load(tmp_path / "model")
    assert isinstance(again, RDPTransformer)
    assert_same_transformer(again, transformer, TABLES[table])
    rdplearn.save(again, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


CLUSTERERS: dict[str, tuple[dict[str, Any], str]] = {
    "the transformer left open": ({}, "dense"),
    "a decoder": ({"transformer": RDPTransformer(**{**PAIRS, "reconstruction_weight": 1.0})}, "few columns"),
    "other numbers": ({"n_clusters": np.int64(3), "n_init": 2, "transformer": RDPTransformer(**QUICK)}, "mostly zero"),
}


@pytest.mark.parametrize("kind", CLUSTERERS)
def test_clusters_after_a_round_trip_are_the_same_to_the_last_bit(kind: str, tmp_path: Path):
    parameters, table = CLUSTERERS[kind]
    clusterer = RDPClusterer(**{"n_clusters": 4, "n_init": 1, "random_state": 0, **parameters})
    clusterer.fit(TABLES[table])
    rdplearn.save(clusterer, tmp_path / "model")
    again = rdplearn.load(tmp_path / "model")
    assert isinstance(again, RDPClusterer)
    for method in ("predict", "transform"):
        np.testing.assert_array_equal(
            getattr(again, method)(TABLES[table]), getattr(clusterer, method)(TABLES[table]), strict=True
        )
    np.testing.assert_array_equal(again.labels_, clusterer.labels_, strict=True)
    np.testing.assert_array_equal(again.cluster_centers_, clusterer.cluster_centers_, strict=True)
    assert again.inertia_ == clusterer.inertia_
    assert_same_transformer(again.transformer_, clusterer.transformer_, TABLES[table])
    given = {name: value for name, value in clusterer.get_params().items() if name != "transformer"}
    assert {name: value for name, value in again.get_params().items() if name != "transformer"} == given
    again.fit(TABLES[table])  # the parameters are all there: the same fit gives the same clusters
    np.testing.assert_array_equal(again.labels_, clusterer.labels_)


def test_clusters_learned_in_mini_batches_survive(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("rdplearn.clusterer.MANY_ROWS", 50)
    clusterer = RDPClusterer(3, n_init=1, random_state=0).fit(TABLES["dense"])
    rdplearn.save(clusterer, tmp_path / "model")
    again = rdplearn.load(tmp_path / "model")
    assert type(again.kmeans_).__name__ == "MiniBatchKMeans"
    np.testing.assert_array_equal(again.predict(TABLES["dense"]), clusterer.predict(TABLES["dense"]))


@pytest.mark.parametrize("estimator", [RDPTransformer(**QUICK), RDPClusterer(3, n_init=1, random_state=0)])
def test_an_encoder_comes_back_with_its_model(estimator: Any, tmp_path: Path):
    model = TableModel(estimator).fit(MIXED)
    rdplearn.save(model, tmp_path / "model")
    again = rdplearn.load(tmp_path / "model")
    assert isinstance(again, TableModel)
    assert again.encoder.to_dict() == model.encoder.to_dict()
    np.testing.assert_array_equal(again.transform(MIXED), model.transform(MIXED))


def test_column_names_survive(tmp_path: Path):
    frame = pa.table({"a": np.arange(50.0), "b": np.arange(50.0) ** 2})
    for estimator in (RDPTransformer(**QUICK), RDPClusterer(2, n_init=1)):
        rdplearn.save(estimator.fit(frame), tmp_path / "model")
        assert rdplearn.load(tmp_path / "model").feature_names_in_.tolist() == ["a", "b"]


def test_how_to_run_is_not_stored(tmp_path: Path):
    transformer = RDPTransformer(**QUICK, n_jobs=2)
    rdplearn.save(RDPClusterer(2, transformer=transformer, n_jobs=2).fit(TABLES["dense"]), tmp_path / "model")
    again = rdplearn.load(tmp_path / "model")
    assert (again.n_jobs, again.transformer.n_jobs, again.transformer_.n_jobs) == (None, None, None)


def test_code_is_not_stored(tmp_path: Path):
    with pytest.raises(ValueError, match="a model file holds no code"):
        rdplearn.save(RDPTransformer(**QUICK, mapping=StandardScaler()).fit(TABLES["dense"]), tmp_path / "model")
    with pytest.raises(ValueError, match=r"another kind than RDPTransformer cannot be stored.*PCA\(\)"):
        rdplearn.save(RDPClusterer(2, transformer=PCA()).fit(TABLES["dense"]), tmp_path / "model")
    for unfitted in (RDPTransformer(), RDPClusterer()):
        with pytest.raises(NotFittedError):
            rdplearn.save(unfitted, tmp_path / "model")
    assert not any(tmp_path.iterdir())


@pytest.fixture(scope="module")
def paths(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    models = {
        "transformer": TableModel(RDPTransformer(**PAIRS, reconstruction_weight=1.0)).fit(MIXED),
        "clusterer": TableModel(RDPClusterer(3, n_init=1, random_state=0)).fit(MIXED),
        "weighted": RDPTransformer(**QUICK).fit(TABLES["mostly zero"]),
    }
    for name, model in models.items():
        rdplearn.save(model, folder / name)
    return {name: folder / name for name in models}


def of(header: dict[str, Any]) -> dict[str, Any]:
    return header["model"]


TAMPERED: dict[str, tuple[str, Tamper, str]] = {
    "no description": ("transformer", lambda h, a: h.update(model=[]), "list in place of a description of the trans"),
    "a value less": ("transformer", lambda h, a: of(h).pop("slope"), "missing or unknown value, 'slope'"),
    "a parameter more": ("transformer", lambda h, a: of(h)["parameters"].update(more=1), "unknown parameter, 'more'"),
    "threads": ("transformer", lambda h, a: of(h)["parameters"].update(n_jobs=9), "unknown parameter, 'n_jobs'"),
    "an impossible parameter": ("transformer", lambda h, a: of(h)["parameters"].update(dropout=7), "'dropout'"),
    "no columns": ("weighted", lambda h, a: of(h).update(n_columns=0), "impossible 'n_columns'"),
    "names that do not fit": ("transformer", lambda h, a: of(h).update(column_names=["a"]), "'column_names'"),
    "other rows": ("transformer", lambda h, a: of(h).update(rows="weighted"), "impossible 'rows': 'weighted'"),
    "rows of no kind": ("transformer", lambda h, a: of(h).update(rows="os.system"), "impossible 'rows'"),
    "rows of length 1": ("transformer", lambda h, a: of(h).update(unit_rows=True), "impossible 'unit_rows'"),
    "another mapping": ("transformer", lambda h, a: of(h).update(mapping="eval"), "impossible 'mapping'"),
    "a bandwidth below zero": ("transformer", lambda h, a: of(h).update(bandwidth=-1.0), "impossible 'bandwidth'"),
    "a word for a bandwidth": ("transformer", lambda h, a: of(h).update(bandwidth="1"), "impossible 'bandwidth'"),
    "other components": ("transformer", lambda h, a: of(h).update(n_components=6), "impossible 'n_components'"),
    "a trillion components": (
        "transformer",
        lambda h, a: (of(h).update(n_components=10**12), of(h)["parameters"].update(n_components=None)),
        "must be F32 of shape",
    ),
    "a steep slope": ("transformer", lambda h, a: of(h).update(slope=2.0), "impossible 'slope'"),
    "no decoder": ("transformer", lambda h, a: a.pop("decoder.bias"), "lacks an array, 'decoder.bias'"),
    "another decoder": (
        "transformer",
        lambda h, a: a.update({"decoder.weights": np.zeros((2, 2), np.float32)}),
        "'decoder.weights' must be F32 of shape",
    ),
    "a decoder without numbers": ("transformer", lambda h, a: a["decoder.weights"].fill(np.nan), "NaN or infinity"),
    "a width of zero": ("transformer", lambda h, a: a["scaling.width"].fill(0), "must be positive"),
    "weights below zero": ("weighted", lambda h, a: a["scaling.weights"].fill(-1), "must not be negative"),
    "no centres": ("clusterer", lambda h, a: a.pop("centres"), "lacks an array, 'centres'"),
    "other centres": ("clusterer", lambda h, a: a.update(centres=np.zeros((3, 2), np.float32)), "'centres' must be"),
    "a trillion clusters": ("clusterer", lambda h, a: of(h)["parameters"].update(n_clusters=10**12), "'centres' must"),
    "a billion rows": ("clusterer", lambda h, a: of(h).update(n_rows=10**9), "'labels' must be I32 of shape"),
    "labels of no cluster": ("clusterer", lambda h, a: a["labels"].fill(3), "must hold clusters from 0 to 2"),
    "a seed too long": ("clusterer", lambda h, a: of(h).update(kmeans_seed=2**40), "impossible 'kmeans_seed'"),
    "code for a transformer": (
        "clusterer",
        lambda h, a: of(h)["parameters"].update(transformer="os.system"),
        "unknown parameter, 'transformer'",
    ),
    "a transformer of other columns": (
        "clusterer",
        lambda h, a: of(h)["transformer"].update(n_columns=1),
        "impossible 'n_columns'",
    ),
    "no transformer": ("clusterer", lambda h, a: of(h).update(transformer=None), "impossible 'transformer'"),
    "another estimator": ("clusterer", lambda h, a: h.update(estimator="RDPTransformer"), "missing or unknown value"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_file_is_refused(name: str, paths: dict[str, Path], tmp_path: Path):
    kind, tamper, reason = TAMPERED[name]
    header, arrays = parts_of(paths[kind])
    tamper(header, arrays)
    path = rewrite(tmp_path / "model", header, arrays)
    tracemalloc.start()
    assert_refused(path, reason)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20e6


FUZZ = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("kind", ["transformer", "clusterer"])
@given(data=st.data())
@FUZZ
def test_damaged_bytes_are_refused(kind: str, data, paths: dict[str, Path], tmp_path: Path):
    content = paths[kind].read_bytes()
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    else:
        content = flip_bytes(content, data)
    (tmp_path / "model").write_bytes(content)
    try:
        again = rdplearn.load(tmp_path / "model")
    except ModelFileError as fault:
        assert "\n" not in str(fault)  # noqa: PT017 - nearly every flip ends here
    else:  # blanks that pad the header: the content is what it was
        np.testing.assert_array_equal(again.transform(MIXED), rdplearn.load(paths[kind]).transform(MIXED))


@pytest.mark.parametrize("kind", ["transformer", "clusterer"])
@given(data=st.data())
@FUZZ
def test_any_value_in_the_header_gives_a_model_or_one_line(kind: str, data, paths: dict[str, Path], tmp_path: Path):
    header, arrays = parts_of(paths[kind])
    change_a_value(header["model"], data)
    path = rewrite(tmp_path / "model", header, arrays)
    try:
        again = rdplearn.load(path)
    except ModelFileError as fault:
        assert "\n" not in str(fault)  # noqa: PT017 - most values end here
    else:  # what was accepted can be used
        assert len(again.transform(MIXED)) == MIXED.num_rows
