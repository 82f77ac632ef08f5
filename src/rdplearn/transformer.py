"""RDPTransformer: features of a table's rows, learned without labels by predicting random distances."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted

from rdplearn._model.decoder import Decoder
from rdplearn._model.inner_products import Kernel, kernel_of, limit_kernel
from rdplearn._model.mapping import MAPPING_NAMES, ROWS_FOR_BANDWIDTH, draw_mapping, gaussian, median_distance
from rdplearn._model.representation import Representation, TrainingSettings
from rdplearn._scoring.features import FeatureMap, map_rows
from rdplearn._threads import one_blas_thread
from rdplearn._to_dask import for_partitions
from rdplearn._training.checkpoint import FitFolder, SavedTraining, open_fit_folder
from rdplearn._training.drawn_phi import draw_phi
from rdplearn._training.gram import GramSettings, GramSteps, PlainGramSteps, train_on_all_pairs
from rdplearn._training.loop import ENGINES
from rdplearn._training.pairs import choose_pair_engine, train_on_pairs
from rdplearn._training.progress import Watch
from rdplearn._training.row_space import row_space, span_flops
from rdplearn._training.task import Phi
from rdplearn._training.torch_options import TORCH_CONSTRAINTS, Device, engine_for, torch_settings
from rdplearn._types import Doubles, Floats, Ints, Matrix, Rows
from rdplearn._views.matrix import read_matrix
from rdplearn._views.minmax import MinMaxView, UnchangedView
from rdplearn._views.unit_rows import CentredRows
from rdplearn.callbacks import Records, check_callbacks, wants_to_stop
from rdplearn.errors import RDPWarning
from rdplearn.formulation import Formulation, choose_formulation

TRAINING_ROWS = 100_000  # of larger tables, `pairs="one"` learns from a random sample of this size
LARGEST_COPY = 2**30  # bytes of prepared dense rows beyond which each batch is prepared when it is drawn
LARGEST_WEIGHTS = 2**34  # bytes of weights and momenta that no table here can want

PAPER: dict[str, Any] = {
    "n_components": 1024,
    "pairs": "one",
    "scaling": None,
    "mapping": "leaky",
    "inner_product": "l1",
    "distance_weight": 1.0,
    "reconstruction_weight": 1.0,
    "n_steps": 30_000,
    "batch_size": 192,
    "learning_rate": 0.1,
    "momentum": 0.9,
    "max_grad_norm": 0.1,
    "dropout": 0.1,
}


class RDPTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Learn features of rows without labels, by predicting random distances (RDP).

    A small network φ learns to predict the inner products that a random mapping η gives to pairs of rows
    (:math:`L_{rdp}`, equation 2 of [1]_). Predicting them with few numbers forces φ to keep what rows have in common.
    By default *all* pairs of a batch are predicted and η has infinitely many targets, whose inner products are kernels
    that can be written down; which, follows from how full the table is (`rdplearn.formulation`). The paper's own
    setting is ``RDPTransformer.paper()``.

    Parameters
    ----------
    n_components : int, default=None
        Numbers in φ(x), the paper's M. By default 32 where φ is linear (mostly zero tables) and 128 elsewhere.
    n_targets : int, default=None
        Numbers in η(x), the paper's K. By default infinitely many with ``pairs="all"`` and as many as `n_components`
        with ``pairs="one"``.
    mapping : {"auto", "leaky", "linear", "sparse", "fourier", "identity"}, transformer or callable, default="auto"
        The random mapping η; see `rdplearn._model.mapping`. A scikit-learn transformer is cloned, seeded and fitted on
        the prepared rows; a callable takes rows to targets and must always give the same answer. ``"auto"`` is linear
        for mostly zero tables, Fourier features for others, and leaky with ``pairs="one"``.
    bandwidth : float, default=None
        Of ``mapping="fourier"``, on the prepared rows: :math:`\exp(-\|x - y\|^2 / 2 h^2)`. By default :math:`1/\sqrt 2`
        for rows of length 1 and the median distance between rows otherwise.
    pairs : {"all", "one"}, default="all"
        Predict the distances of all pairs of a batch, or of each row and one partner, as the paper does.
    scaling : {"auto", "unit", "minmax"} or None, default="auto"
        What happens to rows first. ``"unit"`` evens out the columns and gives rows length 1 (`rdplearn._views.unit_rows`),
        ``"minmax"`` scales columns to [0, 1] by their range at fit, None takes them as they are. ``"auto"`` is
        ``"unit"``, except below ten columns, where rows keep their length, and with ``pairs="one"``: ``"minmax"``.
    inner_product : {"auto", "plain", "unit", "l1"}, default="auto"
        Inner products of φ as it is, of rows of length 1 (with ``pairs="all"`` only), or of rows divided by their L1
        norm (with ``pairs="one"`` only, the authors' code). ``"auto"`` is ``"l1"`` with ``pairs="one"``; otherwise
        ``"unit"`` for Fourier features and ``"plain"`` for the rest.
    distance_weight : float, default=1.0
        Weight of the distance prediction loss; 0 turns it off.
    reconstruction_weight : float, default=0.0
        Weight of the reconstruction loss :math:`L_{aux}^{clu}` (equation 3), a linear decoder from φ back to the row;
        0 turns it off. Needs ``pairs="one"``, and makes `inverse_transform` possible.
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
    engine : {"auto", "numba", "numpy", "torch"}, default="auto"
        With ``pairs="one"``: compiled kernels, plain NumPy or PyTorch, with the same result up to rounding; by default
        whichever of the first two is done first, or PyTorch where one of the next five parameters needs it.
        ``pairs="all"`` is done in seconds and has no need of a compiler: it runs on NumPy or PyTorch.
    network : list of int or callable, default=None
        φ with hidden leaky layers of these widths, or a function of (n_columns, n_components) that makes an
        ``nn.Module``; by default φ has one layer. See `docs/torch.md`.
    distance_loss : callable, default=None
        Takes predicted and wanted inner products to a loss; by default the squared error.
    auxiliary_losses : dict of name: (callable, weight), default=None
        Further losses, each a function of (rows, representation, targets, partner), tensors of one batch. With
        ``pairs="all"`` the targets are the wanted inner products of the batch, (n_rows, n_rows).
    device : {"auto", "cpu", "cuda", "mps"}, default="auto"
        Where PyTorch computes.
    compile : bool, default=False
        Let ``torch.compile`` speed up the steps; where that fails, training goes on without it.
    callbacks : list, default=None
        Functions of the records so far, which end the training by returning True, such as `rdplearn.StopOnPlateau`;
        and a `rdplearn.Checkpoint`, from which an interrupted fit goes on.
    record_every : int, default=None
        Write the losses to `history_` at least every so many steps; by default 20 times or more.
    n_jobs : int, default=None
        Threads of `transform`, as in scikit-learn; the result does not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : bool or int, default=0
        Show a progress bar on stderr.

    Attributes
    ----------
    feature_map_ : the learned φ: ``feature_map_.phi.weights`` (n_columns, n_components) and ``.bias``
    decoder_ : Decoder or None
        The decoder, when the reconstruction loss is on.
    formulation_ : what was learned from the table, with every ``"auto"`` settled
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
        "n_targets": [Interval(Integral, 1, None, closed="left"), None],
        "mapping": [StrOptions({"auto", *MAPPING_NAMES}), HasMethods(["fit", "transform"]), callable],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), None],
        "pairs": [StrOptions({"all", "one"})],
        "scaling": [StrOptions({"auto", "unit", "minmax"}), None],
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
        **TORCH_CONSTRAINTS,
        "callbacks": [list, tuple, None],
        "record_every": [Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        n_components: int | None = None,
        n_targets: int | None = None,
        mapping: Any = "auto",
        bandwidth: float | None = None,
        pairs: Literal["all", "one"] = "all",
        scaling: Literal["auto", "unit", "minmax"] | None = "auto",
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
        network: Any = None,
        distance_loss: Callable[..., Any] | None = None,
        auxiliary_losses: dict[str, tuple[Callable[..., Any], float]] | None = None,
        device: Device = "auto",
        compile: bool = False,
        callbacks: list[Any] | None = None,
        record_every: int | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.n_components = n_components
        self.n_targets = n_targets
        self.mapping = mapping
        self.bandwidth = bandwidth
        self.pairs = pairs
        self.scaling = scaling
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
        self.network = network
        self.distance_loss = distance_loss
        self.auxiliary_losses = auxiliary_losses
        self.device = device
        self.compile = compile
        self.callbacks = callbacks
        self.record_every = record_every
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

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
        return cls(**{**PAPER, **changes})

    @for_partitions
    def fit(self, X: Any, y: object = None) -> Self:
        """Learn φ from a table.

        Parameters
        ----------
        X : array, sparse matrix, data frame or table in partitions, of shape (n_rows, n_columns)
        y : ignored
        """
        self._check_parameters()
        matrix = read_matrix(self, X, reset=True, min_rows=2)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        folder = open_fit_folder(self, self.callbacks, matrix, seed)
        rng = np.random.default_rng(seed if folder is None else folder.seed)
        self.formulation_ = choose_formulation(
            matrix,
            pairs=self.pairs,
            scaling=self.scaling,
            mapping=self.mapping,
            bandwidth=self.bandwidth,
            inner_product=self.inner_product,
            n_components=self.n_components,
        )
        self.n_components_ = self.formulation_.n_components
        self._check_size(matrix)
        learn = self._learn_from_all_pairs if self.pairs == "all" else self._learn_from_one_partner
        with Watch(1, 1, self.n_steps, visible=bool(self.verbose)) as watch, one_blas_thread():
            training = Training(self, watch, folder)
            with training.threads():
                phi, self.decoder_, self.history_ = learn(matrix, rng, training)
        slope = self.formulation_.slope if isinstance(phi, Representation) else 1.0
        self.feature_map_ = FeatureMap(phi, slope, self.formulation_.unit_features)
        if folder is not None:
            folder.remove()
        return self

    @for_partitions
    def transform(self, X: Any) -> Floats:
        """Features φ(x) of every row, in single precision. Shape (n_rows, n_components)."""
        check_is_fitted(self)
        matrix = read_matrix(self, X, reset=False)
        return map_rows(matrix, self.formulation_.view, self.feature_map_, self.n_components_, self.n_jobs)

    def inverse_transform(self, X: Any) -> Doubles:
        """Rows that features were decoded to, dense, in the table's own units. Shape (n_rows, n_columns).

        Needs the reconstruction loss: ``reconstruction_weight`` above 0 at fit.
        """
        check_is_fitted(self)
        if self.decoder_ is None:
            raise ValueError(
                "inverse_transform needs a decoder, and none was learned. Fit with pairs='one' and a "
                "'reconstruction_weight' above 0, as RDPTransformer.paper() has it."
            )
        features = check_array(X, dtype=np.float32, input_name="X", estimator=self)
        if features.shape[1] != self.n_components_:
            raise ValueError(
                f"inverse_transform of RDPTransformer takes features, {self.n_components_} columns as `transform` "
                f"returns them. Got {features.shape[1]} columns instead."
            )
        assert isinstance(self.formulation_.view, MinMaxView | UnchangedView)  # the parameters were checked
        return self.formulation_.view.undo(self.decoder_(features))

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def _learn_from_all_pairs(
        self, matrix: Matrix, rng: np.random.Generator, training: Training
    ) -> tuple[Phi, None, Records]:
        chosen = self.formulation_
        settings = GramSettings(
            self.n_steps, self.batch_size, self.learning_rate, self.momentum, chosen.slope, chosen.unit_in_loss
        )
        take_rows, rows = prepared(matrix, chosen)
        kernel = self._draw_kernel(matrix, rng)
        phi = self._draw_small_phi(take_rows(np.arange(2)), rng, training)
        span = row_space(rows) if rows is not None and self._rotation_pays(rows, training) else None
        inner = phi if span is None else Representation(span.enter(phi.weights), phi.bias, phi.deeper)
        records = train_on_all_pairs(
            training.gram_steps(inner, settings),
            take_rows if span is None else lambda batch: span.rows[batch],
            matrix.shape[0],
            kernel,
            settings,
            rng,
            training.report,
            record_every=self.record_every,
            saved=training.saved,
        )
        if span is None:
            return phi, None, records
        return Representation(span.leave(phi.weights, inner.weights), inner.bias, inner.deeper), None, records

    def _draw_small_phi(self, some_rows: Rows, rng: np.random.Generator, training: Training) -> Phi:
        """Draw φ with a last layer that starts small: directions that nothing asks for stay small."""
        chosen = self.formulation_
        variance = chosen.start**2 / chosen.n_components
        if training.wanted.widths == ():
            weights = gaussian((some_rows.shape[1], chosen.n_components), variance, rng)
            return Representation(weights, np.zeros(chosen.n_components, dtype=np.float32))
        phi = draw_phi(some_rows, chosen.n_components, training.wanted, rng)
        if isinstance(phi, Representation):
            last = phi.layers[-1][0]
            last[:] = gaussian(last.shape, variance, rng)
        return phi

    def _draw_kernel(self, matrix: Matrix, rng: np.random.Generator) -> Kernel:
        """The inner products to be predicted, as a function of the prepared rows of a batch."""
        chosen = self.formulation_
        some = np.sort(rng.permutation(matrix.shape[0])[:TRAINING_ROWS])
        if self._has_limit():
            bandwidth = chosen.bandwidth
            if chosen.mapping == "fourier" and bandwidth is None:
                bandwidth = median_distance(chosen.view(matrix[some[:ROWS_FOR_BANDWIDTH]]))
            return limit_kernel(str(chosen.mapping), bandwidth or 1.0)
        rows = chosen.view(matrix[some])
        n_targets = self.n_targets or chosen.n_components
        return kernel_of(draw_mapping(chosen.mapping, rows, np.arange(len(some)), n_targets, rng, chosen.bandwidth))

    def _has_limit(self) -> bool:
        """Whether η has infinitely many targets; the original space has as many as it has."""
        mapping = self.formulation_.mapping
        return mapping == "identity" or (isinstance(mapping, str) and self.n_targets is None)

    def _rotation_pays(self, rows: Rows, training: Training) -> bool:
        """Whether the span of the rows is so much smaller than the table is wide that finding it saves work."""
        if sp.issparse(rows) or not self._has_limit() or training.wanted.sees_columns:
            return False
        n_rows, n_columns = rows.shape
        saved = 4.0 * self.n_steps * self.batch_size * self.n_components_ * (n_columns - n_rows)
        return bool(saved > span_flops(rows))

    def _learn_from_one_partner(
        self, matrix: Matrix, rng: np.random.Generator, training: Training
    ) -> tuple[Phi, Decoder | None, Records]:
        chosen, settings = self.formulation_, self._pair_settings()
        if matrix.shape[0] > TRAINING_ROWS:
            matrix = matrix[np.sort(rng.choice(matrix.shape[0], TRAINING_ROWS, replace=False))]
        rows = chosen.view(matrix)
        n_targets = self.n_targets or chosen.n_components
        all_rows = np.arange(rows.shape[0])
        targets = draw_mapping(chosen.mapping, rows, all_rows, n_targets, rng, chosen.bandwidth)(rows)
        coder, records = train_on_pairs(
            rows,
            targets,
            chosen.n_components,
            settings,
            choose_pair_engine(training.engine, rows, chosen.n_components, settings),
            rng,
            training.report,
            wanted=training.wanted,
            record_every=self.record_every,
            saved=training.saved,
        )
        return coder.phi, coder.decoder, records

    def _pair_settings(self) -> TrainingSettings:
        return TrainingSettings(
            n_steps=self.n_steps,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            momentum=self.momentum,
            max_grad_norm=np.inf if self.max_grad_norm is None else self.max_grad_norm,
            dropout=self.dropout,
            distance_weight=self.distance_weight,
            novelty_weight=0.0,
            inner_product="plain" if self.inner_product == "plain" else "l1",
            reconstruction_weight=self.reconstruction_weight,
        )

    def _check_parameters(self) -> None:
        self._validate_params()
        check_callbacks(self.callbacks, "RDPTransformer")
        torch_settings(self)
        if self.distance_weight == 0 and self.reconstruction_weight == 0:
            raise ValueError(
                "At least one of 'distance_weight' and 'reconstruction_weight' of RDPTransformer must be positive. Got "
                "0 for both: there would be nothing to learn."
            )
        if self.pairs == "all":
            self._check_belongs_to_one_partner()
        elif self.inner_product == "unit":
            raise ValueError(
                "The 'inner_product' parameter of RDPTransformer must be 'l1' or 'plain' with pairs='one'. Got 'unit' "
                "instead: use one of these, or pairs='all'."
            )
        if self.reconstruction_weight > 0 and self.scaling == "unit":
            raise ValueError(
                "The 'scaling' parameter of RDPTransformer must be 'minmax' or None when rows are reconstructed, since "
                "the length of a row cannot be brought back. Got 'unit' instead."
            )

    def _check_belongs_to_one_partner(self) -> None:
        """See that nothing was asked for that only the paper's way of pairing has."""
        for name, off in (("reconstruction_weight", 0.0), ("dropout", 0.0), ("max_grad_norm", None)):
            if getattr(self, name) != off:
                raise ValueError(
                    f"The {name!r} parameter of RDPTransformer must be {off} with pairs='all'. Got "
                    f"{getattr(self, name)} instead: pass pairs='one', or start from RDPTransformer.paper()."
                )
        if self.inner_product == "l1":
            raise ValueError(
                "The 'inner_product' parameter of RDPTransformer must be 'plain' or 'unit' with pairs='all'. Got 'l1' "
                "instead: use one of these, or pairs='one'."
            )

    def _check_size(self, matrix: Matrix) -> None:
        n_rows, n_columns = matrix.shape
        n_matrices = 4 if self.reconstruction_weight > 0 else 2
        size = 4 * n_matrices * n_columns * self.n_components_
        if size > LARGEST_WEIGHTS:
            raise ValueError(
                f"The 'n_components' parameter of RDPTransformer must fit the table. Got {self.n_components_:,}: with "
                f"{n_columns:,} columns, weights and momenta would take {size / 2**30:,.0f} GiB. Pass a smaller number."
            )
        most = min(n_rows, n_columns)
        if self.formulation_.slope == 1 and self.n_components is not None and self.n_components > most:
            warnings.warn(
                f"n_components={self.n_components} is more than linear features of a table of {n_rows} rows and "
                f"{n_columns} columns can use: at most {most} of them are independent.",
                RDPWarning,
                stacklevel=3,
            )


