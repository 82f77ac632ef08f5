"""Dask: two workers against one, one worker against none, memory, and the points that the sizing page rests on.

RDPLEARN_DASK_ROWS sets the rows of the large dataset, 20 million unless told.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dask.array as da
import numpy as np
import pyarrow.parquet as pq

import rdplearn
from benchmarks.measuring import best_times
from benchmarks.tables import N_COLUMNS, command, numbers, paper_model, timed
from distributed import Client, LocalCluster
from rdplearn import RDPDetector, TableModel
from rdplearn.cli.checks import identity_of
from rdplearn.distributed.cluster import Tasks
from rdplearn.distributed.dataset_results import write_results
from rdplearn.distributed.parquet_parts import Dataset, open_dataset
from rdplearn.distributed.result_folder import ResultFolder
from rdplearn.growing_file import GrowingFile
from rdplearn.scored_rows import scored_rows

N_LARGE = int(os.environ.get("RDPLEARN_DASK_ROWS", 20_000_000))
N_PARTS = 20
WORKERS = (1, 2)


@contextmanager
def clusters() -> Iterator[dict[int, Client]]:
    """A cluster for each number of workers, each worker with one thread."""
    made = [
        LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.ERROR)
        for n in WORKERS
    ]
    clients = [Client(cluster, set_as_default=False) for cluster in made]
    try:
        yield dict(zip(WORKERS, clients, strict=True))
    finally:
        for opened in (*clients, *made):
            opened.close()


def write_dataset(folder: Path, n_rows: int) -> Dataset:
    """A dataset of as many parts as there are, whatever the rows."""
    folder.mkdir()
    sizes = np.diff(np.linspace(0, n_rows, N_PARTS + 1).astype(int))
    for number, size in enumerate(sizes):
        pq.write_table(numbers(int(size), number), folder / f"{number:02}.parquet")
    return open_dataset(folder)


def score_there(client: Client, dataset: Dataset, model: TableModel, output: Path) -> None:
    shutil.rmtree(output, ignore_errors=True)
    with ResultFolder(output, None) as folder:
        write_results(
            dataset,
            model,
            scored_rows,
            Tasks(client),
            folder,
            name="rdp-score-part",
            carried=[],
            watchers=[],
            identity_of=identity_of,
            count=lambda n_rows: None,
        )


def score_here(dataset: Dataset, model: TableModel, output: Path) -> None:
    """The same files, one after the other, on one thread of this process, as `rdplearn score` does it."""
    output.mkdir(exist_ok=True)
    for part in dataset.parts:
        with GrowingFile(output / part.name, None) as file:
            for batch in scored_rows(model, part.open()):
                file.add(batch.result([]), tally=batch.tally())


def scoring(n_turns: int = 3) -> list[dict[str, object]]:
    """Rows per second with two workers, with one, and without Dask; the paper's 30 members, 10 columns."""
    n_rows = max(N_LARGE // 10, 100_000)
    with tempfile.TemporaryDirectory() as name, clusters() as clients:
        folder = Path(name)
        dataset, model = write_dataset(folder / "in", n_rows), paper_model(numbers(100_000, 0))
        model.estimator.set_params(n_jobs=1)
        jobs = {
            f"{n} worker(s)": lambda n=n: score_there(clients[n], dataset, model, folder / f"out{n}") for n in WORKERS
        }
        jobs["no Dask"] = lambda: score_here(dataset, model, folder / "here")
        for job in jobs.values():
            job()  # compiled, imported
        seconds = best_times(jobs, n_turns=n_turns, clock=time.perf_counter)
    one, two, none = seconds["1 worker(s)"], seconds["2 worker(s)"], seconds["no Dask"]
    return [
        {"rows": n_rows, "compared": "two workers against one", "times": one / two, "wanted at least": 1.7},
        {"rows": n_rows, "compared": "one worker against no Dask", "times": one / none, "wanted at most": 1.25},
    ]


def fitting(n_turns: int = 3) -> list[dict[str, object]]:
    """A fit of 30 members, two rounds of 1,500 steps, on a table in 20 partitions: two workers against one."""
    rows = np.random.default_rng(0).normal(size=(200_000, 64))
    detector = RDPDetector.paper(n_rounds=2, n_steps=1500, random_state=0)

    def fit(client: Client) -> None:
        with client.as_current():
            detector.fit(da.from_array(rows, chunks=(10_000, 64)))

    with clusters() as clients:
        jobs = {str(n): lambda n=n: fit(clients[n]) for n in WORKERS}
        for job in jobs.values():
            job()
        seconds = best_times(jobs, n_turns=n_turns, clock=time.perf_counter)
    times = seconds["1"] / seconds["2"]
    return [{"members": 30, "compared": "two workers against one", "times": times, "wanted at least": 1.6}]


def memory() -> list[dict[str, object]]:
    """Most memory of any process of `rdplearn fit` and `rdplearn score --dask local:2` on the large dataset."""
    measured: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_dataset(folder / "in", N_LARGE)
        rdplearn.save(paper_model(numbers(100_000, 0)), folder / "model")
        quick = ["--members", 4, "--rounds", 1, "--steps", 100]
        for job in (
            ["fit", folder / "in", "-m", folder / "fitted", *quick],
            ["score", folder / "model", folder / "in", "-o", folder / "out"],
        ):
            seconds, peak = timed(command(*job, "--dask", "local:2"))
            measured.append(
                {"command": job[0], "rows": N_LARGE, "seconds": seconds, "peak MB": peak / 1e6, "at most MB": 1000}
            )
    return measured


def sizing() -> list[dict[str, object]]:
    """Seconds to score 100 thousand to 20 million rows with one worker and two; the sizing page is drawn from these."""
    measured: list[dict[str, object]] = []
    model = paper_model(numbers(100_000, 0))
    with clusters() as clients:
        for n_rows in sorted({100_000, 1_000_000, N_LARGE}):
            with tempfile.TemporaryDirectory() as name:
                dataset = write_dataset(Path(name) / "in", n_rows)
                for n_workers, client in clients.items():
                    score_there(client, dataset, model, Path(name) / "warm")
                    start = time.perf_counter()
                    score_there(client, dataset, model, Path(name) / "out")
                    seconds = time.perf_counter() - start
                    measured.append({"rows": n_rows, "columns": N_COLUMNS, "workers": n_workers, "seconds": seconds})
    return measured


ALL = {"dask_scoring": scoring, "dask_fitting": fitting, "dask_memory": memory, "dask_sizing": sizing}
