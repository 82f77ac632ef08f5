"""Model files: what goes in comes out, to the last bit; what was tampered with is refused in one line."""

from __future__ import annotations

import os
import stat
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

import rdplearn
from rdplearn import (
    KeepRounds,
    ModelFileError,
    RandomMapping,
    RDPClusterer,
    RDPDetector,
    RDPTransformer,
    TableEncoder,
    TableModel,
)
from rdplearn.defaults import DETECTOR_PAPER
from tests.conftest import SMALL, planted_table
from tests.tampering import assert_refused, change_a_value, flip_bytes, parts_of, rewrite

TINY = {
    **DETECTOR_PAPER,
    "n_members": 2,
    "n_components": 4,
    "n_rounds": 2,
    "n_steps": 20,
    "max_samples": 50,
    "random_state": 0,
}
MIXED = pa.table(
    {
        "age": [31.0, None, 57.0, 44.0] * 20,
        "city": ["Oslo", "Rome", "Rome", "Paris"] * 20,
        "note": [f"a note with words number {i} in it" for i in range(80)],
    }
)
KINDS = {
    "the paper's": {},
    "all rounds": {"callbacks": [KeepRounds()]},
    "two rounds": {"n_rounds": 2, "score_rounds": 2},
    "no scaling": {"views": "unchanged"},
    "turns": {"views": ("robust", "rank+surprise"), "mapping": ["few", "leaky", "few"], "combination": "geometric"},
    "linear": {"mapping": "linear"},
    "sparse": {"mapping": "sparse"},
    "fourier": {"mapping": RandomMapping("fourier", bandwidth=0.5)},
    "identity": {"mapping": "identity", "n_components": 6},
    "no novelty": {"novelty_weight": 0.0, "mapping": RandomMapping("leaky", n_targets=7)},
    "no novelty, identity": {"novelty_weight": 0.0, "mapping": "identity"},
    "false alarms": {"false_alarm_rate": 0.05},
    "a share": {"contamination": np.float64(0.1), "max_samples": np.int64(300)},
}


