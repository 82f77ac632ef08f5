"""ONNX files: onnxruntime agrees with the model, on every kind of model and on the paper's tables; faults are told."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

import rdplearn
from experiments import datasets
from rdplearn import RDPClusterer, RDPDetector, RDPTransformer, TableModel, TorchOptions, export_onnx
from rdplearn._model.cells import UNLIMITED, dense

onnx = pytest.importorskip("onnx", reason="the export needs the onnx package")
onnxruntime = pytest.importorskip("onnxruntime", reason="the comparison needs onnxruntime")

from rdplearn._onnx.graph import OPSET, Graph  # noqa: E402
from rdplearn._onnx.views import piecewise_linear  # noqa: E402
from tests.tampering import parts_of, rewrite  # noqa: E402

QUICK = {"n_members": 5, "n_rounds": 2, "n_steps": 60, "random_state": 0}
CANCER = load_breast_cancer().data
DIGITS = load_digits().data[:400]
SCORES_WITHIN = 5e-4


def run(model, rows, path):
    """What onnxruntime makes of the rows, by name."""
    export_onnx(model, path)
    session = onnxruntime.InferenceSession(path)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"rows": np.asarray(rows, dtype=np.float64)}), strict=True))


def assert_agrees(outputs, model, rows, rtol=1e-5) -> None:
    for name, values in outputs.items():
        expected = getattr(model, name)(rows)
        assert values.shape == expected.shape
        if values.dtype == np.int64:
            np.testing.assert_array_equal(values, expected)
        elif expected.ndim == 1:  # scores: logarithms of shares, which single precision moves a little
            np.testing.assert_allclose(values, expected, rtol=rtol, atol=SCORES_WITHIN)
        else:
            np.testing.assert_allclose(values, expected, rtol=rtol, atol=rtol * np.abs(expected).max())  # may be zero


DETECTORS = {
    "default": {},
    "the paper's": {"paper": True},
    "one round": {"score_rounds": 1},
    "every view": {"views": ["minmax", "unchanged", "robust", "rank", "surprise"]},
    "fourier": {"mapping": "fourier"},
    "linear and sparse": {"mapping": ["linear", "sparse"]},
    "identity": {"mapping": "identity", "n_components": 30, "views": "minmax"},
    "hidden layers": {"torch": TorchOptions(network=[20, 10])},
}


@pytest.mark.parametrize("kind", DETECTORS)
def test_a_detector_agrees(kind, tmp_path):
    changes = {**QUICK, **DETECTORS[kind]}
    if changes.get("torch"):
        pytest.importorskip("torch", reason="hidden layers are trained by PyTorch")
    make = RDPDetector.paper if changes.pop("paper", False) else RDPDetector
    detector = make(**changes).fit(CANCER)
    farthest = 1e6 if "unchanged" in changes.get("views", ()) else 1e30
    far = np.vstack([CANCER, 1e3 * CANCER[:5], -farthest * CANCER[:5]])
    assert_agrees(run(detector, far, tmp_path / "model.onnx"), detector, far)


def test_a_detector_without_the_novelty_loss_agrees(tmp_path):
    """Distances are small differences of large squares: in single precision they have four digits."""
    detector = RDPDetector.paper(**QUICK, novelty_weight=0.0).fit(CANCER)
    outputs = run(detector, CANCER, tmp_path / "model.onnx")
    np.testing.assert_allclose(outputs["score_samples"], detector.score_samples(CANCER), rtol=1e-5, atol=SCORES_WITHIN)


TRANSFORMERS = {
    "full table": ({}, DIGITS),
    "mostly zeros": ({}, DIGITS * (np.arange(DIGITS.size).reshape(DIGITS.shape) % 13 == 0)),
    "few columns": ({}, DIGITS[:, 20:26]),
    "the paper's": ({"paper": True}, DIGITS / 16),
    "min-max": ({"pairs": "one", "views": "minmax"}, DIGITS),
}


@pytest.mark.parametrize("kind", TRANSFORMERS)
def test_a_transformer_agrees(kind, tmp_path):
    changes, rows = TRANSFORMERS[kind]
    quick = {"n_components": 8, "n_steps": 40, "random_state": 0}
    make = RDPTransformer.paper if changes.get("paper") else RDPTransformer
    transformer = make(**quick, **{name: value for name, value in changes.items() if name != "paper"}).fit(rows)
    rows = np.vstack([rows, np.zeros_like(rows[:1]), 1e5 * rows[:3]])
    assert_agrees(run(transformer, rows, tmp_path / "model.onnx"), transformer, rows)


def test_hidden_layers_of_a_transformer_agree(tmp_path):
    pytest.importorskip("torch", reason="hidden layers are trained by PyTorch")
    transformer = RDPTransformer(torch=TorchOptions(network=[12]), n_components=6, n_steps=40, random_state=0).fit(
        DIGITS
    )
    assert_agrees(run(transformer, DIGITS, tmp_path / "model.onnx"), transformer, DIGITS)


def test_a_clusterer_agrees(tmp_path):
    clusterer = RDPClusterer(10, transformer=RDPTransformer(n_steps=40), n_init=2, random_state=0).fit(DIGITS)
    outputs = run(clusterer, DIGITS, tmp_path / "model.onnx")
    assert set(outputs) == {"predict", "transform"}
    assert_agrees(outputs, clusterer, DIGITS)


here = pytest.mark.skipif(not datasets.is_here("bank"), reason="RDPLEARN_DATA holds no sets of the paper")


@here
@pytest.mark.data
@pytest.mark.parametrize("name", datasets.DETECTION)
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_scores_agree_on_the_papers_tables(name, preset, tmp_path):
    if not datasets.is_here(name):
        pytest.skip(f"{name} is not on this machine")
    table = datasets.load(name).rows
    n_rows = min(2000, 2_000_000 // table.shape[1])
    rows = table[np.random.default_rng(0).permutation(table.shape[0])[:n_rows]]
    quick = {"n_members": 5, "n_rounds": 2, "n_steps": 60, "random_state": 0}
    detector = (RDPDetector.paper if preset == "paper" else RDPDetector)(**quick).fit(rows)
    rows = rows.toarray() if sp.issparse(rows) else rows
    outputs = run(detector, rows, tmp_path / "model.onnx")
    np.testing.assert_allclose(outputs["score_samples"], detector.score_samples(rows), rtol=1e-5, atol=SCORES_WITHIN)


def test_any_number_of_rows_goes_in(tmp_path):
    detector = RDPDetector(**QUICK).fit(CANCER)
    export_onnx(detector, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    for rows in (CANCER[:1], CANCER[:7], CANCER):
        (scores,) = session.run(["score_samples"], {"rows": rows})
        np.testing.assert_allclose(scores, detector.score_samples(rows), rtol=1e-5, atol=SCORES_WITHIN)


def test_the_file_says_what_it_is(tmp_path):
    table = pd.DataFrame(CANCER[:, :3], columns=["a", "b", "c"])
    export_onnx(RDPDetector(**QUICK).fit(table), tmp_path / "model.onnx")
    model = onnx.load(tmp_path / "model.onnx")
    properties = {entry.key: entry.value for entry in model.metadata_props}
    assert properties["estimator"] == "RDPDetector"
    assert json.loads(properties["columns"]) == ["a", "b", "c"]
    assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", OPSET)]
    assert [output.name for output in model.graph.output] == ["score_samples", "decision_function", "predict"]


def test_a_table_model_takes_the_numbers_of_its_encoder(tmp_path):
    table = pa.table({"age": [31.0, 57.0, 44.0, 45.0] * 50, "city": ["Oslo", "Rome", "Rome", "Oslo"] * 50})
    model = TableModel(RDPDetector(**QUICK)).fit(table)
    export_onnx(model, tmp_path / "model.onnx")
    properties = {entry.key: entry.value for entry in onnx.load(tmp_path / "model.onnx").metadata_props}
    assert json.loads(properties["columns"]) == ["age", "city=Oslo", "city=Rome"]
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    (scores,) = session.run(["score_samples"], {"rows": np.array([[31.0, 1.0, 0.0], [57.0, 0.0, 1.0]])})
    np.testing.assert_allclose(scores, model.score_samples(table.slice(0, 2)), rtol=1e-5, atol=SCORES_WITHIN)


def test_words_and_holes_that_rows_share_are_no_rarer_than_that_there_either(tmp_path):
    rng = np.random.default_rng(0)
    cities = np.where(np.arange(1000) < 10, "Bonn", rng.choice(["Oslo", "Rome"], 1000)).tolist()
    table = pa.table({"age": [None] * 5 + rng.normal(size=995).tolist(), "city": cities})
    model = TableModel(RDPDetector(**QUICK)).fit(table)
    assert np.any(model.estimator.cells_.companions.ceilings < UNLIMITED)
    export_onnx(model, tmp_path / "model.onnx")
    rows = np.asarray(dense(model.encoder.transform(table)), dtype=np.float64)[:50]
    (scores,) = onnxruntime.InferenceSession(tmp_path / "model.onnx").run(["score_samples"], {"rows": rows})
    np.testing.assert_allclose(scores, model.score_samples(table)[:50], rtol=1e-5, atol=SCORES_WITHIN)


@given(st.data())
@effort(max_examples=40, deadline=None)
def test_piecewise_linear_curves_are_numpys(data):
    """Columns with one to three hundred knots, some in the same place, values far beyond them."""
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    sizes = data.draw(st.lists(st.integers(1, 300), min_size=1, max_size=4))
    places = [np.sort(rng.normal(size=size).round(data.draw(st.sampled_from([1, 6])))) for size in sizes]
    places = [np.unique(place) for place in places]
    knots = [(place, rng.normal(size=len(place))) for place in places]
    rows = np.concatenate([rng.normal(size=(20, len(sizes))), np.full((2, len(sizes)), [[-1e300], [1e300]])])
    rows[:5] = [[rng.choice(place) for place in places] for _ in range(5)]  # exactly at knots
    graph = Graph()
    graph.output("seen", piecewise_linear(graph, "rows", knots), np.float64, ["n_rows", len(sizes)])
    session = onnxruntime.InferenceSession(graph.model("curves", len(sizes), {}).SerializeToString())
    (seen,) = session.run(["seen"], {"rows": rows})
    expected = np.stack([np.interp(rows[:, c], *knots[c]) for c in range(len(sizes))], axis=1)
    np.testing.assert_allclose(seen, expected, rtol=1e-12, atol=1e-12)


def test_huge_columns_do_not_overflow(tmp_path):
    table = CANCER.copy()
    table[:, 0] = 1.7e308 * np.linspace(-1, 1, len(table))
    detector = RDPDetector.paper(**QUICK).fit(table)
    assert_agrees(run(detector, table, tmp_path / "model.onnx"), detector, table)


# faults


def test_what_cannot_be_exported_is_refused(tmp_path):
    path = tmp_path / "model.onnx"
    with pytest.raises(TypeError, match=r"RDPClusterer or TableModel. Got StandardScaler"):
        export_onnx(StandardScaler(), path)
    with pytest.raises(NotFittedError):
        export_onnx(RDPDetector(), path)
    with pytest.raises(ValueError, match="'mapping' of your own cannot be exported"):
        export_onnx(RDPDetector(mapping=PCA(3), n_components=3, **QUICK).fit(CANCER), path)
    with pytest.raises(ValueError, match=r"when its 'transformer' is an RDPTransformer. Got PCA instead"):
        export_onnx(RDPClusterer(3, transformer=PCA(2)).fit(CANCER), path)
    assert not path.exists()


def test_a_network_function_is_refused_with_a_way_out(tmp_path):
    torch = pytest.importorskip("torch", reason="networks are trained by PyTorch")
    detector = RDPDetector(torch=TorchOptions(network=lambda n, k: torch.nn.Linear(n, k)), **QUICK).fit(CANCER)
    with pytest.raises(ValueError, match="fit with a list of widths"):
        export_onnx(detector, tmp_path / "model.onnx")
    with pytest.raises(ValueError, match="Pickle the estimator"):
        rdplearn.save(detector, tmp_path / "model.safetensors")


def test_models_of_the_torch_engine_are_stored_and_exported_like_others(tmp_path):
    pytest.importorskip("torch", reason="hidden layers are trained by PyTorch")
    detector = RDPDetector(engine="torch", torch=TorchOptions(network=[9]), **QUICK).fit(CANCER)
    rdplearn.save(detector, tmp_path / "model.safetensors")
    again = rdplearn.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.score_samples(CANCER), detector.score_samples(CANCER))
    assert again.torch == TorchOptions(network=[9])
    assert_agrees(run(again, CANCER, tmp_path / "model.onnx"), detector, CANCER)


def test_losses_of_ones_own_are_not_stored_silently(tmp_path):
    pytest.importorskip("torch", reason="losses of one's own need PyTorch")
    detector = RDPDetector(torch=TorchOptions(auxiliary_losses={"small": (small, 0.1)}), **QUICK).fit(CANCER)
    with pytest.raises(
        ValueError, match=r"call set_params\(torch=...\) with TorchOptions that have the network alone, or None"
    ):
        rdplearn.save(detector, tmp_path / "model.safetensors")
    rdplearn.save(detector.set_params(torch=None), tmp_path / "model.safetensors")
    again = rdplearn.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.score_samples(CANCER), detector.score_samples(CANCER))


def small(rows, phi, targets, partner):
    return phi.square().mean()


def test_without_onnx_the_error_names_the_install_command(tmp_path, monkeypatch):
    detector = RDPDetector(**QUICK).fit(CANCER)
    find = importlib.util.find_spec
    monkeypatch.setattr("rdplearn._onnx.graph.find_spec", lambda name: None if name == "onnx" else find(name))
    with pytest.raises(ImportError, match=r"is not installed. Run: pip install 'rdplearn\[onnx\]'"):
        export_onnx(detector, tmp_path / "model.onnx")


WITHOUT_TORCH = """
import sys
import numpy as np
from rdplearn import RDPDetector, export_onnx
table = np.random.default_rng(0).normal(size=(100, 3))
export_onnx(RDPDetector(random_state=0).fit(table), sys.argv[1])
assert "torch" not in sys.modules
"""


def test_the_export_needs_no_torch(tmp_path):
    subprocess.run([sys.executable, "-c", WITHOUT_TORCH, str(tmp_path / "model.onnx")], check=True)
    onnxruntime.InferenceSession(tmp_path / "model.onnx")


@pytest.mark.parametrize("input_type", ["float64", "float32"])
@pytest.mark.parametrize(
    "model",
    [
        RDPDetector(n_members=5, n_rounds=2, n_steps=20, random_state=0),
        RDPDetector.paper(n_members=2, n_rounds=1, n_steps=20, random_state=0),
        RDPDetector(novelty_weight=0.0, distance_weight=1.0, n_members=2, n_rounds=1, n_steps=20, random_state=0),
        RDPTransformer(n_steps=20, random_state=0),
        RDPClusterer(3, transformer=RDPTransformer(n_steps=20), random_state=0),
    ],
)
def test_a_row_without_numbers_is_never_normal(model, input_type, tmp_path, table):
    path = tmp_path / "model.onnx"
    rdplearn.export_onnx(model.fit(table), path, input_type=input_type)
    session = onnxruntime.InferenceSession(str(path))
    names = [output.name for output in session.get_outputs()]
    rows = table[:6].astype(input_type)
    whole = session.run(None, {"rows": rows})
    rows[1, 0], rows[2, 1], rows[3, 2] = np.nan, np.inf, -np.inf
    for name, found, before in zip(names, session.run(None, {"rows": rows}), whole, strict=True):
        np.testing.assert_array_equal(found[[0, 4, 5]], before[[0, 4, 5]])
        assert (found[1:4] == -1).all() if name == "predict" else np.isnan(found[1:4]).all()


@pytest.mark.parametrize("input_type", ["float64", "float32", "int64"])
@pytest.mark.parametrize("novelty_weight", [0.0, 1.0])
def test_other_types_of_rows_are_taken_and_no_rows_at_all(novelty_weight, input_type, tmp_path, table):
    detector = RDPDetector(n_members=2, n_rounds=1, n_steps=20, random_state=0, novelty_weight=novelty_weight)
    detector.set_params(distance_weight=1.0).fit(table)
    path, rows = tmp_path / "model.onnx", (10 * table).astype(input_type)
    rdplearn.export_onnx(detector, path, input_type=input_type)
    session = onnxruntime.InferenceSession(str(path))
    (scores,) = session.run(["score_samples"], {"rows": rows})
    np.testing.assert_allclose(scores, detector.score_samples(rows), rtol=1e-5, atol=SCORES_WITHIN)
    assert session.run(["score_samples", "predict"], {"rows": rows[:0]})[1].shape == (0,)


def test_a_price_that_is_a_whole_number_is_exported(tmp_path, table):
    rdplearn.save(RDPDetector(n_members=2, n_steps=20, random_state=0).fit(table), tmp_path / "model")
    header, arrays = parts_of(tmp_path / "model")
    header["model"]["voices"][-2]["price"] = 1
    model = rdplearn.load(rewrite(tmp_path / "model", header, arrays))
    assert_agrees(run(model, table, tmp_path / "model.onnx"), model, table)


def test_an_unknown_type_of_rows_is_refused(tmp_path, table):
    detector = RDPDetector(n_members=2, n_rounds=1, n_steps=20).fit(table)
    with pytest.raises(
        ValueError, match=r"'input_type' parameter of export_onnx must be one of 'float64', .* Got 'float'"
    ):
        rdplearn.export_onnx(detector, tmp_path / "model.onnx", input_type="float")
