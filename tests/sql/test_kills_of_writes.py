"""Killed at any moment, a command that writes to a database leaves the old table or the whole new one.

RDPLEARN_KILLS sets how many kills there are for each database, 6 unless told.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pyarrow as pa
import pytest

from tests.cli.conftest import Run
from tests.cli.test_kills import in_child, kill_after
from tests.sql.conftest import Shop, sales_as_arrow

N_KILLS = int(os.environ.get("RDPLEARN_KILLS", "6"))
N_ROWS = 3000
COUNT = "SELECT count(*) AS n, sum(anomaly_score) AS total FROM scores"
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # the child only runs our command


@pytest.mark.parametrize("if_exists", ["replace", "append"])
def test_a_killed_write_leaves_the_table_as_it_was(if_exists: str, run: Run, shop: Shop, model: Path):
    shop.fill("sales", sales_as_arrow(N_ROWS))
    score = ["score", model, "--sql", shop.uri, "--table", "sales", "--id", "order", "-o", "sql:scores", "--jobs", "1"]
    command = [*map(str, score), "--if-exists", if_exists]
    start = time.monotonic()
    run(*command)
    seconds = time.monotonic() - start
    (whole,) = shop.rows(COUNT)
    old = pa.table({"row": [1], "order": ["A00000"], "anomaly_score": [0.5], "anomalous": [True]})
    n_kept = len(old) if if_exists == "append" else 0
    rng = random.Random(0)
    n_killed = 0
    for number in range(N_KILLS):
        shop.fill("scores", old)
        # every other kill falls near the end, where rows are written
        n_killed += kill_after(in_child(command), rng.uniform(0.7 * (number % 2), 1.05) * seconds)
        (found,) = shop.rows(COUNT)
        if found["n"] != len(old):
            assert found["n"] == N_ROWS + n_kept
            assert found["total"] == pytest.approx(whole["total"] + 0.5 * n_kept)
    assert n_killed > 0
    run(*command)  # nothing is in its way
    assert shop.rows(COUNT)[0]["n"] >= N_ROWS
