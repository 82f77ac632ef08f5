"""The runner: plan the runs of a table, skip those that are done, work on the rest in processes of their own.

A run has a process to itself, so that its memory is its own and it can be stopped at its time limit, which
counts processor seconds: a busy machine must not make a method look slow. Where there are thousands of short runs,
those of a method may share a process (`together`), because some methods take longer to import and compile than to
run. Only the parent writes, one whole line a finished run: kill it whenever you like and start it again.
"""

from __future__ import annotations

import itertools
import math
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple

from experiments import datasets, methods, results
from experiments.machine import ONE_THREAD, processor
from experiments.tables.layout import Table

Say = Callable[[str], None]


@dataclass(frozen=True)
class Run:
    """One method on one data set with one seed; `time_limit` in processor seconds."""

    task: str
    method: str
    config: dict[str, Any]
    data: str
    seed: int
    time_limit: float | None

    @property
    def key(self) -> str:
        return results.run_key(self.task, self.method, self.config, self.data, self.seed)

    @property
    def cell(self) -> str:
        """What runs that differ in their seed alone have in common."""
        return results.run_key(self.task, self.method, self.config, self.data, 0)

    @property
    def reads(self) -> str:
        """What of the set the method takes: "rows" or "texts"."""
        return methods.METHODS[self.method].reads

    def __str__(self) -> str:
        return f"{self.method} on {self.data}, seed {self.seed}"


@dataclass(frozen=True)
class Summary:
    """What became of the runs of a table."""

    finished: int
    already_there: int
    failed: int
    no_data: tuple[str, ...]


def plan(
    table: Table,
    *,
    n_runs: int,
    quick: bool = False,
    data: Iterable[str] | None = None,
    labels: Iterable[str] | None = None,
    n_members: int | None = None,
    time_limit: float | None = None,
) -> list[Run]:
    """List the runs of a table, first seeds first, so that a table fills evenly."""
    wanted_data = tuple(data or (table.quick_data if quick else table.data))
    wanted = [column for column in table.columns if labels is None or column.label in set(labels)]
    evaluation = table.quick_evaluation if quick else table.evaluation
    planned = []
    for seed in range(n_runs):
        for column in wanted:
            for name in wanted_data:
                config = methods.config_for(column.method, name, column.options, quick=quick, n_members=n_members)
                if evaluation:
                    config["evaluation"] = evaluation
                limit = time_limit or methods.METHODS[column.method].time_limit
                planned.append(Run(table.task, column.method, config, name, seed, limit))
    return list({run.key: run for run in planned}.values())


def work(
    planned: list[Run], path: Path, *, n_jobs: int = 1, together: bool = False, say: Say = lambda _: None
) -> Summary:
    """Do the planned runs that no line beside `path` records yet; append a line to `path` for each."""
    no_data = _missing_data(planned, say)
    done = {results.key_of(record): record for record in results.read(path.parent)}
    possible = [run for run in planned if (run.data, run.reads) not in no_data]
    waiting = [run for run in possible if not is_settled(done.get(run.key), run)]
    there = len(possible) - len(waiting)
    finished = failed = 0
    commit = commit_of(datasets.REPOSITORY)
    for run, record, problem in _in_processes(_stretches(waiting, together), n_jobs):
        if record is None:
            failed += 1
            say(f"failed: {run}: {problem}")
            continue
        results.append(path, {**record, "commit": commit})
        finished += 1
        say(f"[{finished + failed}/{len(waiting)}] {run}: {_outcome(record)}")
    return Summary(finished, there, failed, tuple(dict.fromkeys(name for name, _ in no_data)))


def work_aloud(name: str, planned: list[Run], path: Path, *, n_jobs: int, together: bool = False) -> int:
    """`work`, telling the terminal what is done; returns how many runs failed."""
    to_stderr(f"{name}: {len(planned)} runs planned")
    summary = work(planned, path, n_jobs=n_jobs, together=together, say=to_stderr)
    to_stderr(f"{name}: {summary.finished} finished, {summary.already_there} already there, {summary.failed} failed")
    return summary.failed


def _missing_data(planned: list[Run], say: Say) -> list[tuple[str, str]]:
    """Name the sets that cannot be had, and whether it is their rows or their texts that methods would read."""
    missing = []
    for name, reads in dict.fromkeys((run.data, run.reads) for run in planned):
        if reads == "rows" and datasets.is_here(name):
            continue
        try:
            datasets.load(name)
            if reads == "texts":
                datasets.load_texts(name)
        except datasets.NoDataError as problem:
            say(f"no data here: {name}{' (texts)' if reads == 'texts' else ''}: {problem}")
            missing.append((name, reads))
    return missing


def is_settled(record: dict[str, Any] | None, run: Run) -> bool:
    """A run is settled if it is done or refused, or could not finish in at least as much time as it has now."""
    if record is None or record["status"] in ("done", "refused"):
        return record is not None
    return run.time_limit is not None and record["time_limit"] is not None and run.time_limit <= record["time_limit"]


def _stretches(waiting: list[Run], together: bool) -> list[list[Run]]:
    """Part the runs into those that share a process: consecutive ones of a method, or each its own."""
    if not together:
        return [[run] for run in waiting]
    return [list(group) for _, group in itertools.groupby(waiting, key=lambda run: (run.method, run.seed))]


