"""Small files that ask for much: an error of one line that names the limit, in little memory and time."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rdplearn.errors import TableError
from rdplearn.table import open_table, summarise
from rdplearn.table.limits import PIECE_BYTES, Limits
from rdplearn.table.thrift import ThriftError, read_struct

MEMORY = 1500 * 2**20
SECONDS = 90  # of the processor: what is quadratic takes many minutes, and processors differ by a factor of three
LOOK = """
import sys
from rdplearn.errors import TableError
from rdplearn.table import open_table, summarise
try:
    print(summarise(open_table(sys.argv[1]).batches()).n_rows)
except TableError as fault:
    print(fault)
"""


def look(path: Path) -> str:
    """What is said of a table by a process that may take little memory and time."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))

    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LOOK, path],
        capture_output=True,
        text=True,
        preexec_fn=limit,
        env={**os.environ, "OMP_NUM_THREADS": "1"},  # threads of BLAS would take memory of their own
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def pointing_at(text: str, n_rows: int) -> pa.Table:
    one = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n_rows, np.int32)), pa.array([text]))
    return pa.table({"x": np.arange(n_rows), "t": one})


def write_arrow(table: pa.Table, path: Path, compression: str | None = None) -> None:
    with pa.ipc.new_file(path, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)


@pytest.mark.parametrize("use_dictionary", [False, True])
def test_a_parquet_cell_of_hundreds_of_megabytes(use_dictionary: bool, tmp_path: Path):
    bomb = tmp_path / "bomb.parquet"
    pq.write_table(
        pa.table({"x": [1.0], "t": ["a" * 400 * 2**20]}), bomb, compression="zstd", use_dictionary=use_dictionary
    )
    assert bomb.stat().st_size < 100_000
    told = look(bomb)
    assert re.fullmatch(
        r"A page of column 't' of '.*bomb.parquet' unpacks to 401 MB, more than the limit of 256 MB. "
        r"If you trust it, raise the limit: --limit block=401.",
        told,
    )


def test_parquet_metadata_that_lie_about_a_page(tmp_path: Path):
    """The footer is not what counts: the head of each page is."""
    bomb = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"t": ["a" * 400 * 2**20]}), bomb, compression="zstd", use_dictionary=False)
    claimed = pq.read_metadata(bomb).row_group(0).column(0).total_uncompressed_size
    content = bomb.read_bytes()
    bomb.write_bytes(content.replace(varint(claimed), varint(2**28 + 77)))  # as long, or the file would be broken
    assert pq.read_metadata(bomb).row_group(0).column(0).total_uncompressed_size == 2**28 + 77
    assert "unpacks to 401 MB" in look(bomb)


def varint(number: int) -> bytes:
    """A number as Thrift writes it."""
    number *= 2
    groups = []
    while number:
        groups.append(number & 0x7F)
        number >>= 7
    return bytes([group | 0x80 for group in groups[:-1]] + groups[-1:])


@pytest.mark.parametrize("form", ["declared.parquet", "plain.parquet", "arrow"])
def test_a_dictionary_that_claims_a_terabyte(form: str, tmp_path: Path):
    bomb = tmp_path / f"bomb.{form}"
    table = pointing_at("b" * 2**20, 1_000_000)
    if form == "arrow":
        write_arrow(table, bomb)
    else:
        pq.write_table(table, bomb, compression="zstd", store_schema=form.startswith("declared"))
    assert "The text in 65,536 rows of" in look(bomb)
    assert "unpacks to 65,536 MB, more than the limit of 256 MB" in look(bomb)


def test_plain_pages_whose_rows_are_long_are_read_few_at_a_time(tmp_path: Path):
    path = tmp_path / "long.parquet"
    texts = pa.array(["c" * 2**17 + str(number % 7) for number in range(40)] * 100)
    pq.write_table(pa.table({"t": texts}), path, compression="zstd", use_dictionary=False)
    assert look(path) == "4000"


def test_a_compressed_arrow_block(tmp_path: Path):
    bomb = tmp_path / "bomb.arrow"
    write_arrow(pa.table({"x": np.zeros(60_000_000)}), bomb, "zstd")
    assert bomb.stat().st_size < 100_000
    assert "A block of" in (told := look(bomb))
    assert "unpacks to 458 MB, more than the limit of 256 MB" in told


