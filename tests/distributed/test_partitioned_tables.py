"""Tables in partitions give what the same rows give on one machine, to the last bit, however they are cut."""

from __future__ import annotations

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow.dataset as ds
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from rdplearn import (
    Checkpoint,
    KeepRounds,
    RDPClusterer,
    RDPDetector,
    RDPTransformer,
    RDPWarning,
    TableEncoder,
    TableModel,
    TorchOptions,
    load,
    save,
)
from rdplearn.errors import TableError
from tests.distributed.conftest import SMALL

CUTS = {"even": [300, 600], "skewed": [2, 890], "empty ones": [0, 0, 450, 450, 900]}
DETECTOR = RDPDetector(**SMALL)
TRANSFORMER = RDPTransformer(n_components=8, n_steps=20, random_state=0)
CLUSTERER = RDPClusterer(4, transformer=RDPTransformer(n_components=8, n_steps=20), random_state=0)


def in_parts(frame: pd.DataFrame, cuts: list[int]) -> dd.DataFrame:
    return from_pieces([frame.iloc[a:b] for a, b in zip([0, *cuts], [*cuts, len(frame)], strict=True)])


def from_pieces(pieces: list[pd.DataFrame]) -> dd.DataFrame:
    return dd.from_map(lambda place: pieces[place], range(len(pieces)), meta=pieces[0].iloc[:0])


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("estimator", [DETECTOR, TRANSFORMER, CLUSTERER], ids=lambda e: type(e).__name__)
def test_fit_and_results_are_those_of_one_machine(client, numbers, cuts, estimator):
    parts = in_parts(numbers, CUTS[cuts])
    here, there = clone(estimator).fit(numbers), clone(estimator).fit(parts)
    assert list(there.feature_names_in_) == list("abcdef")
    for method in ("score_samples", "decision_function", "predict", "member_scores", "transform"):
        if hasattr(here, method):
            lazy = getattr(there, method)(parts)
            assert dask.is_dask_collection(lazy)
            result = lazy.compute()
            assert np.array_equal(result, getattr(here, method)(numbers)), method
            assert result.index.equals(numbers.index)
    if hasattr(here, "labels_"):
        assert np.array_equal(there.labels_.compute(), here.labels_)


def test_pytorch_trains_on_the_cluster_as_well(client, numbers):
    pytest.importorskip("torch", reason="the torch engine needs PyTorch")
    detector = RDPDetector(engine="torch", torch=TorchOptions(network=[8]), **SMALL)
    here, there = clone(detector).fit(numbers), clone(detector).fit(in_parts(numbers, [300]))
    np.testing.assert_allclose(there.score_samples(numbers), here.score_samples(numbers), rtol=1e-3)


def test_rare_kinds_of_rows_are_found_where_the_rows_are(client):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        np.vstack([rng.normal(size=(1450, 4)), rng.normal(6.0, 0.3, size=(50, 4))]), columns=list("abcd")
    )
    detector = RDPDetector(false_alarm_rate=0.01, random_state=0)
    here, there = clone(detector).fit(rows), clone(detector).fit(in_parts(rows, [400]))
    assert there.offset_ == here.offset_
    assert np.mean(here.predict(rows[1450:]) == -1) < 0.6  # as a kind of 3 % of the rows should


@pytest.mark.parametrize("estimator", [RDPDetector, RDPTransformer])
def test_a_checkpoint_is_for_one_machine(client, numbers, estimator, tmp_path):
    with pytest.raises(ValueError, match="hold a Checkpoint, which is for tables in memory"):
        estimator(callbacks=[Checkpoint(tmp_path / "fit")]).fit(in_parts(numbers, [300]))


@pytest.mark.parametrize("options", [{"false_alarm_rate": 0.05}, {"contamination": 0.1}, {"max_samples": 0.3}], ids=str)
def test_thresholds_and_losses_are_those_of_one_machine(client, numbers, options):
    detector = RDPDetector.paper(**{**SMALL, **options})
    here, there = clone(detector).fit(numbers), clone(detector).fit(in_parts(numbers, [100]))
    assert there.offset_ == here.offset_
    assert there.history_ == here.history_


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_arrays_work_as_frames_do(client, numbers, is_sparse):
    rows = np.where(numbers.to_numpy() > 1, numbers, 0.0)
    array = da.from_array(rows, chunks=(350, 4))
    if is_sparse:
        rows, array = sp.csr_array(rows), array.rechunk((350, 6)).map_blocks(sp.csr_array, dtype=float)
    here, there = clone(DETECTOR).fit(rows), clone(DETECTOR).fit(array)
    scores = there.score_samples(array)
    assert scores.chunks == ((350, 350, 200),)
    assert np.array_equal(scores.compute(), here.score_samples(rows))
    assert there.member_scores(array).compute().shape == (900, len(here.combination_.weights))
    contributions = [detector.explain(rows[:50]).contributions for detector in (here, there)]
    assert abs(contributions[0] - contributions[1]).max() == 0


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_a_wide_table_is_trained_on_in_the_same_directions(client, is_sparse):
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((500, 600)) < 0.05, rng.normal(size=(500, 600)), 0.0).astype(np.float32)
    array = da.from_array(rows, chunks=(180, 600))
    if is_sparse:
        rows, array = sp.csr_array(rows), array.map_blocks(sp.csr_array, dtype=np.float32)
    here, there = (RDPDetector(random_state=0, n_steps=40).fit(table) for table in (rows, array))
    assert here.history_ == there.history_
    assert np.array_equal(there.score_samples(rows), here.score_samples(rows))


