"""Tables: scoring a Parquet file larger than memory, detection on a CSV, start-up, kills.

RDPLEARN_BENCHMARK_ROWS sets the rows of the large Parquet file, 20 million unless told.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
from sklearn.ensemble import IsolationForest

import rdplearn
from benchmarks.measuring import best_times
from rdplearn import RDPDetector, TableEncoder, TableModel
from rdplearn.table import open_table, sample_rows

N_LARGE = int(os.environ.get("RDPLEARN_BENCHMARK_ROWS", 20_000_000))
N_COLUMNS = 10
ROWS_IN_MEMORY = 1_000_000


def numbers(n_rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table({f"x{column}": rng.normal(size=n_rows).astype(np.float32) for column in range(N_COLUMNS)})


def write_parquet(path: Path, n_rows: int) -> None:
    step = 1_000_000
    with pq.ParquetWriter(path, numbers(1, 0).schema) as writer:
        for seed, start in enumerate(range(0, n_rows, step)):
            writer.write_table(numbers(min(step, n_rows - start), seed))


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "rdplearn.cli", *map(str, arguments)]


# A program's peak memory counts that of the program that starts it, so a small one does.
LAUNCHER = """
import json, os, subprocess, sys, time
start = time.perf_counter()
program = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(program.pid, 0)
print(json.dumps([time.perf_counter() - start, usage.ru_maxrss * 1024.0, os.waitstatus_to_exitcode(status)]))
"""


def timed(arguments: list[str]) -> tuple[float, float]:
    """Seconds and bytes of peak memory of a program."""
    told = subprocess.run([sys.executable, "-c", LAUNCHER, *arguments], stdout=subprocess.PIPE, check=True).stdout
    seconds, peak, exit_code = json.loads(told)
    if exit_code:
        raise RuntimeError(f"{' '.join(arguments)} ended with {exit_code}")
    return seconds, peak


def paper_model(table: pa.Table) -> TableModel:
    """All members of the paper; that they are hardly trained makes no difference to the speed of scoring."""
    return TableModel(RDPDetector.paper(n_rounds=1, n_steps=20, n_jobs=2, random_state=0)).fit(table)


def seconds_of(job: Callable[[], object], n_turns: int) -> float:
    start = time.perf_counter()
    for _ in range(n_turns):
        job()
    return time.perf_counter() - start


def streaming() -> list[dict[str, object]]:
    """`rdplearn score` on a large Parquet file against scoring as many rows in memory, same threads.

    Half of the turns in memory come before it and half after, so that a busy quarter of an hour hits both.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = paper_model(numbers(100_000, 0))
        rdplearn.save(model, folder / "model")
        write_parquet(folder / "large.parquet", N_LARGE)
        matrix = model.encoder.transform(numbers(ROWS_IN_MEMORY, 1))
        model.estimator.score_samples(matrix)  # compiles
        n_turns = max(1, N_LARGE // (2 * ROWS_IN_MEMORY))
        in_memory = seconds_of(lambda: model.estimator.score_samples(matrix), n_turns)
        seconds, peak = timed(
            command("score", folder / "model", folder / "large.parquet", "-o", folder / "s.parquet", "--jobs", 2)
        )
        in_memory += seconds_of(lambda: model.estimator.score_samples(matrix), n_turns)
    rate, rate_in_memory = N_LARGE / seconds, 2 * n_turns * ROWS_IN_MEMORY / in_memory
    return [
        {
            "rows": N_LARGE,
            "rows per second": rate,
            "in memory": rate_in_memory,
            "share": rate / rate_in_memory,
            "share wanted": 0.6,
            "peak MB": peak / 1e6,
            "at most MB": 500,
        }
    ]


def csv_detection() -> list[dict[str, object]]:
    """600,000 x 10 CSV: reading and encoding, for the fit and for the scores, against the fit itself."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "table.csv"
        pc.write_csv(numbers(600_000, 0), path)
        start = time.perf_counter()
        encoder = TableEncoder().fit(path)
        sample = encoder.transform(sample_rows(open_table(path).batches(), 100_000, seed=0).rows)
        for _ in encoder.encode_batches(path):
            pass
        reading = time.perf_counter() - start
        start = time.perf_counter()
        RDPDetector.paper(n_jobs=2, random_state=0).fit(sample)
        fitting = time.perf_counter() - start
    return [{"reading and encoding": reading, "fit": fitting, "share": reading / fitting, "at most": 1.0}]


def orders(n_rows: int) -> pa.Table:
    """15 columns as a shop has them: a key, a date, numbers, categories, a code, a short text, holes."""
    rng = np.random.default_rng(0)
    items, draw = rng.integers(1, 30, n_rows), rng.choice
    amount = np.round(items * rng.lognormal(2.0, 0.3, n_rows), 2)
    age = np.round(rng.normal(45.0, 15.0, n_rows))
    return pa.table(
        {
            "order": [f"o{number:07d}" for number in range(n_rows)],
            "sold": np.datetime64("2024-01-01", "s") + rng.integers(0, 366 * 86_400, n_rows),
            "items": items,
            "amount": amount,
            "tax": np.round(0.2 * amount, 2),
            "discount": np.where(rng.random(n_rows) < 0.8, 0, rng.integers(5, 40, n_rows)),
            "city": draw([f"city {number}" for number in range(40)], n_rows, p=rng.dirichlet(np.ones(40))),
            "paid": draw(["card", "cash", "transfer", "cheque"], n_rows, p=[0.6, 0.3, 0.09, 0.01]),
            "zip": draw(10_000 + 7 * np.arange(300), n_rows),
            "age": pa.array(age, mask=rng.random(n_rows) < 0.05),
            "member": draw(["yes", "no"], n_rows),
            "rating": rng.integers(1, 6, n_rows),
            "weight": np.round(rng.gamma(2.0, 3.0, n_rows), 3),
            "product": draw([f"p{number}" for number in range(500)], n_rows),
            "note": draw(["fine", "late delivery", "box was damaged on arrival", "called twice about it"], n_rows),
        }
    )


def mixed_detection() -> list[dict[str, object]]:
    """`rdplearn detect` on a CSV of 100,000 x 15 mixed columns against IsolationForest on its encoded matrix."""
    n_rows = 100_000
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "orders.csv"
        pc.write_csv(orders(n_rows), path)
        matrix = TableEncoder().fit_transform(path)
        jobs = {
            "detect": lambda: subprocess.run(command("detect", path), capture_output=True, check=True),
            "forest": lambda: IsolationForest(random_state=0).fit(matrix).score_samples(matrix),
        }
        seconds = best_times(jobs, n_turns=3, clock=lambda: sum(os.times()[:4]))
    return [{"rows": n_rows, "columns": 15, **seconds, "ratio": seconds["detect"] / seconds["forest"]}]


def startup() -> list[dict[str, object]]:
    """`rdplearn --help` on top of Python's own start."""
    seconds = best_times(
        {
            "python": lambda: subprocess.run([sys.executable, "-c", "pass"], check=True),
            "help": lambda: subprocess.run(command("--help"), check=True, stdout=subprocess.DEVNULL),
        },
        n_turns=10,
        clock=time.perf_counter,
    )
    return [{**seconds, "on top": seconds["help"] - seconds["python"], "at most": 0.3}]


def kills(n_kills: int = 20) -> list[dict[str, object]]:
    """`score` and `fit` killed at random moments: the old file until the end; `score` resumed gives the same bytes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = paper_model(numbers(20_000, 0))
        rdplearn.save(model, folder / "model")
        write_parquet(folder / "table.parquet", 1_000_000)
        return [kills_of_score(folder, n_kills), kills_of_fit(folder, n_kills)]


def kills_of_score(folder: Path, n_kills: int) -> dict[str, object]:
    rng = random.Random(0)
    n_resumed, n_wrong = 0, 0
    for ending in ("csv", "parquet"):
        whole, output = folder / f"whole.{ending}", folder / f"scores.{ending}"
        score = ["score", folder / "model", folder / "table.parquet", "--jobs", 2, "-o"]
        seconds, _ = timed(command(*score, whole))
        output.write_text("old")
        for _ in range(n_kills // 2):
            n_resumed += output.with_name(f"{output.name}.partial.json").exists()
            kill_after(command(*score, output, "--resume"), rng.uniform(0, seconds))
            if output.read_bytes() != b"old":  # it was done before the kill
                n_wrong += output.read_bytes() != whole.read_bytes()
                output.write_text("old")
        timed(command(*score, output, "--resume"))
        n_wrong += output.read_bytes() != whole.read_bytes()
    return {"killed": "score", "kills": n_kills, "resumed": n_resumed, "wrong files": n_wrong, "at most": 0}


def kills_of_fit(folder: Path, n_kills: int) -> dict[str, object]:
    rng = random.Random(1)
    whole, output = folder / "whole", folder / "fitted"
    fit = ["fit", folder / "table.parquet", "--members", 4, "--rounds", 2, "--steps", 200, "--jobs", 2, "-m"]
    seconds, _ = timed(command(*fit, whole))
    n_wrong, n_whole = 0, 0
    for _ in range(n_kills):
        output.write_text("old")
        kill_after(command(*fit, output), rng.uniform(0, 1.2 * seconds))
        n_whole += output.read_bytes() == whole.read_bytes()
        n_wrong += output.read_bytes() not in (b"old", whole.read_bytes())
    return {"killed": "fit", "kills": n_kills, "done before": n_whole, "wrong files": n_wrong, "at most": 0}


def kill_after(arguments: list[str], seconds: float) -> None:
    program = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
    time.sleep(seconds)
    program.kill()
    program.wait()


ALL = {
    "streaming": streaming,
    "csv_detection": csv_detection,
    "mixed_detection": mixed_detection,
    "startup": startup,
    "kills": kills,
}
