"""RDPDetector: anomalies in a table, without labels, by predicting random distances."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rdplearn.boosting import BoostingSettings
from rdplearn.callbacks import check_callbacks
from rdplearn.errors import RDPWarning
from rdplearn.fit_folder import FitFolder, open_fit_folder
from rdplearn.matrix import Matrix, read_matrix
from rdplearn.members import Sampling, train_members
from rdplearn.random_mapping import MAPPING_NAMES
from rdplearn.representation import TrainingSettings
from rdplearn.scoring import score_rows
from rdplearn.threshold import automatic_threshold, false_alarm_threshold, share_threshold, unseen_scores
from rdplearn.torch_settings import TORCH_CONSTRAINTS, Device, engine_for, torch_settings
from rdplearn.training import ENGINES, choose_engine
from rdplearn.views import UnchangedView, View, fit_min_max

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

THRESHOLD_ROWS = 100_000  # a share of a larger table is taken from a sample of this size
CALIBRATION_ROWS, HELD_BACK_GROUPS = 10_000, 5


class RDPDetector(OutlierMixin, BaseEstimator):
    r"""Find anomalies in a table without labels, by predicting random distances (RDP).

    Each member of an ensemble draws rows of the table and a random mapping η, and trains a small network φ on them so
    that φ's inner products predict those of η (:math:`L_{rdp}`, equation 2) and φ itself predicts η
    (:math:`L_{aux}^{ad}`, equation 4). What is frequent is learned well; a row on which φ and η still disagree is
    unlike the rest. Boosting repeats this on the rows that agree best, and members are averaged. The defaults are the
    paper's [1]_.

    Parameters
    ----------
    n_members : int, default=30
        Size of the ensemble.
    n_components : int, default=50
        Numbers in φ(x), the paper's M.
    n_targets : int, default=None
        Numbers in η(x), the paper's K. By default as many as `n_components`, which the novelty loss requires.
    mapping : {"leaky", "linear", "sparse", "fourier", "identity"}, transformer or callable, default="leaky"
        The random mapping η; see `rdplearn.random_mapping`. A scikit-learn transformer is cloned, seeded and fitted on
        each member's rows; a callable takes rows to targets and must always give the same answer.
    bandwidth : float, default=None
        Of ``mapping="fourier"``, on the scaled columns. By default the median distance between rows.
    distance_weight : float, default=1.0
        Weight of the distance prediction loss; 0 turns it off.
    novelty_weight : float, default=1.0
        Weight of the novelty loss; 0 turns it off, and rows are scored by their distance to subsamples of the kept rows
        in φ's space. Novelty alone, with ``n_rounds=1``, is random network distillation (RND).
    inner_product : {"l1", "plain"}, default="l1"
        Whether vectors are divided by their L1 norm before their inner products are compared, as the authors' code
        does, or not, as equation 2 says.
    n_rounds : int, default=8
        Rounds of boosting; 1 is no boosting.
    filter_fraction : float in [0, 0.5), default=0.05
        Share of the kept rows dropped after each round.
    n_steps : int, default=6000
        Steps of gradient descent in each round.
    batch_size : int, default=192
        Rows in each step.
    learning_rate : float, default=0.1
    momentum : float in [0, 1), default=0.9
    max_grad_norm : float, default=0.1
        The gradient of all of φ's parameters together is clipped to this norm.
    dropout : float in [0, 1), default=0.1
        Share of φ's outputs set to zero while training.
    max_samples : int or float, default=10_000
        Rows that each member draws, with replacement: a number, or a share of the table in (0, 1].
    scaling : {"minmax"} or None, default="minmax"
        Scale columns to [0, 1] by their range at fit, or take them as they are.
    contamination : "auto" or float in (0, 0.5], default="auto"
        Share of rows that `predict` reports. By default those beyond the whisker of a box plot of the anomaly scores
        (upper quartile plus 1.5 interquartile ranges). Tables of more than 100,000 rows are judged by a random sample
        of that size.
    false_alarm_rate : float in (0, 0.5], default=None
        Instead of `contamination`: share of the *normal* rows that `predict` reports, at most. It is calibrated on up
        to 10,000 rows, a fifth of which is held back from each member; see `rdplearn.threshold`.
    engine : {"auto", "numba", "numpy", "torch"}, default="auto"
        Compiled kernels, plain NumPy or PyTorch, with the same result up to rounding; by default whichever of the first
        two is done first, or PyTorch where one of the next five parameters needs it. See `docs/torch.md`.
    network : list of int or callable, default=None
        φ with hidden leaky layers of these widths, or a function of (n_columns, n_components) that makes an
        ``nn.Module`` for each member; by default the paper's φ.
    distance_loss : callable, default=None
        Takes predicted and wanted inner products to a loss; by default the squared error.
    auxiliary_losses : dict of name: (callable, weight), default=None
        Further losses, each a function of (rows, representation, targets, partner), tensors of one batch.
    device : {"auto", "cpu", "cuda", "mps"}, default="auto"
        Where PyTorch computes.
    compile : bool, default=False
        Let ``torch.compile`` speed up the steps; where that fails, training goes on without it.
    callbacks : list, default=None
        Functions of the records of a member's round so far, which end it by returning True, such as
        `rdplearn.StopOnPlateau`; and a `rdplearn.Checkpoint`, from which an interrupted fit goes on.
    record_every : int, default=None
        Write the losses to `history_` at least every so many steps; by default 20 times a round or more.
    keep_rounds : bool, default=False
        Keep the members of all rounds, for `round_scores`.
    n_jobs : int, default=None
        Threads, as in scikit-learn; the result does not depend on it. `joblib.parallel_config` may place the members on
        another backend.
    random_state : int, RandomState or None, default=None
    verbose : bool or int, default=0
        Show a progress bar on stderr.

    Attributes
    ----------
    offset_ : float
        `decision_function` is `score_samples` minus this.
    history_ : list of dict
        Losses during training: a record for each stretch of steps, with ``member``, ``round``, ``step``,
        ``distance_loss``, ``novelty_loss``, and for the round ``n_kept`` (draws left after it) and ``cut`` (the highest
        score among them). ``pandas.DataFrame(detector.history_)`` makes a table of it.
    ensembles_ : list of Ensemble
        The members side by side, of the last round, or of every round with `keep_rounds`.
    view_ : the fitted scaling of the columns.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, when the table had names

    See Also
    --------
    sklearn.ensemble.IsolationForest : The usual choice; the same methods with the same meaning.

    References
    ----------
    .. [1] H. Wang, G. Pang, C. Shen, C. Ma: Unsupervised representation learning by predicting random distances.
       IJCAI 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from rdplearn import RDPDetector
    >>> rng = np.random.default_rng(0)
    >>> table = rng.normal(size=(500, 5))
    >>> table[7] = 6.0
    >>> detector = RDPDetector(n_members=3, n_rounds=2, n_steps=200, random_state=0).fit(table)
    >>> int(np.argmin(detector.score_samples(table)))
    7
    >>> detector.predict(table[7:8])
    array([-1])
    """

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
        **TORCH_CONSTRAINTS,
        "callbacks": [list, tuple, None],
        "record_every": [Interval(Integral, 1, None, closed="left"), None],
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
        engine: Literal["auto", "numba", "numpy", "torch"] = "auto",
        network: Any = None,
        distance_loss: Callable[..., Any] | None = None,
        auxiliary_losses: dict[str, tuple[Callable[..., Any], float]] | None = None,
        device: Device = "auto",
        compile: bool = False,
        callbacks: list[Any] | None = None,
        record_every: int | None = None,
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
        self.network = network
        self.distance_loss = distance_loss
        self.auxiliary_losses = auxiliary_losses
        self.device = device
        self.compile = compile
        self.callbacks = callbacks
        self.record_every = record_every
        self.keep_rounds = keep_rounds
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: object = None) -> Self:
        """Train the ensemble on a table and set the threshold.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        y : ignored
        """
        self._check_parameters()
        matrix = read_matrix(self, X, reset=True, min_rows=2)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        folder = open_fit_folder(self, self.callbacks, matrix, seed)
        seed = seed if folder is None else folder.seed
        sampling = self._plan_sampling(matrix.shape[0], seed)
        self.view_ = self._fit_view(matrix)
        trained = train_members(
            matrix,
            self.view_,
            sampling,
            self._boosting_settings(matrix, folder),
            self.n_members,
            seed,
            self.n_jobs,
            verbose=bool(self.verbose),
        )
        self.ensembles_, self.history_ = trained.ensembles, trained.history
        self.offset_ = -self._choose_threshold(matrix, sampling, trained.rows_of_member, seed)
        if folder is not None:
            folder.remove()
        return self

    def score_samples(self, X: Any) -> Doubles:
        """How normal each row is: the higher, the more normal. Shape (n_rows,).

        The negative of the paper's anomaly score, which is the mean over members of the squared difference of φ and η.
        """
        return -score_rows(self._new_rows(X), self.view_, self.ensembles_[-1], self.n_jobs)

    def decision_function(self, X: Any) -> Doubles:
        """`score_samples` minus `offset_`: negative for rows that are reported as anomalous."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Ints:
        """-1 for rows that are reported as anomalous, +1 for the others."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def member_scores(self, X: Any) -> Doubles:
        """`score_samples` by each member alone. Shape (n_rows, n_members)."""
        return -score_rows(self._new_rows(X), self.view_, self.ensembles_[-1], self.n_jobs, by_member=True)

    def round_scores(self, X: Any) -> Doubles:
        """`score_samples` as each round of boosting would have it. Shape (n_rows, n_rounds); needs `keep_rounds`."""
        check_is_fitted(self)
        if len(self.ensembles_) < self.n_rounds:
            raise ValueError(
                f"round_scores needs the members of all {self.n_rounds} rounds, and only those of the last were kept. "
                "Fit with keep_rounds=True."
            )
        matrix = self._new_rows(X)
        return -np.stack([score_rows(matrix, self.view_, e, self.n_jobs) for e in self.ensembles_], axis=1)

    def _new_rows(self, X: Any) -> Matrix:
        check_is_fitted(self)
        return read_matrix(self, X, reset=False)

    def _check_parameters(self) -> None:
        self._validate_params()
        check_callbacks(self.callbacks, "RDPDetector")
        if self.distance_weight == 0 and self.novelty_weight == 0:
            raise ValueError(
                "At least one of 'distance_weight' and 'novelty_weight' of RDPDetector must be positive. Got 0 for "
                "both: there would be nothing to learn."
            )
        if self.false_alarm_rate is not None and self.contamination != "auto":
            raise ValueError(
                "'contamination' and 'false_alarm_rate' of RDPDetector set the same threshold. Got "
                f"{self.contamination!r} and {self.false_alarm_rate!r}: leave one of them at its default."
            )
        if self.n_targets not in (None, self.n_components) and self.novelty_weight > 0:
            raise ValueError(
                "The 'n_targets' parameter of RDPDetector must equal 'n_components' when the novelty loss is on. Got "
                f"{self.n_targets} and {self.n_components}: make them equal, or pass novelty_weight=0."
            )

    def _plan_sampling(self, n_rows: int, seed: int) -> Sampling:
        """How many rows members draw, and which they may not see."""
        is_share = not isinstance(self.max_samples, Integral)
        n_draws = max(2, round(self.max_samples * n_rows)) if is_share else int(self.max_samples)
        n_left = n_draws * (1.0 - self.filter_fraction) ** (self.n_rounds - 1)
        if n_left < 2:
            raise ValueError(
                f"The 'filter_fraction' parameter of RDPDetector must leave at least 2 rows for the last round. Got "
                f"{self.filter_fraction}, which leaves {n_left:.1f} of {n_draws} after {self.n_rounds - 1} rounds: "
                "pass a smaller fraction, fewer rounds or a larger max_samples."
            )
        if self.false_alarm_rate is None:
            return Sampling(n_rows, n_draws, held_back=[])
        order = np.random.default_rng(seed).permutation(n_rows)[:CALIBRATION_ROWS]
        groups = [np.sort(order[start::HELD_BACK_GROUPS]) for start in range(HELD_BACK_GROUPS)]
        return Sampling(n_rows, n_draws, held_back=groups)

    def _fit_view(self, matrix: Matrix) -> View:
        if self.scaling is None:
            return UnchangedView()
        view = fit_min_max(matrix)
        if view.all_constant:
            warnings.warn(
                f"All {matrix.shape[1]} column(s) of the table are constant: every row gets the same score.",
                RDPWarning,
                stacklevel=3,
            )
        return view

    def _choose_threshold(self, matrix: Matrix, sampling: Sampling, rows_of_member: list[Ints], seed: int) -> float:
        """The anomaly score above which `predict` reports a row."""
        ensemble = self.ensembles_[-1]
        if self.false_alarm_rate is not None:
            rows = np.concatenate(sampling.held_back)
            scores = score_rows(matrix[rows], self.view_, ensemble, self.n_jobs, by_member=True)
            seen = np.stack([np.isin(rows, of_member) for of_member in rows_of_member], axis=1)
            return false_alarm_threshold(unseen_scores(scores, seen), self.false_alarm_rate)
        few = np.arange(matrix.shape[0])
        if len(few) > THRESHOLD_ROWS:
            few = np.sort(np.random.default_rng(seed).choice(len(few), THRESHOLD_ROWS, replace=False))
        scores = score_rows(matrix[few], self.view_, ensemble, self.n_jobs)
        return (
            automatic_threshold(scores) if self.contamination == "auto" else share_threshold(scores, self.contamination)
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _boosting_settings(self, matrix: Matrix, folder: FitFolder | None) -> BoostingSettings:
        wanted = torch_settings(self)
        engine = engine_for("RDPDetector", self.engine, wanted)
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
            engine=choose_engine(engine, n_all_steps, matrix, self.n_components, self.batch_size),
            torch=wanted,
            callbacks=tuple(self.callbacks or ()),
            record_every=self.record_every,
            folder=folder,
        )
