"""RDPDetector: anomalies in a table, without labels, by predicting random distances."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rdplearn._explain.attribution import attribute
from rdplearn._explain.explanation import Explanation, column_groups, grouped_values, typical_ranges
from rdplearn._explain.reliability import Assessment, assess
from rdplearn._explain.typical_rows import learn_typical_rows, rows_to_sample
from rdplearn._model.combination import geometric_mean, mean_of
from rdplearn._model.mapping import MAPPING_NAMES
from rdplearn._model.representation import TrainingSettings
from rdplearn._scoring.scores import Panel, scaled_member_scores, score_rows
from rdplearn._scoring.threshold import automatic_threshold, false_alarm_threshold, share_threshold
from rdplearn._to_dask import for_partitions
from rdplearn._training.boosting import BoostingSettings
from rdplearn._training.checkpoint import FitFolder, open_fit_folder
from rdplearn._training.loop import ENGINES, Filling, choose_engine, filling_of
from rdplearn._training.members import Part, Plan, Sampling, TrainedMembers, plan_members, train_members
from rdplearn._training.torch_options import TORCH_CONSTRAINTS, Device, engine_for, torch_settings
from rdplearn._types import Doubles, Ints, Matrix
from rdplearn._views.matrix import is_constant, read_matrix
from rdplearn._views.view import VIEW_NAMES, View, fit_views, names_in
from rdplearn.callbacks import check_callbacks
from rdplearn.defaults import Outlook, choose_outlook, in_turn, is_open, turns
from rdplearn.errors import RDPWarning

PAPER: dict[str, Any] = {
    "n_members": 30,
    "n_components": 50,
    "views": "minmax",
    "mapping": "leaky",
    "distance_weight": 1.0,
    "novelty_weight": 1.0,
    "inner_product": "l1",
    "n_rounds": 8,
    "filter_fraction": 0.05,
    "score_rounds": 1,
    "n_steps": 6000,
    "batch_size": 192,
    "learning_rate": 0.1,
    "momentum": 0.9,
    "max_grad_norm": 0.1,
    "dropout": 0.1,
    "shrinkage": 0.0,
    "start_scale": 1.0,
    "even_residuals": False,
    "max_samples": 10_000,
    "bootstrap": True,
    "combination": "mean",
}
SHARE_ROWS = 100_000  # the threshold of a larger table is taken from a sample of this size
CALIBRATION_ROWS, CALIBRATION_SHARE = 10_000, 0.2  # held back from all members for a false-alarm rate, at most


class RDPDetector(OutlierMixin, BaseEstimator):
    r"""Find anomalies in a table without labels, by predicting random distances (RDP).

    Each member of an ensemble draws rows of the table and a random mapping η, and trains a small network φ on them so
    that φ's inner products predict those of η (:math:`L_{rdp}`, equation 2) and φ itself predicts η
    (:math:`L_{aux}^{ad}`, equation 4). What is frequent is learned well; a row on which φ and η still disagree is
    unlike the rest. Boosting repeats this on the rows that agree best, and members are averaged.

    The defaults were chosen on 132 tables for quality at the cost of an IsolationForest: members that see the columns
    differently, and short training. What is None or "auto" follows from the shape of the table: a *wide* one has more
    than 500 columns, a *tall* one fewer, but more than 7 and more than 10,000 rows (`rdplearn.defaults`).
    `RDPDetector.paper` makes the detector of the paper [1]_.

    Parameters
    ----------
    n_members : int, default=None
        Size of the ensemble. By default 10, or 8 for tall tables and 20 for wide ones. More give a steadier ranking.
    n_components : int, default=64
        Numbers in φ(x), the paper's M. More give a steadier ranking for more time.
    n_targets : int, default=None
        Numbers in η(x), the paper's K. By default as many as `n_components`, which the novelty loss requires.
    views : str or list of str, default="auto"
        How members see the columns: "minmax" scales them to [0, 1] by their range at fit, "robust" by their median and
        the middle nine tenths, "rank" by ranks, "surprise" by how rare a value is, "unchanged" takes them as they are;
        "robust+rank" is both side by side. With a list, members take turns. See `rdplearn._views.curves`, and
        `rdplearn.defaults` for the mix that "auto" stands for.
    mapping : {"auto", "leaky", "linear", "sparse", "fourier", "identity", "few"}, transformer, callable, or list of \
            these, default="auto"
        The random mapping η; see `rdplearn._model.mapping`. A scikit-learn transformer is cloned, seeded and fitted on
        each member's rows; a callable takes rows to targets and must always give the same answer. With a list, members
        take turns; "auto" is a mix, or "leaky" for tall and wide tables.
    bandwidth : float, default=None
        Of ``mapping="fourier"``, on the scaled columns. By default the median distance between rows.
    distance_weight : float, default=0.0
        Weight of the distance prediction loss, 1 in the paper; 0 turns it off. See `docs/default.md` for why.
    novelty_weight : float, default=1.0
        Weight of the novelty loss; 0 turns it off, and rows are scored by their distance to subsamples of the kept rows
        in φ's space. Novelty alone, with ``n_rounds=1``, is random network distillation (RND).
    inner_product : {"l1", "plain"}, default="l1"
        Whether vectors are divided by their L1 norm before their inner products are compared, as the authors' code
        does, or not, as equation 2 says.
    n_rounds : int, default=4
        Rounds of boosting; 1 is no boosting.
    filter_fraction : float in [0, 0.5), default=0.1
        Share of the kept rows dropped after each round.
    score_rounds : int, default=None
        A row's score is the mean over the members of this many last rounds, or of all if there are fewer. By default 3,
        and 4 for tall and wide tables. One, as in the paper, is the fastest; more give a steadier ranking.
    n_steps : int, default=None
        Steps of gradient descent in each round. By default 60, and 240 for tall and wide tables.
    batch_size : int, default=None
        Rows in each step. By default 40, and 20 for tall tables.
    learning_rate : float, default=None
        By default 2 for 60 steps, 1 for the 240 of tall and wide tables; less in proportion for more steps than that,
        and more for more than 64 numbers in φ, so that each learns as fast however many there are.
    momentum : float in [0, 1), default=0.9
    max_grad_norm : float, default=0.1
        The gradient of all of φ's parameters together is clipped to this norm.
    dropout : float in [0, 1), default=0.0
        Share of φ's outputs set to zero while training, 0.1 in the paper.
    shrinkage : float in [0, 1), default=0.1
        φ is trained to predict this much less than η. That is what dropout of this share does to the novelty loss in
        expectation, without its noise: φ stays closer to zero, the more so where it is uncertain.
    start_scale : float, default=0.1
        φ's last layer starts at this share of the usual size, 1 in the paper. Where training has not come, φ is what
        it started as, and a large start adds noise to the score. A `network` of your own starts as you make it.
    even_residuals : bool, default=None
        Divide the residual of each number of φ by its size on the rows kept, so that none makes the score by itself;
        not in the paper. By default True, and False for tall and wide tables. Where φ or η is a function of your own,
        or a member sees no more rows than columns, residuals are taken as they are. See `rdplearn._model.even_residuals`.
    max_samples : int or float, default=None
        Rows that each member draws: a number, or a share of the table in (0, 1]. By default 1,024, and 4,096 for wide
        tables.
    bootstrap : bool, default=False
        Draw rows with replacement; otherwise no row twice.
    combination : {"mean", "geometric"}, default="geometric"
        How the scores of members become one: their mean, or the geometric mean of how many times its typical score each
        member gives a row. Members that take turns need the latter. See `rdplearn._model.combination`.
    contamination : "auto" or float in (0, 0.5], default="auto"
        Share of rows that `predict` reports. By default those beyond the whisker of a box plot of the anomaly scores
        (upper quartile plus 1.5 interquartile ranges), of their logarithms if `combination` is geometric. Of
        large tables a random sample is judged: 1,000 rows for the box plot, 100,000 for a share.
    false_alarm_rate : float in (0, 0.5], default=None
        Instead of `contamination`: share of the *normal* rows that `predict` reports, at most. It is calibrated on a
        fifth of the rows, at most 10,000, which no member is trained on; see `rdplearn._scoring.threshold`.
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
        Write the losses to `history_` at least every so many steps; by default 20 times in a long round or more.
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
    panels_ : list of Panel
        Members with the same view and mapping side by side; of the rounds that score, or of every round with
        `keep_rounds`.
    n_scoring_rounds_ : int
        How many of the last rounds make the score.
    combination_ : Combination
        How members' scores become one.
    typical_rows_ : TypicalRows
        Typical rows that `explain` holds others against.
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
    >>> detector = RDPDetector(random_state=0).fit(table)
    >>> int(np.argmin(detector.score_samples(table)))
    7
    >>> detector.predict(table[7:8])
    array([-1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_members": [Interval(Integral, 1, None, closed="left"), None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_targets": [Interval(Integral, 1, None, closed="left"), None],
        "views": [str, list, tuple],
        "mapping": [StrOptions({"auto", *MAPPING_NAMES}), HasMethods(["fit", "transform"]), callable, list, tuple],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), None],
        "distance_weight": [Interval(Real, 0, None, closed="left")],
        "novelty_weight": [Interval(Real, 0, None, closed="left")],
        "inner_product": [StrOptions({"l1", "plain"})],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "filter_fraction": [Interval(Real, 0, 0.5, closed="left")],
        "score_rounds": [Interval(Integral, 1, None, closed="left"), None],
        "n_steps": [Interval(Integral, 1, None, closed="left"), None],
        "batch_size": [Interval(Integral, 2, None, closed="left"), None],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "momentum": [Interval(Real, 0, 1, closed="left")],
        "max_grad_norm": [Interval(Real, 0, None, closed="neither")],
        "dropout": [Interval(Real, 0, 1, closed="left")],
        "shrinkage": [Interval(Real, 0, 1, closed="left")],
        "start_scale": [Interval(Real, 0, None, closed="neither")],
        "even_residuals": ["boolean", None],
        "max_samples": [Interval(Integral, 2, None, closed="left"), Interval(Real, 0, 1, closed="right"), None],
        "bootstrap": ["boolean"],
        "combination": [StrOptions({"mean", "geometric"})],
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
        n_members: int | None = None,
        n_components: int = 64,
        n_targets: int | None = None,
        views: str | Sequence[str] = "auto",
        mapping: Any = "auto",
        bandwidth: float | None = None,
        distance_weight: float = 0.0,
        novelty_weight: float = 1.0,
        inner_product: Literal["l1", "plain"] = "l1",
        n_rounds: int = 4,
        filter_fraction: float = 0.1,
        score_rounds: int | None = None,
        n_steps: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        momentum: float = 0.9,
        max_grad_norm: float = 0.1,
        dropout: float = 0.0,
        shrinkage: float = 0.1,
        start_scale: float = 0.1,
        even_residuals: bool | None = None,
        max_samples: float | None = None,
        bootstrap: bool = False,
        combination: Literal["mean", "geometric"] = "geometric",
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
        self.views = views
        self.mapping = mapping
        self.bandwidth = bandwidth
        self.distance_weight = distance_weight
        self.novelty_weight = novelty_weight
        self.inner_product = inner_product
        self.n_rounds = n_rounds
        self.filter_fraction = filter_fraction
        self.score_rounds = score_rounds
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.max_grad_norm = max_grad_norm
        self.dropout = dropout
        self.shrinkage = shrinkage
        self.start_scale = start_scale
        self.even_residuals = even_residuals
        self.max_samples = max_samples
        self.bootstrap = bootstrap
        self.combination = combination
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

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Make a detector with the paper's protocol.

        30 members of 10,000 rows each, K = M = 50, 8 rounds of 6,000 steps of 192 rows (SGD with rate 0.1, momentum
        0.9, norm clipped to 0.1), dropout 0.1, both losses, 5 % of the rows dropped each round.

        Parameters
        ----------
        **changes : any of the parameters, to depart from the paper

        Examples
        --------
        >>> RDPDetector.paper(n_members=10).n_steps
        6000
        """
        return cls(**{**PAPER, **changes})

    def for_shape(self, n_rows: int, n_columns: int) -> Self:
        """Make an unfitted detector with nothing left open: what `fit` chooses for a table of this shape.

        Examples
        --------
        >>> RDPDetector().for_shape(500, 20).views
        ('robust', 'rank', 'robust', 'robust+rank', 'rank+surprise')
        >>> RDPDetector(views="rank").for_shape(50_000, 20).n_steps
        240
        """
        outlook = self._outlook(n_rows, n_columns)
        return clone(self).set_params(**{field.name: getattr(outlook, field.name) for field in fields(outlook)})

    @for_partitions
    def fit(self, X: Any, y: object = None) -> Self:
        """Train the ensemble on a table and set the threshold.

        Parameters
        ----------
        X : array, sparse matrix, data frame or table in partitions, of shape (n_rows, n_columns)
        y : ignored
        """
        self._check_parameters()
        matrix = read_matrix(self, X, reset=True, min_rows=2)
        seed = self._draw_seed()
        folder = open_fit_folder(self, self.callbacks, matrix, seed)
        seed = seed if folder is None else folder.seed
        outlook = self._outlook(*matrix.shape)
        sampling = self._plan_sampling(matrix.shape[0], seed, outlook)
        plans = plan_members(self._plan_parts(outlook), sampling, seed)
        views = self._fit_views(plans, matrix, seed)
        settings = self._boosting_settings(filling_of(matrix), outlook, folder)
        self._take(train_members(matrix, views, plans, settings, self.n_jobs, verbose=bool(self.verbose)), settings)
        sampled, judged = rows_to_sample(matrix.shape[0], seed), self._rows_to_judge(sampling, seed)
        scores = self._anomaly_scores(matrix[sampled])
        self.typical_rows_ = learn_typical_rows(matrix[sampled], scores, seed)
        if not np.array_equal(sampled, judged):
            scores = self._anomaly_scores(matrix[judged])
        self.offset_ = -self._choose_threshold(scores)
        if folder is not None:
            folder.remove()
        return self

    @for_partitions
    def score_samples(self, X: Any) -> Doubles:
        """How normal each row is: the higher, the more normal. Shape (n_rows,).

        The negative of the paper's anomaly score, which is the mean over members of the squared difference of φ and η
        (and over the last `score_rounds` rounds).
        """
        return -self._anomaly_scores(self._new_rows(X))

    @for_partitions
    def decision_function(self, X: Any) -> Doubles:
        """`score_samples` minus `offset_`: negative for rows that are reported as anomalous."""
        return self.score_samples(X) - self.offset_

    @for_partitions
    def predict(self, X: Any) -> Ints:
        """-1 for rows that are reported as anomalous, +1 for the others."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    @for_partitions
    def member_scores(self, X: Any) -> Doubles:
        """`score_samples` by each member alone. Shape (n_rows, n_members)."""
        matrix = self._new_rows(X)
        scaled = scaled_member_scores(matrix, self._scoring_panels(), self.combination_, self.n_jobs)
        return -self.combination_.from_scale(scaled)

    def round_scores(self, X: Any) -> Doubles:
        """`score_samples` as each round of boosting would have it. Shape (n_rows, n_rounds); needs `keep_rounds`."""
        check_is_fitted(self)
        n_kept = len(self.panels_[0].ensembles)
        if n_kept < self.n_rounds:
            raise ValueError(
                f"round_scores needs the members of all {self.n_rounds} rounds, and only those of the last {n_kept} "
                "were kept. Fit with keep_rounds=True."
            )
        matrix = self._new_rows(X)
        rounds = [[panel.one_round(number) for panel in self.panels_] for number in range(n_kept)]
        return -np.stack([score_rows(matrix, panels, self.combination_, self.n_jobs) for panels in rounds], axis=1)

    def explain(self, X: Any, *, groups: Mapping[str, Sequence[int]] | None = None) -> Explanation:
        """Which columns made each row as anomalous as it is; see `rdplearn._explain.attribution`.

        Costs less than scoring a row for each column. Contributions depend on the row and the fitted detector alone.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        groups : mapping from names to places of columns, optional
            Columns that are explained as one, such as those of a one-hot encoding; each column in one group. A
            `TableModel` does this by itself.

        Examples
        --------
        >>> import numpy as np
        >>> from rdplearn import RDPDetector
        >>> table = np.random.default_rng(0).normal(size=(500, 5))
        >>> table[7, 3] = 9.0
        >>> detector = RDPDetector(n_members=3, n_rounds=2, n_steps=200, random_state=0).fit(table)
        >>> explanation = detector.explain(table[7:8])
        >>> explanation.columns_of(0)[0]["column"]
        'x3'
        >>> left = explanation.contributions.sum(axis=1) - (explanation.anomaly_scores - explanation.baseline)
        >>> bool(np.abs(left).max() < 1e-9)
        True
        """
        matrix = self._new_rows(X)
        names, group_of_column = column_groups(groups, self._column_names())
        scores = self._anomaly_scores(matrix)
        contributions = attribute(matrix, scores, self.typical_rows_, group_of_column, self._anomaly_scores)
        if groups is not None and sp.issparse(contributions):
            contributions = contributions.toarray()  # groups are few
        return Explanation(
            column_names=names,
            contributions=contributions,
            anomaly_scores=scores,
            baseline=self.typical_rows_.score,
            values=grouped_values(matrix, group_of_column),
            typical=typical_ranges(self.typical_rows_, group_of_column),
        )

    def assess(self, X: Any, *, n_rows: int | None = None) -> Assessment:
        """How far to trust the ranking, and the alarms at several false-alarm rates, without labels.

        A table of more than 100,000 rows is judged by a random sample of that size; see `rdplearn._explain.reliability`.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        n_rows : int, optional
            Rows of the table, if `X` is but a random sample of it.

        Examples
        --------
        >>> import numpy as np
        >>> from rdplearn import RDPDetector
        >>> table = np.random.default_rng(0).normal(size=(500, 5))
        >>> table[:10] *= 5
        >>> assessment = RDPDetector(n_members=8, n_rounds=2, n_steps=200, random_state=0).fit(table).assess(table)
        >>> 0 <= assessment.stability.figure <= 1
        True
        >>> [alarms.false_alarm_rate for alarms in assessment.alarms]
        [0.002, 0.005, 0.01, 0.02, 0.05, 0.1]
        """
        matrix = self._new_rows(X)
        n_here = matrix.shape[0]
        if n_here > SHARE_ROWS:
            matrix = matrix[np.sort(np.random.default_rng(0).choice(n_here, SHARE_ROWS, replace=False))]
        scaled = scaled_member_scores(matrix, self._scoring_panels(), self.combination_, self.n_jobs)
        views = in_turn(self._outlook(n_here, self.n_features_in_).views, scaled.shape[1])
        return assess(scaled, self.combination_, n_rows=n_rows or n_here, views=views)

    def _column_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{column}" for column in range(self.n_features_in_)] if names is None else [str(n) for n in names]

    def _scoring_panels(self) -> list[Panel]:
        return [panel.last_rounds(self.n_scoring_rounds_) for panel in self.panels_]

    def _anomaly_scores(self, matrix: Matrix) -> Doubles:
        return score_rows(matrix, self._scoring_panels(), self.combination_, self.n_jobs)

    def _new_rows(self, X: Any) -> Matrix:
        check_is_fitted(self)
        return read_matrix(self, X, reset=False)

    def _check_parameters(self) -> None:
        self._validate_params()
        check_callbacks(self.callbacks, "RDPDetector")
        torch_settings(self)
        if self.distance_weight == 0 and self.novelty_weight == 0 and not self.auxiliary_losses:
            raise ValueError(
                "At least one of 'distance_weight' and 'novelty_weight' of RDPDetector must be positive. Got 0 for "
                "both: there would be nothing to learn."
            )
        if self.false_alarm_rate is not None and self.contamination != "auto":
            raise ValueError(
                "'contamination' and 'false_alarm_rate' of RDPDetector set the same threshold. Got "
                f"{self.contamination!r} and {self.false_alarm_rate!r}: leave one of them at its default."
            )
        for view in self._given_turns("views"):
            if not isinstance(view, str) or not set(names_in(view)) <= set(VIEW_NAMES):
                raise ValueError(
                    f"The 'views' parameter of RDPDetector must name views among {', '.join(VIEW_NAMES)}, or several "
                    f"of them joined by '+'. Got {view!r}: correct the name."
                )
        for mapping in self._given_turns("mapping"):
            if isinstance(mapping, str) and mapping not in MAPPING_NAMES:
                raise ValueError(
                    f"The 'mapping' parameter of RDPDetector must be among {', '.join(MAPPING_NAMES)}, a transformer "
                    f"or a callable. Got {mapping!r}: correct the name."
                )
        if self.n_targets not in (None, self.n_components) and self.novelty_weight > 0:
            raise ValueError(
                "The 'n_targets' parameter of RDPDetector must equal 'n_components' when the novelty loss is on. Got "
                f"{self.n_targets} and {self.n_components}: make them equal, or pass novelty_weight=0."
            )

    def _draw_seed(self) -> int:
        """The seed of everything that follows."""
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _plan_sampling(self, n_rows: int, seed: int, outlook: Outlook) -> Sampling:
        """How many rows members draw, and which they may not see."""
        is_share = not isinstance(outlook.max_samples, Integral)
        n_draws = max(2, round(outlook.max_samples * n_rows)) if is_share else int(outlook.max_samples)
        n_left = n_draws * (1.0 - self.filter_fraction) ** (self.n_rounds - 1)
        if n_left < 2:
            raise ValueError(
                f"The 'filter_fraction' parameter of RDPDetector must leave at least 2 rows for the last round. Got "
                f"{self.filter_fraction}, which leaves {n_left:.1f} of {n_draws} after {self.n_rounds - 1} rounds: "
                "pass a smaller fraction, fewer rounds or a larger max_samples."
            )
        n_held_back = 0
        if self.false_alarm_rate is not None:
            n_held_back = min(CALIBRATION_ROWS, max(1, int(CALIBRATION_SHARE * n_rows)))
        held_back = np.sort(np.random.default_rng(seed).choice(n_rows, n_held_back, replace=False))
        return Sampling(n_rows, n_draws, self.bootstrap, held_back)

    def _outlook(self, n_rows: int, n_columns: int) -> Outlook:
        return choose_outlook(
            n_rows,
            n_columns,
            n_components=self.n_components,
            n_members=self.n_members,
            views=self.views,
            mapping=self.mapping,
            n_steps=self.n_steps,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            even_residuals=self.even_residuals,
            max_samples=self.max_samples,
            score_rounds=self.score_rounds,
        )

    def _plan_parts(self, outlook: Outlook) -> list[Part]:
        """How each member sees the columns, and its kind of mapping: members take turns."""
        views, mappings = (in_turn(choices, outlook.n_members) for choices in (outlook.views, outlook.mapping))
        return [Part(view, mapping) for view, mapping in zip(views, mappings, strict=True)]

    def _given_turns(self, name: str) -> list[Any]:
        """What the user wants members to take turns in; nothing if that is left open."""
        given = getattr(self, name)
        if is_open(given):
            return []
        if not turns(given):
            raise ValueError(
                f"The {name!r} parameter of RDPDetector must not be empty. Got {given!r}: name one at least."
            )
        return turns(given)

    def _fit_views(self, plans: list[Plan], matrix: Matrix, seed: int) -> dict[str, View]:
        if is_constant(matrix):
            self._warn_of_constant(matrix.shape[1])
        return fit_views((plan.part.view for plan in plans), matrix, seed)

    def _warn_of_constant(self, n_columns: int) -> None:
        warnings.warn(
            f"All {n_columns} column(s) of the table are constant: every row gets the same score.",
            RDPWarning,
            stacklevel=4,
        )

    def _take(self, trained: TrainedMembers, settings: BoostingSettings) -> None:
        self.panels_, self.history_ = trained.panels, trained.history
        self.n_scoring_rounds_ = settings.score_rounds
        self.combination_ = (
            geometric_mean(trained.spreads) if self.combination == "geometric" else mean_of(len(trained.spreads))
        )

    def _rows_to_judge(self, sampling: Sampling, seed: int) -> Ints:
        """The rows whose scores decide on the threshold, ascending."""
        if self.false_alarm_rate is not None:
            return sampling.held_back
        if self.contamination == "auto":
            return rows_to_sample(sampling.n_rows, seed)
        n_judged = min(sampling.n_rows, SHARE_ROWS)
        return np.sort(np.random.default_rng(seed).choice(sampling.n_rows, n_judged, replace=False))

    def _choose_threshold(self, scores: Doubles) -> float:
        """The anomaly score above which `predict` reports a row. scores : of the rows to judge."""
        if self.false_alarm_rate is not None:
            return false_alarm_threshold(scores, self.false_alarm_rate)
        if self.contamination == "auto":
            return automatic_threshold(scores, on_logs=self.combination_.geometric)
        return share_threshold(scores, self.contamination)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _boosting_settings(
        self, filling: Filling, outlook: Outlook, folder: FitFolder | None = None
    ) -> BoostingSettings:
        wanted = torch_settings(self)
        engine = engine_for("RDPDetector", self.engine, wanted)
        training = TrainingSettings(
            n_steps=outlook.n_steps,
            batch_size=outlook.batch_size,
            learning_rate=outlook.learning_rate,
            momentum=self.momentum,
            max_grad_norm=self.max_grad_norm,
            dropout=self.dropout,
            distance_weight=self.distance_weight,
            novelty_weight=self.novelty_weight,
            inner_product=self.inner_product,
        )
        n_scoring = min(outlook.score_rounds, self.n_rounds)
        n_all_steps = outlook.n_members * self.n_rounds * outlook.n_steps
        return BoostingSettings(
            training=training,
            n_components=self.n_components,
            n_targets=self.n_targets or self.n_components,
            n_rounds=self.n_rounds,
            filter_fraction=self.filter_fraction,
            shrinkage=self.shrinkage,
            start_scale=self.start_scale,
            even_residuals=outlook.even_residuals,
            bandwidth=self.bandwidth,
            score_rounds=n_scoring,
            n_rounds_kept=self.n_rounds if self.keep_rounds else n_scoring,
            engine=choose_engine(
                engine, n_all_steps, filling, self.n_components, outlook.batch_size, distances=self.distance_weight > 0
            ),
            torch=wanted,
            callbacks=tuple(self.callbacks or ()),
            record_every=self.record_every,
            folder=folder,
        )
