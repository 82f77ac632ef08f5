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
            rows = np.random.default_rng(0).normal(size=(N_EXPLAINED * n_columns, n_columns))
            results.append(compare(name, detector.fit(rows[:5_000]), rows))
    sparse = sp.random_array((N_EXPLAINED * 500, 500), density=0.04, rng=np.random.default_rng(0), format="csr")
    results.append(compare("default, sparse", RDPDetector(random_state=0).fit(sparse[:5_000]), sparse, n_turns=2))
    return results


def paper_detector() -> RDPDetector:
    """As large as the paper's; how long it was trained makes no difference here."""
    return RDPDetector.paper(n_rounds=1, n_steps=20, random_state=0)


def compare(name: str, detector: RDPDetector, rows: np.ndarray | sp.csr_array, n_turns: int = 5) -> dict[str, object]:
    """Seconds for explaining a few rows and for scoring all, and their ratio."""
    few = rows[:N_EXPLAINED]
    jobs: dict[str, Callable[[], object]] = {
        "explain": lambda: detector.explain(few),
        "score": lambda: detector.score_samples(rows),
    }
    seconds = best_times(jobs, n_turns=n_turns, clock=time.process_time)
    return {
        "detector": name,
        "columns": rows.shape[1],
        **seconds,
        "share": seconds["explain"] / seconds["score"],
        "at most": 1,
    }


def one_row() -> list[dict[str, object]]:
    """One row explained, against one row scored."""
    results: list[dict[str, object]] = []
    for n_columns, at_most in ((200, 0.1), (1_000, 1.0)):
        rows = np.random.default_rng(0).normal(size=(2_000, n_columns))
        detector = RDPDetector(random_state=0).fit(rows)
        jobs: dict[str, Callable[[], object]] = {
            "explain": lambda detector=detector, rows=rows: detector.explain(rows[:1]),  # type: ignore[misc]
            "score": lambda detector=detector, rows=rows: detector.score_samples(rows[:1]),  # type: ignore[misc]
        }
        seconds = best_times(jobs, clock=time.process_time)
        ratio = seconds["explain"] / seconds["score"]
        results.append({"columns": n_columns, **seconds, "times as long": ratio, "seconds at most": at_most})
    return results


ALL = {"explanation": explanation, "one_row": one_row}
