"""`partial_fit`: new members in place of the oldest ones, on a stream that drifts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import rdplearn
from rdplearn import RandomMapping, RDPClusterer, RDPDetector, TableModel
from rdplearn._training.renewal import members_to_renew

QUICK = {"n_members": 6, "n_rounds": 2, "n_steps": 60, "max_samples": 200, "random_state": 0}


def world(kind: str, n_rows: int, seed: int) -> np.ndarray:
    """Rows of the old world around 0, or of the new one around 4 in two of five columns."""
    rows = np.random.default_rng(seed).normal(size=(n_rows, 5))
    return rows if kind == "old" else rows * 0.5 + [4, 4, 0, 0, 0]


def reported(detector: RDPDetector, kind: str) -> float:
    return float(np.mean(detector.predict(world(kind, 400, seed=99)) == -1))


def table(kind: str, n_rows: int, seed: int) -> pd.DataFrame:
    frame = pd.DataFrame(world(kind, n_rows, seed), columns=list("abcde"))
    return frame.assign(city=np.random.default_rng(seed).choice(["Oslo", "Rome"], n_rows))


@pytest.mark.parametrize(
    "options", [{}, {"combination": "mean", "views": "robust"}, {"false_alarm_rate": 0.05}, {"contamination": 0.05}]
)
def test_on_a_stream_that_drifts_old_and_new_change_places(options):
    detector = RDPDetector(**QUICK, **options).fit(world("old", 800, seed=0))
    assert reported(detector, "old") < 0.15
    assert reported(detector, "new") > 0.95
    for seed in range(1, 4):
        detector.partial_fit(world("new", 600, seed))
        assert reported(detector, "new") < 0.15  # the line is drawn anew at once
    assert detector.n_renewed_ == 9
    assert reported(detector, "old") > 0.95


def test_a_stream_that_does_not_drift_changes_little():
    detector = RDPDetector(**QUICK).fit(world("old", 800, seed=0))
    before = detector.score_samples(world("old", 400, seed=99))
    detector.partial_fit(world("old", 400, seed=1))
    after = detector.score_samples(world("old", 400, seed=99))
    assert np.corrcoef(before, after)[0, 1] > 0.8
    assert reported(detector, "old") < 0.1


def test_members_are_renewed_in_turn_and_keep_their_view_and_mapping():
    detector = RDPDetector(**QUICK).fit(world("old", 800, seed=0))
    kinds = {number: len(panel.view.parts) for panel in detector.panels_ for number in panel.members.tolist()}
    detector.partial_fit(world("new", 400, seed=1))
    n_members = len(detector.combination_.weights)
    assert sorted(number for panel in detector.panels_ for number in panel.members) == list(range(n_members))
    after = {number: len(panel.view.parts) for panel in detector.panels_ for number in panel.members.tolist()}
    assert after == kinds
    for voice in detector.combination_.voices:
        assert detector.combination_.weights[voice.members].sum() == pytest.approx(1.0)
    assert {record["member"] for record in detector.history_} == set(range(n_members))


def test_the_members_that_stay_score_as_before():
    detector = RDPDetector(**QUICK).fit(world("old", 800, seed=0))
    rows = world("old", 50, seed=5)
    before = detector.member_scores(rows)
    detector.partial_fit(world("new", 400, seed=1))
    after = detector.member_scores(rows)
    np.testing.assert_allclose(after[:, 2:], before[:, 2:], rtol=1e-5)
    assert not np.allclose(after[:, :2], before[:, :2])


@pytest.mark.parametrize(
    ("n_renewed", "n_rows", "expected"),
    [(0, 10, [0]), (0, 450, [0, 1, 2]), (5, 450, [0, 1, 5]), (2, 10**6, [2, 3, 4])],
)
def test_more_rows_renew_more_members_up_to_half(n_renewed, n_rows, expected):
    assert members_to_renew(6, n_renewed, n_rows, 200).tolist() == expected


def test_an_unfitted_detector_is_fitted():
    rows = world("old", 300, seed=0)
    fitted, begun = RDPDetector(**QUICK).fit(rows), RDPDetector(**QUICK).partial_fit(rows)
    np.testing.assert_array_equal(fitted.score_samples(rows), begun.score_samples(rows))
    assert begun.n_renewed_ == 0


@pytest.mark.parametrize(
    "options",
    [
        {"mapping": "identity", "novelty_weight": 0, "distance_weight": 1},
        {"mapping": RandomMapping("fourier")},
        {"n_members": 1},
    ],
)
def test_all_kinds_of_members_can_be_renewed(options):
    detector = RDPDetector(**{**QUICK, **options}).fit(world("old", 300, seed=0))
    detector.partial_fit(world("old", 300, seed=1))
    assert np.isfinite(detector.score_samples(world("old", 50, seed=2))).all()


def test_sparse_rows_are_taken():
    rows = sp.random_array((300, 40), density=0.1, rng=np.random.default_rng(0), format="csr")
    detector = RDPDetector(**QUICK).fit(rows).partial_fit(rows[:150])
    assert np.isfinite(detector.score_samples(rows)).all()


def test_the_same_calls_give_the_same_scores_and_a_file_keeps_them(tmp_path):
    def gone_on() -> RDPDetector:
        return RDPDetector(**QUICK).fit(world("old", 300, seed=0)).partial_fit(world("new", 300, seed=1))

    rows = world("new", 100, seed=2)
    detector = gone_on()
    np.testing.assert_array_equal(detector.score_samples(rows), gone_on().score_samples(rows))
    rdplearn.save(detector, tmp_path / "model")
    loaded = rdplearn.load(tmp_path / "model")
    np.testing.assert_array_equal(detector.score_samples(rows), loaded.score_samples(rows))
    assert loaded.n_renewed_ == detector.n_renewed_
    further = world("new", 300, seed=3)
    loaded.partial_fit(further)
    detector.partial_fit(further)
    np.testing.assert_allclose(detector.score_samples(rows), loaded.score_samples(rows), rtol=1e-5)
    assert clone(detector).get_params() == RDPDetector(**QUICK).get_params()


def test_explanations_speak_of_the_new_normal():
    detector = RDPDetector(**QUICK).fit(world("old", 800, seed=0))
    for seed in range(1, 4):
        detector.partial_fit(world("new", 600, seed))
    leading = detector.explain(world("old", 20, seed=5)).columns_of(0)[0]["column"]
    assert leading in ("x0", "x1")


def test_other_columns_are_a_fault():
    detector = RDPDetector(**QUICK).fit(world("old", 300, seed=0))
    with pytest.raises(ValueError, match="4 features"):
        detector.partial_fit(world("old", 300, seed=0)[:, :4])


def test_a_table_model_goes_on_and_its_memory_fades():
    model = rdplearn.remember_scores(TableModel(RDPDetector(**QUICK)).fit(table("old", 600, 0)), table("old", 600, 0))
    assert rdplearn.watch(model, table("new", 300, 50)).due
    for seed in range(1, 9):
        model.partial_fit(table("new", 600, seed))
    verdict = rdplearn.watch(model, table("new", 300, 50))
    assert not verdict.due, verdict.sentences()
    assert rdplearn.watch(model, table("old", 300, 50)).due
    assert model.encoder.n_rows_ == 9 * 600
    assert model.memory_.scores is None


def test_only_detectors_go_on():
    model = TableModel(RDPClusterer(n_clusters=2, random_state=0)).fit(table("old", 100, 0))
    with pytest.raises(TypeError, match=r"models of an RDPDetector.*Got RDPClusterer: fit it again"):
        model.partial_fit(table("old", 100, 1))


def test_a_table_in_partitions_is_refused():
    dask = pytest.importorskip("dask.array")
    detector = RDPDetector(**QUICK).fit(world("old", 300, seed=0))
    with pytest.raises(rdplearn.TableError, match=r"'partial_fit' method of RDPDetector takes rows in memory"):
        detector.partial_fit(dask.from_array(world("new", 300, seed=0)))


def test_a_renewed_detector_goes_out_to_onnx(tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    detector = RDPDetector(**QUICK).fit(world("old", 300, seed=0)).partial_fit(world("new", 300, seed=1))
    rdplearn.export_onnx(detector, tmp_path / "model.onnx")
    rows = world("new", 50, seed=2)
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"))
    (scores,) = session.run(["score_samples"], {"rows": rows})
    np.testing.assert_allclose(scores, detector.score_samples(rows), rtol=1e-4, atol=1e-4)
