"""RDP itself, through the library's public estimators and with the paper's protocol spelled out."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Self

import numpy as np

from experiments.baselines import TooLargeError
from experiments.preprocessing import Rows

DETECTION_PROTOCOL: dict[str, Any] = {
    "n_members": 30,
    "n_components": 50,
    "n_rounds": 8,
    "filter_fraction": 0.05,
    "score_rounds": 1,
    "n_steps": 6_000,
    "batch_size": 192,
    "learning_rate": 0.1,
    "momentum": 0.9,
    "max_grad_norm": 0.1,
    "dropout": 0.1,
    "max_samples": 10_000,
}
_TOO_LARGE = "too many for that"  # TableError stands for other faults of a table as well: its words tell


def _as_the_library_has_them(options: dict[str, Any]) -> dict[str, Any]:
    """Turn `hidden`, the widths of layers before φ's own, into the estimators' parameter."""
    from rdplearn import TorchOptions

    options = dict(options)
    if hidden := options.pop("hidden", None):
        options["torch"] = TorchOptions(network=list(hidden))
    return options


@contextlib.contextmanager
def _size_refused() -> Iterator[None]:
    """Turn the library's complaint that a table is too large for a mapping, and no other, into `TooLargeError`."""
    from rdplearn import TableError

    try:
        yield
    except TableError as problem:
        if _TOO_LARGE not in str(problem):
            raise
        raise TooLargeError(str(problem)) from problem


class RDP:
    """`rdplearn.RDPDetector`; options are the estimator's own."""

    def __init__(self, *, seed: int = 0, **options: Any) -> None:
        self.seed = seed
        self.options = options

    def fit(self, rows: Rows) -> Self:
        from rdplearn import KeepRounds, RDPDetector

        self.detector_ = RDPDetector.paper(
            random_state=self.seed, n_jobs=1, callbacks=[KeepRounds()], **_as_the_library_has_them(self.options)
        )
        with _size_refused():
            self.detector_.fit(rows)
        return self

    def score(self, rows: Rows) -> np.ndarray:
        return -self.detector_.score_samples(rows)

    def member_scores(self, rows: Rows) -> np.ndarray:
        return -self.detector_.member_scores(rows).T  # (n_members, n_rows)

    def round_scores(self, rows: Rows) -> np.ndarray:
        return -self.detector_.round_scores(rows).T  # (n_rounds, n_rows)

    def last_rounds_scores(self, rows: Rows) -> np.ndarray:
        """Scores by the last round, by the mean of the last two, and so on: (n_rounds, n_rows)."""
        rounds = self.round_scores(rows)[::-1]
        return np.cumsum(rounds, axis=0) / np.arange(1, len(rounds) + 1)[:, None]


class RDPDefault:
    """`rdplearn.RDPDetector()` as a user has it; options depart from its defaults."""

    def __init__(self, *, seed: int = 0, **options: Any) -> None:
        self.seed = seed
        self.options = options

    def fit(self, rows: Rows) -> Self:
        from rdplearn import RDPDetector

        options = _as_the_library_has_them(self.options)
        self.detector_ = RDPDetector(random_state=self.seed, n_jobs=1, **options).fit(rows)
        return self

    def score(self, rows: Rows) -> np.ndarray:
        return -self.detector_.score_samples(rows)

    def chosen(self) -> dict[str, Any]:
        """What the rule has settled for this table."""
        return {
            name: str(value) if name == "mapping" else value for name, value in asdict(self.detector_.chosen_).items()
        }


class RDPFeatures:
    """`rdplearn.RDPTransformer`: the preset "paper", or the library's own default; options override it."""

    def __init__(self, *, preset: str = "paper", seed: int = 0, **options: Any) -> None:
        self.preset = preset
        self.seed = seed
        self.options = options

    def fit(self, rows: Rows) -> Self:
        from rdplearn import RDPTransformer

        make = RDPTransformer.paper if self.preset == "paper" else RDPTransformer
        options = _as_the_library_has_them(self.options)
        with _size_refused():
            self.transformer_ = make(random_state=self.seed, n_jobs=1, **options).fit(rows)
        return self

    def transform(self, rows: Rows) -> np.ndarray:
        return np.asarray(self.transformer_.transform(rows))