class _Moment(NamedTuple):
    """When something began: by the clock, and by how many processes the kernel had killed for want of memory."""

    clock: float
    memory_kills: int


def _now() -> _Moment:
    return _Moment(time.monotonic(), _memory_kills())


def _memory_kills() -> int:
    """Count what the kernel has killed for want of memory since it started; 0 where it does not say."""
    try:
        counters = Path("/proc/vmstat").read_text().split()
        return int(counters[counters.index("oom_kill") + 1])
    except (OSError, ValueError):
        return 0


def _in_processes(stretches: list[list[Run]], n_jobs: int) -> Iterable[tuple[Run, dict[str, Any] | None, str]]:
    """Give (run, record or None, what went wrong) as runs end; at most `n_jobs` processes at a time."""
    context = _context()
    queue = [list(stretch) for stretch in reversed(stretches)]
    active: dict[Connection, tuple[list[Run], Any, _Moment]] = {}
    try:
        while queue or active:
            while queue and len(active) < n_jobs:
                stretch = queue.pop()
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_evaluate_in_process, args=(stretch, theirs), daemon=True)
                process.start()
                theirs.close()
                active[ours] = (stretch, process, _now())
            for connection in wait(list(active)):
                stretch, process, start = active.pop(connection)
                run, *rest = stretch
                record, problem, alive = _collect(run, connection, process, start)
                if rest and alive:
                    active[connection] = (rest, process, _now())
                elif rest:
                    queue.append(rest)
                elif alive:
                    process.join()
                    connection.close()
                yield run, record, problem
    finally:
        for _, process, _ in active.values():
            process.kill()


def _collect(run: Run, connection: Connection, process: Any, start: _Moment) -> tuple[dict[str, Any] | None, str, bool]:
    """Give the record or None, what went wrong, and whether the process lives on."""
    seconds = time.monotonic() - start.clock
    try:
        kind, content = connection.recv()
    except EOFError:  # it was stopped before it could answer
        process.join()
        connection.close()
        if process.exitcode == -signal.SIGKILL and _memory_kills() == start.memory_kills:
            return None, "killed by somebody, neither at its time limit nor for want of memory", False
        # the limit on processor time has a signal of its own: SIGKILL is never ours
        reasons = {-signal.SIGXCPU: "out of time", -signal.SIGKILL: "out of memory"}
        reason = reasons.get(process.exitcode, f"died with exit code {process.exitcode}")
        return _unfinished(run, reason, seconds), "", False
    if kind == "record":
        return content, "", True
    if kind == "problem":
        return None, content, True
    return _unfinished(run, kind, seconds, content), "", True


def _unfinished(run: Run, status: str, seconds: float, reason: str = "") -> dict[str, Any]:
    return {
        "task": run.task,
        "method": run.method,
        "config": run.config,
        "data": run.data,
        "seed": run.seed,
        "status": status,
        "time_limit": run.time_limit,
        "fit_seconds": round(seconds, 3),
        "metrics": {},
        "machine": {"processor": processor(), "threads": 1},
        **({"reason": reason} if reason else {}),
    }


def _evaluate_in_process(stretch: list[Run], connection: Connection) -> None:
    from threadpoolctl import threadpool_limits

    threading.Thread(target=_die_with_parent, daemon=True).start()
    warnings.simplefilter("ignore")  # a competitor's complaints about a table would drown the progress
    with threadpool_limits(1):
        for run in stretch:
            if run.time_limit is not None:
                limit = math.ceil(time.process_time() + run.time_limit)
                resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
            connection.send(_answer(run))


def _answer(run: Run) -> tuple[str, Any]:
    from experiments.baselines import TooLargeError
    from experiments.evaluation import evaluate

    try:
        return "record", evaluate(run.task, run.method, run.config, run.data, run.seed)
    except MemoryError:
        return "out of memory", ""
    except TooLargeError as problem:
        return "refused", str(problem)
    except (ImportError, AttributeError) as problem:  # an optional package, or a class that is still to come
        return "problem", f"{type(problem).__name__}: {problem}"
    except Exception:
        return "problem", traceback.format_exc()


def _die_with_parent() -> None:
    """End this process as soon as the runner is gone, however it went: nobody would read the answer."""
    wait([multiprocessing.parent_process().sentinel])
    os._exit(1)


def _context() -> Any:
    """Fork from a server that has imported the heavy packages once; spawn where there is no fork."""
    for variable in ONE_THREAD:
        os.environ[variable] = "1"
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["experiments.evaluation"])
    return context


def _outcome(record: dict[str, Any]) -> str:
    if record["status"] != "done":
        return f"{record['status']} after {record['fit_seconds']:.0f} s"
    values = ", ".join(f"{name} {value:.3f}" for name, value in record["metrics"].items())
    return f"{values} ({record['fit_seconds'] + record['apply_seconds']:.1f} s)"


def commit_of(repository: Path) -> str | None:
    """Name the commit that the code is from, and say if the code was changed since; result files do not count."""
    try:
        name = _git(repository, "rev-parse", "--short", "HEAD")
        changes = _git(repository, "status", "--porcelain", "--", ".", ":(exclude)experiments/results")
    except (OSError, subprocess.CalledProcessError):
        return None
    return f"{name}, changed" if changes else name


def _git(repository: Path, *arguments: str) -> str:
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def to_stderr(message: str) -> None:
    """Show progress."""
    print(message, file=sys.stderr, flush=True)
