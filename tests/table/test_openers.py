"""Files as Arrow opens them: what its threads hold outlives the interpreter."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rdplearn.errors import TableError
from rdplearn.table import open_table
from rdplearn.table.openers import Decompressor, PathOpener, native_buffer, spool, utf8_blocks

# The interpreter is never lent to another thread: one of Arrow's that wants it would still wait at the end.
READ_AND_END = """
import sys
import time
from rdplearn.table import open_table

tables = [open_table(path) for path in sys.argv[1:]]
sys.setswitchinterval(100)
for table in tables:
    for batch in table.batches():
        pass
end = time.perf_counter() + 0.05
while time.perf_counter() < end:
    pass
"""


def table_files(folder: Path) -> list[Path]:
    text = "città,n\n" + "Forlì,1\n" * 500
    files = {
        "plain.csv": text.encode(),
        "western.csv": text.encode("utf-16"),
        "packed.csv.gz": gzip.compress(text.encode()),
        "objects.jsonl": b'{"n": 1}\n' * 500,
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    pq.write_table(pa.table({"n": range(500)}), folder / "columns.parquet")
    return [*(folder / name for name in files), folder / "columns.parquet"]


def test_a_process_ends_well_right_after_reading(tmp_path):
    paths = table_files(tmp_path)
    for path in paths:
        done = subprocess.run(
            [sys.executable, "-c", READ_AND_END, *paths, path], capture_output=True, text=True, timeout=120
        )
        assert (done.returncode, done.stderr) == (0, ""), path.name


def test_files_copies_and_compressed_files_are_opened_without_python(tmp_path):
    paths = table_files(tmp_path)
    for opener in (PathOpener(str(paths[0])), spool([b"a,b\n"]), Decompressor(PathOpener(str(paths[2])), "gzip")):
        with opener() as file:
            assert isinstance(file, pa.NativeFile)
            assert not isinstance(file, pa.PythonFile)
    assert native_buffer(b"abc").to_pybytes() == b"abc"


def test_a_file_may_have_a_name_that_is_not_utf_8(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.csv"
    with open(path, "wb") as file:
        file.write(b"a,b\n1,2\n")
    assert [batch.to_pylist() for batch in open_table(os.fsdecode(path)).batches()] == [[{"a": "1", "b": "2"}]]


def test_a_copy_is_deleted_with_its_opener():
    opener = spool([b"a,", b"b\n"])
    copy = opener.copy
    with opener() as file:
        assert file.read() == b"a,b\n"
    del opener
    assert copy.closed
    assert not Path(str(copy.name)).exists()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "shift_jis"])
def test_letters_that_lie_across_blocks_stay_whole(tmp_path, encoding, monkeypatch):
    monkeypatch.setattr("rdplearn.table.openers.BLOCK_BYTES", 3)
    path = tmp_path / "letters.txt"
    path.write_bytes("東京, 大阪".encode(encoding))
    with PathOpener(str(path))() as file:
        assert b"".join(utf8_blocks(file, encoding)).decode() == "東京, 大阪"


def test_bytes_that_the_encoding_has_not_are_told_when_the_table_is_opened(tmp_path):
    path = tmp_path / "late.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 400_000 + b"\x81,2\n")
    with pytest.raises(TableError, match=r"late.csv' is not written in cp1252\. Pass another --encoding"):
        open_table(path, encoding="cp1252")
