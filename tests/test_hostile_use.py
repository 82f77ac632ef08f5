"""What hostile tests of the estimators found: each of these failed once."""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from safetensors import safe_open
from safetensors.numpy import save_file

import rdplearn
from rdplearn import Checkpoint, CheckpointError, ModelFileError, RDPClusterer, RDPDetector, RDPTransformer, RDPWarning
from rdplearn._storage import container
from rdplearn._training.checkpoint import FIT, LOCK
from rdplearn._training.fit_identity import in_words
from rdplearn.callbacks import RecordEvery
from rdplearn.errors import TableError

QUICK = {"n_members": 2, "n_rounds": 2, "n_steps": 30, "random_state": 0}


def quick(**changes) -> RDPDetector:
    return RDPDetector(**{**QUICK, **changes})


# a read-only installation

NO_CACHE = """
import warnings
from numba.core import caching
caching.CacheImpl._locator_classes = []  # nowhere can a file be written
import numpy as np
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    from rdplearn._scoring import compiled
    from rdplearn._training.engines import dense_kernels
numbers = np.zeros(3, dtype=np.float32)
dense_kernels.inverse_l1_norms(np.ones((3, 2), dtype=np.float32), numbers)
assert numbers.tolist() == [0.5, 0.5, 0.5]
(only,) = told
print(only.category.__name__, only.filename, only.message)
"""


