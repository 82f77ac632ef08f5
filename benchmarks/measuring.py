"""Fair timing on a machine that is never quiet: the things compared take turns, and the best turn of each counts."""

from __future__ import annotations

import json
import multiprocessing
import os
import platform
import resource
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def best_times(
    jobs: dict[str, Callable[[], object]], *, n_turns: int = 5, clock: Callable[[], float]
) -> dict[str, float]:
    """Seconds of each job's best turn; jobs take turns, so that a busy minute hits all of them."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(n_turns):
        for name, job in jobs.items():
            start = clock()
            job()
            times[name].append(clock() - start)
    return {name: min(turns) for name, turns in times.items()}


def in_own_process(function: Callable[..., Any], *args: Any) -> Any:
    """Run a function in a new process and return its answer, so that its peak memory is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, args)


def peak_memory() -> float:
    """Most memory that this process has held so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    cpu = platform.processor() or "unknown"
    info = Path("/proc/cpuinfo")
    if info.exists():
        cpu = next(
            (line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line), cpu
        )
    packages = ("numpy", "scipy", "scikit-learn", "numba", "torch")
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }


def record(name: str, rows: list[dict[str, object]]) -> None:
    """Write the figures of one benchmark, whole or not at all."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    text = json.dumps({"machine": machine(), "measured": time.strftime("%Y-%m-%d"), "rows": rows}, indent=1)
    temporary = path.with_suffix(".part")
    temporary.write_text(text + "\n")
    temporary.replace(path)


def show(name: str, rows: list[dict[str, object]]) -> None:
    """Print the figures of one benchmark."""
    print(f"\n{name}")
    for row in rows:
        print(
            "  "
            + ", ".join(
                f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items()
            )
        )
