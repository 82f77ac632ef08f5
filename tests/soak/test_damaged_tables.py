"""Damaged tables, one process each: a clear error or a finite result, under 1 GB and 5 seconds."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.json
import pyarrow.parquet as pq

import rdplearn
from rdplearn.errors import TableError
from rdplearn.table import open_table
from tests.cli.conftest import sales
from tests.soak.conftest import Record, sized
from tests.soak.forks import in_fork

FILES = 5000


def whole_files(folder: Path) -> dict[str, bytes]:
    (folder / "t.csv").write_text(sales())
    texts = pa.Table.from_batches(list(open_table(folder / "t.csv").batches()))
    typed = texts.set_column(1, "amount", texts["amount"].cast(pa.float64()))
    typed = typed.set_column(2, "city", texts["city"].combine_chunks().dictionary_encode())
    made = {}
    for name, compression in (("plain", None), ("zstd", "zstd")):
        pq.write_table(typed, folder / "t", compression=compression or "none")
        made[f"{name}.parquet"] = (folder / "t").read_bytes()
        with pa.ipc.new_file(folder / "t", typed.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as to:
            to.write_table(typed)
        made[f"{name}.arrow"] = (folder / "t").read_bytes()
    with pa.ipc.new_stream(folder / "t", typed.schema) as to:
        to.write_table(typed)
    made["stream.arrow"] = (folder / "t").read_bytes()
    made["t.csv"] = sales().encode()
    rows = texts.to_pylist()
    made["t.jsonl"] = "\n".join(json_line(row) for row in rows).encode()
    return made


def json_line(row: dict[str, str]) -> str:
    return json.dumps({**row, "amount": float(row["amount"])})


def damaged(whole: bytes, rng: np.random.Generator) -> bytes:
    """Some bytes changed, a piece lost, doubled or zeroed, or the end cut off."""
    content = bytearray(whole)
    start, length = int(rng.integers(len(content))), int(rng.integers(1, 200))
    how = rng.integers(6)
    if how == 0:
        del content[start:]
    elif how == 1:
        del content[start : start + length]
    elif how == 2:
        content[start:start] = content[start : start + length]
    elif how == 3:
        content[start : start + length] = bytes(len(content[start : start + length]))
    else:
        for _ in range(1 if how == 4 else 8):
            content[int(rng.integers(len(content)))] = int(rng.integers(256))
    return bytes(content)


def use(path: Path, model: rdplearn.TableModel) -> str:
    try:
        encoder = rdplearn.TableEncoder().fit(open_table(path))
        matrix = encoder.transform(open_table(path))
        values = matrix.data if hasattr(matrix, "indptr") else matrix
        assert np.isfinite(values).all(), "the matrix is not finite"
        assert np.isfinite(model.score_samples(open_table(path))).all(), "scores are not finite"
    except TableError as fault:
        return "refused" if "\n" not in str(fault) else "an error of several lines"
    return "read"


def cases(folder: Path) -> Iterator[tuple[str, bytes]]:
    wholes = whole_files(folder)
    rng = np.random.default_rng(0)
    for number in range(sized(FILES)):
        name = list(wholes)[number % len(wholes)]
        yield name, damaged(wholes[name], rng)


def test_damaged_tables_are_refused_or_give_finite_results(model: Path, tmp_path: Path, record: Record):
    warnings.simplefilter("ignore")
    loaded = rdplearn.load(model)
    tally = {"read": 0, "refused": 0}
    wrong = []
    (tmp_path / "t.csv").write_text(sales())
    loaded.score_samples(tmp_path / "t.csv")  # so that forks find everything imported and compiled
    for number, (name, content) in enumerate(cases(tmp_path)):
        path = tmp_path / f"damaged.{name}"
        path.write_bytes(content)
        outcome = in_fork(lambda path=path: use(path, loaded), seconds=5)
        if outcome.exit_code:
            path.rename(tmp_path / f"wrong-{number}.{name}")
            wrong.append(f"wrong-{number}.{name}: {outcome}")
        else:
            tally[outcome.said] += 1
    assert wrong == []
    record("Damaged tables", files=sum(tally.values()), **tally, crashed=0)
