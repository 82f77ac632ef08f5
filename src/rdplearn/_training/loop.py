"""The one loop of training: a stretch of steps, a record of the losses, a word to whoever listens, and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rdplearn._training.checkpoint import Piece, SavedTraining
from rdplearn._training.engines.engine import Engine
from rdplearn._training.settings import Losses, TrainingSettings
from rdplearn._types import Arrays
from rdplearn.callbacks import Records


def train(
    engine: Engine,
    settings: TrainingSettings,
    stretch: int,
    listeners: Sequence[Callable[[Records], bool | None]],
    saved: SavedTraining | None = None,
) -> list[Records]:
    """Take all steps, a stretch at a time; returns the losses of every task after each.

    listeners : one for each task, called with its records so far; a task rests from then on if it returns True, and all
        work ends if it raises
    saved : where the training of a single task goes on from, and is saved to
    """
    records: list[Records] = [[] for _ in listeners]
    if saved is not None and (found := saved.load()) is not None:
        check_saved(found, engine.state(), settings, saved)
        records = [found.records]
        engine.restore(found.arrays)
    n_done = int(records[0][-1]["step"]) if records[0] else 0
    going = set(range(len(listeners)))
    while going and n_done < settings.n_steps:
        n_now = min(stretch, settings.n_steps - n_done)
        with np.errstate(over="ignore", invalid="ignore"):  # told below, in words
            losses = engine.run(n_done, n_now)
        n_done += n_now
        for number in sorted(going):
            check_converging(losses[number], n_done, settings)
            records[number].append(record_of(n_done, losses[number], settings.recorded))
            if listeners[number](records[number]):
                engine.stop(number)
                going.remove(number)
        if saved is not None and going and n_done < settings.n_steps:
            saved.save_if_due(records[0], engine.state)
    engine.finish()
    return records


def check_saved(found: Piece, state: Arrays, settings: TrainingSettings, saved: SavedTraining) -> None:
    """See that what was saved fits this training: the arrays of its engine, and records that lead up to a step."""
    steps = [int(record.get("step", 0)) for record in found.records]
    is_possible = bool(steps) and steps == sorted(set(steps)) and steps[0] > 0 and steps[-1] < settings.n_steps
    saved.require(is_possible, "its records")
    saved.require(set(found.arrays) == set(state), "the names of its arrays")
    for name, array in found.arrays.items():
        saved.require((array.shape, array.dtype) == (state[name].shape, state[name].dtype), f"its array {name!r}")
        if name.endswith("last_used"):  # steps, by which compiled code looks up powers of the momentum
            saved.require(bool(((array >= -1) & (array < steps[-1])).all()), f"its array {name!r}")


def check_converging(losses: Losses, step: int, settings: TrainingSettings) -> None:
    """Raise an error if a loss is no number any more: nothing can be learned from there."""
    parts = {name: getattr(losses, name) for name in ("distance", "novelty", "reconstruction")} | losses.auxiliary
    lost = [name for name, value in parts.items() if np.isnan(value)]
    if lost:
        raise diverged(f"its {lost[0]} loss is not a number after {step} steps", settings.learning_rate)


def diverged(what: str, learning_rate: float) -> ValueError:
    """The error for a training that left the range of numbers."""
    return ValueError(
        f"Training diverged: {what}. Got learning_rate={learning_rate:g}: pass a smaller 'learning_rate', or scale the "
        "columns down if members see them unchanged."
    )


def record_of(step: int, losses: Losses, names: tuple[str, ...]) -> dict[str, float]:
    """The losses after so many steps, under the names that `history_` has for them."""
    built_in = {f"{name}_loss": getattr(losses, name) for name in names}
    return {"step": step, **built_in, **{f"{name}_loss": value for name, value in losses.auxiliary.items()}}
