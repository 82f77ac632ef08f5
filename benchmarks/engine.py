"""The engine: training against autograd, threads, share of BLAS, sparse memory, growth with the table; and scoring."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from benchmarks.measuring import best_times, in_own_process, peak_memory
from rdplearn import RDPDetector
from rdplearn._model.mapping import draw_mapping
from rdplearn._model.representation import draw_representation
from rdplearn._model.threads import one_blas_thread
from rdplearn._training.boosting import Boosting, BoostingSettings, MemberPlan, boost
from rdplearn._training.engines.compiled import CompiledEngine
from rdplearn._training.progress import Watch
from rdplearn._training.settings import TrainingSettings, TrainingTask

N_COMPONENTS, BATCH_SIZE = 50, 192


def paper_settings(n_steps: int) -> TrainingSettings:
    return TrainingSettings(n_steps, BATCH_SIZE, 0.1, 0.9, 0.1, 0.1, 1.0, 1.0, "l1")


def table(n_rows: int, n_columns: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((n_rows, n_columns), dtype=np.float32)


def member_steps(rows: np.ndarray, n_steps: int) -> Callable[[], object]:
    """Training of one member's round, as the detector does it, with the rotation where columns exceed rows."""
    kept = np.arange(len(rows))
    settings = BoostingSettings(
        training=paper_settings(n_steps), n_components=N_COMPONENTS, n_rounds=1, filter_fraction=0.05, shrinkage=0.0,
        start_scale=1.0, even_residuals=False, score_rounds=1, n_rounds_kept=1, engine="numba",
    )  # fmt: skip
    plan = MemberPlan(0, "unchanged", "leaky", kept, kept, np.random.SeedSequence(2))

    def job() -> object:
        return boost([Boosting(plan, rows, settings, Watch(1, 1, n_steps, visible=False))], settings)

    return job


def training() -> list[dict[str, object]]:
    """One thread, against a step-by-step PyTorch member with the same steps and sizes."""
    import torch

    from benchmarks.autograd_member import AutogradMember

    torch.set_num_threads(1)
    rows_of_result: list[dict[str, object]] = []
    for n_rows, n_columns, target in ((10_000, 10, 35), (10_000, 64, 20), (10_000, 200, 10), (145, 3312, 50)):
        rows = table(n_rows, n_columns)
        n_ours, n_theirs = 6000, 100  # the rotation is paid once a member, so ours runs a whole round
        rng = np.random.default_rng(0)
        start = draw_representation(n_columns, N_COMPONENTS, rng)
        mapping = draw_mapping("leaky", rows, np.arange(n_rows), N_COMPONENTS, rng)
        member = AutogradMember(start.weights, start.bias, mapping.weights)
        ours = member_steps(rows, n_ours)
        member_steps(rows, 2)()  # compiled

        def theirs(member: AutogradMember = member, rows: np.ndarray = rows, n_steps: int = n_theirs) -> None:
            member.train(rows, n_steps, BATCH_SIZE)

        with one_blas_thread():
            seconds = best_times({"ours": ours, "autograd": theirs}, clock=time.thread_time)
        per_step = {"ours": seconds["ours"] / n_ours, "autograd": seconds["autograd"] / n_theirs}
        rows_of_result.append(
            {
                "rows": n_rows,
                "columns": n_columns,
                "us per step": 1e6 * per_step["ours"],
                "autograd us per step": 1e6 * per_step["autograd"],
                "times faster": per_step["autograd"] / per_step["ours"],
                "wanted": target,
            }
        )
    return rows_of_result


def threads() -> list[dict[str, object]]:
    """Two threads against one: wall clock of the same fit."""
    rows = table(10_000, 64)

    def fit(n_jobs: int) -> Callable[[], object]:
        return lambda: RDPDetector.paper(n_members=4, n_rounds=2, n_steps=3000, n_jobs=n_jobs, random_state=0).fit(rows)

    seconds = best_times({"one": fit(1), "two": fit(2)}, n_turns=4, clock=time.perf_counter)
    return [
        {"one": seconds["one"], "two": seconds["two"], "times faster": seconds["one"] / seconds["two"], "wanted": 1.8}
    ]


