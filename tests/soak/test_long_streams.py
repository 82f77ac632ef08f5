"""Tables of five million rows, scored from file to file: every row once, with memory that stays flat.

What grows while the first million rows go by is not the table: Arrow's pool has its most at the start, 68 MB of a CSV
file. It is pages that mimalloc and malloc keep for the next time. So a run of half a million rows is compared only
roughly, and what must stay is the memory of the run itself: its last quarter has no more than its second.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from benchmarks.tables import command

import rdplearn
from rdplearn.table import open_table
from tests.soak.conftest import Record, sized

FEW, MANY, ROWS_A_BATCH = 500_000, 5_000_000, 50_000
MOST_GROWTH = 1.2  # of the peak, against that of the short table
MOST_CREEP = 1.05  # of the mean of the last quarter, against that of the second
CITIES = np.array(["Oslo", "Rome", "Paris", "Lima"])


def orders(n_rows: int) -> Iterator[pa.RecordBatch]:
    """Ten columns: an id, seven numbers, a city and a day."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(ROWS_A_BATCH, 7)).round(3)
    others = {
        "city": CITIES[rng.integers(4, size=ROWS_A_BATCH)],
        "day": np.datetime64("2024-01-01") + rng.integers(365, size=ROWS_A_BATCH).astype("timedelta64[D]"),
    }
    for first in range(0, n_rows, ROWS_A_BATCH):
        order = {"order": np.arange(first, first + ROWS_A_BATCH)}
        shifted = {f"x{column}": np.roll(numbers[:, column], first // ROWS_A_BATCH + column) for column in range(7)}
        yield pa.record_batch({**order, **shifted, **others}).slice(0, n_rows - first)


def write(path: Path, n_rows: int) -> Path:
    batches = orders(n_rows)
    schema = next(orders(1)).schema
    if path.suffix == ".jsonl":
        with open(path, "w") as file:
            for batch in batches:
                file.write(batch.to_pandas().to_json(orient="records", lines=True, date_format="iso"))
        return path
    of_kind = pyarrow.csv.CSVWriter if path.suffix == ".csv" else pq.ParquetWriter
    with of_kind(path, schema) as to:
        for batch in batches:
            to.write_batch(batch)
    return path


def memory_of(words: list[str]) -> np.ndarray:
    """Megabytes that a program has in memory, ten times a second until it ends."""
    program, sizes = subprocess.Popen(words, stdout=subprocess.DEVNULL), []
    while program.poll() is None:
        status = Path(f"/proc/{program.pid}/status").read_text()
        sizes += [int(line.split()[1]) / 1000 for line in status.splitlines() if line.startswith("VmRSS:")]
        time.sleep(0.1)
    assert program.returncode == 0
    return np.array(sizes)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The default, on the first rows."""
    path = tmp_path_factory.mktemp("fitted") / "model"
    model = rdplearn.TableModel(rdplearn.RDPDetector(random_state=0), rdplearn.TableEncoder(ignore=["order"]))
    rdplearn.save(model.fit(pa.Table.from_batches([next(orders(5000))])), path)
    return path


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_long_table_takes_no_more_memory_than_a_tenth_of_it(
    ending: str, fitted: Path, tmp_path: Path, record: Record
):
    runs, many = [], FEW + sized(MANY - FEW)
    for n_rows in (FEW, many):
        table, scores = write(tmp_path / f"t.{ending}", n_rows), tmp_path / f"s.{ending}"
        runs.append(memory_of(command("score", fitted, table, "--id", "order", "-o", scores, "--jobs", 1, "-q")))
        first = 0
        for batch in open_table(scores).batches():
            keys = np.asarray(batch.column("order").cast(pa.int64()))
            assert np.array_equal(keys, np.arange(first, first + len(keys)))
            first += len(keys)
        assert first == n_rows
        table.unlink()
    short, long = (run.max() for run in runs)
    _, second, _, last = (part.mean() for part in np.array_split(runs[1], 4))
    assert long < MOST_GROWTH * short
    assert last < MOST_CREEP * second
    record(
        f"Long streams, {ending}",
        rows=many,
        columns=10,
        peak_MB=round(long),
        peak_MB_with_500000=round(short),
        MB_in_second_quarter=round(second),
        MB_in_last_quarter=round(last),
        rows_lost_or_doubled=0,
    )
