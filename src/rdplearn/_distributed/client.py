"""The Dask cluster: how we come by it, and what becomes of the tasks that we give it.

Tasks bear names that the dashboard can show: `rdp-fit-member-7`, `rdp-score-part-12`, each with a token behind it that
tells one run from another.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

import dask
from dask.delayed import Delayed, delayed

from distributed import Client, Future, KilledWorker, LocalCluster, Security, as_completed, get_client, rpc
from rdplearn.errors import ClusterError, warn_user

SECONDS_TO_CONNECT = 10
SECONDS_WITHOUT_WORKERS = 45  # then the work is given up
PATIENCE = "rdplearn.seconds-without-workers"  # the same in Dask's configuration, for clusters that are slow to start
LOOKS, SECONDS_BETWEEN_CHECKS = 15, 0.02  # how often workers are counted in that time; how soon a result is seen


class Tasks:
    """Names the tasks of one run, and runs them on the cluster."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.token = uuid.uuid4().hex[:8]

    def named(self, name: str, function: Any, *arguments: Any, **named: Any) -> Delayed:
        """A task that calls a function; arguments may be other tasks."""
        return delayed(function, pure=False, traverse=False)(*arguments, **named, dask_key_name=f"{name}-{self.token}")

    def shared(self, name: str, value: Any) -> Delayed:
        """A value that many tasks use and that is sent to the cluster once."""
        return delayed(value, pure=False, traverse=False, name=f"{name}-{self.token}")

    def start(self, tasks: Sequence[Delayed]) -> list[Future]:
        """Set tasks going; their results stay on the cluster for as long as the caller keeps what this returns."""
        with faults_of(self.client):
            started: list[Future] = self.client.compute(list(tasks), optimize_graph=False)
        return started

    def results(self, started: Sequence[Future]) -> list[Any]:
        """Results of started tasks, in their order."""
        results = dict(self.as_done(started))
        return [results[place] for place in range(len(started))]

    def as_done(self, started: Sequence[Future]) -> Iterator[tuple[int, Any]]:
        """Place and result of each started task, as they are done; the rest is called off when the caller stops."""
        places = {future.key: place for place, future in enumerate(started)}
        with faults_of(self.client):
            try:
                for future in watched(as_completed(started, loop=self.client.loop), self.client):
                    yield places[future.key], future.result()
            finally:
                if self.client.status == "running":
                    self.client.cancel([future for future in started if not future.done()], force=True)


def watched(completed: as_completed, client: Client) -> Iterator[Future]:
    """Tasks as they are done; a warning, and later an error, when the cluster has no worker that could do the rest."""
    patience = float(dask.config.get(PATIENCE, SECONDS_WITHOUT_WORKERS))
    idle_since, next_look, is_told = None, time.monotonic() + patience / LOOKS, False
    while not completed.is_empty():
        if done := completed.next_batch(block=False):
            yield from done
            continue
        time.sleep(SECONDS_BETWEEN_CHECKS)
        now = time.monotonic()
        if now < next_look:
            continue
        next_look = now + patience / LOOKS
        want = want_of_workers(client)
        if want is None:
            idle_since, is_told = None, False
            continue
        idle_since = now if idle_since is None else idle_since
        if now - idle_since >= patience:
            raise ClusterError(f"{want} Nothing was done for {now - idle_since:.0f} seconds, so the work is stopped.")
        if not is_told and now - idle_since >= patience / 3:
            is_told = True
            left = patience - (now - idle_since)
            warn_user(f"{want} If no worker takes tasks within {left:.0f} seconds, the work is stopped.")


def want_of_workers(client: Client) -> str | None:
    """What is wrong when no worker takes tasks, and what to do about it; None if one does, or nobody knows."""
    if client.status != "running":
        return None  # the tasks themselves tell when the scheduler is gone
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    address = client.scheduler.address
    if not workers:
        return f"The Dask scheduler at '{address}' has no workers. Start some with 'dask worker {address}'."
    if all(worker.get("status") == "paused" for worker in workers):
        return (
            f"All {len(workers)} Dask workers are paused, because their memory is nearly full. Give them more memory, "
            "or split the table into smaller parts."
        )
    return None


@contextmanager
def faults_of(client: Client) -> Iterator[None]:
    """Tell in our words what befalls a cluster; what a task itself raises comes through as it is."""
    try:
        yield
    except KilledWorker as fault:
        task = str(getattr(fault, "task", "a task"))
        raise ClusterError(
            f"Several workers have died, one after the other, while working on {task}, perhaps because they ran out of "
            "memory. Give workers more memory, or split the table into smaller parts."
        ) from None
    except ClusterError:
        raise
    except (CancelledError, OSError, TimeoutError) as fault:
        if isinstance(fault, OSError) and client.status == "running" and not _is_about_the_connection(fault):
            raise  # a task's own
        address = getattr(client.scheduler, "address", "of the cluster")
        raise ClusterError(
            f"The Dask scheduler {address} stopped answering while it was working. Start it again and repeat the "
            "command; with --resume, parts that are finished are not done again."
        ) from None


def _is_about_the_connection(fault: OSError) -> bool:
    return type(fault).__module__.startswith("distributed.")


def current_client() -> Client:
    """The Dask client that the caller has made."""
    try:
        return get_client()
    except ValueError:
        raise ClusterError(
            "A table in partitions is fitted by a Dask client, and there is none. Make one first, such as "
            "distributed.Client('tcp://scheduler:8786'), or distributed.Client() for this machine."
        ) from None


@contextmanager
def connected(where: str) -> Iterator[Client]:
    """A client of a running scheduler, or of as many workers on this machine as ``local:N`` says."""
    quieten()
    if where.startswith("local:"):
        n_workers = where.removeprefix("local:")
        if not n_workers.isdigit() or int(n_workers) < 1:
            raise ClusterError(f"'{where}' must name a number of workers, such as local:4.")
        with (
            LocalCluster(
                n_workers=int(n_workers), threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
            ) as workers,
            Client(workers) as client,
        ):
            yield client
        return
    try:
        found = asyncio.run(asyncio.wait_for(who_is_at(where), SECONDS_TO_CONNECT))
        client = Client(where, timeout=SECONDS_TO_CONNECT) if found == "a Scheduler" else None
    except Exception:  # whatever comes of reading another protocol as Dask's: MemoryError, for one
        found, client = "nothing", None
    if client is None:
        raise ClusterError(
            f"There is no Dask scheduler at '{where}': {found} answers there as Dask does. Pass the address that 'dask "
            "scheduler' prints, such as tcp://scheduler:8786, or local:4 for workers on this machine."
        )
    with client:
        if not client.scheduler_info()["workers"]:
            raise ClusterError(
                f"The Dask scheduler at '{where}' has no workers. Start some with 'dask worker {where}'."
            )
        yield client


async def who_is_at(where: str) -> str:
    """What answers at an address: a Scheduler, a Worker or a Nanny."""
    async with rpc(where, connection_args=Security().get_connection_args("client")) as there:
        return f"a {(await there.identity())['type']}"


def quieten() -> None:
    """Let Dask log nothing here: what matters of it, we tell ourselves."""
    for name in ["distributed", *logging.root.manager.loggerDict]:
        if name.split(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def in_groups(items: Sequence[Any], size: int) -> Iterable[Sequence[Any]]:
    """Cut a sequence into groups of neighbours."""
    return (items[start : start + size] for start in range(0, len(items), size))
