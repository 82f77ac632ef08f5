"""Damaged tables: a clear error or a finite result, under 1 GB and 5 seconds, also where 20 share a process."""

from __future__ import annotations

import json
import warnings
from collections import Counter
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
from tests.soak.forks import of_each

FILES = 5000
AT_ONCE = 20


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
        return "refused" if "\n" not in str(fault) else "several-lines"
    return "read"


def test_damaged_tables_are_refused_or_give_finite_results(model: Path, tmp_path: Path, record: Record):
    warnings.simplefilter("ignore")
    loaded = rdplearn.load(model)
    tally, wrong = Counter(read=0, refused=0), []
    (tmp_path / "t.csv").write_text(sales())
    loaded.score_samples(tmp_path / "t.csv")  # so that forks find everything imported and compiled
    wholes, rng = whole_files(tmp_path), np.random.default_rng(0)
    for first in range(0, sized(FILES), AT_ONCE):
        paths = []
        for number in range(first, min(first + AT_ONCE, sized(FILES))):
            name = list(wholes)[number % len(wholes)]
            paths.append(tmp_path / f"damaged-{number}.{name}")
            paths[-1].write_bytes(damaged(wholes[name], rng))
        outcomes = of_each(lambda path: use(path, loaded), paths, seconds=5)
        for path, outcome in zip(paths, outcomes, strict=True):
            if outcome.exit_code:
                wrong.append(f"{path}: {outcome}")
            else:
                tally[outcome.said] += 1
                path.unlink()
    assert wrong == []
    assert set(tally) == {"read", "refused"}
    record("Damaged tables", files=tally.total(), **tally, crashed=0)
