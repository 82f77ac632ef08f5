"""Work in a child process, which may take so much time and memory and no more."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

GIGABYTE = 2**30


@dataclass(frozen=True)
class Outcome:
    """How a child has ended: its exit code or the signal, and what it had to say."""

    exit_code: int
    signal: int
    said: str


def in_fork(work: Callable[[], str], *, seconds: int, more_memory: int = GIGABYTE) -> Outcome:
    """Run `work` in a fork. What it returns is said; an exception ends it with exit code 3."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        _limit(seconds, more_memory)
        try:
            said, code = work(), 0
        except BaseException as fault:
            said, code = f"{type(fault).__name__}: {fault}", 3
        os.write(write, said.encode(errors="replace")[:2000])
        os._exit(code)
    os.close(write)
    said = b""
    while part := os.read(read, 65_536):
        said += part
    os.close(read)
    status = os.waitpid(child, 0)[1]
    ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return Outcome(-1 if ended_by else os.WEXITSTATUS(status), ended_by, said.decode(errors="replace"))


def of_each(work: Callable[[Path], str], paths: Sequence[Path], *, seconds: int) -> list[Outcome]:
    """Do `work`, which says one word, on each file: all in one fork; if that ends badly, each in a fork of its own.

    A file may take so many seconds, and all of them so many times that: were it not so, files that are merely slow
    would end the fork that they share, and be worked on twice.
    """
    together = in_fork(lambda: " ".join(work(path) for path in paths), seconds=seconds * len(paths))
    if together.exit_code == 0:
        words = together.said.split()
        assert len(words) == len(paths), together.said
        return [Outcome(0, 0, word) for word in words]
    alone = [in_fork(lambda path=path: work(path), seconds=seconds) for path in paths]
    is_a_crash = together.signal not in (0, signal.SIGXCPU)
    assert not is_a_crash or any(one.signal for one in alone), f"all in one process: {together}; none of them alone"
    return alone


def _limit(seconds: int, more_memory: int) -> None:
    """Seconds are of the processor: a busy machine is no fault of the work."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + more_memory
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