class Training:
    """How a transformer is trained, apart from what it learns: engine, progress, callbacks, checkpoint."""

    def __init__(self, transformer: RDPTransformer, watch: Watch, folder: FitFolder | None) -> None:
        self.wanted = torch_settings(transformer)
        self.engine = engine_for("RDPTransformer", transformer.engine, self.wanted)
        self.n_jobs, self.distance_weight = transformer.n_jobs, transformer.distance_weight
        self.watch, self.n_reported, self.callbacks = watch, 0, transformer.callbacks or ()
        self.saved = None if folder is None else SavedTraining(folder, "training")

    def report(self, records: Records) -> bool:
        """Tell progress and callbacks what was done; returns whether training should end."""
        n_steps = int(records[-1]["step"])
        self.watch.advance(0, n_steps - self.n_reported)
        self.n_reported = n_steps
        return wants_to_stop(self.callbacks, records)

    def threads(self) -> AbstractContextManager[None]:
        """Hold PyTorch, if it is used, to the threads asked for."""
        if self.engine != "torch":
            return nullcontext()
        from rdplearn._training.engines.torch_device import (
            torch_threads,  # here, because importing PyTorch takes seconds
        )

        return torch_threads(self.n_jobs)

    def gram_steps(self, phi: Phi, settings: GramSettings) -> GramSteps:
        """Set an engine to work on all pairs."""
        if self.engine != "torch":
            return PlainGramSteps(phi, settings)
        from rdplearn._training.engines.torch_gram import TorchGramSteps

        return TorchGramSteps(phi, settings, self.wanted, self.distance_weight)


def prepared(matrix: Matrix, chosen: Formulation) -> tuple[Callable[[Ints], Rows], Rows | None]:
    """Give a function from indices to prepared rows, and all prepared rows if they were small enough to keep.

    Sparse rows that have to be centred are made dense a batch at a time, and so is a copy of a very large table.
    """
    if isinstance(chosen.view, CentredRows) and (
        sp.issparse(matrix) or 4 * matrix.shape[0] * matrix.shape[1] > LARGEST_COPY
    ):
        return (lambda batch: chosen.view(matrix[batch])), None
    rows = chosen.view(matrix)
    return (lambda batch: rows[batch]), rows
