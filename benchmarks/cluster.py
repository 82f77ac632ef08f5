"""Dask: two workers against one, one worker against none, memory, and the points that the sizing page rests on.

RDPLEARN_DASK_ROWS sets the rows of the large dataset, 20 million unless told.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import dask.array as da
import numpy as np
import pyarrow.parquet as pq
from sklearn.base import clone

import rdplearn
from benchmarks.measuring import best_times
from benchmarks.tables import N_COLUMNS, command, numbers, paper_model, timed
from distributed import Client, LocalCluster
from rdplearn import RDPDetector, TableModel
from rdplearn._distributed.client import Tasks
from rdplearn._distributed.dataset_results import write_results
from rdplearn._distributed.parquet_parts import Dataset, open_dataset
from rdplearn._distributed.result_folder import ResultFolder
from rdplearn._results.resumable import GrowingFile
from rdplearn._results.scored import scored_rows
from rdplearn.cli.checks import identity_of

N_LARGE = int(os.environ.get("RDPLEARN_DASK_ROWS", 20_000_000))
N_PARTS = 20
WORKERS = (1, 2)


@contextmanager
def cluster_of(n_workers: int) -> Iterator[Client]:
    """A cluster of so many workers, each with one thread."""
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.ERROR
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def best_seconds(job: Callable[[Client], None], warm_up: Callable[[Client], None], n_turns: int) -> dict[int, float]:
    """Seconds of a job's best turn with each number of workers.

    One cluster is there at a time, and warm: another's idle workers take their share of the processor.
    """
    best = dict.fromkeys(WORKERS, float("inf"))
    for _ in range(n_turns):
        for n_workers in WORKERS:
            with cluster_of(n_workers) as client:
                warm_up(client)
                start = time.perf_counter()
                job(client)
                best[n_workers] = min(best[n_workers], time.perf_counter() - start)
    return best


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
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        dataset, model = write_dataset(folder / "in", n_rows), paper_model(numbers(100_000, 0))
        model.estimator.set_params(n_jobs=1)

        def score(client: Client) -> None:
            score_there(client, dataset, model, folder / "there")

        there = best_seconds(score, score, n_turns)
        here = best_times(
            {"no Dask": lambda: score_here(dataset, model, folder / "here")}, n_turns=n_turns, clock=time.perf_counter
        )
    return [
        {"rows": n_rows, "compared": "two workers against one", "times": there[1] / there[2], "wanted at least": 1.7},
        {
            "rows": n_rows,
            "compared": "one worker against no Dask",
            "times": there[1] / here["no Dask"],
            "wanted at most": 1.25,
        },
    ]


def fitting(n_turns: int = 2) -> list[dict[str, object]]:
    """A fit of 30 members, two of the paper's rounds, on a table in 20 partitions: two workers against one."""
    rows = da.random.default_rng(0).normal(size=(200_000, 64), chunks=(10_000, 64))  # made by the workers
    detector = RDPDetector.paper(n_rounds=2, random_state=0)

    def fit(client: Client, **changes: int) -> None:
        with client.as_current():
            clone(detector).set_params(**changes).fit(rows)

    seconds = best_seconds(fit, lambda client: fit(client, n_members=6, n_steps=100), n_turns)
    return [
        {
            "members": detector.n_members,
            "columns": rows.shape[1],
            "rounds": detector.n_rounds,
            "steps a round": detector.n_steps,
            "compared": "two workers against one",
            "times": seconds[1] / seconds[2],
            "wanted at least": 1.6,
            "seconds a member, one worker": seconds[1] / detector.n_members,
        }
    ]


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
    """Seconds to score tables of three sizes with one worker and two; the sizing page is drawn from these."""
    measured: list[dict[str, object]] = []
    model = paper_model(numbers(100_000, 0))
    for n_rows in (N_LARGE // 200, N_LARGE // 20, N_LARGE):
        with tempfile.TemporaryDirectory() as name:
            dataset = write_dataset(Path(name) / "in", n_rows)
            for n_workers in WORKERS:
                with cluster_of(n_workers) as client:
                    half = replace(dataset, parts=dataset.parts[: N_PARTS // 2])
                    score_there(client, half, model, Path(name) / "warm")
                    start = time.perf_counter()
                    score_there(client, dataset, model, Path(name) / "out")
                    seconds = time.perf_counter() - start
                measured.append({"rows": n_rows, "columns": N_COLUMNS, "workers": n_workers, "seconds": seconds})
    return measured


ALL = {"dask_scoring": scoring, "dask_fitting": fitting, "dask_memory": memory, "dask_sizing": sizing}
