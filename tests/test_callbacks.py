"""Callbacks and checkpoints: training that ends early, and fits that go on where they were interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from rdplearn import (
    Checkpoint,
    CheckpointError,
    KeepRounds,
    RDPDetector,
    RDPTransformer,
    RecordEvery,
    StopOnPlateau,
    TorchOptions,
)
from rdplearn._training.checkpoint import FIT
from rdplearn._training.fit_identity import in_words

QUICK = {"n_members": 3, "n_rounds": 3, "n_steps": 30, "max_samples": 200, "random_state": 0}
ONE_VOICE = {**QUICK, "distance_weight": 0}
ENGINES = ["numpy", "numba", "torch"]


class InterruptedFitError(Exception):
    """What a test interrupts a fit with."""


class Interrupt:
    """A callback that ends the work when a member has come to a place."""

    def __init__(self, **place: int) -> None:
        self.place = place

    def __call__(self, records) -> None:
        if all(records[-1][name] == value for name, value in self.place.items()):
            raise InterruptedFitError


def engine_or_skip(engine: str) -> str:
    if engine == "torch":
        pytest.importorskip("torch", reason="the torch engine needs PyTorch")
    return engine


def same_model(one, other, table) -> bool:
    return np.array_equal(one.score_samples(table), other.score_samples(table)) and one.history_ == other.history_


# callbacks


@pytest.mark.parametrize("engine", ENGINES)
def test_callbacks_see_the_records_of_each_members_round(engine, table):
    seen = []
    RDPDetector(engine=engine_or_skip(engine), callbacks=[seen.append, RecordEvery(10)], **ONE_VOICE).fit(table)
    assert {(r[-1]["member"], r[-1]["round"], r[-1]["step"]) for r in seen} == {
        (member, number, step) for member in range(3) for number in range(3) for step in (10, 20, 30)
    }
    assert all(len(records) == records[-1]["step"] / 10 for records in seen)
    assert all("novelty_loss" in records[-1] for records in seen)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_step_can_be_recorded(engine, table):
    detector = RDPDetector(engine=engine_or_skip(engine), callbacks=[RecordEvery(1)], **ONE_VOICE).fit(table)
    assert len(detector.history_) == 3 * 3 * 30
    transformer = RDPTransformer(
        engine="numpy" if engine == "numba" else engine, n_steps=12, callbacks=[RecordEvery(1)]
    ).fit(table)
    assert [record["step"] for record in transformer.history_] == list(range(1, 13))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_callback_ends_one_members_round_and_no_other(engine, table):
    def stop(records):
        return records[-1]["member"] == 1 and records[-1]["round"] == 0 and records[-1]["step"] == 10

    engine_or_skip(engine)
    stopped, whole = (
        RDPDetector(engine=engine, callbacks=[*callbacks, RecordEvery(10)], **ONE_VOICE).fit(table)
        for callbacks in ([stop], [])
    )
    steps = {(r["member"], r["round"]): r["step"] for r in stopped.history_}
    assert steps.pop((1, 0)) == 10
    assert set(steps.values()) == {30}
    for number in (0, 2):
        np.testing.assert_allclose(
            stopped.member_scores(table)[:, number], whole.member_scores(table)[:, number], rtol=1e-4
        )
    early = {r["round"]: r for r in stopped.history_ if r["member"] == 1}
    late = {r["round"]: r for r in whole.history_ if r["member"] == 1 and r["step"] == 10}
    assert early[0]["novelty_loss"] == pytest.approx(late[0]["novelty_loss"])


def test_engines_stop_at_the_same_step(table):
    pytest.importorskip("torch", reason="the torch engine needs PyTorch")
    longer = {**QUICK, "n_steps": 800}
    plateau = StopOnPlateau(patience=2, min_decrease=0.05)
    histories = [
        RDPDetector(engine=engine, callbacks=[plateau, RecordEvery(20)], **longer).fit(table).history_
        for engine in ("numpy", "torch")
    ]
    last = [{(r["member"], r["round"]): r["step"] for r in history} for history in histories]
    assert last[0] == last[1]
    assert max(last[0].values()) < 800


@pytest.mark.parametrize("pairs", ["all", "one"])
@pytest.mark.parametrize("engine", ["numpy", "torch"])
def test_the_transformer_stops_on_a_plateau(pairs, engine, table):
    engine_or_skip(engine)
    stop = StopOnPlateau(patience=3, min_decrease=0.3)
    transformer = RDPTransformer(pairs=pairs, engine=engine, callbacks=[stop, RecordEvery(10)], n_steps=2000).fit(table)
    assert transformer.history_[-1]["step"] < 2000


def test_a_plateau_is_judged_by_the_loss_that_was_named():
    records = [{"step": i, "novelty_loss": 0.5, "distance_loss": 1.0 / (1 + i)} for i in range(10)]
    assert StopOnPlateau(patience=3, loss="novelty_loss")(records)
    assert not StopOnPlateau(patience=3, min_decrease=0.001)(records)
    with pytest.raises(ValueError, match=r"must be one of 'novelty_loss', 'distance_loss'. Got 'loss' instead"):
        StopOnPlateau(loss="loss")(records)


def test_what_is_no_callback_is_refused(table):
    with pytest.raises(
        ValueError, match=r"'callbacks' parameter of RDPDetector must be a list of functions .* Got 7 in it"
    ):
        RDPDetector(callbacks=[7]).fit(table)
    with pytest.raises(ValueError, match=r"may hold one Checkpoint. Got 2"):
        RDPDetector(callbacks=[Checkpoint("a"), Checkpoint("b")]).fit(table)
    with pytest.raises(ValueError, match=r"'every' parameter of Checkpoint must be an integer from 1. Got 0"):
        Checkpoint("a", every=0)


# checkpoints


VARIANTS = {
    "default": {},
    "all rounds": {"callbacks": [KeepRounds()]},
    "fourier": {"mapping": "fourier"},
    "no novelty": {"novelty_weight": 0.0, "distance_weight": 1.0},
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_an_interrupted_fit_goes_on_to_the_same_result(engine, variant, tmp_path, table):
    saved = Checkpoint(tmp_path / "fit")
    asked = VARIANTS[variant].get("callbacks", [])
    detector = RDPDetector(engine=engine_or_skip(engine), **QUICK, **VARIANTS[variant])
    whole = clone(detector).fit(table)
    rounds_begun = set()

    def count(records):
        rounds_begun.add((records[-1]["member"], records[-1]["round"]))

    detector.callbacks = [saved, *asked, Interrupt(member=1, round=2)]
    with pytest.raises(InterruptedFitError):
        detector.fit(table)
    assert (tmp_path / "fit" / FIT).exists()
    detector.callbacks = [saved, *asked, count]
    detector.fit(table)
    assert same_model(detector, whole, table)
    assert detector.offset_ == whole.offset_
    assert (0, 0) not in rounds_begun  # nothing was done twice
    assert (1, 0) not in rounds_begun
    assert not (tmp_path / "fit").exists()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("weight", [0.0, 1.0], ids=["distances", "with reconstruction"])
def test_an_interrupted_transformer_goes_on_to_the_same_result(engine, sparse, weight, tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.random((60, 12)) * (rng.random((60, 12)) < 0.2)
    table = sp.csr_array(rows) if sparse else rows
    quick = {"n_components": 5, "n_steps": 50, "batch_size": 16, "callbacks": [RecordEvery(5)], "random_state": 0}
    saved = Checkpoint(tmp_path / "fit", every=2)
    transformer = RDPTransformer.paper(engine=engine_or_skip(engine), reconstruction_weight=weight, **quick)
    whole = clone(transformer).fit(table)
    check_resumed(transformer, saved, whole, table, tmp_path / "fit")


@pytest.mark.parametrize("engine", ["numpy", "torch"])
def test_an_interrupted_transformer_of_all_pairs_goes_on_to_the_same_result(engine, tmp_path, table):
    quick = {"n_components": 5, "n_steps": 50, "batch_size": 32, "callbacks": [RecordEvery(5)], "random_state": 0}
    transformer = RDPTransformer(engine=engine_or_skip(engine), **quick)
    whole = clone(transformer).fit(table)
    check_resumed(transformer, Checkpoint(tmp_path / "fit", every=2), whole, table, tmp_path / "fit")


def check_resumed(transformer, saved, whole, table, folder) -> None:
    steps = []

    def count(records):
        steps.append(records[-1]["step"])

    with pytest.raises(InterruptedFitError):
        transformer.set_params(callbacks=[saved, Interrupt(step=35), RecordEvery(5)]).fit(table)
    transformer.set_params(callbacks=[saved, count, RecordEvery(5)]).fit(table)
    assert steps == [35, 40, 45, 50]  # saved after the sixth record
    np.testing.assert_array_equal(transformer.transform(table), whole.transform(table))
    assert transformer.history_ == whole.history_
    assert not folder.exists()


def test_networks_of_ones_own_go_on_as_well(tmp_path, table):
    torch = pytest.importorskip("torch", reason="the torch engine needs PyTorch")

    def network(n_columns, n_components):
        return torch.nn.Sequential(torch.nn.Linear(n_columns, 8), torch.nn.Tanh(), torch.nn.Linear(8, n_components))

    saved, interrupt = Checkpoint(tmp_path / "fit"), Interrupt(round=2)
    for shape in ([8], network):
        whole = RDPDetector(torch=TorchOptions(network=shape), **QUICK).fit(table)
        detector = RDPDetector(torch=TorchOptions(network=shape), callbacks=[saved, interrupt], **QUICK)
        with pytest.raises(InterruptedFitError):
            detector.fit(table)
        assert same_model(detector.set_params(callbacks=[saved]).fit(table), whole, table)


def test_saving_every_other_round_repeats_what_was_not_saved(tmp_path, table):
    saved = Checkpoint(tmp_path / "fit", every=2)
    whole = RDPDetector(**QUICK).fit(table)
    with pytest.raises(InterruptedFitError):
        RDPDetector(callbacks=[saved, Interrupt(member=0, round=1)], **QUICK).fit(table)
    assert [file.name for file in (tmp_path / "fit").iterdir()] == [FIT]
    assert same_model(RDPDetector(callbacks=[saved], **QUICK).fit(table), whole, table)


def test_a_fit_without_a_seed_goes_on_with_its_own(tmp_path, table):
    saved = Checkpoint(tmp_path / "fit")
    unseeded = {**QUICK, "random_state": None}
    with pytest.raises(InterruptedFitError):
        RDPDetector(callbacks=[saved, Interrupt(member=2, round=2)], **unseeded).fit(table)
    seed = json.loads((tmp_path / "fit" / FIT).read_text())["seed"]
    first = {number: file.read_bytes() for number, file in enumerate(sorted((tmp_path / "fit").glob("member*")))}
    assert len(first) == 3
    detector = RDPDetector(callbacks=[saved], **unseeded).fit(table)
    assert isinstance(seed, int)
    assert len(detector.history_) == len(RDPDetector(**QUICK).fit(table).history_)


@pytest.mark.parametrize(
    ("changes", "name"), [({"n_steps": 31}, "n_steps"), ({"random_state": 1}, "seed"), ({"views": "minmax"}, "views")]
)
def test_the_folder_of_another_fit_is_refused(changes, name, tmp_path, table):
    begun(tmp_path / "fit", table)
    other = RDPDetector(**{**QUICK, **changes}, callbacks=[Checkpoint(tmp_path / "fit")])
    with pytest.raises(CheckpointError, match=rf"holds another fit: its '{name}' is .* Pass another folder, or delete"):
        other.fit(table)


def test_the_folder_of_another_table_is_refused(tmp_path, table):
    begun(tmp_path / "fit", table)
    with pytest.raises(CheckpointError, match="its 'table' is"):
        RDPDetector(**QUICK, callbacks=[Checkpoint(tmp_path / "fit")]).fit(table + 1e-9)


@pytest.mark.parametrize("file", [FIT, "member_00000.checkpoint"])
def test_a_damaged_folder_is_named(file, tmp_path, table):
    begun(tmp_path / "fit", table)
    (tmp_path / "fit" / file).write_bytes(b"{}")
    with pytest.raises(CheckpointError, match=r"Delete"):
        RDPDetector(**QUICK, callbacks=[Checkpoint(tmp_path / "fit")]).fit(table)


def test_other_files_in_the_folder_are_left_alone(tmp_path, table):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "model.safetensors").write_text("mine")
    RDPDetector(**QUICK, callbacks=[Checkpoint(tmp_path)]).fit(table)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["model.safetensors", "notes.txt"]


def begun(folder, table) -> None:
    """A fit that was interrupted."""
    with pytest.raises(InterruptedFitError):
        RDPDetector(**QUICK, callbacks=[Checkpoint(folder), Interrupt(member=0, round=1)]).fit(table)


def test_functions_are_told_apart_by_name_in_every_process():
    assert in_words(np.mean) == "numpy.mean"
    assert in_words(StopOnPlateau(patience=2)) == {"patience": "2", "min_decrease": "0.01", "loss": "None"}
    assert in_words(object()) == "builtins.object"
    assert in_words(np.float64(0.5)) == in_words(0.5) == "0.5"


KILLED_FIT = """
import sys
import numpy as np
from rdplearn import Checkpoint, RDPDetector

table = np.random.default_rng(0).normal(size=(500, 6))
callbacks = [Checkpoint(sys.argv[1])] if len(sys.argv) > 1 else None
detector = RDPDetector(n_members=3, n_rounds=6, n_steps=400, engine="numpy", random_state=0, callbacks=callbacks)
print("ready", flush=True)
detector.fit(table)
print(repr(detector.score_samples(table).sum()), flush=True)
"""


def test_a_killed_process_goes_on_to_the_same_result(tmp_path):
    run = [sys.executable, "-c", KILLED_FIT]
    expected = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    folder = tmp_path / "fit"
    process = subprocess.Popen([*run, str(folder)], stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not list(folder.glob("*.checkpoint")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert list(folder.glob("*.checkpoint"))
    resumed = subprocess.run([*run, str(folder)], check=True, capture_output=True, text=True).stdout
    assert resumed == expected
    assert not folder.exists()
