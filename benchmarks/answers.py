"""What an answer costs, until the next row is proposed: a table of 100,000 rows and 1,000 answers about it."""

from __future__ import annotations

import time

import numpy as np

from rdplearn import RDPDetector, review

N_ROWS, N_COLUMNS, N_STRANGE, N_ANSWERS = 100_000, 30, 500, 1_000


def answers() -> list[dict[str, object]]:
    """Processor time of each answer on one thread; the last come when many answered rows are taken as one."""
    rows = np.random.default_rng(0).normal(size=(N_ROWS, N_COLUMNS))
    rows[:N_STRANGE, 0] += 5
    asking = review(RDPDetector(random_state=0, n_jobs=1).fit(rows)).asking(rows)
    asking.tell(asking.next(), "normal")  # compiles
    place, seconds = asking.next(), []
    for _ in range(N_ANSWERS):
        started = time.process_time()
        asking.tell(place, "anomalous" if place[0] < N_STRANGE else "normal")
        place = asking.next()
        seconds.append(time.process_time() - started)
    return [
        {
            "rows": N_ROWS,
            "columns": N_COLUMNS,
            "answers": N_ANSWERS,
            "mean seconds": float(np.mean(seconds)),
            "worst seconds": float(np.max(seconds)),
            "at most": 0.3,
        }
    ]


ALL = {"answers": answers}