def test_a_read_only_installation_compiles_without_a_cache_and_says_so_once():
    run = subprocess.run([sys.executable, "-c", NO_CACHE], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("RDPWarning <string> ")
    assert "NUMBA_CACHE_DIR" in run.stdout


# tables


def test_pandas_sparse_columns_are_taken(rng):
    full = pd.DataFrame(np.maximum(rng.normal(size=(100, 3)), 0.0), columns=list("abc"))
    whole = full.astype(pd.SparseDtype("float", 0.0))
    mixed = full.assign(a=pd.arrays.SparseArray(full["a"].to_numpy(), fill_value=0.0))
    of_nan = full.astype(pd.SparseDtype("float"))
    scores = quick().fit(full).score_samples(full)
    for frame in (whole, mixed, of_nan):
        detector = quick().fit(frame)
        assert detector.feature_names_in_.tolist() == ["a", "b", "c"]
        np.testing.assert_allclose(detector.score_samples(frame), scores, rtol=1e-4)


@pytest.mark.parametrize("kind", ["datetime64[s]", "timedelta64[s]"])
def test_arrays_of_dates_are_refused_in_words(kind):
    with pytest.raises(TableError, match=rf"X is an array of (dates|durations) \({kind[:-3]}.*Turn them into numbers"):
        quick().fit(np.ones((5, 2), dtype=kind))


@pytest.mark.parametrize(
    "made",
    [
        lambda keys: keys,
        lambda keys: pd.DataFrame({"0": keys.ravel(), "v": np.arange(50) % 7}),
        lambda keys: keys.astype(object),
    ],
)
def test_whole_numbers_that_are_rounded_are_told(made):
    keys = made(np.arange(50)[:, None] + 2**60)
    with pytest.warns(RDPWarning, match=r"Column '?0'? has whole numbers beyond 2\*\*53, which are rounded"):
        quick().fit(keys) if isinstance(keys, pd.DataFrame) else quick().fit(np.hstack([keys, keys[::-1] % 7]))


def test_values_that_count_as_zero_are_told(table):
    with pytest.warns(
        RDPWarning, match=r"Column 0 and 5 other column\(s\) has values below 1e-290, which count as zero"
    ):
        quick().fit(table * 1e-310)


@pytest.mark.parametrize("estimator", [quick(), RDPTransformer(n_steps=5), RDPClusterer(2)])
@pytest.mark.parametrize("part", ["indptr", "indices"])
def test_malformed_sparse_matrices_are_refused(part, estimator):
    matrix = sp.csr_array(np.eye(20, 5))
    changed = getattr(matrix, part).copy()
    changed[3] = 10**6
    setattr(matrix, part, changed)
    with pytest.raises(TableError, match=r"The sparse matrix X \(csr\) is malformed: .* Build it again"):
        estimator.fit(matrix)


def test_a_warning_points_at_the_line_of_the_caller():
    with pytest.warns(RDPWarning) as told:
        quick().fit(np.ones((20, 2)))
    assert {warning.filename for warning in told} == {__file__}
    with pytest.warns(RDPWarning, match="false_alarm_rate=0.001 needs") as told:
        quick(false_alarm_rate=0.001).fit(np.random.default_rng(0).normal(size=(30, 2)))
    assert {warning.filename for warning in told} == {__file__}
    frame = pd.DataFrame({"a": np.arange(60.0) % 7})
    model = rdplearn.TableModel(quick()).fit(frame)
    with pytest.warns(RDPWarning, match="New in") as told:
        model.score_samples(frame.assign(b=1.0))
    assert {warning.filename for warning in told} == {__file__}


# parameters and training


def test_one_row_a_member_is_blamed_on_max_samples(table):
    with pytest.raises(
        ValueError, match=r"'max_samples' parameter of RDPDetector must be an integer from 2, .* Got 1:"
    ):
        quick(max_samples=1).fit(table)


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_diverged_training_is_blamed_on_the_learning_rate(engine, table):
    with pytest.raises(ValueError, match=r"Training diverged: .* Got learning_rate=1e\+38: pass a smaller"):
        quick(engine=engine, learning_rate=1e38).fit(table)


def test_a_diverged_transformer_is_blamed_on_the_learning_rate(table):
    with pytest.raises(ValueError, match=r"Training diverged: .* Got learning_rate=1e\+38"):
        RDPTransformer(n_steps=20, learning_rate=1e38, random_state=0).fit(table)


FORKED = """
import joblib
import numpy as np
from tests.conftest import planted_table
from tests.test_hostile_use import quick
table, _ = planted_table()
alone = quick().fit(table).score_samples(table)
with joblib.parallel_config(backend="multiprocessing", n_jobs=2):
    np.testing.assert_array_equal(quick().fit(table).score_samples(table), alone)
print("the same")
"""


def test_members_may_be_trained_by_the_multiprocessing_backend():
    """In a process of its own: the backend forks, and a fork beside the threads of other tests may hang."""
    root = Path(__file__).parent.parent
    run = subprocess.run(
        [sys.executable, "-c", FORKED], cwd=root, capture_output=True, text=True, check=True, timeout=300
    )
    assert run.stdout == "the same\n"


# scores beyond numbers


@pytest.mark.parametrize("combination", ["mean", "geometric"])
@pytest.mark.parametrize("made", [np.asarray, sp.csr_array])
def test_scores_of_huge_values_are_finite(made, combination, table):
    detector = quick(views="unchanged", combination=combination).fit(table)
    rows = table[:3].copy()
    rows[0, 2] = 1e30
    scores = detector.score_samples(made(rows))
    assert np.isfinite(scores).all()
    assert np.argmin(scores) == 0
    assert np.isfinite(detector.member_scores(made(rows))).all()
    explanation = detector.explain(made(rows))
    assert explanation.columns_of(0)[0]["column"] == "x2"
    assert np.isfinite(explanation.contributions.sum())
    detector.assess(np.vstack([table, rows]))


@pytest.mark.parametrize(("fitted_on", "asked"), [(sp.csr_array, np.asarray), (np.asarray, sp.csr_array)])
def test_a_row_is_explained_in_either_form(fitted_on, asked, table):
    rows = np.maximum(table, 0.0)
    expected = quick().fit(rows).explain(rows[-5:]).contributions
    found = quick().fit(fitted_on(rows)).explain(asked(rows[-5:])).contributions
    np.testing.assert_allclose(found.toarray() if sp.issparse(found) else found, expected, rtol=1e-3, atol=1e-4)


# a or b


def test_columns_that_share_the_reason_are_told_together(rng):
    rows = rng.normal(size=(400, 4))
    rows[:, 1] = rows[:, 0] + 0.01 * rows[:, 1]
    odd = rows[:1].copy()
    odd[0, :2] = 9.0
    explanation = RDPDetector(random_state=0).fit(rows).explain(odd)
    first, second = explanation.columns_of(0)[:2]
    assert {first["column"], second["column"]} == {"x0", "x1"}
    assert first["shared_with"] == [second["column"]]
    assert second["shared_with"] == [first["column"]]
    told = explanation.sentences(0)[0]
    assert told.startswith(f"{first['column']} 9 (typical ")
    assert f" and {second['column']} 9 (typical " in told
    assert told.endswith(f"together account for {100 * (first['share'] + second['share']):.0f}% of the score")


def test_a_column_of_its_own_shares_no_reason(rng):
    rows = rng.normal(size=(400, 4))
    odd = rows[:1].copy()
    odd[0, :2] = 9.0
    explanation = RDPDetector(random_state=0).fit(rows).explain(odd)
    assert [column["shared_with"] for column in explanation.columns_of(0)] == [[]] * len(explanation.columns_of(0))
    assert " or " not in explanation.sentences(0)[0]


# absurd model files


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (quick(), ["panel_0.round_0.weights"]),
        (RDPTransformer(n_steps=5, random_state=0), ["weights"]),
        # what it takes for its own rows is absurd as well
        (RDPTransformer(n_steps=5, views="minmax", random_state=0), ["scaling.low", "weights"]),
        (RDPClusterer(2, transformer=RDPTransformer(n_steps=5), random_state=0), ["transformer.weights"]),
        (RDPClusterer(2, transformer=RDPTransformer(n_steps=5), random_state=0), ["centres"]),
    ],
)
def test_a_model_that_makes_no_numbers_of_its_own_rows_is_refused(model, names, tmp_path, table, monkeypatch):
    written = container.write_model_file

    def absurd(path, header, arrays):
        written(path, header, arrays | {name: np.full_like(arrays[name], 3e38) for name in names})

    monkeypatch.setattr("rdplearn._storage.models.write_model_file", absurd)
    rdplearn.save(model.fit(table), tmp_path / "model")
    with pytest.raises(ModelFileError, match="Its weights make no sense: rows like those it was fitted on get"):
        rdplearn.load(tmp_path / "model")


