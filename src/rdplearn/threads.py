"""Threads: ours over members and blocks, and one BLAS thread in each.

Two BLAS threads on products this small gain little on an idle machine and lose a hundredfold on a busy one.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import scipy.linalg  # noqa: F401  SciPy's BLAS must be loaded before the controller looks for libraries to cap
from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # finding the loaded libraries takes milliseconds: once is enough


def one_blas_thread() -> AbstractContextManager[Any]:
    """Hold BLAS to one thread within a `with` block."""
    limiter: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limiter


def one_blas_thread_in_worker(caller: int) -> AbstractContextManager[Any]:
    """Hold BLAS to one thread if this is another process than `caller`.

    The caller's own threads are under its cap already; were each to set and restore it, the last to restore would leave
    behind whatever it had found.
    """
    return nullcontext() if os.getpid() == caller else one_blas_thread()
