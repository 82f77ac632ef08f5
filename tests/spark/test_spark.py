"""Spark, a real one on this machine: the same scores as here, to the bit. `make test-spark` runs these."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rdplearn
from rdplearn import RDPDetector, TableEncoder, TableModel
from tests.test_docs import code_blocks

pytestmark = [
    pytest.mark.apart,
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore"),  # those of Spark are not ours
]


@pytest.fixture(scope="module")
def spark() -> Iterator[object]:
    pytest.importorskip("pyspark", reason="Spark needs rdplearn[spark]")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("There is no Java here. Debian's package is called default-jre-headless.")
    from pyspark.sql import SparkSession

    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    started = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", 300)
        .getOrCreate()
    )
    yield started
    started.stop()


def sales(n_rows: int = 2000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "order": [f"A{row:05d}" for row in range(n_rows)],
            "amount": np.where(rng.random(n_rows) < 0.05, np.nan, rng.gamma(2.0, 50.0, n_rows)),
            "pieces": rng.integers(1, 9, n_rows),
            "city": rng.choice(["Oslo", "Rome", "Bern"], n_rows),
            "member": rng.random(n_rows) < 0.5,
            "sold": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400 * 86_400, n_rows), unit="s"),
        }
    )


@pytest.fixture(scope="module")
def model() -> TableModel:
    detector = RDPDetector(n_members=3, n_rounds=1, n_steps=50, random_state=0)
    return TableModel(detector, TableEncoder(ignore=["order"])).fit(sales())


@pytest.mark.parametrize("n_partitions", [1, 7])
def test_the_scores_are_the_same_to_the_bit(spark, model: TableModel, n_partitions: int, tmp_path: Path):
    from rdplearn.spark import score

    table = sales()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    frame = spark.createDataFrame(table).repartition(n_partitions)
    rdplearn.save(model, tmp_path / "model.safetensors")
    for given in (model, str(tmp_path / "model.safetensors")):
        scored = score(frame, given).toPandas().sort_values("order")
        assert list(scored.columns) == [*table.columns, "anomaly_score", "anomalous"]
        expected = -model.score_samples(table)
        np.testing.assert_array_equal(scored["anomaly_score"].to_numpy(), expected)
        np.testing.assert_array_equal(scored["anomalous"].to_numpy(), expected > -model.estimator.offset_)


def test_an_empty_frame_has_no_scores(spark, model: TableModel):
    from rdplearn.spark import score

    frame = spark.createDataFrame(sales()).filter("amount < 0")
    assert score(frame, model).count() == 0


def test_what_cannot_be_scored_is_told_before_the_work(spark, model: TableModel):
    from rdplearn.spark import score

    frame = spark.createDataFrame(sales())
    with pytest.raises(rdplearn.TableError, match="Column 'anomalous' is in the frame already"):
        score(score(frame, model), model)
    features = TableModel(rdplearn.RDPTransformer(n_steps=5), TableEncoder(ignore=["order"])).fit(sales())
    with pytest.raises(rdplearn.TableError, match="Got a TableModel of RDPTransformer"):
        score(frame, features)


def test_a_column_that_is_gone_is_told_by_the_task(spark, model: TableModel):
    from rdplearn.spark import score

    with pytest.raises(Exception, match="'city'"):
        score(spark.createDataFrame(sales()).drop("city"), model).collect()


def test_the_page_runs(spark, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"spark": spark}
    for block in code_blocks("docs/spark.md"):
        exec(compile(block, "docs/spark.md", "exec"), names)
    assert names["alarms"].count() > 0
