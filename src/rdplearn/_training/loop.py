"""Training φ of one member: which engine does it, in which stretches, and what is written down on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy.typing as npt
import scipy.sparse as sp

from rdplearn._model.representation import Losses, TrainingSettings
from rdplearn._training.checkpoint import SavedTraining
from rdplearn._training.engines.plain import PlainSteps
from rdplearn._training.task import Problem
from rdplearn._training.torch_options import NOTHING_WANTED, TorchSettings
from rdplearn._types import Ints, Rows
from rdplearn.callbacks import Records

EngineName = Literal["numba", "numpy", "torch"]

ENGINES = ("auto", "numba", "numpy", "torch")
# Compiling the kernels takes 6 to 15 seconds once on a machine. A job shorter than this is done before that.
SECONDS_WORTH_COMPILING = 6.0
STRETCHES = 20  # the losses of a long training are written down this many times or more ...
SHORTEST_STRETCH = 30  # ... and those of a short one after so many steps
FLOPS_PER_STRETCH = 1e9  # return to Python several times a second: for progress, and so that Ctrl-C is heard


class StackedEngine(Protocol):
    """An engine at work on a stack of members."""

    def run(self, first_step: int, n_steps: int) -> list[Losses]: ...
    def stop(self, number: int) -> None: ...
    def finish(self) -> None: ...
    def state(self) -> dict[str, npt.NDArray[Any]]: ...
    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None: ...


class Steps(Protocol):
    """An engine at work on one member."""

    def run(self, kept: Ints, first_step: int, n_steps: int) -> Losses: ...
    def finish(self) -> None: ...
    def state(self) -> dict[str, npt.NDArray[Any]]: ...
    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None: ...


def train(
    problem: Problem,
    settings: TrainingSettings,
    engine: EngineName,
    after_stretch: Callable[[Records], bool | None],
    record_every: int | None = None,
) -> Records:
    """Train `problem.phi` in place and return its losses, one record a stretch of steps.

    after_stretch : called with the records so far; ends the training if it returns True, and may raise to end the work
    record_every : most steps from one record to the next; by default there are `STRETCHES` records or more
    """
    steps = start(engine, problem, settings)
    stretch = stretch_length(problem.rows, problem.phi.n_components, settings, record_every)
    return run_stretches(steps, problem.kept, settings.n_steps, stretch, ("distance", "novelty"), after_stretch)


def run_stretches(
    steps: Steps,
    kept: Ints,
    n_steps: int,
    stretch: int,
    losses: tuple[str, ...],
    after_stretch: Callable[[Records], bool | None],
    saved: SavedTraining | None = None,
) -> Records:
    """Take all steps, a stretch at a time, and return the named losses after each, with the steps taken by then.

    saved : where to go on from, and to save to
    """
    records: Records = []
    if saved is not None and (found := saved.load()) is not None:
        records = found.records
        steps.restore(found.arrays)
    while not records or records[-1]["step"] < n_steps:
        first_step = int(records[-1]["step"]) if records else 0
        n_now = min(stretch, n_steps - first_step)
        records.append(record_of(first_step + n_now, steps.run(kept, first_step, n_now), losses))
        if after_stretch(records):
            break
        if saved is not None and records[-1]["step"] < n_steps:
            saved.save_if_due(records, steps.state)
    steps.finish()
    return records


def record_of(step: int, losses: Losses, names: tuple[str, ...]) -> dict[str, float]:
    """The losses after so many steps, under the names that `history_` has for them."""
    built_in = {f"{name}_loss": getattr(losses, name) for name in names}
    return {"step": step, **built_in, **{f"{name}_loss": value for name, value in losses.auxiliary.items()}}


def start(
    engine: EngineName, problem: Problem, settings: TrainingSettings, wanted: TorchSettings = NOTHING_WANTED
) -> Steps:
    """Set an engine to work on one member. wanted : of PyTorch."""
    if engine != "numba":
        return OneMember(start_stack(engine, [problem], settings, wanted))
    from rdplearn._training.engines.compiled import (
        FusedSteps,  # here, because importing Numba takes longer than a small job
    )

    return FusedSteps(problem.rows, problem.targets, problem.phi, settings, problem.seed)


def start_stack(
    engine: EngineName, problems: list[Problem], settings: TrainingSettings, wanted: TorchSettings
) -> StackedEngine:
    """Set an engine that trains members together to work on them."""
    if engine == "numpy":
        return PlainSteps(problems, settings)
    from rdplearn._training.engines.torch_steps import StackedSteps  # here, because importing PyTorch takes seconds

    return StackedSteps(problems, settings, wanted)


class OneMember:
    """A stack of one, with the interface that the engines for one member have."""

    def __init__(self, stack: StackedEngine) -> None:
        self.stack = stack
        self.finish, self.state, self.restore = stack.finish, stack.state, stack.restore

    def run(self, kept: Ints, first_step: int, n_steps: int) -> Losses:
        """Take `n_steps` steps; the rows `kept` are those of the problem."""
        return self.stack.run(first_step, n_steps)[0]


def flops_per_step(n_values_a_row: float, n_components: int, batch_size: int) -> float:
    """Operations of one step: two products with W, and about 60 for each number of φ."""
    return batch_size * n_components * (4.0 * n_values_a_row + 60.0)


def values_a_row(rows: Rows) -> float:
    """Mean number of stored values in a row."""
    return rows.nnz / max(1, rows.shape[0]) if sp.issparse(rows) else rows.shape[1]


def stretch_length(rows: Rows, n_components: int, settings: TrainingSettings, record_every: int | None = None) -> int:
    """How many steps to take between two returns to Python."""
    flops = flops_per_step(values_a_row(rows), n_components, settings.batch_size)
    return steps_at_a_time(flops, settings.n_steps, record_every)


def steps_at_a_time(flops: float, n_steps: int, record_every: int | None = None) -> int:
    """How many of `n_steps` steps of so many operations to take between two returns to Python."""
    most = max(SHORTEST_STRETCH, -(-n_steps // STRETCHES)) if record_every is None else record_every
    return max(1, min(most, int(FLOPS_PER_STRETCH / flops)))


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
    engine: Literal["auto", "numba", "numpy", "torch"],
    n_all_steps: int,
    filling: Filling,
    n_components: int,
    batch_size: int,
    *,
    distances: bool = True,
) -> EngineName:
    """Take the plain formulas where they would finish before a compiler has even started.

    n_all_steps : steps of all members and rounds together; distances : whether they are predicted
    """
    if engine != "auto":
        return engine
    flops = flops_per_step(filling.n_values, n_components, batch_size)
    is_stacked = not filling.is_sparse and not distances  # then NumPy does all of a step for many members at once
    seconds = 4e-5 + flops / 2e10 if is_stacked else 4e-4 + flops / 5e9
    if filling.is_sparse:  # plain momentum moves all of W at every step
        seconds += 3e-9 * filling.n_columns * n_components
    return "numpy" if n_all_steps * seconds < SECONDS_WORTH_COMPILING else "numba"
