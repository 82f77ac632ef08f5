"""Showing long work, and ending it.

Members report to a `Watch` after every stretch of steps. It draws a progress bar on stderr if asked to, and when the
caller has been interrupted it makes the members that still run on other threads stop at their next report.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress


class StoppedError(Exception):
    """Raised inside a member whose result nobody waits for any more."""


class Watch:
    """Counts the steps of all members; use it as a context manager around the work."""

    def __init__(self, n_members: int, n_rounds: int, n_steps: int, *, visible: bool) -> None:
        self.n_members, self.n_rounds, self.n_steps = n_members, n_rounds, n_steps
        self.visible = visible
        self.steps_of_member = [0] * n_members
        self.stopping = False
        self._lock = threading.Lock()
        self._bar: Progress | None = None

    def __reduce__(self) -> tuple[type[Watch], tuple[int, int, int], dict[str, object]]:
        # In another process there is no bar to draw and nobody to stop: the backend ends its workers itself.
        return _watch_elsewhere, (self.n_members, self.n_rounds, self.n_steps)  # type: ignore[return-value]

    def __enter__(self) -> Watch:
        if self.visible:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("rdplearn"),
                BarColumn(),
                TextColumn("members {task.fields[members]}, rounds {task.fields[rounds]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._bar.add_task("train", total=self.n_members * self.n_rounds * self.n_steps, **self._counts())
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping = kind is not None
        if self._bar is not None:
            self._bar.stop()

    def advance(self, member: int, n_steps: int) -> None:
        """Report steps just taken; raises `StoppedError` when the work has been called off."""
        if self.stopping:
            raise StoppedError
        with self._lock:
            self.steps_of_member[member] += n_steps
            self._draw()

    def finish(self, member: int) -> None:
        """Count a member as done, also one that worked in another process and could not report."""
        with self._lock:
            self.steps_of_member[member] = self.n_rounds * self.n_steps
            self._draw()

    def _draw(self) -> None:
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=sum(self.steps_of_member), **self._counts())

    def _counts(self) -> dict[str, Any]:
        members = sum(steps >= self.n_rounds * self.n_steps for steps in self.steps_of_member)
        rounds = sum(steps // self.n_steps for steps in self.steps_of_member)
        return {
            "members": f"{members}/{self.n_members}",
            "rounds": f"{rounds}/{self.n_members * self.n_rounds}",
        }


def _watch_elsewhere(n_members: int, n_rounds: int, n_steps: int) -> Watch:
    return Watch(n_members, n_rounds, n_steps, visible=False)
