"""Databases: scoring rows from PostgreSQL against scoring the same rows from Parquet, and the driver on its own.

RDPLEARN_BENCHMARK_SQL_ROWS sets the rows, 2 million unless told.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq
from tests.sql.postgresql import programs_of_postgresql, running_server

import rdplearn
from benchmarks.measuring import best_times, in_own_process
from benchmarks.tables import command, numbers, timed
from rdplearn import RDPDetector, TableModel
from rdplearn.table import open_table

N_ROWS = int(os.environ.get("RDPLEARN_BENCHMARK_SQL_ROWS", 2_000_000))
N_TURNS = 3


def fill(uri: str, path: Path) -> None:
    """Put the rows of a Parquet file into a table."""
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(uri) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("numbers", pq.read_table(path).to_reader(), mode="create")
        connection.commit()


def seconds_of_driver(uri: str) -> float:
    """The driver alone: all rows as Arrow batches, and nothing is done to them."""
    from adbc_driver_postgresql import dbapi

    start = time.perf_counter()
    with dbapi.connect(uri) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT * FROM numbers")
        for _ in cursor.fetch_record_batch():
            pass
    return time.perf_counter() - start


def seconds_of_table(uri: str) -> float:
    """Our table: the same, with plain columns and checksums."""
    start = time.perf_counter()
    for _ in open_table(connection=uri, table="numbers").batches():
        pass
    return time.perf_counter() - start


def sql_scoring() -> list[dict[str, object]]:
    """`rdplearn score` on a table of ten numbers, default detector, two threads; programs take turns."""
    programs = programs_of_postgresql()
    if programs is None:
        raise RuntimeError("There is no PostgreSQL server here. Debian's package is called postgresql.")
    with tempfile.TemporaryDirectory() as name, running_server(programs) as server:
        folder, uri = Path(name), server.uri()
        rdplearn.save(TableModel(RDPDetector(n_jobs=2, random_state=0)).fit(numbers(100_000, 0)), folder / "model")
        pq.write_table(numbers(N_ROWS, 1), folder / "numbers.parquet")
        fill(uri, folder / "numbers.parquet")
        score = ["score", folder / "model", "--jobs", 2, "-o"]
        read = ["--sql", uri, "--table", "numbers"]
        peaks: dict[str, float] = {}

        def run(what: str, *arguments: object) -> None:
            peaks[what] = max(peaks.get(what, 0), timed(command(*score, *arguments))[1])

        seconds = best_times(
            {
                "Parquet": lambda: run("Parquet", folder / "a.parquet", folder / "numbers.parquet"),
                "PostgreSQL": lambda: run("PostgreSQL", folder / "b.parquet", *read),
                "back to PostgreSQL": lambda: run("back", "sql:scores", *read, "--if-exists", "replace"),
            },
            n_turns=N_TURNS,
            clock=time.perf_counter,
        )
        driver = min(in_own_process(seconds_of_driver, uri) for _ in range(N_TURNS))
        table = min(in_own_process(seconds_of_table, uri) for _ in range(N_TURNS))
        same = pq.read_table(folder / "a.parquet").equals(pq.read_table(folder / "b.parquet"))
    return [
        {
            "rows": N_ROWS,
            **{f"{what}, rows per second": N_ROWS / spent for what, spent in seconds.items()},
            "driver alone, rows per second": N_ROWS / driver,
            "our table, rows per second": N_ROWS / table,
            "share": seconds["Parquet"] / seconds["PostgreSQL"],
            "share wanted": 0.5,
            "peak MB": max(peaks["PostgreSQL"], peaks["back"]) / 1e6,
            "at most MB": 500,
            "same scores": same,
        }
    ]


ALL = {"sql_scoring": sql_scoring}