def blas_share() -> list[dict[str, object]]:
    """At 200 columns: what the step's two matrix products alone take, as a share of the step."""
    n_columns, n_steps = 200, 1000
    rows = table(10_000, n_columns)
    rng = np.random.default_rng(0)
    batch = rows[:BATCH_SIZE].copy()
    weights, gradient = table(n_columns, N_COMPONENTS), table(BATCH_SIZE, N_COMPONENTS)
    phi, weight_gradient = np.empty((BATCH_SIZE, N_COMPONENTS), np.float32), np.empty_like(weights)
    mapping = draw_mapping("leaky", rows, np.arange(len(rows)), N_COMPONENTS, rng)
    task = TrainingTask(rows, mapping(rows), np.arange(len(rows)), draw_representation(n_columns, N_COMPONENTS, rng), 0)
    steps = CompiledEngine([task], paper_settings(n_steps))

    def products() -> None:
        for _ in range(n_steps):
            np.dot(batch, weights, phi)
            np.dot(batch.T, gradient, weight_gradient)

    steps.run(0, 2)
    with one_blas_thread():
        seconds = best_times(
            {"steps": lambda: steps.run(0, n_steps), "products": products}, n_turns=9, clock=time.thread_time
        )
    return [
        {
            "us per step": 1e6 * seconds["steps"] / n_steps,
            "us of products": 1e6 * seconds["products"] / n_steps,
            "share": seconds["products"] / seconds["steps"],
            "wanted": 0.45,
        }
    ]


def scoring() -> list[dict[str, object]]:
    """284,807 x 29 with 30 members, against IsolationForest with 100 trees, same number of threads."""
    from sklearn.ensemble import IsolationForest

    rows = np.random.default_rng(0).normal(size=(284_807, 29)).astype(np.float32)
    results: list[dict[str, object]] = []
    detector = RDPDetector.paper(n_rounds=1, n_steps=20, random_state=0).fit(rows[:20_000])
    forest = IsolationForest(random_state=0).fit(rows[:20_000])
    for n_jobs in (1, 2):
        detector.set_params(n_jobs=n_jobs)
        forest.set_params(n_jobs=n_jobs)
        seconds = best_times(
            {"ours": lambda: detector.score_samples(rows), "forest": lambda: forest.score_samples(rows)},
            clock=time.perf_counter,
        )
        results.append({"threads": n_jobs, **seconds, "times faster": seconds["forest"] / seconds["ours"], "wanted": 1})
    return results


def sparse_memory() -> list[dict[str, object]]:
    """18,846 x 130,107, 0.12 % full: peak memory of a fit beyond the members' final weights."""
    return [in_own_process(_fit_wide_sparse)]


def _fit_wide_sparse() -> dict[str, object]:
    n_members = 6
    rng = np.random.default_rng(0)
    n_rows, n_columns, per_row = 18_846, 130_107, 156
    # a few columns are common and most are rare, as words are
    columns = np.minimum((n_columns * rng.random((n_rows, per_row)) ** 3).astype(np.int64), n_columns - 1)
    rows = sp.csr_array(
        (rng.random(n_rows * per_row, dtype=np.float32), columns.ravel(), np.arange(n_rows + 1) * per_row),
        shape=(n_rows, n_columns),
    )
    rows.sum_duplicates()
    RDPDetector.paper(n_members=1, n_rounds=1, n_steps=2, engine="numba").fit(rows[:200, :50])  # compiled and imported
    before = peak_memory()
    detector = RDPDetector.paper(n_members=n_members, n_rounds=2, n_steps=20, n_jobs=2, engine="numba").fit(rows)
    ensemble = detector.panels_[0].ensembles[-1]
    weights = ensemble.weights.nbytes + ensemble.mappings.weights.nbytes
    return {
        "members": n_members,
        "table GB": (rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes) / 1e9,
        "weights GB": weights / 1e9,
        "peak beyond weights GB": (peak_memory() - before - weights) / 1e9,
        "as dense float64 GB": 8 * n_rows * n_columns / 1e9,
        "at most": 0.6,
    }


def growth() -> list[dict[str, object]]:
    """Fit on 10 million rows against 100 thousand rows of the same 20 columns, in memory."""
    large = table(10_000_000, 20)
    small = large[:100_000].copy()

    def fit(rows: np.ndarray) -> Callable[[], object]:
        return lambda: RDPDetector.paper(n_steps=1000, n_jobs=2, random_state=0).fit(rows)

    seconds = best_times({"100 thousand": fit(small), "10 million": fit(large)}, n_turns=2, clock=time.perf_counter)
    return [{**seconds, "times as long": seconds["10 million"] / seconds["100 thousand"], "at most": 1.3}]


ALL = {
    "training": training,
    "threads": threads,
    "blas_share": blas_share,
    "scoring": scoring,
    "sparse_memory": sparse_memory,
    "growth": growth,
}
