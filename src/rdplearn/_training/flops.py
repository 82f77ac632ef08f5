"""How much work a step of training is: what decides on the engine, and on how often Python gets its turn."""

from __future__ import annotations

from dataclasses import dataclass

import scipy.sparse as sp

from rdplearn._training.reconstruction import sample_size
from rdplearn._training.settings import TrainingSettings
from rdplearn._types import Rows

STRETCHES = 20  # the losses of a long training are written down this many times or more ...
SHORTEST_STRETCH = 30  # ... and those of a short one after so many steps
FLOPS_PER_STRETCH = 1e9  # return to Python several times a second: for progress, and so that Ctrl-C is heard


@dataclass(frozen=True)
class Filling:
    """How full rows are. n_values : stored in a row, on average."""

    n_values: float
    n_columns: int
    is_sparse: bool


def filling_of(rows: Rows) -> Filling:
    """How full these rows are."""
    n_rows, n_columns = rows.shape
    is_sparse = sp.issparse(rows)
    return Filling(rows.nnz / max(1, n_rows) if is_sparse else n_columns, n_columns, is_sparse)


def step_flops(filling: Filling, n_components: int, settings: TrainingSettings) -> float:
    """Operations of one step: two products with W, three with the decoder, and about 60 for each component of φ."""
    flops = settings.batch_size * n_components * (4.0 * filling.n_values + 60.0)
    if settings.reconstruction_weight > 0:
        n_decoded = min(filling.n_columns, sample_size(filling.n_columns, filling.is_sparse) + filling.n_values)
        flops += 6.0 * settings.batch_size * n_components * n_decoded
    return flops


def stretch_length(rows: Rows, n_components: int, settings: TrainingSettings, record_every: int | None = None) -> int:
    """How many steps to take between two returns to Python.

    record_every : most steps from one record to the next; by default there are `STRETCHES` records or more
    """
    if settings.pairs == "all":  # every step returns to Python anyway
        return record_every or -(-settings.n_steps // STRETCHES)
    flops = step_flops(filling_of(rows), n_components, settings)
    most = max(SHORTEST_STRETCH, -(-settings.n_steps // STRETCHES)) if record_every is None else record_every
    return max(1, min(most, int(FLOPS_PER_STRETCH / flops)))
