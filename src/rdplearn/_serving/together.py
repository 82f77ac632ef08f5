"""Small requests that come at about the same time are done together.

Scoring eight rows costs little more than scoring one, and a row's score does not depend on the others, to the bit. It
is done on the event loop itself: a thousand times a second, handing over to a thread and back costs more than the work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")
MOST_TOGETHER = 64  # requests
PATIENCE = 0.001  # seconds to wait for others


@dataclass(frozen=True)
class _Waiting(Generic[Job, Result]):
    job: Job
    answer: asyncio.Future[Result]


class Together(Generic[Job, Result]):
    """Gathers jobs, and does all that wait at once.

    Those who were answered together are likely to ask again together: as many are waited for, but not for long. Who
    asks alone does not wait at all.

    Parameters
    ----------
    work : does some jobs, and gives a result or an exception for each

    Examples
    --------
    >>> async def main():
    ...     doubles = Together(lambda jobs: [2 * job for job in jobs])
    ...     print(await asyncio.gather(doubles.do(1), doubles.do(2)))
    >>> asyncio.run(main())
    [2, 4]
    """

    def __init__(self, work: Callable[[Sequence[Job]], Sequence[Result | Exception]]) -> None:
        self._work = work
        self._waiting: list[_Waiting[Job, Result]] = []
        self._n_last = 1
        self._going: asyncio.Handle | None = None

    async def do(self, job: Job) -> Result:
        """Wait for the result of a job; a job that nobody waits for any more is passed over."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Result] = loop.create_future()
        self._waiting.append(_Waiting(job, answer))
        if len(self._waiting) == self._n_last:
            if self._going is not None:
                self._going.cancel()
            self._going = loop.call_soon(self._go)  # after those who are ready now
        elif self._going is None:
            self._going = loop.call_later(PATIENCE, self._go)
        return await answer

    def _go(self) -> None:
        self._going = None
        some, self._waiting = self._waiting[:MOST_TOGETHER], self._waiting[MOST_TOGETHER:]
        self._n_last = len(some)
        if self._waiting:
            self._going = asyncio.get_running_loop().call_soon(self._go)
        some = [each for each in some if not each.answer.done()]
        results: Sequence[Result | Exception]
        try:
            results = self._work([each.job for each in some])
        except Exception as fault:
            results = [fault] * len(some)
        for each, result in zip(some, results, strict=True):
            if isinstance(result, Exception):
                each.answer.set_exception(result)
            else:
                each.answer.set_result(result)
