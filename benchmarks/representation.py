"""Representation learning: the paper's setting against dense PyTorch, its memory on 20news, and transform."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from benchmarks.engine import paper_settings
from benchmarks.measuring import best_times, in_own_process, peak_memory
from rdplearn import RDPTransformer
from rdplearn._model.decoder import zero_decoder
from rdplearn._model.mapping import draw_mapping
from rdplearn._model.representation import draw_representation
from rdplearn._model.threads import one_blas_thread
from rdplearn._training.engines.engine import start_engine
from rdplearn._training.settings import TrainingSettings, TrainingTask

N_COMPONENTS, BATCH_SIZE = 1024, 192
R8_SHAPE, R8_PER_ROW = (7_674, 17_387), 40
NEWS_SHAPE, NEWS_PER_ROW = (18_846, 130_107), 156


def text_like(shape: tuple[int, int], per_row: int, seed: int = 0) -> sp.csr_array:
    """Rows of length 1 in which a few columns are common and most are rare, as words are."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = shape
    columns = np.minimum((n_columns * rng.random((n_rows, per_row)) ** 3).astype(np.int64), n_columns - 1)
    values = rng.random((n_rows, per_row), dtype=np.float32)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    rows = sp.csr_array((values.ravel(), columns.ravel(), np.arange(n_rows + 1) * per_row), shape=shape)
    rows.sum_duplicates()
    return rows


def coder_settings(n_steps: int, reconstruction_weight: float) -> TrainingSettings:
    detector = paper_settings(n_steps)
    return TrainingSettings(**{**vars(detector), "novelty_weight": 0.0, "reconstruction_weight": reconstruction_weight})


def representation() -> list[dict[str, object]]:
    """7,674 x 17,387 with 1,024 units: steps on sparse rows against dense PyTorch, two threads each.

    Ours needs one of its two: a step waits for the one before it.
    """
    import torch

    from benchmarks.autograd_coder import AutogradCoder

    torch.set_num_threads(2)
    rows = text_like(R8_SHAPE, R8_PER_ROW)
    rng = np.random.default_rng(0)
    mapping = draw_mapping("leaky", rows, np.arange(rows.shape[0]), N_COMPONENTS, rng)
    targets = mapping(rows)
    dense = rows[:2000].toarray()
    kept = np.arange(rows.shape[0])
    results: list[dict[str, object]] = []
    for name, weight, wanted in (("distance prediction alone", 0.0, 30), ("with reconstruction", 1.0, 4)):
        settings = coder_settings(100, weight)
        phi = draw_representation(rows.shape[1], N_COMPONENTS, rng)
        decoder = zero_decoder(rows.shape[1], N_COMPONENTS) if weight > 0 else None
        theirs = AutogradCoder(phi, mapping.weights, decoder)
        steps = start_engine("numba", [TrainingTask(rows, targets, kept, phi, 0, decoder, rows.shape[1])], settings)
        steps.run(0, 2)  # compiled
        n_ours, n_theirs = (20, 2) if weight == 0 else (5, 2)

        def ours(steps: object = steps, n_steps: int = n_ours) -> object:
            return steps.run(2, n_steps)  # type: ignore[attr-defined]

        def torch_steps(theirs: AutogradCoder = theirs, n_steps: int = n_theirs) -> None:
            theirs.train(dense, n_steps, BATCH_SIZE)

        with one_blas_thread():
            seconds = best_times({"ours": ours, "torch": torch_steps}, n_turns=3, clock=time.perf_counter)
        per_step = {"ours": seconds["ours"] / n_ours, "torch": seconds["torch"] / n_theirs}
        results.append(
            {
                "loss": name,
                "ms per step": 1e3 * per_step["ours"],
                "PyTorch ms per step": 1e3 * per_step["torch"],
                "times faster": per_step["torch"] / per_step["ours"],
                "wanted": wanted,
            }
        )
    return results


def representation_memory() -> list[dict[str, object]]:
    """18,846 x 130,107, the paper's whole setting but for the number of steps: peak memory of the process."""
    return [in_own_process(_fit_news)]


def _fit_news() -> dict[str, object]:
    rows = text_like(NEWS_SHAPE, NEWS_PER_ROW)
    transformer = RDPTransformer.paper(n_steps=5, engine="numba", random_state=0).fit(rows)
    assert transformer.decoder_ is not None
    weights = transformer.feature_map_.phi.weights.nbytes + transformer.decoder_.weights.nbytes
    return {"weights GB": weights / 1e9, "peak GB": peak_memory() / 1e9, "at most": 3.0}


def transform() -> list[dict[str, object]]:
    """18,846 x 130,107 sparse rows to 1,024 features, against the product with a matrix of that many columns."""
    rows = text_like(NEWS_SHAPE, NEWS_PER_ROW)
    transformer = RDPTransformer.paper(n_steps=1, engine="numba", reconstruction_weight=0.0, random_state=0).fit(rows)
    weights = transformer.feature_map_.phi.weights
    jobs: dict[str, Callable[[], object]] = {
        "transform": lambda: transformer.transform(rows),
        "product": lambda: rows @ weights,
    }
    seconds = best_times(jobs, n_turns=2, clock=time.thread_time)
    return [{**seconds, "times as long": seconds["transform"] / seconds["product"], "at most": 1.5}]


ALL = {
    "representation": representation,
    "representation_memory": representation_memory,
    "transform": transform,
}
