"""A model file that is replaced while it is served: at once, and only by a whole one."""

from __future__ import annotations

import os
import random
import threading
import time

import pytest

import rdplearn
from rdplearn._serving.models import ServedModel, named_paths
from rdplearn.errors import ModelFileError
from tests.serving.conftest import running


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr("rdplearn._serving.service.SECONDS_BETWEEN_LOOKS", 0.02)


@pytest.fixture
def copy(files, tmp_path):
    path = tmp_path / "orders.safetensors"
    path.write_bytes(files[0].read_bytes())
    return path


def eventually(holds) -> None:
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def put(path, content: bytes) -> None:
    """Replace a file as careful programs do."""
    temporary = path.with_suffix(".part")
    temporary.write_bytes(content)
    temporary.replace(path)


def test_a_new_model_takes_over(files, copy, models, table):
    rows = table.slice(0, 3)
    with running(copy) as server:
        first = server.post("/score", rows.to_pylist()).json()
        put(copy, files[1].read_bytes())
        eventually(lambda: server.post("/score", rows.to_pylist()).json()["version"] != first["version"])
        told = server.post("/score", rows.to_pylist()).json()
        assert [row["anomaly_score"] for row in told["rows"]] == (-models[1].score_samples(rows)).tolist()
        assert server.metric('rdplearn_model_reloads_total{model="orders"}') == 1


@pytest.mark.parametrize("broken", ["nothing", "half", "a changed byte", "another file", "gone", "a folder"])
def test_a_broken_file_is_told_of_and_the_old_model_goes_on(broken, files, copy, table, caplog):
    whole = copy.read_bytes()
    with running(copy) as server:
        first = server.post("/score", table.slice(0, 3).to_pylist()).json()
        if broken in ("gone", "a folder"):
            copy.unlink()
            if broken == "a folder":
                copy.mkdir()
        else:
            middle = len(whole) // 2
            changed = whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:]
            copy.write_bytes(  # in place, as careless programs do
                {"nothing": b"", "half": whole[:middle], "a changed byte": changed, "another file": b"a,b\n1,2\n"}[
                    broken
                ]
            )
        eventually(lambda: server.metric('rdplearn_model_file_broken{model="orders"}') == 1)
        assert server.post("/score", table.slice(0, 3).to_pylist()).json() == first
        told = server.get("/v2/models/orders").json()["parameters"]["reload_fault"]
        assert repr(str(copy)) in told
        assert told.endswith(f"Version {first['version']} stays in use.")
        assert "Model 'orders' cannot be replaced" in caplog.text
        if broken == "a folder":
            copy.rmdir()
        put(copy, files[1].read_bytes())
        eventually(lambda: server.post("/score", table.slice(0, 3).to_pylist()).json()["version"] != first["version"])
        assert server.metric('rdplearn_model_file_broken{model="orders"}') == 0
        assert "parameters" not in server.get("/v2/models/orders").json()


def test_every_answer_is_that_of_the_version_that_it_names(files, copy, models, table):
    """Replaced, broken and cut short at random moments while clients ask: no score is wrong."""
    rows = table.slice(0, 2)
    versions = [ServedModel("x", str(path), rdplearn.load).current.version for path in files]
    expected = dict(zip(versions, [(-model.score_samples(rows)).tolist() for model in models], strict=True))
    contents = [path.read_bytes() for path in files]
    rng, done = random.Random(0), threading.Event()

    def change() -> None:
        while not done.is_set():
            content = rng.choice(contents)
            if rng.random() < 0.4:
                copy.write_bytes(content[: rng.randrange(len(content))])
            elif rng.random() < 0.5:
                copy.write_bytes(content)
            else:
                put(copy, content)
            time.sleep(rng.uniform(0, 0.05))

    with running(copy) as server:
        changing = threading.Thread(target=change)
        changing.start()
        try:
            seen = set()
            for _ in range(300):
                told = server.post("/score", rows.to_pylist()).json()
                assert [row["anomaly_score"] for row in told["rows"]] == expected[told["version"]]
                seen.add(told["version"])
        finally:
            done.set()
            changing.join()
        assert seen == set(versions)


def test_a_file_that_only_looks_new_is_the_same_version(copy):
    served = ServedModel("orders", str(copy), rdplearn.load)
    before = served.current
    os.utime(copy, ns=(1, 1))
    assert not served.reload()
    assert served.current is before


def test_models_are_named_by_their_files_or_by_hand(files):
    assert named_paths([str(files[0]), "web=/a/b=c.safetensors"]) == {
        "orders": str(files[0]),
        "web": "/a/b=c.safetensors",
    }
    with pytest.raises(ModelFileError, match=r"Two models are called 'orders'. Pass one of them as OTHER=b/orders.st."):
        named_paths(["a/orders.st", "b/orders.st"])
    with pytest.raises(ModelFileError, match=r"must be letters.*Got 'my model'; pass NAME=a/my model.st."):
        named_paths(["a/my model.st"])
