"""Training φ of one member: which engine does it, in which stretches, and what is written down on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rdplearn.plain_steps import PlainSteps
from rdplearn.random_mapping import Rows
from rdplearn.representation import Losses, Representation, TrainingSettings

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
EngineName = Literal["numba", "numpy"]

ENGINES = ("auto", "numba", "numpy")
# Compiling the kernels takes 6 to 15 seconds once on a machine. A job shorter than this is done before that.
SECONDS_WORTH_COMPILING = 6.0
STRETCHES = 20  # the losses of a long training are written down this many times or more ...
SHORTEST_STRETCH = 30  # ... and those of a short one after so many steps
FLOPS_PER_STRETCH = 1e9  # return to Python several times a second: for progress, and so that Ctrl-C is heard


class Steps(Protocol):
    """An engine at work on one member."""

    def run(self, kept: Ints, first_step: int, n_steps: int) -> Losses: ...
    def finish(self) -> None: ...


def train(
    rows: Rows,
    targets: Floats,
    kept: Ints,
    representation: Representation,
    settings: TrainingSettings,
    seed: int,
    engine: EngineName,
    after_stretch: Callable[[int], None],
) -> list[dict[str, float]]:
    """Train `representation` in place and return its losses, one record a stretch of steps.

    rows : (n_rows, n_columns); targets : (n_rows, n_targets); kept : indices of the rows that may be drawn
    after_stretch : called with the number of steps just taken; may raise to end the training
    """
    steps = start(engine, rows, targets, representation, settings, seed)
    stretch = stretch_length(rows, representation, settings)
    return [
        {"step": step, "distance_loss": losses.distance, "novelty_loss": losses.novelty}
        for step, losses in run_stretches(steps, kept, settings.n_steps, stretch, after_stretch)
    ]


def run_stretches(
    steps: Steps, kept: Ints, n_steps: int, stretch: int, after_stretch: Callable[[int], None]
) -> list[tuple[int, Losses]]:
    """Take all steps, a stretch at a time, and return the losses after each, with the steps taken by then."""
    taken = []
    for first_step in range(0, n_steps, stretch):
        n_now = min(stretch, n_steps - first_step)
        taken.append((first_step + n_now, steps.run(kept, first_step, n_now)))
        after_stretch(n_now)
    steps.finish()
    return taken


def start(
    engine: EngineName,
    rows: Rows,
    targets: Floats,
    representation: Representation,
    settings: TrainingSettings,
    seed: int,
) -> Steps:
    """Set an engine to work."""
    if engine == "numpy":
        return PlainSteps(rows, targets, representation, settings, seed)
    from rdplearn.fused_steps import FusedSteps  # here, because importing Numba takes longer than a small job

    return FusedSteps(rows, targets, representation, settings, seed)


def flops_per_step(n_values_a_row: float, n_components: int, batch_size: int) -> float:
    """Operations of one step: two products with W, and about 60 for each number of φ."""
    return batch_size * n_components * (4.0 * n_values_a_row + 60.0)


def values_a_row(rows: Rows) -> float:
    """Mean number of stored values in a row."""
    return rows.nnz / max(1, rows.shape[0]) if sp.issparse(rows) else rows.shape[1]


def stretch_length(rows: Rows, representation: Representation, settings: TrainingSettings) -> int:
    """How many steps to take between two returns to Python."""
    flops = flops_per_step(values_a_row(rows), representation.bias.size, settings.batch_size)
    return steps_at_a_time(flops, settings.n_steps)


def steps_at_a_time(flops: float, n_steps: int) -> int:
    """How many of `n_steps` steps of so many operations to take between two returns to Python."""
    return max(1, min(max(SHORTEST_STRETCH, -(-n_steps // STRETCHES)), int(FLOPS_PER_STRETCH / flops)))


@dataclass(frozen=True)
class Filling:
    """How full rows are. n_values : stored in a row, on average."""

    n_values: float
    n_columns: int
    is_sparse: bool


def filling_of(rows: Rows) -> Filling:
    """How full these rows are."""
    return Filling(values_a_row(rows), rows.shape[1], sp.issparse(rows))


def choose_engine(
    engine: Literal["auto", "numba", "numpy"],
    n_all_steps: int,
    filling: Filling,
    n_components: int,
    batch_size: int,
) -> EngineName:
    """Take the plain formulas where they would finish before a compiler has even started.

    n_all_steps : steps of all members and rounds together
    """
    if engine != "auto":
        return engine
    seconds = 4e-4 + flops_per_step(filling.n_values, n_components, batch_size) / 5e9
    if filling.is_sparse:  # plain momentum moves all of W at every step
        seconds += 3e-9 * filling.n_columns * n_components
    return "numpy" if n_all_steps * seconds < SECONDS_WORTH_COMPILING else "numba"
