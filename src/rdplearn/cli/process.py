"""`rdplearn` as a process: its streams may be closed, its reader may leave, and it may be asked to end."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rdplearn.cli.framework import SEEN_ENOUGH


@contextmanager
def standing_streams() -> Iterator[None]:
    """See that standard output is there, and that no file of ours takes the number of a stream that is closed."""
    was_closed = sys.stdout is None
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    if was_closed:
        if sys.stderr is not None:
            sys.stderr.write("rdplearn: Standard output is closed. Send it to a file, or to /dev/null.\n")
        raise SystemExit(1)
    yield


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """End as other programs do: tidied up when asked to end, quietly when the reader of the output has seen enough."""
    signal.signal(signal.SIGTERM, _end)
    try:
        yield
    except SystemExit as end:
        if end.code != SEEN_ENOUGH or os.name != "posix":
            raise
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)


def _end(number: int, _: Any) -> None:
    raise SystemExit(128 + number)  # so that temporary files go away