# checkpoints


class EndedError(Exception):
    pass


def begun(folder, table, estimator):
    """A fit that was interrupted after some of it was saved."""

    def end(records):
        if records[-1]["step"] >= 30 and records[-1].get("round", 1) == 1:
            raise EndedError

    with pytest.raises(EndedError):
        estimator.set_params(callbacks=[Checkpoint(folder), end, RecordEvery(10)]).fit(table)
    return estimator.set_params(callbacks=[Checkpoint(folder), RecordEvery(10)])


def estimators():
    paper = {"pairs": "one", "views": "minmax", "n_components": 4, "n_steps": 60, "random_state": 0}
    return {"detector": quick(n_rounds=3), "numba": RDPTransformer(engine="numba", **paper)}


@pytest.mark.parametrize("kind", ["detector", "numba"])
def test_a_changed_bit_of_a_checkpoint_is_refused(kind, tmp_path, table, rng):
    rows = sp.csr_array(np.maximum(table, 0.0)) if kind == "numba" else table
    estimator = begun(tmp_path, rows, estimators()[kind])
    files = sorted(path for path in tmp_path.iterdir() if path.name != LOCK)
    assert len(files) >= 2
    for file in files:
        whole = file.read_bytes()
        for place in rng.integers(len(whole), size=25):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << int(rng.integers(8))
            file.write_bytes(damaged)
            with pytest.raises(CheckpointError, match="Delete"):
                estimator.fit(rows)
        file.write_bytes(whole)
    estimator.fit(rows)


@pytest.mark.parametrize(
    ("kind", "array", "value"),
    [("detector", "kept", 10**9), ("detector", "n_rounds_done", 99), ("numba", "0.last_used", -(10**12))],
)
def test_what_leads_out_of_bounds_is_refused_though_its_checksum_is_right(
    kind, array, value, tmp_path, table, monkeypatch
):
    rows = sp.csr_array(np.maximum(table, 0.0)) if kind == "numba" else table
    estimator = begun(tmp_path, rows, estimators()[kind])
    file = sorted(tmp_path.glob("*.checkpoint"))[0]
    with safe_open(file, framework="numpy") as content:
        arrays, metadata = {key: content.get_tensor(key).copy() for key in content.keys()}, content.metadata()  # noqa: SIM118
    arrays[array][0] = value
    monkeypatch.setattr("rdplearn._training.checkpoint.FitFolder._checksum", lambda *_: metadata["checksum"])
    save_file(arrays, file, metadata=metadata)
    with pytest.raises(CheckpointError, match=r"cannot be continued from: .* cannot be of this fit. Delete it"):
        estimator.fit(rows)


def test_the_piece_of_another_member_is_refused(tmp_path, table):
    estimator = begun(tmp_path, table, quick(n_rounds=3))
    first, second = sorted(tmp_path.glob("*.checkpoint"))[:2]
    second.write_bytes(first.read_bytes())
    with pytest.raises(CheckpointError, match="does not match its checksum"):
        estimator.fit(table)


def doubled(rows):
    return 2 * rows


def test_another_function_as_mapping_is_refused(tmp_path, table):
    first, second = (lambda rows: rows[:, :4], lambda rows: rows[:, 1:5])
    estimator = begun(tmp_path, table, quick(mapping=first, n_components=4, n_rounds=3))
    with pytest.raises(CheckpointError, match="its 'mapping' is"):
        estimator.set_params(mapping=second).fit(table)
    estimator.set_params(mapping=first).fit(table)


def test_functions_are_known_by_what_they_do():
    def scaled(factor):
        return lambda rows: factor * rows

    assert in_words(scaled(2.0)) == in_words(scaled(2.0)) != in_words(scaled(3.0))
    assert in_words(partial(doubled)) == in_words(partial(doubled)) != in_words(partial(np.abs))
    assert in_words(scaled(np.ones(5000))) != in_words(scaled(np.r_[np.ones(2500), 2.0, np.ones(2499)]))

    def first(rows):
        return second(rows)

    def second(rows):
        return first(rows)

    assert in_words(first) != in_words(second)  # and it ends


def test_two_fits_in_one_folder_are_kept_apart(tmp_path, table):
    estimator = begun(tmp_path, table, quick(n_rounds=3))
    with open(tmp_path / LOCK, "ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(CheckpointError, match=r"Another fit is at work in the checkpoint folder .* Wait until"):
            estimator.fit(table)
    assert isinstance(json.loads((tmp_path / FIT).read_text())["seed"], int)
    estimator.fit(table)
    assert not tmp_path.exists()