def test_an_arrow_block_that_claims_terabytes(tmp_path: Path):
    bomb = tmp_path / "bomb.arrow"
    write_arrow(pa.table({"x": np.zeros(10_000)}), bomb, "zstd")
    size = (80_000).to_bytes(8, "little")
    assert size in bomb.read_bytes()
    bomb.write_bytes(bomb.read_bytes().replace(size, (2**43).to_bytes(8, "little")))
    assert "A block of" in (told := look(bomb))
    assert "unpacks to 8,388,608 MB" in told


def test_json_lines_with_thousands_of_keys(tmp_path: Path):
    path = tmp_path / "keys.jsonl"
    path.write_text("\n".join(json.dumps({f"k{row}": row}) for row in range(8000)))
    assert look(path) == "8000"


def test_json_lines_with_too_many_keys(tmp_path: Path):
    path = tmp_path / "keys.jsonl"
    path.write_text("\n".join(json.dumps({f"k{row}": row}) for row in range(120_000)))
    assert "columns, more than the limit of 65,536" in look(path)


def test_pieces_of_json_lines_make_the_table_that_the_lines_make(tmp_path: Path):
    path = tmp_path / "mixed.jsonl"
    rows = [{"n": row, "deep": {"a:b": [row]}, f"k{row % 300}": "a: b"} for row in range(12_000)]
    path.write_text("\n".join(map(json.dumps, rows)))
    table = open_table(path)
    assert table.column_names == ("n", "deep", *(f"k{place}" for place in range(300)))
    read = pa.Table.from_batches(list(table.batches()))
    assert read["n"].to_pylist() == [str(row) for row in range(12_000)]
    assert read["deep"][7].as_py() == '{"a:b": [7]}'
    assert [place for place, word in enumerate(read["k5"].to_pylist()) if word] == list(range(5, 12_000, 300))


def test_too_many_columns(tmp_path: Path):
    assert "has 70,000 columns, more than the limit of 65,536" in look(wide_csv(tmp_path, 70_000))


def wide_csv(folder: Path, n_columns: int) -> Path:
    path = folder / "very_wide.csv"
    path.write_text(",".join(f"c{place}" for place in range(n_columns)) + "\n" + "1," * (n_columns - 1) + "1\n")
    return path


def test_a_cell_beyond_the_limit_names_its_column_and_what_to_do(tmp_path: Path):
    path = tmp_path / "long.jsonl"
    path.write_text(json.dumps({"a": 1, "note": "x" * 17 * 2**20}))
    told = r"Column 'note' .* has a cell of 17 MB, more than the limit of 16 MB. .*--limit cell=17"
    with pytest.raises(TableError, match=told):
        summarise(open_table(path).batches())
    frame = pa.table({"note": ["x" * 17 * 2**20]})
    with pytest.raises(TableError, match="more than the limit of 16 MB"):
        list(open_table(frame).batches())
    assert len(list(open_table(frame, limits={"cell": 17}).batches())) == 1


def test_long_texts_come_in_small_pieces_and_none_is_lost():
    texts = [chr(97 + row % 26) * (row * 99_991 % 700_000) for row in range(120)]
    batches = list(open_table(pa.table({"row": list(range(120)), "text": texts})).batches())
    assert len(batches) > 3
    assert max(sum(map(len, batch["text"].to_pylist())) for batch in batches) <= PIECE_BYTES
    assert [text for batch in batches for text in batch["text"].to_pylist()] == texts
    shared = pa.table({"t": pa.DictionaryArray.from_arrays(pa.array([0, None, 1] * 9), ["x" * 2**20, "y" * 2**21])})
    again = [cell for batch in open_table(shared).batches() for cell in batch["t"].to_pylist()]
    assert again == shared["t"].to_pylist()


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"cells": 3}, "The 'limits' parameter of open_table must be one of 'columns', 'cell', 'block'. Got 'cells'"),
        ({"cell": 0}, "The limit 'cell' must be a whole number of at least 1. Got 0 instead."),
        ({"block": 2.5}, "The limit 'block' must be a whole number of at least 1. Got 2.5 instead."),
    ],
)
def test_limits_that_are_none(limits: dict[str, int], reason: str):
    with pytest.raises(TableError, match=re.escape(reason)):
        open_table(pa.table({"a": [1]}), limits=limits)
    assert Limits().raised(None) == Limits()


def test_heads_of_pages_that_are_none_are_told():
    for content in (b"", b"\x15", b"\x18\xff\xff\xff\x7fab", b"\x1c" * 100, b"\x19\x19" * 5000, b"\x1f\x00"):
        with pytest.raises(ThriftError):
            read_struct(content)
