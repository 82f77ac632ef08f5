"""Work beside other work, on a thread of its own: reading ahead, and writing behind.

NumPy, Arrow and the compiled kernels let other threads run, so a table can be read and a result be written while the
rows in between are scored. Few things wait at a time, so memory stays bounded; order is kept; and a fault on either
side ends both.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import Generic, TypeVar

from rdplearn.errors import remember_caller

Item = TypeVar("Item")

WAITING = 1  # beside the one in work on either side


class _Handover(Generic[Item]):
    """A short queue between two threads, that either of them can close."""

    def __init__(self) -> None:
        self._items: queue.Queue[Item] = queue.Queue(WAITING)
        self._closed = threading.Event()

    def put(self, item: Item) -> bool:
        """Hand over an item; whether anyone is still there to take it."""
        while not self._closed.is_set():
            try:
                self._items.put(item, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def get(self) -> Item:
        return self._items.get()

    def close(self) -> None:
        self._closed.set()


def read_ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The same items, made on another thread while the caller works on earlier ones.

    Examples
    --------
    >>> list(read_ahead(range(3)))
    [0, 1, 2]
    """
    handover: _Handover[tuple[bool, Item | BaseException | None]] = _Handover()

    def make() -> None:
        try:
            for item in items:
                if not handover.put((True, item)):
                    return
            handover.put((False, None))
        except BaseException as fault:
            handover.put((False, fault))

    context = copy_context()
    context.run(remember_caller)
    thread = threading.Thread(target=context.run, args=(make,), daemon=True)
    thread.start()
    try:
        while True:
            is_item, made = handover.get()
            if not is_item:
                if made is not None:
                    raise made  # type: ignore[misc]
                return
            yield made  # type: ignore[misc]
    finally:
        handover.close()
        thread.join()


@contextmanager
def done_behind(work: Callable[[Item], object]) -> Iterator[Callable[[Item], None]]:
    """A function that hands items to another thread, which works on them in order; all are done when the block ends.

    Examples
    --------
    >>> done = []
    >>> with done_behind(done.append) as hand_over:
    ...     hand_over(1)
    ...     hand_over(2)
    >>> done
    [1, 2]
    """
    handover: _Handover[tuple[bool, Item | None]] = _Handover()
    faults: list[BaseException] = []

    def take() -> None:
        try:
            while True:
                is_item, item = handover.get()
                if not is_item:
                    return
                work(item)  # type: ignore[arg-type]
        except BaseException as fault:
            faults.append(fault)
            handover.close()

    def hand_over(item: Item) -> None:
        if not handover.put((True, item)):
            raise faults[0]

    thread = threading.Thread(target=copy_context().run, args=(take,), daemon=True)
    thread.start()
    try:
        yield hand_over
    finally:
        handover.put((False, None))
        thread.join()
    if faults:
        raise faults[0]
