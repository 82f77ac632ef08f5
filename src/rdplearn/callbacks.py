"""What may be done while a model is being trained: stop early, keep what is done so far, or anything of one's own.

A callback is a function of the records of the current training, the latest last; it is called after every stretch of
steps, and ends the training if it returns True. It holds no state of its own, so that members may be trained in any
order and on any thread. `Checkpoint` is the exception: it is not called but stands for a folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Callback", "Checkpoint", "Records", "StopOnPlateau"]

Records = list[dict[str, float]]
Callback = Callable[[Records], bool | None]


@dataclass(frozen=True)
class StopOnPlateau:
    """End a member's round of training once its loss has stopped falling.

    Parameters
    ----------
    patience : int, default=5
        How many records in a row must show no progress; a round has about 20 records, or more with `record_every`.
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

    The same `fit` on the same table continues from the folder, with the result that it would have had without the
    interruption; a folder of a fit with other parameters or another table is refused, while other callbacks may have
    come or gone. When the fit is complete, the folder goes away.

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
        if not isinstance(self.every, int) or self.every < 1:
            raise ValueError(
                f"The 'every' parameter of Checkpoint must be an integer from 1. Got {self.every!r} instead."
            )


def check_callbacks(callbacks: Sequence[Any] | None, owner: str) -> None:
    """Raise an error unless every callback can be called or is the one `Checkpoint`."""
    for callback in callbacks or ():
        if not callable(callback) and not isinstance(callback, Checkpoint):
            raise ValueError(
                f"The 'callbacks' parameter of {owner} must be a list of functions of the records so far, "
                f"StopOnPlateau or Checkpoint. Got {callback!r:.60} in it."
            )
    n_checkpoints = sum(isinstance(callback, Checkpoint) for callback in callbacks or ())
    if n_checkpoints > 1:
        raise ValueError(f"The 'callbacks' parameter of {owner} may hold one Checkpoint. Got {n_checkpoints}.")


def wants_to_stop(callbacks: Sequence[Any], records: Records) -> bool:
    """Show every callback the records so far; tell whether one of them ends the training."""
    answers = [callback(records) for callback in callbacks if not isinstance(callback, Checkpoint)]
    return any(answers)


def find_checkpoint(callbacks: Sequence[Any] | None) -> Checkpoint | None:
    """The checkpoint among the callbacks."""
    return next((callback for callback in callbacks or () if isinstance(callback, Checkpoint)), None)
