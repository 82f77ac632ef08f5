"""RDPTransformer: features of a table's rows, learned without labels by predicting random distances."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from rdplearn._model.inner_products import InnerProducts, limit_products, products_of
from rdplearn._model.mapping import (
    ROWS_FOR_BANDWIDTH,
    RandomMapping,
    draw_mapping,
    gaussian,
    median_distance,
    with_options,
)
from rdplearn._model.representation import Phi, Representation
from rdplearn._model.threads import one_blas_thread
from rdplearn._scoring.features import FeatureMap, map_rows
from rdplearn._to_dask import for_partitions
from rdplearn._training.checkpoint import FitFolder, SavedTraining, open_fit_folder
from rdplearn._training.engines.engine import ENGINES, choose_engine
from rdplearn._training.features import FeatureTraining, train_features
from rdplearn._training.flops import filling_of
from rdplearn._training.members import engine_threads
from rdplearn._training.phi import draw_phi
from rdplearn._training.progress import Watch
from rdplearn._training.settings import PreparedRows, TrainingSettings, TrainingTask
from rdplearn._training.torch_options import TorchOptions, engine_for, torch_options
from rdplearn._transformer_parameters import check_parameters, check_size
from rdplearn._types import Doubles, Floats, Matrix, Rows, draw_seed
from rdplearn._views.matrix import read_matrix
from rdplearn._views.minmax import MinMaxView, UnchangedView
from rdplearn._views.unit_rows import CentredRows
from rdplearn.defaults import TRANSFORMER_PAPER, choose_for_transformer

TRAINING_ROWS = 100_000  # of larger tables, `pairs="one"` learns from a random sample of this size
LARGEST_COPY = 2**30  # bytes of prepared dense rows beyond which each batch is prepared when it is drawn


class RDPTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Learn features of rows without labels, by predicting random distances (RDP).

    After `fit`, `transform` turns each row into a few features that another model can learn from. You need not set any
    parameter; `random_state` gives the same result every time. For tables with categories, dates, texts or missing
    cells, use `rdplearn.TableModel`.

    How it works: a small network φ learns to predict the inner products that a random mapping η gives to pairs of rows
    (:math:`L_{rdp}` of [1]_). It has few components, so it has to keep what rows have in common. By default *all* pairs
    of a batch are predicted, and η has infinitely many components, so that its inner products are kernels with a short
    formula. Which kernel follows from the share of cells that are not zero (`rdplearn.defaults`).
    ``RDPTransformer.paper()`` has the paper's setting.

    Parameters
    ----------
    **Everyday**
    n_components : int, default=None
        Components of φ(x), the paper's M. By default 32 where φ is linear (mostly zero tables) and 128 elsewhere.
    n_jobs : int, default=None
        Threads of `transform`, as in scikit-learn; the result does not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : bool or int, default=0
        Show a progress bar on stderr.
    **Targets**
    views : {"auto", "unit", "minmax", "unchanged"}, default="auto"
        What happens to rows first. ``"unit"`` evens out the columns and gives rows length 1, ``"minmax"`` scales
        columns to [0, 1] by their range at fit, ``"unchanged"`` takes them as they are. ``"auto"`` is ``"unit"``,
        except below ten columns, where rows keep their length, and with ``pairs="one"``: ``"minmax"``.
    mapping : str, transformer, callable or RandomMapping, default="auto"
        The random mapping η: "leaky", "orthogonal", "linear", "sparse", "fourier" or "identity". A scikit-learn
        transformer is cloned, seeded and fitted on the prepared rows; a callable takes rows to targets and must always
        give the same answer; `rdplearn.RandomMapping` adds options: the number of targets, by default infinitely many
        with ``pairs="all"`` and as many as `n_components` with ``pairs="one"``, and a bandwidth. ``"auto"`` is linear
        for mostly zero tables, Fourier features for others, and leaky with ``pairs="one"``.
    pairs : {"all", "one"}, default="all"
        Predict the distances of all pairs of a batch, or of each row and one partner, as the paper does.
    inner_product : {"auto", "plain", "unit", "l1"}, default="auto"
        Inner products of φ as it is, of rows of length 1 (with ``pairs="all"`` only), or of rows divided by their L1
        norm (with ``pairs="one"`` only, the authors' code). ``"auto"`` is ``"l1"`` with ``pairs="one"``; otherwise
        ``"unit"`` for Fourier features and ``"plain"`` for the rest.
    **Losses**
    distance_weight : float, default=1.0
        Weight of the distance prediction loss; 0 turns it off.
    reconstruction_weight : float, default=0.0
        Weight of the reconstruction loss :math:`L_{aux}^{clu}` (equation 3), a linear decoder from φ back to the row;
        0 turns it off. Needs ``pairs="one"``, and makes `inverse_transform` possible.
    **Optimiser**
    n_steps : int, default=600
        Steps of gradient descent.
    batch_size : int, default=256
        Rows in each step.
    learning_rate : float, default=0.1
        With ``pairs="all"`` a step's length before it decays, in units of :math:`\sqrt M`, whatever the scale of the
        loss.
    momentum : float in [0, 1), default=0.9
    max_grad_norm : float, default=None
        With ``pairs="one"``: the gradient of all parameters together is clipped to this norm. By default it is not.
    dropout : float in [0, 1), default=0.0
        With ``pairs="one"``: share of φ's outputs set to zero while training.
    **Engine**
    engine : {"auto", "numba", "numpy", "torch"}, default="auto"
        Compiled kernels, plain NumPy or PyTorch, with the same result up to rounding; by default whichever of the first
        two is done first, or PyTorch where `torch` asks for what only it can do. ``pairs="all"`` is done in seconds and
        has no compiled kernels: it runs on NumPy or PyTorch.
    torch : TorchOptions, default=None
        A network or a loss of your own, a GPU: see `rdplearn.TorchOptions`.
    callbacks : list, default=None
        Functions of the records so far, which end the training by returning True, such as `rdplearn.StopOnPlateau`; a
        `rdplearn.Checkpoint`, from which an interrupted fit goes on; and `rdplearn.RecordEvery` for more records.

    Attributes
    ----------
    feature_map_ : the learned φ: ``feature_map_.phi.weights`` (n_columns, n_components) and ``.bias``
    decoder_ : Decoder or None
        The decoder, when the reconstruction loss is on.
    chosen_ : TransformerChoices
        What was learned from the table, with every ``"auto"`` settled; see `rdplearn.defaults`.
    n_components_ : int
    history_ : list of dict
        Losses during training: a record for each stretch of steps, with ``step``, ``distance_loss`` and, when it is on,
        ``reconstruction_loss``.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, when the table had names

    See Also
    --------
    RDPClusterer : Groups rows by these features.
    sklearn.decomposition.TruncatedSVD : The usual choice for sparse tables.

    References
    ----------
    .. [1] H. Wang, G. Pang, C. Shen, C. Ma: Unsupervised representation learning by predicting random distances.
       IJCAI 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rdplearn import RDPTransformer
    >>> pixels, _ = load_digits(return_X_y=True)
    >>> transformer = RDPTransformer(n_components=16, n_steps=100, random_state=0)
    >>> transformer.fit_transform(pixels).shape
    (1797, 16)
    >>> transformer.history_[-1]["distance_loss"] < 0.5 * transformer.history_[0]["distance_loss"]
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [Interval(Integral, 1, None, closed="left"), Interval(Integral, None, -1, closed="right"), None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "views": [StrOptions({"auto", "unit", "minmax", "unchanged"})],
        "mapping": [str, HasMethods(["fit", "transform"]), callable, RandomMapping],
        "pairs": [StrOptions({"all", "one"})],
        "inner_product": [StrOptions({"auto", "plain", "unit", "l1"})],
        "distance_weight": [Interval(Real, 0, None, closed="left")],
        "reconstruction_weight": [Interval(Real, 0, None, closed="left")],
        "n_steps": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 2, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "momentum": [Interval(Real, 0, 1, closed="left")],
        "max_grad_norm": [Interval(Real, 0, None, closed="neither"), None],
        "dropout": [Interval(Real, 0, 1, closed="left")],
        "engine": [StrOptions(set(ENGINES))],
        "torch": [TorchOptions, None],
        "callbacks": [list, tuple, None],
    }

    def __init__(
        self,
        *,
        n_components: int | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | bool = 0,
        views: Literal["auto", "unit", "minmax", "unchanged"] = "auto",
        mapping: Any = "auto",
        pairs: Literal["all", "one"] = "all",
        inner_product: Literal["auto", "plain", "unit", "l1"] = "auto",
        distance_weight: float = 1.0,
        reconstruction_weight: float = 0.0,
        n_steps: int = 600,
        batch_size: int = 256,
        learning_rate: float = 0.1,
        momentum: float = 0.9,
        max_grad_norm: float | None = None,
        dropout: float = 0.0,
        engine: Literal["auto", "numba", "numpy", "torch"] = "auto",
        torch: TorchOptions | None = None,
        callbacks: list[Any] | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.views = views
        self.mapping = mapping
        self.pairs = pairs
        self.inner_product = inner_product
        self.distance_weight = distance_weight
        self.reconstruction_weight = reconstruction_weight
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.max_grad_norm = max_grad_norm
        self.dropout = dropout
        self.engine = engine
        self.torch = torch
        self.callbacks = callbacks

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Make a transformer with the paper's setting for clustering.

        M = K = 1,024, one partner a row, both losses, 30,000 steps of 192 rows (SGD with rate 0.1, momentum 0.9, norm
        clipped to 0.1), dropout 0.1, and rows as they are: the paper's are TF-IDF weights and pixels in [0, 1]. The
        decoder starts from zero.

        Parameters
        ----------
        **changes : any of the parameters, to depart from the paper

        Examples
        --------
        >>> RDPTransformer.paper(reconstruction_weight=0.0).n_components
        1024
        """
        return cls(**{**TRANSFORMER_PAPER, **changes})

    @for_partitions
    def fit(self, X: Any, y: object = None) -> Self:
        """Learn φ from a table.

        Parameters
        ----------
        X : array, sparse matrix, data frame or table in partitions, of shape (n_rows, n_columns)
        y : ignored
        """
        check_parameters(self)
        matrix = read_matrix(self, X, reset=True, min_rows=2)
        seed = draw_seed(self.random_state)
        with open_fit_folder(self, self.callbacks, matrix, seed) as folder:
            rng = np.random.default_rng(seed if folder is None else folder.seed)
            self.chosen_ = choose_for_transformer(matrix, self.get_params(deep=False))
            self.n_components_ = self.chosen_.n_components
            check_size(self, matrix)
            with Watch(1, 1, self.n_steps, visible=bool(self.verbose)) as watch, one_blas_thread():
                task = self._all_pairs(matrix, rng) if self.pairs == "all" else self._one_partner(matrix, rng)
                how = self._training(task.rows, folder)
                with engine_threads(how.engine, self.n_jobs):
                    rotatable = self.pairs == "one" or self._has_limit()
                    trained, self.history_ = train_features(task, how, watch, rotatable=rotatable)
            self.decoder_ = trained.decoder
            slope = self.chosen_.slope if isinstance(trained.phi, Representation) else 1.0
            self.feature_map_ = FeatureMap(trained.phi, slope, self.chosen_.unit_features)
        return self

    @for_partitions
    def transform(self, X: Any) -> Floats:
        """Features φ(x) of every row, in single precision. Shape (n_rows, n_components)."""
        check_is_fitted(self)
        matrix = read_matrix(self, X, reset=False)
        return map_rows(matrix, self.chosen_.view, self.feature_map_, self.n_components_, self.n_jobs)

    def _may_be_inverted(self) -> bool:
        """Before a fit nobody knows."""
        if getattr(self, "decoder_", self) is None:
            raise AttributeError(
                "inverse_transform needs a decoder, and none was learned. Fit with pairs='one' and a "
                "'reconstruction_weight' above 0, as RDPTransformer.paper() has it."
            )
        return True

    @available_if(_may_be_inverted)  # type: ignore[untyped-decorator]
    def inverse_transform(self, X: Any) -> Doubles:
        """Rows that features were decoded to, dense, in the table's own units. Shape (n_rows, n_columns).

        Needs the reconstruction loss: ``reconstruction_weight`` above 0 at fit. Without it, a fitted transformer has no
        such method.
        """
        check_is_fitted(self)
        assert self.decoder_ is not None
        features = check_array(X, dtype=np.float32, input_name="X", estimator=self)
        if features.shape[1] != self.n_components_:
            raise ValueError(
                f"inverse_transform of RDPTransformer takes features, {self.n_components_} columns as `transform` "
                f"returns them. Got {features.shape[1]} columns instead."
            )
        assert isinstance(self.chosen_.view, MinMaxView | UnchangedView)  # the parameters were checked
        return self.chosen_.view.undo(self.decoder_(features))

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def _all_pairs(self, matrix: Matrix, rng: np.random.Generator) -> TrainingTask:
        """What φ is to learn from all pairs of a batch: the inner products of their targets."""
        rows = prepared(matrix, self.chosen_.view)
        wanted = self._draw_products(matrix, rng)
        phi = self._draw_small_phi(rows[np.arange(2)], rng)
        return TrainingTask(rows, wanted, np.arange(rows.shape[0]), phi, rng, n_columns=rows.shape[1])

    def _one_partner(self, matrix: Matrix, rng: np.random.Generator) -> TrainingTask:
        """What φ is to learn from a row and its partner: their targets."""
        chosen = self.chosen_
        if matrix.shape[0] > TRAINING_ROWS:
            matrix = matrix[np.sort(rng.choice(matrix.shape[0], TRAINING_ROWS, replace=False))]
        rows = chosen.view(matrix)
        everything = np.arange(rows.shape[0])
        targets = self._draw_mapping(rows, rng)(rows)
        phi = draw_phi(rows, chosen.n_components, torch_options(self), rng)
        return TrainingTask(rows, targets, everything, phi, int(rng.integers(2**63)), n_columns=rows.shape[1])

    def _draw_mapping(self, rows: Rows, rng: np.random.Generator) -> Any:
        chosen, n_targets = self.chosen_, with_options(self.mapping).n_targets or self.n_components_
        return draw_mapping(chosen.mapping, rows, np.arange(rows.shape[0]), n_targets, rng, chosen.bandwidth)

    def _draw_products(self, matrix: Matrix, rng: np.random.Generator) -> InnerProducts:
        """The inner products to be predicted, as a function of the prepared rows of a batch."""
        chosen = self.chosen_
        some = np.sort(rng.permutation(matrix.shape[0])[:TRAINING_ROWS])
        if not self._has_limit():
            return products_of(self._draw_mapping(chosen.view(matrix[some]), rng))
        bandwidth = chosen.bandwidth
        if chosen.mapping == "fourier" and bandwidth is None:
            bandwidth = median_distance(chosen.view(matrix[some[:ROWS_FOR_BANDWIDTH]]))
        return limit_products(str(chosen.mapping), bandwidth or 1.0)

    def _has_limit(self) -> bool:
        """Whether η has infinitely many targets; the original space has as many as it has."""
        mapping = self.chosen_.mapping
        return mapping == "identity" or (isinstance(mapping, str) and with_options(self.mapping).n_targets is None)

    def _draw_small_phi(self, some_rows: Rows, rng: np.random.Generator) -> Phi:
        """Draw φ with a last layer that starts small: directions that nothing asks for stay small."""
        chosen, wanted = self.chosen_, torch_options(self)
        variance = chosen.start**2 / chosen.n_components
        if wanted.widths == ():
            weights = gaussian((some_rows.shape[1], chosen.n_components), variance, rng)
            return Representation(weights, np.zeros(chosen.n_components, dtype=np.float32))
        phi = draw_phi(some_rows, chosen.n_components, wanted, rng)
        if isinstance(phi, Representation):
            last = phi.layers[-1][0]
            last[:] = gaussian(last.shape, variance, rng)
        return phi

    def _training(self, rows: Rows, folder: FitFolder | None) -> FeatureTraining:
        """How φ is trained on these rows."""
        settings, wanted = self._settings(), torch_options(self)
        engine = engine_for("RDPTransformer", self.engine, wanted)
        return FeatureTraining(
            settings=settings,
            engine=choose_engine(engine, self.n_steps, filling_of(rows), self.n_components_, settings),
            torch=wanted,
            callbacks=self.callbacks or (),
            saved=None if folder is None else SavedTraining(folder, "training"),
        )

    def _settings(self) -> TrainingSettings:
        inner_product: Literal["l1", "plain", "unit"] = "plain" if self.inner_product == "plain" else "l1"
        if self.pairs == "all":
            inner_product = "unit" if self.chosen_.unit_in_loss else "plain"
        return TrainingSettings(
            n_steps=self.n_steps,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            momentum=self.momentum,
            max_grad_norm=np.inf if self.max_grad_norm is None else self.max_grad_norm,
            dropout=self.dropout,
            distance_weight=self.distance_weight,
            novelty_weight=0.0,
            inner_product=inner_product,
            reconstruction_weight=self.reconstruction_weight,
            pairs=self.pairs,
            slope=self.chosen_.slope,
            recorded=("distance", "reconstruction") if self.reconstruction_weight > 0 else ("distance",),
        )


def prepared(matrix: Matrix, view: Any) -> Rows | PreparedRows:
    """The rows as φ sees them: all at once, or when they are drawn.

    Sparse rows that have to be centred are made dense a batch at a time, and so is a copy of a very large table.
    """
    n_bytes = 4 * matrix.shape[0] * matrix.shape[1]
    if isinstance(view, CentredRows) and (sp.issparse(matrix) or n_bytes > LARGEST_COPY):
        return PreparedRows(matrix, view)
    return view(matrix)
