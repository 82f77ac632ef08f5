"""How a worker handles memory that it has just freed.

Dask has its workers hand every freed 64 kB back to the system at once (MALLOC_TRIM_THRESHOLD_). Blocks of rows come and
go by the thousand here, and the system clears each page before it gives it out again: scoring took four times as long.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h
KEPT = 32 * 2**20  # bytes


@cache
def keep_freed_memory() -> bool:
    """Let this process keep up to 32 MB of freed memory, if it was told to hand it back; once is enough."""
    if "MALLOC_TRIM_THRESHOLD_" not in os.environ:
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # not glibc
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, KEPT) and mallopt(M_TRIM_THRESHOLD, KEPT))
