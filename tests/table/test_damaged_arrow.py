"""Arrow files with changed bytes: an error of one line or a table, and never a crash. One process each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rdplearn.errors import TableError
from rdplearn.table import open_table, summarise

N_FILES = 150
# One process reads many files, each in a child of its own: starting Python is what takes long.
READ_ALL = """
import os, sys
import pyarrow.compute
from rdplearn.errors import TableError
from rdplearn.table import open_table, summarise
for path in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        try:
            summarise(open_table(path).batches())
        except TableError:
            pass
        except BaseException as fault:
            print(path, type(fault).__name__, fault, flush=True)
            os._exit(3)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if status:
        print(path, "ended with", status, flush=True)
"""


def test_no_changed_byte_crashes_the_reader(tmp_path: Path):
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "text": [f"word {i % 7}" for i in range(50)],
            "kind": pa.array(["a", "b"] * 25).dictionary_encode(),
            "number": rng.normal(size=50),
        }
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    whole = np.frombuffer(sink.getvalue(), dtype=np.uint8)
    paths = []
    for number in range(N_FILES):
        damaged = whole.copy()
        damaged[rng.integers(8, len(whole))] = rng.integers(256)
        paths.append(tmp_path / f"{number}.arrow")
        paths[-1].write_bytes(damaged.tobytes())
    told = subprocess.run([sys.executable, "-W", "ignore", "-c", READ_ALL, *paths], capture_output=True, text=True)
    assert told.stdout == ""


def test_bytes_that_are_no_text_in_parquet_are_told(tmp_path: Path):
    words = pa.array([b"word \xff\xfe"] * 50, pa.binary()).view(pa.string())
    pq.write_table(pa.table({"text": words}), tmp_path / "t.parquet")
    with pytest.raises(TableError, match=r"Cannot read '.*t.parquet': .*UTF8"):
        summarise(open_table(tmp_path / "t.parquet").batches())
