"""Threads: ours over members and blocks, and one BLAS thread in each.

Two BLAS threads on products this small gain little on an idle machine and lose a hundredfold on a busy one.
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import scipy.linalg  # noqa: F401  SciPy's BLAS must be loaded before the controller looks for libraries to cap
from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # finding the loaded libraries takes milliseconds: once is enough


class _OneBlasThread:
    """Holds BLAS to one thread from the first of our threads that enters until the last one that leaves.

    The cap belongs to the whole process. Were each thread to set and restore it, the first to leave would lift it for
    the others.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_within = 0
        self._limiter: Any = None

    def __enter__(self) -> None:
        with self._lock:
            self._n_within += 1
            if self._n_within == 1:
                self._limiter = _controller().limit(limits=1, user_api="blas")

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_within -= 1
            if self._n_within == 0:
                self._limiter.restore_original_limits()


_one_blas_thread = _OneBlasThread()


def one_blas_thread() -> AbstractContextManager[None]:
    """Hold BLAS to one thread within a `with` block."""
    return _one_blas_thread