def test_rows_are_drawn_alike_whatever_the_sizes_of_partitions(client, numbers):
    one = clone(DETECTOR).fit(in_parts(numbers, [1, 3, 7, 880])).score_samples(numbers)
    other = clone(DETECTOR).fit(in_parts(numbers, [450])).score_samples(numbers)
    assert np.array_equal(one, other)


def test_columns_may_come_in_any_order(client, numbers):
    mixed = from_pieces([numbers.iloc[:400], numbers.iloc[400:][list("fedcba")]])
    here, there = clone(DETECTOR).fit(numbers), clone(DETECTOR).fit(mixed)
    assert np.array_equal(there.score_samples(mixed).compute(), here.score_samples(numbers))
    turned = in_parts(numbers[list("fedcba")], [400])
    assert np.array_equal(there.score_samples(turned).compute(), here.score_samples(numbers))


def test_a_partition_with_bad_rows_is_named(client, numbers):
    broken = numbers.copy()
    broken.iloc[700, 2] = np.nan
    with pytest.raises(TableError, match=r"In partition 1.*column 'c' in 1 row\(s\) \(first: row 250\)"):
        clone(DETECTOR).fit(in_parts(broken, [450]))
    texts = numbers.astype({"b": object})
    texts.iloc[3, 1] = "n/a"
    with pytest.raises(TableError, match=r"In partition 0.*Column 'b' has text in 1 row"):
        clone(DETECTOR).fit(in_parts(texts, [450]))


def test_other_columns_than_at_fit_are_refused_at_once(client, numbers):
    fitted = clone(DETECTOR).fit(in_parts(numbers, [450]))
    with pytest.raises(TableError, match="X has 5 columns"):
        fitted.predict(in_parts(numbers[list("abcde")], [450]))
    with pytest.raises(TableError, match="Column 'f' of the fit is missing"):
        fitted.predict(in_parts(numbers.rename(columns={"f": "g"}), [450]))


def test_equal_rows_are_warned_of(client):
    equal = in_parts(pd.DataFrame(np.ones((60, 2)), columns=["a", "b"]), [30])
    with pytest.warns(RDPWarning, match=r"All 2 column\(s\) of the table are constant"):
        clone(DETECTOR).fit(equal)


@pytest.mark.parametrize("cuts", CUTS)
def test_tables_of_any_columns_are_encoded_and_modelled_as_on_one_machine(client, people, cuts):
    parts = in_parts(people, CUTS[cuts])
    here, there = TableModel(clone(DETECTOR)).fit(people), TableModel(clone(DETECTOR)).fit(parts)
    assert there.encoder.to_dict() == here.encoder.to_dict()
    assert "city=Lima" in there.encoder.feature_names_
    assert np.array_equal(there.score_samples(parts).compute(), here.score_samples(people))
    encoder = TableEncoder().fit(parts)
    assert encoder.to_dict() == here.encoder.to_dict()
    assert np.array_equal(encoder.transform(parts).compute(), here.encoder.transform(people))


@pytest.mark.parametrize("how", ["folder", "pattern", "arrow"])
def test_parquet_datasets_are_taken_as_they_are(client, people, numbers, tmp_path, how):
    for number, start in enumerate(range(0, 900, 250)):
        numbers.iloc[start : start + 250].to_parquet(tmp_path / f"{number}.parquet", index=False)
    source = {"folder": tmp_path, "pattern": str(tmp_path / "*.parquet"), "arrow": ds.dataset(tmp_path)}[how]
    here, there = clone(DETECTOR).fit(numbers), clone(DETECTOR).fit(source)
    assert np.array_equal(there.score_samples(source).compute(), here.score_samples(numbers))
    model = TableModel(clone(DETECTOR)).fit(source)
    assert np.array_equal(model.predict(source).compute(), TableModel(clone(DETECTOR)).fit(numbers).predict(numbers))


