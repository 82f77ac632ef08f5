"""RDPDetector: anomalies in a table, without labels, by predicting random distances."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rdplearn.boosting import BoostingSettings
from rdplearn.matrix import Matrix, read_matrix
from rdplearn.members import train_members
from rdplearn.random_mapping import MAPPING_NAMES
from rdplearn.representation import TrainingSettings
from rdplearn.scoring import score_rows
from rdplearn.training import ENGINES, choose_engine
from rdplearn.views import UnchangedView, fit_min_max

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class RDPDetector(OutlierMixin, BaseEstimator):
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_members": [Interval(Integral, 1, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_targets": [Interval(Integral, 1, None, closed="left"), None],
        "mapping": [StrOptions(set(MAPPING_NAMES)), HasMethods(["fit", "transform"]), callable],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), None],
        "distance_weight": [Interval(Real, 0, None, closed="left")],
        "novelty_weight": [Interval(Real, 0, None, closed="left")],
        "inner_product": [StrOptions({"l1", "plain"})],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "filter_fraction": [Interval(Real, 0, 0.5, closed="left")],
        "n_steps": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 2, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "momentum": [Interval(Real, 0, 1, closed="left")],
        "max_grad_norm": [Interval(Real, 0, None, closed="neither")],
        "dropout": [Interval(Real, 0, 1, closed="left")],
        "max_samples": [Interval(Integral, 2, None, closed="left"), Interval(Real, 0, 1, closed="right")],
        "scaling": [StrOptions({"minmax"}), None],
        "contamination": [StrOptions({"auto"}), Interval(Real, 0, 0.5, closed="right")],
        "false_alarm_rate": [Interval(Real, 0, 0.5, closed="right"), None],
        "engine": [StrOptions(set(ENGINES))],
        "keep_rounds": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        n_members: int = 30,
        n_components: int = 50,
        n_targets: int | None = None,
        mapping: Any = "leaky",
        bandwidth: float | None = None,
        distance_weight: float = 1.0,
        novelty_weight: float = 1.0,
        inner_product: Literal["l1", "plain"] = "l1",
        n_rounds: int = 8,
        filter_fraction: float = 0.05,
        n_steps: int = 6000,
        batch_size: int = 192,
        learning_rate: float = 0.1,
        momentum: float = 0.9,
        max_grad_norm: float = 0.1,
        dropout: float = 0.1,
        max_samples: float = 10_000,
        scaling: Literal["minmax"] | None = "minmax",
        contamination: float | Literal["auto"] = "auto",
        false_alarm_rate: float | None = None,
        engine: Literal["auto", "numba", "numpy"] = "auto",
        keep_rounds: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.n_members = n_members
        self.n_components = n_components
        self.n_targets = n_targets
        self.mapping = mapping
        self.bandwidth = bandwidth
        self.distance_weight = distance_weight
        self.novelty_weight = novelty_weight
        self.inner_product = inner_product
        self.n_rounds = n_rounds
        self.filter_fraction = filter_fraction
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.max_grad_norm = max_grad_norm
        self.dropout = dropout
        self.max_samples = max_samples
        self.scaling = scaling
        self.contamination = contamination
        self.false_alarm_rate = false_alarm_rate
        self.engine = engine
        self.keep_rounds = keep_rounds
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: object = None) -> Self:
        self._validate_params()
        matrix = read_matrix(self, X, reset=True, min_rows=2)
        self.view_ = fit_min_max(matrix) if self.scaling == "minmax" else UnchangedView()
        seed = int(check_random_state(self.random_state).randint(2**31))
        n = matrix.shape[0]
        trained = train_members(
            matrix, self.view_, lambda m, rng: rng.integers(n, size=int(self.max_samples)), np.arange(0),
            self._boosting_settings(matrix), self.n_members, seed, self.n_jobs, verbose=bool(self.verbose),
        )
        self.ensembles_ = trained.ensembles
        self.history_ = trained.history
        return self

    def _boosting_settings(self, matrix: Matrix) -> BoostingSettings:
        training = TrainingSettings(
            n_steps=self.n_steps,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            momentum=self.momentum,
            max_grad_norm=self.max_grad_norm,
            dropout=self.dropout,
            distance_weight=self.distance_weight,
            novelty_weight=self.novelty_weight,
            inner_product=self.inner_product,
        )
        n_all_steps = self.n_members * self.n_rounds * self.n_steps
        return BoostingSettings(
            training=training,
            n_components=self.n_components,
            n_targets=self.n_targets or self.n_components,
            n_rounds=self.n_rounds,
            filter_fraction=self.filter_fraction,
            mapping=self.mapping,
            bandwidth=self.bandwidth,
            keep_rounds=self.keep_rounds,
            engine=choose_engine(self.engine, n_all_steps, matrix, self.n_components, self.batch_size),
        )

    def score_samples(self, X: Any) -> Doubles:
        check_is_fitted(self)
        matrix = read_matrix(self, X, reset=False)
        return -score_rows(matrix, self.view_, lambda r: self.ensembles_[-1].member_scores(r).mean(axis=1), self.n_jobs)
