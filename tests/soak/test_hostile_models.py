"""Hostile model files, checksums recomputed: refused in one line, or used with finite results."""

from __future__ import annotations

import copy
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rdplearn
from rdplearn.errors import ModelFileError
from tests.soak.conftest import Record, sized
from tests.soak.forks import of_each
from tests.tampering import parts_of, rewrite
from tests.test_storage import MIXED, TINY

FILES = 20_000
AT_ONCE = 20
STRANGE = (None, True, False, 0, 1, -1, 3, 10**6, 10**20, 0.5, -1e300, 1e-300, "", "x", "leaky", [], [1], {}, {"a": 1})
MATRIX = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)


def whole_models() -> dict[str, Callable[[], Any]]:
    features = {"n_components": 4, "n_steps": 20, "random_state": 0}
    return {
        "table": lambda: rdplearn.TableModel(rdplearn.RDPDetector(**TINY)).fit(MIXED),
        "default": lambda: rdplearn.RDPDetector(n_members=2, n_rounds=2, n_steps=20, random_state=0).fit(MATRIX),
        "transformer": lambda: rdplearn.RDPTransformer(**features).fit(MATRIX),
        "clusterer": lambda: rdplearn.RDPClusterer(n_clusters=2, random_state=0).fit(MATRIX),
    }


def hostile(header: dict[str, Any], arrays: dict[str, Any], rng: np.random.Generator) -> None:
    """Change one value of the header, one array, or two of them."""
    for _ in range(int(rng.integers(1, 3))):
        if rng.random() < 0.5:
            change_value(header, rng)
        else:
            change_array(arrays, rng)


def change_value(holder: Any, rng: np.random.Generator) -> None:
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = keys[int(rng.integers(len(keys)))]
        if isinstance(holder[key], dict | list) and holder[key] and rng.random() < 0.8:
            holder = holder[key]
            continue
        if rng.random() < 0.2:
            del holder[key]
        else:
            holder[key] = copy.deepcopy(STRANGE[int(rng.integers(len(STRANGE)))])
        return


def change_array(arrays: dict[str, Any], rng: np.random.Generator) -> None:
    names = [name for name in sorted(arrays) if name != "header_sha256" and arrays[name].size]
    name = names[int(rng.integers(len(names)))]
    array = arrays[name].copy()
    flat = array.reshape(-1)
    place = int(rng.integers(len(flat)))
    how = int(rng.integers(5))
    if how == 0:
        arrays[name] = array[: len(array) // 2]
    elif array.dtype.kind == "f":
        flat[place if how < 3 else slice(None)] = (0, -1, 1e30, -1e38, 1e-38)[int(rng.integers(5))]
        arrays[name] = array
    elif array.dtype.kind in "iu":
        information = np.iinfo(array.dtype)
        flat[place] = (0, 1, information.max, information.min)[int(rng.integers(4))]
        arrays[name] = array


def use(path: Path, kind: str, folder: Path) -> str:
    try:
        model = rdplearn.load(path)
    except ModelFileError as fault:
        return "refused" if "\n" not in str(fault) else "several-lines"
    rows = MIXED if isinstance(model, rdplearn.TableModel) else MATRIX
    if kind == "table" and rows is MATRIX:  # the encoder was taken away, and what is left is a whole model
        rows = np.zeros((60, model.n_features_in_), np.float32)
    if kind in ("table", "default"):
        assert np.isfinite(model.score_samples(rows)).all(), "scores are not finite"
        model.predict(rows)
        model.explain(rows[:3])
    elif kind == "transformer":
        assert np.isfinite(model.transform(rows)).all(), "features are not finite"
    else:
        assert set(np.unique(model.predict(rows))) <= set(range(-1, 1000)), "impossible groups"
    if isinstance(model, rdplearn.TableModel):
        rdplearn.write_report(model, rows, folder / "page.html")
    else:
        rdplearn.export_onnx(model, folder / "model.onnx")
    return "used"


@pytest.mark.parametrize("kind", whole_models())
def test_hostile_models_are_refused_or_can_be_used(kind: str, tmp_path: Path, record: Record):
    warnings.simplefilter("ignore")
    fitted = whole_models()[kind]()
    rdplearn.save(fitted, tmp_path / "whole")
    assert use(tmp_path / "whole", kind, tmp_path) == "used"
    header, arrays = parts_of(tmp_path / "whole")
    rng = np.random.default_rng(0)
    tally, wrong = Counter(refused=0, used=0), []
    n_files = sized(FILES // len(whole_models()))
    for first in range(0, n_files, AT_ONCE):
        paths = [tmp_path / f"hostile-{number}" for number in range(first, min(first + AT_ONCE, n_files))]
        for path in paths:
            changed = copy.deepcopy(header), dict(arrays)
            hostile(*changed, rng)
            rewrite(path, *changed)
        for path, outcome in zip(
            paths, of_each(lambda path: use(path, kind, tmp_path), paths, seconds=10), strict=True
        ):
            if outcome.exit_code:
                wrong.append(f"{path}: {outcome}")
            else:
                tally[outcome.said] += 1
                path.unlink()
    assert wrong == []
    assert set(tally) == {"refused", "used"}
    record(f"Hostile models, {kind}", files=tally.total(), **tally, crashed=0)
