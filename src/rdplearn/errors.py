"""What rdplearn raises and warns with.

Everything a user can do wrong ends in one of these, each with a message that names the argument, the rule, the value
and the remedy. `TableError` is a `ValueError`, so that code written against scikit-learn goes on working.
"""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

__all__ = ["CheckpointError", "ClusterError", "ModelFileError", "RDPWarning", "TableError"]

NOT_THE_CALLER = ("rdplearn", "sklearn", "joblib", "contextlib", "importlib")


class TableError(ValueError):
    """The table cannot be used as it is; the message says which column and row, and what to do."""


class RowPlaceError(TableError):
    """A place, from 0, that is beyond the last row; whoever counts rows from 1 says so in other words."""

    def __init__(self, table: str, n_rows: int, place: int) -> None:
        super().__init__(
            f"The 'rows' parameter of explain counts from 0, and {table} has {n_rows:,} rows: the last is "
            f"{n_rows - 1:,}. Got {place:,} instead."
        )
        self.n_rows, self.place = n_rows, place


class ModelFileError(ValueError):
    """The file is not a model that this version can read; the message says why."""


class CheckpointError(ValueError):
    """The checkpoint folder cannot be continued from; the message says why, and what to do."""


class ClusterError(OSError):
    """The cluster cannot do the work; the message says why, and what to do."""


class RDPWarning(UserWarning):
    """The result is valid but may not be what was meant."""


def no_rows(table: str) -> TableError:
    """The error for a table that has columns alone."""
    return TableError(f"There are no rows in {table}. Pass a table with at least one row.")


_asked_from: ContextVar[FrameType | None] = ContextVar("asked_from", default=None)


def remember_caller() -> None:
    """Keep the line of the caller's own code for what is done for it on another thread, in a copy of this context."""
    _asked_from.set(_callers_frame())


def warn_user(message: str) -> None:
    """Warn with `RDPWarning`, at the line of the caller's own code that led here."""
    frame = _callers_frame()
    told = frame.f_globals.setdefault("__warningregistry__", {})
    name = frame.f_globals.get("__name__", "")
    warnings.warn_explicit(message, RDPWarning, frame.f_code.co_filename, frame.f_lineno, name, told)


@contextmanager
def told_already() -> Iterator[None]:
    """Keep back what is odd about rows that were read before: it was told then, and their numbers are others now."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RDPWarning)
        yield


def _callers_frame() -> FrameType:
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in NOT_THE_CALLER:
        frame = frame.f_back
    asked_from = _asked_from.get()
    return asked_from if asked_from is not None and frame.f_globals.get("__name__") == "threading" else frame


def unknown_choice(argument: str, owner: str, value: object, choices: Iterable[str]) -> str:
    """Word the error for a value outside a list of names, with the nearest name if there is one.

    Examples
    --------
    >>> print(unknown_choice("mapping", "RDPDetector", "leeky", ["leaky", "linear"]))
    The 'mapping' parameter of RDPDetector must be one of 'leaky', 'linear'. Got 'leeky' instead. Did you mean 'leaky'?
    """
    names = list(choices)
    message = (
        f"The {argument!r} parameter of {owner} must be one of {', '.join(map(repr, names))}. Got {value!r} instead."
    )
    near = difflib.get_close_matches(str(value), names, n=1)
    return f"{message} Did you mean {near[0]!r}?" if near else message
