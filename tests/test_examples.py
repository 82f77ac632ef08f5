"""The examples run, and what they write can be opened."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

EXAMPLES = Path(__file__).parent.parent / "examples"


def example(name: str):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
