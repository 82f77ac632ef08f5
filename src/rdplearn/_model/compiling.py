"""Compiling with Numba: the result is kept on disk where that can be, and made anew in each process where it cannot."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numba

from rdplearn.errors import warn_user


def compiling(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator that compiles a function, to run without the interpreter lock. options : of `numba.njit`."""

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(nogil=True, cache=True, **options)(function)
        except RuntimeError as fault:  # neither beside the function nor at home may a file be written
            if "cannot cache" not in str(fault):
                raise
            warn_of_no_cache()
            return numba.njit(nogil=True, **options)(function)

    return compiled


@cache  # once in a process
def warn_of_no_cache() -> None:
    """Say that compiling takes its time in every process, and how to change that."""
    warn_user(
        "Compiled code cannot be kept: neither the folder of rdplearn nor the home folder can be written to. Every "
        "process compiles it again, which takes 6 to 15 seconds. Set the variable NUMBA_CACHE_DIR to a folder that can "
        "be written to."
    )
