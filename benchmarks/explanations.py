"""What an explanation costs: 1,000 rows explained, against 1,000 rows for each column scored."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from benchmarks.measuring import best_times
from rdplearn import RDPDetector

N_EXPLAINED = 1_000


def explanation() -> list[dict[str, object]]:
    """Dense tables of several widths, by the default detector and by the paper's; processor time on one thread."""
    results: list[dict[str, object]] = []
    for name, detector in {"default": RDPDetector(random_state=0), "paper's": paper_detector()}.items():
        for n_columns in (10, 30, 100):
            rows = np.random.default_rng(0).normal(size=(5_000, n_columns))
            detector.fit(rows)
            results.append(compare(name, detector, rows[:N_EXPLAINED]))
    rng = np.random.default_rng(0)
    sparse = sp.random_array((5_000, 2_000), density=0.02, rng=rng, format="csr", dtype=np.float64)
    results.append(compare("default, sparse", RDPDetector(random_state=0).fit(sparse), sparse[:N_EXPLAINED], n_turns=1))
    return results


def paper_detector() -> RDPDetector:
    """As large as the paper's; how long it was trained makes no difference here."""
    return RDPDetector.paper(n_rounds=1, n_steps=20, random_state=0)


def compare(name: str, detector: RDPDetector, rows: np.ndarray | sp.csr_array, n_turns: int = 5) -> dict[str, object]:
    """Seconds for both, and their ratio."""
    n_columns = rows.shape[1]
    repeated = rows[np.repeat(np.arange(rows.shape[0]), n_columns)]
    jobs: dict[str, Callable[[], object]] = {
        "explain": lambda: detector.explain(rows),
        "score": lambda: detector.score_samples(repeated),
    }
    seconds = best_times(jobs, n_turns=n_turns, clock=time.process_time)
    return {
        "detector": name,
        "columns": n_columns,
        **seconds,
        "share": seconds["explain"] / seconds["score"],
        "at most": 1,
    }


ALL = {"explanation": explanation}
