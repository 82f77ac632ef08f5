"""Reading ahead and writing behind: order, faults on either side, and no thread left over."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator

import pytest

from rdplearn._files.read_ahead import done_behind, read_ahead


@pytest.fixture(autouse=True)
def no_thread_is_left_over() -> Iterator[None]:
    before = threading.active_count()
    yield
    assert threading.active_count() == before


def test_items_come_in_order_and_are_made_on_another_thread():
    makers = []

    def items() -> Iterator[int]:
        for number in range(50):
            makers.append(threading.get_ident())
            yield number

    assert list(read_ahead(items())) == list(range(50))
    assert set(makers).isdisjoint({threading.get_ident()})


def test_no_more_is_made_than_can_wait():
    made = []

    def items() -> Iterator[int]:
        for number in range(50):
            made.append(number)
            yield number

    ahead = read_ahead(items())
    assert next(ahead) == 0
    threading.Event().wait(0.3)
    assert len(made) <= 3  # in use, waiting, and in the maker's hand
    ahead.close()
    assert len(made) <= 3


def test_a_fault_of_the_maker_comes_after_the_items_before_it():
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("row 2")

    ahead = read_ahead(items())
    assert next(ahead) == 1
    with pytest.raises(ValueError, match="row 2"):
        next(ahead)


def test_a_caller_that_stops_ends_the_maker():
    ahead = read_ahead(iter(range(1000)))
    assert next(ahead) == 0
    before = threading.active_count()
    ahead.close()
    assert threading.active_count() == before - 1


def test_warnings_of_the_maker_are_heard():
    def items() -> Iterator[int]:
        warnings.warn("odd rows", UserWarning, stacklevel=1)
        yield 1

    with pytest.warns(UserWarning, match="odd rows"):
        assert list(read_ahead(items())) == [1]


def test_all_is_done_in_order_when_the_block_ends():
    done = []
    with done_behind(lambda item: done.append((item, threading.get_ident()))) as hand_over:
        for number in range(50):
            hand_over(number)
    assert [item for item, _ in done] == list(range(50))
    assert done[0][1] != threading.get_ident()


def test_a_fault_of_the_worker_reaches_the_caller():
    done = []

    def work(item: int) -> None:
        if item == 2:
            raise OSError("disk full")
        done.append(item)

    def hand_over_all() -> None:
        with done_behind(work) as hand_over:
            for number in range(1000):
                hand_over(number)

    with pytest.raises(OSError, match="disk full"):
        hand_over_all()
    assert done == [0, 1]


def test_a_fault_of_the_last_item_is_not_lost():
    def work(item: int) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"), done_behind(work) as hand_over:
        hand_over(1)


def test_a_fault_of_the_caller_waits_for_what_was_handed_over():
    done = []

    def hand_over_and_fail() -> None:
        with done_behind(done.append) as hand_over:
            hand_over(1)
            raise KeyError("mine")

    with pytest.raises(KeyError):
        hand_over_and_fail()
    assert done == [1]
