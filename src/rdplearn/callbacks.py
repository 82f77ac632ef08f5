"""What may be done while a model is being trained: stop early, keep what is done so far, or anything of one's own.

A callback is a function of the records of the current training, the latest last; it is called after every stretch of
steps, and ends the training if it returns True. It holds no state of its own, so that members may be trained in any
order and on any thread. `Checkpoint`, `RecordEvery` and `KeepRounds` are not called: they ask for something to be kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeVar

__all__ = ["Callback", "Checkpoint", "KeepRounds", "RecordEvery", "Records", "StopOnPlateau"]

Records = list[dict[str, float]]
Callback = Callable[[Records], bool | None]


@dataclass(frozen=True)
class StopOnPlateau:
    """End a member's round of training once its loss has stopped falling.

    Parameters
    ----------
    patience : int, default=5
        How many records in a row must show no progress; a round has about 20 records, or more with `RecordEvery`.
    min_decrease : float, default=0.01
        What counts as progress: a loss below the best one so far by this share of it.
    loss : str, default=None
        The record's entry to look at, such as ``"novelty_loss"``; by default the sum of all losses in it.

    Examples
    --------
    >>> stop = StopOnPlateau(patience=2)
    >>> stop([{"step": 10, "novelty_loss": 0.5}, {"step": 20, "novelty_loss": 0.3}])
    False
    >>> stop([{"step": 10 * i, "novelty_loss": loss} for i, loss in enumerate([0.5, 0.3, 0.299, 0.301])])
    True
    """

    patience: int = 5
    min_decrease: float = 0.01
    loss: str | None = None

    def __call__(self, records: Records) -> bool:
        """Tell whether training should end."""
        best, n_waiting = float("inf"), 0
        for record in records:
            loss = self._loss_of(record)
            if loss < best * (1.0 - self.min_decrease):
                best, n_waiting = loss, 0
            else:
                n_waiting += 1
        return n_waiting >= self.patience

    def _loss_of(self, record: dict[str, float]) -> float:
        if self.loss is None:
            return sum(value for name, value in record.items() if name.endswith("_loss"))
        if self.loss not in record:
            names = ", ".join(repr(name) for name in record if name.endswith("_loss"))
            raise ValueError(f"The 'loss' of StopOnPlateau must be one of {names}. Got {self.loss!r} instead.")
        return record[self.loss]


@dataclass(frozen=True)
class Checkpoint:
    """Keep what a fit has done in a folder, and go on from there if it was interrupted.

    The same `fit` on the same table continues from the folder. Its result is the same as without the interruption. A
    folder of a fit with other parameters or another table is refused; only the other callbacks may differ. When the fit
    is complete, the folder is deleted.

    Parameters
    ----------
    folder : path
        Created if it is not there.
    every : int, default=1
        Save after so many rounds of boosting; the transformer saves after so many records.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from rdplearn import Checkpoint, RDPDetector
    >>> saved = Checkpoint(mkdtemp() + "/fit", every=2)
    >>> detector = RDPDetector(callbacks=[saved])
    """

    folder: str | os.PathLike[str]
    every: int = 1

    def __post_init__(self) -> None:
        _require_positive("Checkpoint", "every", self.every)


@dataclass(frozen=True)
class RecordEvery:
    """Write the losses to `history_` at least every so many steps; without it, about 20 times in a long round.

    Examples
    --------
    >>> from rdplearn import RDPTransformer, RecordEvery
    >>> transformer = RDPTransformer(callbacks=[RecordEvery(10)])
    """

    n_steps: int

    def __post_init__(self) -> None:
        _require_positive("RecordEvery", "n_steps", self.n_steps)


@dataclass(frozen=True)
class KeepRounds:
    """Keep the members of all rounds of boosting, for `RDPDetector.round_scores`.

    Without it, only the members of the rounds that score are kept.

    Examples
    --------
    >>> from rdplearn import KeepRounds, RDPDetector
    >>> detector = RDPDetector(callbacks=[KeepRounds()])
    """


Kept = TypeVar("Kept", Checkpoint, RecordEvery, KeepRounds)
ASKED_FOR = (Checkpoint, RecordEvery, KeepRounds)


def _require_positive(owner: str, name: str, value: object) -> None:
    if not isinstance(value, Integral) or value < 1:
        raise ValueError(f"The {name!r} parameter of {owner} must be an integer from 1. Got {value!r} instead.")


def check_callbacks(callbacks: Sequence[Any] | None, owner: str) -> None:
    """Raise an error unless every callback can be called or asks for something to be kept, which is asked for once."""
    for callback in callbacks or ():
        if not callable(callback) and not isinstance(callback, ASKED_FOR):
            raise ValueError(
                f"The 'callbacks' parameter of {owner} must be a list of functions of the records so far, "
                f"StopOnPlateau, Checkpoint, RecordEvery or KeepRounds. Got {callback!r:.60} in it."
            )
    for kind in ASKED_FOR:
        n_of_kind = sum(isinstance(callback, kind) for callback in callbacks or ())
        if n_of_kind > 1:
            raise ValueError(
                f"The 'callbacks' parameter of {owner} may hold one {kind.__name__}. Got {n_of_kind}: leave one."
            )


def wants_to_stop(callbacks: Sequence[Any] | None, records: Records) -> bool:
    """Show every callback the records so far; tell whether one of them ends the training."""
    answers = [callback(records) for callback in callbacks or () if not isinstance(callback, ASKED_FOR)]
    return any(answers)


def find(kind: type[Kept], callbacks: Sequence[Any] | None) -> Kept | None:
    """The callback that asks for something to be kept, if there is one."""
    return next((callback for callback in callbacks or () if isinstance(callback, kind)), None)


def record_every(callbacks: Sequence[Any] | None) -> int | None:
    """Most steps from one record to the next, if that was asked for."""
    asked = find(RecordEvery, callbacks)
    return None if asked is None else int(asked.n_steps)
