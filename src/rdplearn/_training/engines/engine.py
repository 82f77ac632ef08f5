"""What an engine is, and which one is taken.

An engine trains φ of one or several tasks, a stretch of steps at a time. `choose_engine` takes the plain formulas where
they would finish before a compiler has even started.
"""

from __future__ import annotations

from typing import Literal, Protocol

from rdplearn._training.engines.plain import PlainEngine
from rdplearn._training.flops import Filling, step_flops
from rdplearn._training.settings import EngineName, Losses, TrainingSettings, TrainingTask
from rdplearn._training.torch_options import NOTHING_WANTED, TorchOptions
from rdplearn._types import Arrays

ENGINES = ("auto", "numba", "numpy", "torch")
# Compiling the kernels takes 6 to 15 seconds once on a machine. A job shorter than this is done before that.
SECONDS_WORTH_COMPILING = 6.0


class Engine(Protocol):
    """An engine at work on a stack of tasks."""

    def run(self, first_step: int, n_steps: int) -> list[Losses]:
        """Take some steps; returns the mean losses of every task over them."""

    def stop(self, number: int) -> None:
        """Let one task rest from now on."""

    def finish(self) -> None:
        """Leave what was learned in the tasks."""

    def state(self) -> Arrays:
        """All that changes while training, to go on from later."""

    def restore(self, state: Arrays) -> None:
        """Go back to a `state`."""


def start_engine(
    name: EngineName, tasks: list[TrainingTask], settings: TrainingSettings, wanted: TorchOptions = NOTHING_WANTED
) -> Engine:
    """Set an engine to work on tasks, which it trains together. wanted : of PyTorch."""
    if name == "numpy":
        return PlainEngine(tasks, settings)
    if name == "numba":
        from rdplearn._training.engines.compiled import CompiledEngine  # here: importing Numba takes a second

        return CompiledEngine(tasks, settings)
    from rdplearn._training.engines.torch_steps import TorchEngine  # here: importing PyTorch takes seconds

    return TorchEngine(tasks, settings, wanted)


def choose_engine(
    engine: Literal["auto", "numba", "numpy", "torch"],
    n_all_steps: int,
    filling: Filling,
    n_components: int,
    settings: TrainingSettings,
) -> EngineName:
    """Take the plain formulas where they would finish before a compiler has even started.

    n_all_steps : steps of all members and rounds together
    """
    if engine != "auto":
        return engine
    if settings.pairs == "all":  # done in seconds: no compiled kernel exists
        return "numpy"
    flops = step_flops(filling, n_components, settings)
    is_stacked = not filling.is_sparse and settings.distance_weight == 0 and settings.reconstruction_weight == 0
    if settings.reconstruction_weight > 0:
        seconds = 1e-3 + flops / 5e9
        if filling.is_sparse:  # a batch's columns are decoded for all its rows, and all of both matrices are moved
            n_used = min(filling.n_columns, settings.batch_size * filling.n_values)
            seconds += 6.0 * settings.batch_size * n_components * n_used / 5e9
            seconds += 1e-8 * filling.n_columns * n_components
    else:
        # a stack of members takes its steps at once, unless partners are to be found for each
        seconds = 4e-5 + flops / 2e10 if is_stacked else 4e-4 + flops / 5e9
        if filling.is_sparse:  # plain momentum moves all of W at every step
            seconds += 3e-9 * filling.n_columns * n_components
    return "numpy" if n_all_steps * seconds < SECONDS_WORTH_COMPILING else "numba"
