"""The one loop of training: a stretch of steps, a record of the losses, a word to whoever listens, and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rdplearn._training.checkpoint import SavedTraining
from rdplearn._training.engines.engine import Engine
from rdplearn._training.settings import Losses, TrainingSettings
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
        records = [found.records]
        engine.restore(found.arrays)
    n_done = int(records[0][-1]["step"]) if records[0] else 0
    going = set(range(len(listeners)))
    while going and n_done < settings.n_steps:
        n_now = min(stretch, settings.n_steps - n_done)
        losses = engine.run(n_done, n_now)
        n_done += n_now
        for number in sorted(going):
            records[number].append(record_of(n_done, losses[number], settings.recorded))
            if listeners[number](records[number]):
                engine.stop(number)
                going.remove(number)
        if saved is not None and going and n_done < settings.n_steps:
            saved.save_if_due(records[0], engine.state)
    engine.finish()
    return records


def record_of(step: int, losses: Losses, names: tuple[str, ...]) -> dict[str, float]:
    """The losses after so many steps, under the names that `history_` has for them."""
    built_in = {f"{name}_loss": getattr(losses, name) for name in names}
    return {"step": step, **built_in, **{f"{name}_loss": value for name, value in losses.auxiliary.items()}}