@pytest.fixture(scope="module")
def model_path(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.safetensors"
    rdplearn.save(fitted_table_model(), path)
    return path


def fitted_table_model() -> TableModel:
    return TableModel(RDPDetector(**TINY), TableEncoder(text_columns=4)).fit(MIXED)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_after_a_round_trip_are_the_same_to_the_last_bit(kind: str, tmp_path: Path, table):
    detector = RDPDetector(**{**SMALL, **KINDS[kind]}).fit(table)
    rdplearn.save(detector, tmp_path / "model")
    again = rdplearn.load(tmp_path / "model")
    assert isinstance(again, RDPDetector)
    for method in ("score_samples", "decision_function", "predict", "member_scores"):
        np.testing.assert_array_equal(getattr(again, method)(table), getattr(detector, method)(table))
    assert again.history_ == detector.history_
    assert again.get_params() == {**detector.get_params(), **listed(detector), "callbacks": None}
    assert [p.members.tolist() for p in again.panels_] == [p.members.tolist() for p in detector.panels_]


def listed(detector: RDPDetector) -> dict[str, Any]:
    """JSON knows lists, not tuples."""
    return {name: list(value) for name, value in detector.get_params().items() if isinstance(value, tuple)}


def test_sparse_rows_and_column_names_survive(tmp_path: Path):
    rows = sp.random_array((200, 30), density=0.1, rng=np.random.default_rng(0), format="csr")
    detector = RDPDetector(**SMALL).fit(rows)
    rdplearn.save(detector, tmp_path / "model")
    np.testing.assert_array_equal(rdplearn.load(tmp_path / "model").score_samples(rows), detector.score_samples(rows))
    frame = pa.table({"a": np.arange(50.0), "b": np.arange(50.0) ** 2})
    rdplearn.save(RDPDetector(**TINY).fit(frame), tmp_path / "named")
    assert rdplearn.load(tmp_path / "named").feature_names_in_.tolist() == ["a", "b"]


def test_an_encoder_comes_back_with_its_model(tmp_path: Path):
    model = fitted_table_model()
    model.memory_ = None  # an encoder alone remembers no rows
    rdplearn.save(model, tmp_path / "one")
    rdplearn.save(model.estimator, tmp_path / "two", encoder=model.encoder)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    again = rdplearn.load(tmp_path / "one")
    assert isinstance(again, TableModel)
    assert again.encoder.to_dict() == model.encoder.to_dict()
    np.testing.assert_array_equal(again.score_samples(MIXED), model.score_samples(MIXED))


def test_the_same_model_gives_the_same_bytes(tmp_path: Path):
    rdplearn.save(fitted_table_model(), tmp_path / "one")
    rdplearn.save(fitted_table_model(), tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_loaded_model_can_be_stored_again(model_path: Path, tmp_path: Path):
    rdplearn.save(rdplearn.load(model_path), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == model_path.read_bytes()


def test_how_to_run_is_not_stored(tmp_path: Path, table):
    rdplearn.save(RDPDetector(**TINY, n_jobs=2, verbose=False).fit(table), tmp_path / "model")
    assert rdplearn.load(tmp_path / "model").n_jobs is None


@pytest.mark.parametrize("mapping", [StandardScaler(), lambda rows: rows])
def test_code_is_not_stored(mapping, tmp_path: Path, table):
    detector = RDPDetector(**{**SMALL, "n_components": 6, "mapping": mapping}).fit(table)
    with pytest.raises(ValueError, match="a model file holds no code"):
        rdplearn.save(detector, tmp_path / "model")
    assert not any(tmp_path.iterdir())


def test_what_cannot_be_stored_is_refused(tmp_path: Path, table):
    with pytest.raises(NotFittedError):
        rdplearn.save(RDPDetector(), tmp_path / "model")
    with pytest.raises(TypeError, match="stores TableModel and RDPDetector, RDPTransformer, RDPClusterer"):
        rdplearn.save(StandardScaler(), tmp_path / "model")
    with pytest.raises(ValueError, match="an encoder of its own"):
        rdplearn.save(fitted_table_model(), tmp_path / "model", encoder=TableEncoder())
    with pytest.raises(ValueError, match="makes 2 columns and the model was fitted on 6"):
        rdplearn.save(RDPDetector(**TINY).fit(table), tmp_path / "model", encoder=TableEncoder().fit(np.eye(3)[:, :2]))
    broken = RDPDetector(**TINY).fit(table)
    broken.panels_[0].weights[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"'panel_0.round_0.weights' has NaN or infinity"):
        rdplearn.save(broken, tmp_path / "model")
    assert not any(tmp_path.iterdir())


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, model_path: Path, monkeypatch):
    path = tmp_path / "model"
    path.write_bytes(model_path.read_bytes())

    def no_space(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", no_space)
    with pytest.raises(OSError, match=r"model' cannot be written: the disk is full\. Make room"):
        rdplearn.save(fitted_table_model(), path)
    assert path.read_bytes() == model_path.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_mode_of_the_umask(umask: int, mode: int, tmp_path: Path, model_path: Path):
    before = os.umask(umask)
    try:
        rdplearn.save(rdplearn.load(model_path), tmp_path / "model")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == mode


@pytest.mark.parametrize("mode", [0o640, 0o664, 0o600])
def test_a_replaced_file_hands_down_its_mode_and_owner(mode: int, tmp_path: Path, model_path: Path):
    path = tmp_path / "model"
    path.write_text("old")
    path.chmod(mode)
    owner = (1234, 2345) if os.geteuid() == 0 else (os.geteuid(), path.stat().st_gid)
    os.chown(path, *owner)
    rdplearn.save(rdplearn.load(model_path), path)
    status = path.stat()
    assert (stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid) == (mode, *owner)


@pytest.mark.parametrize("kind", ["pandas", "polars", "default", None])
@pytest.mark.parametrize("estimator", [RDPTransformer, RDPClusterer])
def test_set_output_survives_the_file(estimator: type, kind: str | None, tmp_path: Path, table):
    given = {"n_steps": 20} if estimator is RDPTransformer else {"n_clusters": 2}
    fitted = estimator(random_state=0, **given).fit(table).set_output(transform=kind)
    rdplearn.save(fitted, tmp_path / "model")
    again = rdplearn.load(tmp_path / "model").transform(table)
    assert type(again) is type(fitted.transform(table))
    np.testing.assert_array_equal(np.asarray(again), np.asarray(fitted.transform(table)))


def test_an_output_that_scikit_learn_does_not_know_is_refused(tmp_path: Path, table):
    rdplearn.save(RDPTransformer(n_steps=20, random_state=0).fit(table), tmp_path / "model")
    header, arrays = parts_of(tmp_path / "model")
    header["model"]["output"] = "code"
    assert_refused(rewrite(tmp_path / "model", header, arrays), "impossible 'output': 'code'")
    del header["model"]["output"]  # as files were before it was kept
    rdplearn.load(rewrite(tmp_path / "model", header, arrays))


def test_a_link_is_followed_and_devices_are_refused(tmp_path: Path, model_path: Path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real")
    rdplearn.save(rdplearn.load(model_path), link)
    assert link.is_symlink()
    assert (tmp_path / "real").read_bytes() == model_path.read_bytes()
    with pytest.raises(OSError, match="not a regular file"):
        rdplearn.save(rdplearn.load(model_path), os.devnull)
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        rdplearn.save(rdplearn.load(model_path), tmp_path / "none" / "model")


@pytest.mark.parametrize("path", ["nowhere", ".", os.devnull])
def test_what_is_no_file_is_said_in_one_line(path: str, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_refused(path)


# The same file, tampered with.

Tamper = Callable[[dict[str, Any], dict[str, Any]], object]
TAMPERED: dict[str, tuple[Tamper, str]] = {
    "a later format": (lambda h, a: h.update(format=3), r"in format 3, and this is .* Upgrade rdplearn"),
    "format zero": (lambda h, a: h.update(format=0), "no such format exists"),
    "no format": (lambda h, a: h.pop("format"), "impossible 'format'"),
    "another estimator": (lambda h, a: h.update(estimator="os.system"), "holds 'os.system'"),
    "a list for the estimator": (lambda h, a: h.update(estimator=[]), "does not know"),
    "no model": (lambda h, a: h.update(model=None), "NoneType in place of a description"),
    "a value too many": (lambda h, a: h["model"].update(more=1), "unknown value, 'more'"),
    "a parameter too many": (lambda h, a: h["model"]["parameters"].update(more=1), "unknown parameter, 'more'"),
    "threads": (lambda h, a: h["model"]["parameters"].update(n_jobs=10**9), "unknown parameter, 'n_jobs'"),
    "an impossible parameter": (lambda h, a: h["model"]["parameters"].update(dropout=7), "'dropout' parameter"),
    "code for the mapping": (lambda h, a: h["model"]["parameters"].update(mapping="eval"), "'mapping' parameter"),
    "a trillion members": (lambda h, a: h["model"]["parameters"].update(n_members=10**12), "impossible 'panels'"),
    "a trillion rounds": (
        lambda h, a: (
            h["model"]["parameters"].update(n_rounds=10**12),
            h["model"]["panels"][0].update(n_rounds=10**12),
        ),
        "impossible 'n_rounds'",
    ),
    "a trillion columns": (lambda h, a: h["model"].update(n_columns=10**12), "does not make the 1000000000000 columns"),
    "no columns": (lambda h, a: h["model"].update(n_columns=0), "impossible 'n_columns'"),
    "names that do not fit": (lambda h, a: h["model"].update(column_names=["a"]), "impossible 'column_names'"),
    "an endless offset": (lambda h, a: h["model"].update(offset=10**400), "impossible 'offset'"),
    "text for the offset": (lambda h, a: h["model"].update(offset="0"), "impossible 'offset'"),
    "an unknown activation": (
        lambda h, a: h["model"]["panels"][0].update(activation="tanh"),
        "impossible 'activation'",
    ),
    "other targets": (lambda h, a: h["model"]["panels"][0].update(n_targets=5), "impossible 'n_targets'"),
    "more scoring rounds than there are": (lambda h, a: h["model"].update(n_scoring=3), "impossible 'n_scoring'"),
    "no scoring round": (
        lambda h, a: (h["model"]["parameters"].update(score_rounds=None), h["model"].update(n_scoring=0)),
        "impossible 'n_scoring'",
    ),
    "scoring rounds that nobody tells": (
        lambda h, a: (h["model"]["parameters"].update(score_rounds=None), h["model"].pop("n_scoring")),
        "missing or unknown value, 'n_scoring'",
    ),
    "references": (lambda h, a: h["model"]["panels"][0].update(n_references=3), "impossible 'n_subsamples'"),
    "no view": (lambda h, a: h["model"]["panels"][0].update(views=[]), "impossible 'views'"),
    "an unknown view": (lambda h, a: h["model"]["panels"][0]["views"][0].update(kind="log"), "impossible 'views'"),
    "a view of many knots": (lambda h, a: h["model"]["panels"][0]["views"][0].update(n_knots=9), "impossible 'views'"),
    "a panel of strangers": (lambda h, a: h["model"]["panels"][0].update(members=[7]), "impossible 'panels'"),
    "panels that are none": (lambda h, a: h["model"].update(panels=[3]), "impossible 'panels'"),
    "weights that are no numbers": (lambda h, a: a["panel_0.round_0.weights"].fill(np.nan), "has NaN or infinity"),
    "endless weights": (lambda h, a: a["panel_0.round_0.mapping_weights"].fill(np.inf), "has NaN or infinity"),
    "a history without numbers": (lambda h, a: a["history"].fill(np.nan), "has NaN or infinity"),
    "a width of zero": (lambda h, a: a["panel_0.view_0.width"].fill(0), "must be positive"),
    "members that count for nothing": (lambda h, a: a["member_weights"].fill(0), "do not add up to 1"),
    "a member that counts against others": (
        lambda h, a: a["member_weights"].__iadd__(np.linspace(-2, 2, len(a["member_weights"]))),
        "do not add up to 1",
    ),
    "no typical rows": (lambda h, a: h["model"].update(n_typical=0), "impossible 'n_typical'"),
    "sparse rows that are dense": (lambda h, a: h["model"].update(n_typical_entries=3), "array"),
    "a negative spread": (lambda h, a: a["typical.spread"].fill(-1), "must not be negative"),
    "typical values that do not fit": (
        lambda h, a: h["encoder"]["columns"][1]["typical"].update(shares=[]),
        "impossible typical values",
    ),
    "half a typical range": (
        lambda h, a: h["encoder"]["columns"][0]["typical"].update(low=None),
        "impossible typical values",
    ),
    "other shapes": (lambda h, a: a.update({"panel_0.round_0.bias": np.zeros(3, np.float32)}), "must be F32 of shape"),
    "other types": (lambda h, a: a.update({"panel_0.round_0.bias": np.zeros(8, np.float64)}), "must be F32 of shape"),
    "turned around": (
        lambda h, a: a.update({"panel_0.round_0.weights": a["panel_0.round_0.weights"].T.copy()}),
        "must be F32 of shape",
    ),
    "an array less": (lambda h, a: a.pop("panel_0.round_0.bias"), "lacks an array, 'panel_0.round_0.bias'"),
    "an array more": (lambda h, a: a.update(more=np.zeros(1)), "has an array too many, 'more'"),
    "another encoder": (lambda h, a: h.update(encoder=[]), "table encoding"),
    "an encoder of other columns": (lambda h, a: h["encoder"]["columns"].pop(), "does not make the"),
    "an encoder of billions of columns": (
        lambda h, a: h["encoder"]["columns"].extend(
            {**h["encoder"]["columns"][2], "source": str(i), "encoding": {**text_encoding(h), "n_buckets": 65536}}
            for i in range(500)
        ),
        "does not make the",
    ),
    "columns that are none": (lambda h, a: h["encoder"].update(columns=7), "impossible 'columns'"),
}


def text_encoding(header: dict[str, Any]) -> dict[str, Any]:
    return header["encoder"]["columns"][2]["encoding"]


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_file_is_refused(name: str, model_path: Path, tmp_path: Path):
    tamper, reason = TAMPERED[name]
    header, arrays = parts_of(model_path)
    tamper(header, arrays)
    path = rewrite(tmp_path / "model", header, arrays)
    tracemalloc.start()
    assert_refused(path, reason)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20e6


def test_a_file_that_leaves_the_number_of_components_open_has_as_many_as_targets(tmp_path: Path, table):
    """Earlier versions chose it by a rule of their own, and knew nothing of even residuals or rounds left open."""
    detector = RDPDetector(n_components=32, even_residuals=False, n_members=2, random_state=0).fit(table)
    rdplearn.save(detector, tmp_path / "model")
    header, arrays = parts_of(tmp_path / "model")
    parameters = header["model"]["parameters"]
    parameters["n_components"] = None
    parameters["score_rounds"] = 2
    del parameters["even_residuals"], header["model"]["n_scoring"], header["model"]["chosen"]["n_components"]
    again = rdplearn.load(rewrite(tmp_path / "earlier", header, arrays))
    assert again.n_components == 32
    np.testing.assert_array_equal(again.score_samples(table), detector.score_samples(table))


def test_components_that_follow_from_the_shape_come_back_left_open(tmp_path: Path, table):
    detector = RDPDetector(n_members=2, random_state=0).fit(table)
    rdplearn.save(detector, tmp_path / "model")
    again = rdplearn.load(tmp_path / "model")
    assert (again.n_components, again.chosen_.n_components) == (None, 64)
    np.testing.assert_array_equal(again.score_samples(table), detector.score_samples(table))


def test_curves_whose_knots_go_back_are_refused(tmp_path: Path):
    table = np.random.default_rng(0).normal(size=(100, 3))
    detector = rdplearn.RDPDetector(n_members=1, n_rounds=1, n_steps=5, random_state=0).fit(table)
    rdplearn.save(detector, tmp_path / "whole")
    header, arrays = parts_of(tmp_path / "whole")
    arrays["panel_0.view_0.knots"] = arrays["panel_0.view_0.knots"][::-1].copy()
    assert_refused(rewrite(tmp_path / "model", header, arrays), "ascending knots for each of its 3 columns")


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 100_000, "NaN", "[]", "", '{"format": NaN}', '{"format": 1' + "0" * 5000 + "}", "\x00"],
    ids=["deep list", "deep object", "nan", "list", "empty", "nan inside", "long number", "zero byte"],
)
def test_a_header_that_is_no_header_is_refused(text: str, model_path: Path, tmp_path: Path):
    header, arrays = parts_of(model_path)
    assert_refused(rewrite(tmp_path / "model", header, arrays, text=text))


def test_safetensors_of_other_people_are_refused(tmp_path: Path):
    save_file({"layer.weight": np.zeros((3, 3), np.float32)}, tmp_path / "foreign", metadata={"format": "pt"})
    assert_refused(tmp_path / "foreign", "It is a safetensors file, but not one of rdplearn")
    save_file({"layer.weight": np.zeros((3, 3), np.float32)}, tmp_path / "bare")
    assert_refused(tmp_path / "bare", "not one of rdplearn")


@pytest.mark.parametrize("claim", [0, 1, 2**20, 2**40, 2**63, 2**64 - 1])
def test_a_header_that_claims_gigabytes_is_refused(claim: int, model_path: Path, tmp_path: Path):
    content = model_path.read_bytes()
    (tmp_path / "model").write_bytes(struct.pack("<Q", claim) + content[8:])
    assert_refused(tmp_path / "model")


FUZZ = settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(data=st.data())
@FUZZ
def test_a_truncated_file_is_refused(data, model_path: Path, tmp_path: Path):
    content = model_path.read_bytes()
    length = data.draw(st.integers(0, len(content) - 1))
    (tmp_path / "model").write_bytes(content[:length])
    assert_refused(tmp_path / "model")


@given(data=st.data())
@FUZZ
def test_flipped_bytes_are_refused(data, model_path: Path, tmp_path: Path):
    (tmp_path / "model").write_bytes(flip_bytes(model_path.read_bytes(), data))
    try:
        again = rdplearn.load(tmp_path / "model")
    except ModelFileError as fault:
        assert "\n" not in str(fault)  # noqa: PT017 - nearly every flip ends here
    else:  # blanks that pad the header, or two arrays renamed to the same: the content is what it was
        np.testing.assert_array_equal(again.score_samples(MIXED), rdplearn.load(model_path).score_samples(MIXED))


@given(data=st.data())
@FUZZ
def test_any_value_in_the_header_gives_a_model_or_one_line(data, model_path: Path, tmp_path: Path):
    header, arrays = parts_of(model_path)
    change_a_value(header, data)
    path = rewrite(tmp_path / "model", header, arrays)
    try:
        assert isinstance(rdplearn.load(path), RDPDetector | TableModel)
    except ModelFileError as fault:
        assert "\n" not in str(fault)  # noqa: PT017 - most values end here


@given(
    content=st.binary(max_size=300), start=st.sampled_from([b"", b"{", b"\x02\0\0\0\0\0\0\0{}", b"\x40\0\0\0\0\0\0\0{"])
)
@FUZZ
def test_any_bytes_are_refused(content: bytes, start: bytes, tmp_path: Path):
    (tmp_path / "model").write_bytes(start + content)
    assert_refused(tmp_path / "model")


def test_typical_rows_that_are_not_sparse_rows_are_refused(tmp_path: Path):
    rows = sp.random_array((200, 30), density=0.1, rng=np.random.default_rng(0), format="csr")
    rdplearn.save(RDPDetector(**TINY).fit(rows), tmp_path / "model")
    for name, value in {"typical.columns": 30, "typical.ends": 7}.items():
        header, arrays = parts_of(tmp_path / "model")
        arrays[name] = np.full_like(arrays[name], value)
        assert_refused(rewrite(tmp_path / "other", header, arrays), "typical rows must store numbers in columns")


def test_planted_rows_score_high_after_loading(tmp_path: Path):
    rows, labels = planted_table()
    rdplearn.save(RDPDetector(**SMALL).fit(rows), tmp_path / "model")
    scores = rdplearn.load(tmp_path / "model").score_samples(rows)
    assert scores[labels].mean() < scores[~labels].mean()