def test_samples_of_large_tables_are_those_of_one_machine(client, monkeypatch, people):
    monkeypatch.setattr("rdplearn.table_model.MOST_SAMPLED_ROWS", 200)
    monkeypatch.setattr("rdplearn.table_model.FEWEST_SAMPLED_ROWS", 100)
    parts = in_parts(people, [13, 600])
    here, there = TableModel(clone(DETECTOR)).fit(people), TableModel(clone(DETECTOR)).fit(parts)
    assert there.estimator.offset_ == here.estimator.offset_
    assert np.array_equal(there.score_samples(parts).compute(), here.score_samples(people))


def test_features_of_large_tables_are_learned_from_a_uniform_sample(client, monkeypatch, numbers):
    monkeypatch.setattr("rdplearn._distributed.fitting.MOST_ROWS_OF_FEATURES", 300)
    one, other = (clone(TRANSFORMER).fit(in_parts(numbers, cuts)) for cuts in ([100], [2, 890]))
    assert np.array_equal(one.feature_map_.phi.weights, other.feature_map_.phi.weights)
    assert not np.array_equal(one.feature_map_.phi.weights, clone(TRANSFORMER).fit(numbers).feature_map_.phi.weights)


def test_results_are_lazy_and_tasks_bear_our_names(client, numbers):
    parts = in_parts(numbers, [450])
    lazy = clone(DETECTOR).fit(parts).score_samples(parts)
    assert any(str(key[0]).startswith("rdp-score-part-") for key in lazy.__dask_graph__() if isinstance(key, tuple))
    groups = client.run_on_scheduler(lambda dask_scheduler: set(dask_scheduler.task_prefixes))  # the dashboard's
    assert {"rdp-look-part", "rdp-draw-rows", "rdp-fit-views", "rdp-fit-member", "rdp-judge-rows"} <= groups


def test_scores_of_rounds_are_lazy(client, numbers):
    parts, turned = in_parts(numbers, [300]), in_parts(numbers[list("fedcba")], [300])
    with pytest.raises(ValueError, match="Fit with callbacks="):
        clone(DETECTOR).set_params(score_rounds=1).fit(numbers).round_scores(parts)
    detector = clone(DETECTOR).set_params(callbacks=[KeepRounds()]).fit(numbers)
    for table in (parts, turned):
        lazy = detector.round_scores(table)
        assert dask.is_dask_collection(lazy)
        assert np.array_equal(lazy.compute(), detector.round_scores(numbers))
        assert list(lazy.columns) == ["round0", "round1"]
    with pytest.raises(TableError, match="Column 'a' of the fit is missing from X"):
        detector.round_scores(parts.rename(columns={"a": "other"}))


@pytest.mark.parametrize("method", ["explain", "assess"])
@pytest.mark.parametrize("make", [lambda: clone(DETECTOR), lambda: TableModel(clone(DETECTOR))], ids=["plain", "table"])
def test_what_people_look_at_wants_rows_in_memory(numbers, tmp_path, method, make):
    model = make().fit(numbers)
    numbers.to_parquet(tmp_path / "0.parquet", index=False)
    for table in (
        in_parts(numbers[list("fedcba")], [300]),
        da.from_array(numbers.to_numpy(), chunks=(300, 6)),
        tmp_path,
    ):
        with pytest.raises(TableError, match=rf"'{method}' method of \w+ takes rows in memory.*compute\(\)"):
            getattr(model, method)(table)
    if method == "explain" and isinstance(model, TableModel):
        turned, straight = model.explain(table=numbers[list("fedcba")].head(20)), model.explain(numbers.head(20))
        assert [turned.columns_of(row) for row in range(20)] == [straight.columns_of(row) for row in range(20)]


def test_a_clusterer_fitted_on_partitions_can_be_kept(client, numbers, tmp_path):
    parts = in_parts(numbers, [300])
    save(clone(CLUSTERER).fit(parts), tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").labels_, clone(CLUSTERER).fit(numbers).labels_)
    model = TableModel(clone(CLUSTERER)).fit(parts)
    save(model, tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").estimator.labels_, model.predict(numbers))


def test_a_fit_gathers_no_rows(client):
    table = da.random.default_rng(0).normal(size=(2_000_000, 8), chunks=(100_000, 8))  # 128 MB
    clone(DETECTOR).fit(table[:1000])  # all that is imported
    before = client.run(peak_memory)
    clone(DETECTOR).set_params(n_members=2).fit(table)
    after = client.run(peak_memory)
    assert max(after[worker] - before[worker] for worker in before) < 100e6


def peak_memory() -> float:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0
