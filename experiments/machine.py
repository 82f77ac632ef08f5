"""What a result was computed on: the last digits of a long training depend on it."""

from __future__ import annotations

import functools
import os
import platform
import sys
from pathlib import Path
from typing import Any

_CPUINFO = Path("/proc/cpuinfo")
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def describe_machine() -> dict[str, Any]:
    """Name the processor, what compiled code is made for, the libraries of linear algebra, and their threads."""
    from threadpoolctl import threadpool_info

    pools = [
        {
            "library": pool["internal_api"],
            "version": pool.get("version"),
            "kernels": pool.get("architecture"),
            "threads": pool["num_threads"],
        }
        for pool in threadpool_info()
    ]
    pools = sorted({str(pool): pool for pool in pools}.values(), key=str)
    return {
        "processor": processor(),
        "compiled_for": os.environ.get("NUMBA_CPU_NAME") or _host(),
        "blas": [pool for pool in pools if pool["library"] != "openmp"],
        "threads": max((pool["threads"] for pool in pools), default=1),
    }


@functools.cache
def processor(cpuinfo: Path = _CPUINFO) -> str:
    """Name the processor as the kernel does, with family, model and stepping: makers sell many under one name."""
    try:
        first = cpuinfo.read_text().split("\n\n")[0]
    except OSError:
        return platform.processor() or platform.machine()
    facts = dict(
        (part.strip() for part in line.split(":", 1)) for line in first.splitlines() if ":" in line
    )  # fmt: skip
    numbers = [f"{name.split()[-1]} {facts[name]}" for name in ("cpu family", "model", "stepping") if name in facts]
    return f"{facts.get('model name', platform.machine())}{' (' + ', '.join(numbers) + ')' if numbers else ''}"


def _host() -> str | None:
    if "llvmlite" not in sys.modules:  # nothing was compiled
        return None
    from llvmlite.binding import get_host_cpu_name

    return get_host_cpu_name()
