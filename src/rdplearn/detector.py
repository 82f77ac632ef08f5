"""RDPDetector: anomalies in a table, without labels, by predicting random distances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils import Tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rdplearn._detector_parameters import check_parameters
from rdplearn._explain.attribution import attribute
from rdplearn._explain.column_groups import column_groups, grouped_typical_rows, grouped_values, typical_ranges
from rdplearn._explain.explanation import Explanation
from rdplearn._explain.reliability import Assessment, RankingStability, assess, has_company, ranking_stability
from rdplearn._explain.typical_rows import learn_typical_rows
from rdplearn._fit_plan import SHARE_ROWS, FitPlan, plan_fit, seed_of_renewal, with_unseen
from rdplearn._model.mapping import RandomMapping
from rdplearn._scoring.scores import scaled_scores, score_rows
from rdplearn._to_dask import for_partitions
from rdplearn._training.checkpoint import open_fit_folder
from rdplearn._training.engines.engine import ENGINES
from rdplearn._training.flops import filling_of
from rdplearn._training.members import train_members
from rdplearn._training.renewal import members_to_renew, teams_of
from rdplearn._training.torch_options import TorchOptions
from rdplearn._types import Doubles, Ints, Matrix, TableColumns, draw_seed, drawn_rows
from rdplearn._views.matrix import read_matrix, warn_if_constant
from rdplearn._views.rare_kinds import in_kinds
from rdplearn._views.view import View, curve_rows, fit_views
from rdplearn._voices import (
    all_scaled_scores,
    anomaly_scores,
    choose_threshold,
    learn_voices,
    scoring_panels,
    take_members,
    take_renewed_members,
)
from rdplearn.defaults import DETECTOR_PAPER, choose_for_detector, in_turn


class ReportingMixin(OutlierMixin):
    """What is reported, for a detector that has `score_samples` and `offset_`."""

    @for_partitions
    def decision_function(self: Any, X: Any) -> Doubles:
        """`score_samples` minus `offset_`: negative for rows that are reported as anomalous."""
        scores: Doubles = self.score_samples(X)
        return scores - self.offset_

    @for_partitions
    def predict(self: Any, X: Any) -> Ints:
        """-1 for rows that are reported as anomalous, +1 for the others."""
        return np.where(self.decision_function(X) < 0, -1, 1)


class RDPDetector(ReportingMixin, BaseEstimator):
    r"""Find the anomalous rows of a matrix without labels, by predicting random distances (RDP).

    After `fit`, `score_samples` says how normal each row is, `predict` gives -1 for rows that are reported, and
    `explain` says why. You need not set any parameter, nor scale the columns. Most users set two: `random_state`, for
    the same result every time, and `contamination` or `false_alarm_rate`, for how many rows are reported. For tables
    with categories, dates, texts or missing cells, use `rdplearn.TableModel` or `rdplearn.detect`.

    An anomaly score of 2 means that about one normal row in a hundred is as odd, a score of 3 one in a thousand.
    `score_samples` gives the negative, as in scikit-learn: the lowest is the most anomalous.

    How it works: each member of an ensemble draws rows and a random mapping η, and trains a small network φ. Some
    members learn to predict η itself (:math:`L_{aux}^{ad}`, the novelty loss). They learn what is frequent, so a row on
    which φ and η still disagree is unlike the rest. Others learn to predict the random distances between rows
    (:math:`L_{rdp}`), and score a row by its distance to others in the space that they have learned. They find rows in
    holes and between clusters. One of the two is enough to raise an alarm.

    A parameter that is None or "auto" follows from the shape of the matrix. The defaults below are those for a few
    columns and thousands of rows. For larger matrices they change gradually, with the *patience* and the *width* of
    `rdplearn.defaults`. `RDPDetector.paper` makes the detector of the paper [1]_, whose members have both losses.

    Parameters
    ----------
    **Everyday**
    n_members : int, default=None
        Size of the ensemble. By default 10, up to 12 with the width. More give a steadier ranking. Up to 4 that predict
        distances come on top, see `distance_weight`.
    n_jobs : int, default=None
        Threads, as in scikit-learn; the result does not depend on it. `joblib.parallel_config` may place the members on
        another backend.
    random_state : int, RandomState or None, default=None
    verbose : bool or int, default=0
        Show a progress bar on stderr.
    **Threshold**
    contamination : "auto", "none" or float in (0, 0.5], default="auto"
        Share of rows that `predict` reports. By default about one in a hundred normal rows, and every row stranger than
        these. "none" says that all rows of the fit are known to be normal: boosting drops none of them, distances are
        those to the nearest row and believed as soon as novelty is, and about one in a hundred new rows like them is
        reported, or `false_alarm_rate`. Of large tables a random sample is judged: 1,000 rows by default, 100,000 for
        a share.
    false_alarm_rate : float in (0, 0.5], default=None
        Instead of `contamination`: about this share of the *normal* rows is reported, and every row stranger than
        these. It is calibrated on a fifth of the rows, at most 10,000, which no member is trained on.
    **Ensemble**
    views : str or list of str, default="auto"
        How members see the columns: "minmax" scales them to [0, 1] by their range at fit, "robust" by their median and
        the middle nine tenths, "rank" by ranks, "surprise" by how rare a value is, "unchanged" takes them as they are;
        "robust+rank" is both side by side. With a list, members take turns; `rdplearn.defaults` has the mix that
        "auto" stands for.
    max_samples : int or float, default=None
        Rows that each member draws: a number, or a share of the table in (0, 1]. By default 1,024, up to 4,096 with the
        width.
    bootstrap : bool, default=False
        Draw rows with replacement; otherwise no row twice.
    n_rounds : int, default=3
        Rounds of boosting; 1 is no boosting.
    filter_fraction : float in [0, 0.5), default=0.15
        Share of the kept rows dropped after each round.
    score_rounds : int, default=None
        A row's score is the mean over the members of this many last rounds, or of all if there are fewer. By default 2,
        1 with the width. One, as in the paper, is the fastest; more give a steadier ranking.
    combination : {"mean", "geometric"}, default="geometric"
        How the scores of members become one: their mean, or the geometric mean of how many times its typical score each
        member gives a row, on the scale of surprise. Members that take turns need the latter.
    even_residuals : bool or float in [0, 1], default=None
        Divide the residual of each component of φ by its size on the rows kept, so that none makes the score by itself;
        not in the paper. A number between 0 and 1 is a power of that size. By default 1, falling to 0 with patience.
        Where φ or η is a function of your own, or a member sees no more rows than columns, residuals are taken as they
        are.
    **Targets**
    mapping : str, transformer, callable, RandomMapping, or list of these, default="auto"
        The random mapping η: "leaky", "orthogonal", "linear", "sparse", "fourier", "identity" or "few". A scikit-learn
        transformer is cloned, seeded and fitted on each member's rows; a callable takes rows to targets and must always
        give the same answer; `rdplearn.RandomMapping` adds options. With a list, members take turns; "auto" is "few"
        for one in five and "orthogonal" for the rest, or for all with patience.
    n_components : int, default=None
        Components of φ(x), the paper's M; η has as many, unless `RandomMapping` says otherwise. More give a steadier
        ranking for more time. By default 64, falling to 32 with patience.
    **Losses**
    distance_weight : float, default=None
        Weight of the distance prediction loss beside the novelty loss, 1 in the paper. By default the two have members
        of their own: `n_members` with the novelty loss, and up to 4 more that predict distances, of all pairs of a
        batch, and score rows by their distance to a subsample in the space that they learned. 0 leaves these out.
    novelty_weight : float, default=1.0
        Weight of the novelty loss; 0 turns it off, and rows are scored by their distance to subsamples of the kept rows
        in φ's space. Novelty alone, with ``n_rounds=1``, is random network distillation (RND).
    inner_product : {"l1", "plain"}, default="l1"
        Whether vectors are divided by their L1 norm before their inner products are compared, as the authors' code
        does, or not, as equation 2 says.
    shrinkage : float in [0, 1), default=0.1
        φ is trained to predict this much less than η. That is what dropout of this share does to the novelty loss in
        expectation, without its noise: φ stays closer to zero, the more so where it is uncertain.
    **Optimiser**
    n_steps : int, default=None
        Steps of gradient descent in each round. By default 60, up to 240 with patience, half of that with the width.
    batch_size : int, default=None
        Rows in each step. By default 40, up to 80 with the width.
    learning_rate : float, default=None
        By default 2, a half with patience, twice as much with the width; less in proportion for more steps than the
        shape asks for, and more for more components, so that each learns as fast however many there are.
    momentum : float in [0, 1), default=0.9
    max_grad_norm : float, default=0.1
        The gradient of all of φ's parameters together is clipped to this norm.
    dropout : float in [0, 1), default=0.0
        Share of φ's outputs set to zero while training, 0.1 in the paper.
    start_scale : float, default=0.1
        φ's last layer starts at this share of the usual size, 1 in the paper. Where training has not come, φ is what
        it started as, and a large start adds noise to the score. A network of your own starts as you make it.
    **Engine**
    engine : {"auto", "numba", "numpy", "torch"}, default="auto"
        Compiled kernels, plain NumPy or PyTorch, with the same result up to rounding; by default whichever of the first
        two is done first, or PyTorch where `torch` asks for what only it can do. See `docs/torch.md`.
    torch : TorchOptions, default=None
        A network or a loss of your own, a GPU: see `rdplearn.TorchOptions`.
    callbacks : list, default=None
        Functions of the records of a member's round so far, which end it by returning True, such as
        `rdplearn.StopOnPlateau`; a `rdplearn.Checkpoint`, from which an interrupted fit goes on; `rdplearn.RecordEvery`
        for more records, and `rdplearn.KeepRounds` for `round_scores`.

    Attributes
    ----------
    chosen_ : DetectorChoices
        The parameters with nothing left open: what "auto" and None came to, see `rdplearn.defaults`.
    offset_ : float
        `decision_function` is `score_samples` minus this.
    history_ : list of dict
        Losses during training: a record for each stretch of steps, with ``member``, ``round``, ``step``,
        ``distance_loss``, ``novelty_loss``, and for the round ``n_kept`` (draws left after it) and ``cut`` (the highest
        score among them). ``pandas.DataFrame(detector.history_)`` makes a table of it.
    panels_ : list of Panel
        Members with the same view and mapping side by side; of the rounds that score, or of every round with
        `KeepRounds`.
    n_scoring_rounds_ : int
        How many of the last rounds make the score.
    n_renewed_ : int
        How many members `partial_fit` has put in the place of others so far.
    combination_ : Combination
        How members' scores become one.
    cells_ : CellVoice or None
        What single cells say, if the rows are the encoding of a table.
    typical_rows_ : TypicalRows
        Typical rows that `explain` compares others with.
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
        "n_jobs": [Interval(Integral, 1, None, closed="left"), Interval(Integral, None, -1, closed="right"), None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "contamination": [StrOptions({"auto", "none"}), Interval(Real, 0, 0.5, closed="right")],
        "false_alarm_rate": [Interval(Real, 0, 0.5, closed="right"), None],
        "views": [str, list, tuple],
        "max_samples": [Interval(Integral, 2, None, closed="left"), Interval(Real, 0, 1, closed="right"), None],
        "bootstrap": ["boolean"],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "filter_fraction": [Interval(Real, 0, 0.5, closed="left")],
        "score_rounds": [Interval(Integral, 1, None, closed="left"), None],
        "combination": [StrOptions({"mean", "geometric"})],
        "even_residuals": ["boolean", Interval(Real, 0, 1, closed="both"), None],
        "mapping": [str, HasMethods(["fit", "transform"]), callable, RandomMapping, list, tuple],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "distance_weight": [Interval(Real, 0, None, closed="left"), None],
        "novelty_weight": [Interval(Real, 0, None, closed="left")],
        "inner_product": [StrOptions({"l1", "plain"})],
        "shrinkage": [Interval(Real, 0, 1, closed="left")],
        "n_steps": [Interval(Integral, 1, None, closed="left"), None],
        "batch_size": [Interval(Integral, 2, None, closed="left"), None],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "momentum": [Interval(Real, 0, 1, closed="left")],
        "max_grad_norm": [Interval(Real, 0, None, closed="neither")],
        "dropout": [Interval(Real, 0, 1, closed="left")],
        "start_scale": [Interval(Real, 0, None, closed="neither")],
        "engine": [StrOptions(set(ENGINES))],
        "torch": [TorchOptions, None],
        "callbacks": [list, tuple, None],
    }

    def __init__(
        self,
        *,
        n_members: int | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | bool = 0,
        contamination: float | Literal["auto", "none"] = "auto",
        false_alarm_rate: float | None = None,
        views: str | Sequence[str] = "auto",
        max_samples: float | None = None,
        bootstrap: bool = False,
        n_rounds: int = 3,
        filter_fraction: float = 0.15,
        score_rounds: int | None = None,
        combination: Literal["mean", "geometric"] = "geometric",
        even_residuals: float | None = None,
        mapping: Any = "auto",
        n_components: int | None = None,
        distance_weight: float | None = None,
        novelty_weight: float = 1.0,
        inner_product: Literal["l1", "plain"] = "l1",
        shrinkage: float = 0.1,
        n_steps: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        momentum: float = 0.9,
        max_grad_norm: float = 0.1,
        dropout: float = 0.0,
        start_scale: float = 0.1,
        engine: Literal["auto", "numba", "numpy", "torch"] = "auto",
        torch: TorchOptions | None = None,
        callbacks: list[Any] | None = None,
    ) -> None:
        self.n_members = n_members
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.contamination = contamination
        self.false_alarm_rate = false_alarm_rate
        self.views = views
        self.max_samples = max_samples
        self.bootstrap = bootstrap
        self.n_rounds = n_rounds
        self.filter_fraction = filter_fraction
        self.score_rounds = score_rounds
        self.combination = combination
        self.even_residuals = even_residuals
        self.mapping = mapping
        self.n_components = n_components
        self.distance_weight = distance_weight
        self.novelty_weight = novelty_weight
        self.inner_product = inner_product
        self.shrinkage = shrinkage
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.max_grad_norm = max_grad_norm
        self.dropout = dropout
        self.start_scale = start_scale
        self.engine = engine
        self.torch = torch
        self.callbacks = callbacks

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
        return cls(**{**DETECTOR_PAPER, **changes})

    def for_shape(self, n_rows: int, n_columns: int) -> Self:
        """Make an unfitted detector with nothing left open: what `fit` chooses for a table of this shape.

        Examples
        --------
        >>> RDPDetector().for_shape(500, 20).views
        ('robust', 'rank', 'robust', 'robust+rank', 'rank+surprise')
        >>> RDPDetector(views="rank").for_shape(50_000, 20).n_steps
        237
        """
        chosen = choose_for_detector(n_rows, n_columns, self.get_params(deep=False))
        own = {field.name: getattr(chosen, field.name) for field in fields(chosen) if hasattr(self, field.name)}
        return clone(self).set_params(**own)

    @for_partitions
    def fit(self, X: Any, y: object = None, *, columns: TableColumns | None = None) -> Self:
        """Train the ensemble on a table and set the threshold.

        Parameters
        ----------
        X : array, sparse matrix, data frame or table in partitions, of shape (n_rows, n_columns)
        y : ignored
        columns : TableColumns, optional
            Where `X` is the encoding of a table: which of its columns belong together. Then every column of the table
            has the same say, and single cells have a voice of their own. A `TableModel` passes it.
        """
        check_parameters(self)
        matrix = read_matrix(self, X, reset=True, min_rows=2)
        warn_if_constant(matrix)
        seed = draw_seed(self.random_state)
        with open_fit_folder(self, self.callbacks, matrix, seed) as folder:
            seed = seed if folder is None else folder.seed
            plan = plan_fit(self, matrix.shape[0], filling_of(matrix), seed, folder, columns)
            views = fit_views(plan.views, matrix, plan.seed, columns)
            trained = train_members(matrix, views, plan.teams, plan.seed, self.n_jobs, verbose=bool(self.verbose))
            take_members(self, plan, *trained)
            self._settle(matrix, plan, views)
        return self

    @for_partitions
    def partial_fit(self, X: Any, y: object = None) -> Self:
        """Continue with new rows: new members replace the oldest ones, and the threshold is set again.

        There is one new member for each `max_samples` new rows, but at most half of the ensemble is replaced. What is
        normal in the new rows becomes normal, and what was normal before is forgotten over several calls: see
        `docs/watch.md`. The threshold and the typical rows of explanations come from the new rows, so pass at least
        some hundreds. A detector that is not fitted yet is fitted. A Checkpoint among the `callbacks` is not used.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        y : ignored

        Examples
        --------
        >>> import numpy as np
        >>> from rdplearn import RDPDetector
        >>> rng = np.random.default_rng(0)
        >>> detector = RDPDetector(n_steps=30, random_state=0).fit(rng.normal(size=(500, 3)))
        >>> detector.partial_fit(rng.normal(size=(500, 3))).n_renewed_
        1
        """
        if not hasattr(self, "panels_"):
            return self.fit(X, y)
        check_parameters(self)
        matrix = read_matrix(self, X, reset=False, min_rows=2)
        columns = None if self.cells_ is None else self.cells_.table
        seed, filling = seed_of_renewal(self), filling_of(matrix)
        plan = plan_fit(self, matrix.shape[0], filling, seed, columns=columns, chosen=self.chosen_)
        n_draws = len(plan.members[0].draws)
        numbers = members_to_renew(len(plan.members), self.n_renewed_, matrix.shape[0], n_draws)
        views, teams = fit_views(plan.views, matrix, plan.seed, columns), teams_of(plan.teams, numbers)
        trained = train_members(matrix, views, teams, plan.seed, self.n_jobs, verbose=bool(self.verbose))
        take_renewed_members(self, plan, numbers, *trained)
        self._settle(matrix, with_unseen(plan, numbers), views)
        return self

    def _settle(self, matrix: Matrix, plan: FitPlan, views: dict[str, View]) -> None:
        """Learn from rows how rare scores are, what is typical, and where the line is, once the members are there."""
        rows = matrix[plan.sampled]
        scaled = learn_voices(self, plan, views, lambda: curve_rows(matrix, plan.seed), rows)
        self.typical_rows_ = learn_typical_rows(rows, self.combination_.over_members(scaled), plan.seed)
        if not np.array_equal(plan.sampled, plan.judged):
            rows = matrix[plan.judged]
            scaled = all_scaled_scores(self, rows)
        self.offset_ = -choose_threshold(self, plan, scaled, partial(in_kinds, rows))

    @for_partitions
    def score_samples(self, X: Any) -> Doubles:
        """How normal each row is: the higher, the more normal. Shape (n_rows,).

        By default minus the surprise of the row: -2 if about one normal row in a hundred is as odd. With
        ``combination="mean"`` the negative of the paper's anomaly score, which is the mean over members of the squared
        difference of φ and η (and over the last `score_rounds` rounds).
        """
        return -anomaly_scores(self, self._new_rows(X))

    @for_partitions
    def member_scores(self, X: Any) -> Doubles:
        """`score_samples` by each member alone. Shape (n_rows, n_members)."""
        matrix = self._new_rows(X)
        scaled = scaled_scores(matrix, scoring_panels(self), self.combination_, self.n_jobs)
        return -self.combination_.from_scale(scaled)

    @for_partitions
    def round_scores(self, X: Any) -> Doubles:
        """`score_samples` as each round of boosting would have it. Shape (n_rows, n_rounds); needs `KeepRounds`."""
        n_rounds = self._n_kept_rounds()
        matrix = self._new_rows(X)
        rounds = [
            [panel.one_round(min(number, panel.n_rounds - 1)) for panel in self.panels_] for number in range(n_rounds)
        ]
        return -np.stack([score_rows(matrix, panels, self.combination_, self.n_jobs) for panels in rounds], axis=1)

    @for_partitions
    def explain(self, X: Any, *, groups: Mapping[str, Sequence[int]] | None = None) -> Explanation:
        """Which columns made each row as anomalous as it is; see `docs/explanations.md`.

        Each cell is repaired in several ways, and the row is scored again. Contributions depend only on the row and on
        the fitted detector.

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
        scores = anomaly_scores(self, matrix)
        score_others = partial(anomaly_scores, self)
        contributions, pairs = attribute(matrix, scores, self.typical_rows_, group_of_column, score_others)
        if groups is not None and sp.issparse(contributions):
            contributions = contributions.toarray()  # groups are few
        return Explanation(
            column_names=names,
            contributions=contributions,
            anomaly_scores=scores,
            baseline=self.typical_rows_.score,
            values=grouped_values(matrix, group_of_column),
            typical=typical_ranges(self.typical_rows_, group_of_column),
            typical_rows=grouped_typical_rows(self.typical_rows_, group_of_column),
            pairs=pairs,
        )

    @for_partitions
    def assess(self, X: Any, *, n_rows: int | None = None) -> Assessment:
        """How far to trust the ranking, and the alarms at several false-alarm rates, without labels.

        A table of more than 100,000 rows is judged by a random sample of that size; see `docs/explanations.md`.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        n_rows : int, optional
            Rows of the table, if `X` is only a random sample of it.

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
        scaled = all_scaled_scores(self, matrix[drawn_rows(matrix.shape[0], SHARE_ROWS, 0)])
        views = in_turn(self.chosen_.views, self.chosen_.n_members)
        return assess(scaled, self.combination_, n_rows=n_rows or matrix.shape[0], views=views)

    def stability_of_top(self, X: Any, *, n_rows: int) -> RankingStability | None:
        """How many of the rows at the top another seed would also have there; None if there is only one member.

        Parameters
        ----------
        X : the highest rows of a table, ten times as many as are to be judged; the others hardly matter
        n_rows : of the table
        """
        scaled = all_scaled_scores(self, self._new_rows(X))
        if not has_company(scaled, self.combination_):
            return None
        return ranking_stability(scaled, self.combination_, n_rows=n_rows)

    def _n_kept_rounds(self) -> int:
        check_is_fitted(self)
        n_kept: int = self.panels_[0].n_rounds
        if n_kept < self.n_rounds:
            raise ValueError(
                f"round_scores needs the members of all {self.n_rounds} rounds, and only those of the last {n_kept} "
                "were kept. Fit with callbacks=[KeepRounds()]."
            )
        return n_kept

    def _column_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{column}" for column in range(self.n_features_in_)] if names is None else [str(n) for n in names]

    def _new_rows(self, X: Any) -> Matrix:
        check_is_fitted(self)
        return read_matrix(self, X, reset=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
