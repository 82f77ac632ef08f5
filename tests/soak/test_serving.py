"""`rdplearn serve` for long: memory that does not grow, kills at random moments, requests made from its document."""

from __future__ import annotations

import asyncio
import json

import pytest
from benchmarks.serving import load, orders, request, resident, served

from tests.serving.conftest import files, models, running, table  # noqa: F401 - fixtures
from tests.serving.test_descriptions import PATHS, fuzz, schemathesis
from tests.serving.test_process import ask_while_it_is_killed

pytestmark = pytest.mark.soak

MINUTES, N_PARTS = 10, 10
MOST_GROWTH = 1.05


def test_ten_minutes_of_requests_without_growth(record):
    from tests.soak.conftest import sized

    rows = orders(2_000)
    sent = request("/score", json.dumps(rows.slice(0, 1).to_pylist()).encode())
    memory, n_requests = [], 0
    with served(rows) as (address, process):
        for _ in range(N_PARTS):
            n_requests += len(asyncio.run(load(address, sent, 8, sized(60 * MINUTES) / N_PARTS)))
            memory.append(resident(process))
    assert memory[-1] < MOST_GROWTH * memory[1]
    record("serving, requests", requests=n_requests, minutes=sized(60 * MINUTES) / 60, growth=memory[-1] / memory[1])


def test_fifty_kills_and_no_wrong_score(files, models, table, record):  # noqa: F811
    from tests.soak.conftest import sized

    n_answers = ask_while_it_is_killed(files, models, table, n_kills=max(2, sized(50)))
    record("serving, kills", kills=max(2, sized(50)), answers=n_answers, wrong=0)


def test_many_requests_made_from_the_document(files, record):  # noqa: F811
    from tests.soak.conftest import sized

    with running(files[0]) as one:
        statuses = [
            status
            for path in PATHS
            for mode in schemathesis.GenerationMode
            for status in fuzz(one.address, path, mode, n_examples=sized(500))
        ]
    record("serving, fuzzed requests", requests=len(statuses), answered_with_500=statuses.count(500))
