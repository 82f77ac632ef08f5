"""Requests that wait at the same time are done together, on a thread of its own.

Scoring eight rows costs little more than scoring one, and a row's score does not depend on the others, to the bit.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")
MOST_TOGETHER = 256  # requests


@dataclass(frozen=True)
class _Waiting(Generic[Job, Result]):
    job: Job
    answer: asyncio.Future[Result]


class Together(Generic[Job, Result]):
    """Hands jobs from the event loop to a thread, all that wait at once.

    Parameters
    ----------
    work : does some jobs, and gives a result or an exception for each

    Examples
    --------
    >>> async def main():
    ...     doubles = Together(lambda jobs: [2 * job for job in jobs])
    ...     print(await asyncio.gather(doubles.do(1), doubles.do(2)))
    ...     doubles.stop()
    >>> asyncio.run(main())
    [2, 4]
    """

    def __init__(self, work: Callable[[Sequence[Job]], Sequence[Result | Exception]]) -> None:
        self._work = work
        self._waiting: queue.SimpleQueue[_Waiting[Job, Result] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._go_on, daemon=True)
        self._thread.start()

    async def do(self, job: Job) -> Result:
        """Wait for the result of a job; a job that nobody waits for any more is passed over."""
        answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.put(_Waiting(job, answer))
        return await answer

    def stop(self) -> None:
        """End the thread, once it has done what waits."""
        self._waiting.put(None)
        self._thread.join()

    def _go_on(self) -> None:
        while (first := self._waiting.get()) is not None:
            some, is_last = [first], False
            while len(some) < MOST_TOGETHER and not self._waiting.empty():
                following = self._waiting.get()
                if following is None:
                    is_last = True
                    break
                some.append(following)
            self._do([each for each in some if not each.answer.cancelled()])
            if is_last:
                return

    def _do(self, some: Sequence[_Waiting[Job, Result]]) -> None:
        if not some:
            return
        results: Sequence[Result | Exception]
        try:
            results = self._work([each.job for each in some])
        except Exception as fault:
            results = [fault] * len(some)
        some[0].answer.get_loop().call_soon_threadsafe(_deliver, some, results)


def _deliver(some: Sequence[_Waiting[Job, Result]], results: Sequence[Result | Exception]) -> None:
    for each, result in zip(some, results, strict=True):
        if each.answer.cancelled():
            continue
        if isinstance(result, Exception):
            each.answer.set_exception(result)
        else:
            each.answer.set_result(result)
