"""The examples run, and what they write can be opened."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rdplearn import RDPDetector, export_onnx

EXAMPLES = Path(__file__).parent.parent / "examples"


def example(name: str):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("gallery/*.py")), ids=lambda path: path.stem)
def test_an_example_of_the_gallery_runs(path, tmp_path, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot", reason="the gallery is drawn with matplotlib")
    plt.switch_backend("agg")
    drawn = []
    monkeypatch.setattr(plt, "show", lambda: drawn.extend(plt.get_fignums()))
    monkeypatch.chdir(tmp_path)
    try:
        exec(compile(path.read_text(), path.name, "exec"), {"__name__": path.stem})
        assert drawn or "plots." in path.read_text()
    finally:
        plt.close("all")


def test_the_map_of_digits_is_one_standalone_page(tmp_path, capsys):
    digits_map = example("digits_map")
    path = tmp_path / "map.html"
    digits_map.main(path, n_rows=200)
    page = path.read_text()
    assert "learned features" in page
    assert "raw pixels" in page
    assert '<script src="http' not in page
    assert str(path) in capsys.readouterr().out


def test_the_map_shows_every_row_once_in_each_half():
    digits_map = example("digits_map")
    digits = np.arange(60) % 10
    places = np.random.default_rng(0).normal(size=(60, 2))
    figure = digits_map.draw({"a": places, "b": places}, digits)
    assert sum(len(trace.x) for trace in figure.data) == 120


def test_a_contrastive_loss_pulls_groups_together(capsys):
    pytest.importorskip("torch", reason="losses of one's own need PyTorch")
    results = example("contrastive_loss").main(n_steps=120)
    assert results[0.1] > results[0.0]
    assert capsys.readouterr().out.count("NMI") == 2


def test_embeddings_find_combinations_of_categories_that_codes_hide(capsys):
    pytest.importorskip("torch", reason="networks of one's own need PyTorch")
    results = example("category_embeddings").main(n_steps=200)
    assert results["embeddings"] > 0.9
    assert results["embeddings"] > results["codes as numbers"]


def test_a_convolutional_network_learns_digits(capsys):
    pytest.importorskip("torch", reason="networks of one's own need PyTorch")
    results = example("digit_images").main(n_steps=100)
    assert results["convolutional"] > 0.9


def test_a_parquet_file_is_scored_with_onnxruntime_alone(tmp_path):
    pytest.importorskip("onnxruntime", reason="the example needs onnxruntime")
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(500, 3)), columns=["load", "heat", "noise"])
    table["number"] = np.arange(500)
    table.to_parquet(tmp_path / "rows.parquet")
    detector = RDPDetector(random_state=0).fit(table[["load", "heat", "noise"]])
    export_onnx(detector, tmp_path / "model.onnx")
    script = EXAMPLES / "score_parquet_with_onnx.py"
    paths = [str(tmp_path / name) for name in ("model.onnx", "rows.parquet", "scores.parquet")]
    told = subprocess.run([sys.executable, str(script), *paths], check=True, capture_output=True, text=True).stdout
    assert told.startswith("500 rows scored")
    scores = pd.read_parquet(tmp_path / "scores.parquet")
    expected = -detector.score_samples(table[["load", "heat", "noise"]])
    np.testing.assert_allclose(scores["anomaly_score"], expected, rtol=1e-5, atol=5e-4)
    assert "rdplearn" not in [line.split()[1] for line in script.read_text().splitlines() if line.startswith("import")]
