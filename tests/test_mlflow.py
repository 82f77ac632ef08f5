"""The MLflow flavour. MLflow holds pyarrow back, so `make test-mlflow` runs this in an environment of its own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pandas as pd
import pytest

import rdplearn
from rdplearn.mlflow import save_model
from tests.serving.tables import fitted, orders


def test_without_mlflow_the_remedy_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    monkeypatch.setitem(sys.modules, "mlflow.pyfunc", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'rdplearn\[mlflow\]'"):
        save_model(fitted(0), tmp_path / "model")


def test_only_detectors_of_tables_are_taken(tmp_path):
    with pytest.raises(TypeError, match=r"takes a TableModel of an RDPDetector. Got RDPDetector\(\) instead"):
        save_model(rdplearn.RDPDetector(), tmp_path / "model")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("mlflow", reason="MLflow has an environment of its own: make test-mlflow")
    path = tmp_path_factory.mktemp("mlflow") / "model"
    save_model(fitted(0), path, pip_requirements=[])
    return path


@pytest.mark.apart
def test_the_folder_loads_and_scores_the_same(folder):
    import mlflow.pyfunc

    frame = orders().to_pandas()
    found = mlflow.pyfunc.load_model(str(folder)).predict(frame)
    expected = fitted(0)
    assert found["anomaly_score"].tolist() == (-expected.score_samples(frame)).tolist()
    assert found["anomalous"].tolist() == (expected.predict(frame) == -1).tolist()


@pytest.mark.apart
def test_a_column_that_is_missing_is_refused(folder):
    import mlflow.pyfunc

    with pytest.raises(Exception, match=r"missing inputs.*city"):
        mlflow.pyfunc.load_model(str(folder)).predict(orders().to_pandas().drop(columns="city"))


@pytest.mark.apart
def test_mlflow_serves_it(folder):
    frame = orders().to_pandas().head(5)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "models", "serve", "-m", str(folder), "-p", str(port), "-h", "127.0.0.1"]
    path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"  # it starts programs by their names
    surroundings = {**os.environ, "PATH": path}
    with subprocess.Popen([*command, "--env-manager", "local"], env=surroundings, start_new_session=True) as process:
        try:
            told = ask(port, {"dataframe_records": json.loads(frame.to_json(orient="records"))})
        finally:
            os.killpg(process.pid, 9)  # it has started workers
    assert pd.DataFrame(told["predictions"])["anomaly_score"].tolist() == (-fitted(0).score_samples(frame)).tolist()


def ask(port: int, message: dict[str, object]) -> dict[str, list[object]]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/invocations", json.dumps(message).encode(), {"content-type": "application/json"}
    )
    end = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as fault:
            raise AssertionError(fault.read()) from None
        except OSError:  # not there yet
            assert time.monotonic() < end
            time.sleep(0.5)
