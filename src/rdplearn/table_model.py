"""A table encoder and an estimator as one: tables of any size in, results out, batch by batch.

The fit reads the table once. On the way it learns what the columns are and draws a uniform sample of the rows, on which
the estimator is then fitted: at most 100,000 rows and about 8 million cells, but no fewer than 10,000 rows. A table of
fewer rows is used whole. Memory holds the sample, a bounded summary of each column and one batch, whatever the size of
the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, get_tags

from rdplearn._explain.explanation import Explanation, joined
from rdplearn._explain.notebook import html_table
from rdplearn._files.read_ahead import read_ahead
from rdplearn._scoring.scores import rows_so_far
from rdplearn._to_dask import for_partitions, is_partitioned
from rdplearn._types import draw_seed
from rdplearn.detector import RDPDetector
from rdplearn.errors import RowPlaceError, TableError
from rdplearn.table import RowSample, RowSampler, Table, TableEncoder, open_table
from rdplearn.table.frames import read_frame
from rdplearn.table.memory import TableMemory, faded, learn_memory

if TYPE_CHECKING:
    from rdplearn._explain.cluster_reliability import ClusterAssessment
    from rdplearn._explain.reliability import Assessment
    from rdplearn.clusterer import RDPClusterer
    from rdplearn.transformer import RDPTransformer

SCORE, RANK, REPORTED = "anomaly_score", "rank", "anomalous"
MOST_SAMPLED_ROWS, FEWEST_SAMPLED_ROWS = 100_000, 10_000
SAMPLED_CELLS = 2**23


class TableModel(BaseEstimator):
    """An estimator that takes tables: paths, data frames, anything that `rdplearn.table.open_table` opens.

    As scikit-learn's Pipeline does, it fits its parts themselves: after `fit`, `encoder` and `estimator` are fitted.
    `sklearn.base.clone` makes an unfitted copy, and parameters of the parts are `estimator__n_members`,
    `encoder__missing` and so on.

    Parameters
    ----------
    estimator : RDPDetector, RDPTransformer or RDPClusterer
        The methods below that it has itself can be called.
    encoder : TableEncoder, optional
        By default one that finds out everything by itself.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from rdplearn import RDPDetector, TableModel
    >>> table = pa.table({"age": [31, 57, 44, 45] * 50, "city": ["Oslo", "Rome", "Rome", "Oslo"] * 50})
    >>> model = TableModel(RDPDetector(n_members=2, n_rounds=1, n_steps=50, random_state=0)).fit(table)
    >>> model.encoder.feature_names_
    ['age', 'city=Oslo', 'city=Rome']
    >>> model.predict(pa.table({"age": [44, 9000], "city": ["Rome", "Rome"]}))
    array([ 1, -1])
    """

    memory_: TableMemory | None = None  # of the table of the fit

    def __init__(
        self, estimator: RDPDetector | RDPTransformer | RDPClusterer, encoder: TableEncoder | None = None
    ) -> None:
        self.estimator: Any = estimator
        self.encoder = TableEncoder() if encoder is None else encoder

    def __repr__(self) -> str:
        return f"TableModel({self.estimator!r})"

    def __sklearn_tags__(self) -> Tags:
        tags = get_tags(self.estimator)
        tags.input_tags = replace(tags.input_tags, string=True, categorical=True, allow_nan=True, sparse=False)
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self.encoder, "columns_")

    def _html_repr(self) -> str:
        """What a notebook shows: the estimator, and what becomes of each column once it is fitted."""
        shown = str(self.estimator._repr_html_())
        if not hasattr(self.encoder, "columns_"):
            return shown
        columns = [
            {"column": column["column"], "read as": column["kind"], "typical": column["typical"]}
            | {"components": len(column["becomes"]), "note": column["note"]}
            for column in self.encoder.describe()
        ]
        told = f"Fitted on {self.encoder.n_rows_:,} rows, {len(self.encoder.feature_names_):,} components each."
        return shown + html_table(columns, told)

    @for_partitions
    def fit(self, table: Any, y: object = None) -> TableModel:
        """Learn the columns, draw the rows, fit the estimator; the columns that the encoder ignores are not kept.

        `y` is ignored, and there because pipelines pass it.
        """
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "random_state"):
            raise TypeError(
                "The 'estimator' parameter of TableModel must be an RDPDetector, RDPTransformer or RDPClusterer, such "
                f"as RDPDetector(). Got {self.estimator!r:.60} instead."
            )
        opened = open_table(table)
        sampler = self.sampler(len(opened.column_names))
        self.encoder.fit(watched(opened, sampler, frozenset(self.encoder.ignore)))
        sample = sampler.sample()
        is_whole = sample.n_rows_seen == len(sample.places)
        name = opened.name if is_whole else f"a sample of {len(sample.places):,} rows of {opened.name}"
        matrix = self.encoder.transform(Table(name, *read_frame(sample.rows)))
        told = {"columns": self.encoder.table_columns_} if isinstance(self.estimator, RDPDetector) else {}
        self.estimator.fit(matrix, **told)
        self.memory_ = learn_memory(sample.rows, self.encoder)
        return self

    @for_partitions
    def partial_fit(self, table: Any, y: object = None) -> TableModel:
        """Continue with a new table: the detector replaces its oldest members, and the memory of the old table fades.

        Columns are read as they were at fit. A model that is not fitted yet is fitted. See `RDPDetector.partial_fit`.

        Examples
        --------
        >>> import pandas as pd, rdplearn
        >>> people = pd.DataFrame({"age": [31, 57, 44, 45] * 50, "city": ["Oslo", "Rome"] * 100})
        >>> detector = rdplearn.RDPDetector(n_members=2, n_rounds=1, n_steps=50, random_state=0)
        >>> model = rdplearn.TableModel(detector).fit(people)
        >>> model.partial_fit(people).estimator.n_renewed_
        1
        """
        if not hasattr(self.encoder, "columns_"):
            return self.fit(table)
        if not hasattr(self.estimator, "partial_fit"):
            raise TypeError(
                "partial_fit is for models of an RDPDetector, which has members to renew. Got "
                f"{type(self.estimator).__name__}: fit it again."
            )
        opened = open_table(table)
        sample, n_before = self._sample(opened), self.estimator.n_renewed_
        self.estimator.partial_fit(self.encoder.transform(Table(opened.name, *read_frame(sample.rows))))
        share = (self.estimator.n_renewed_ - n_before) / len(self.estimator.combination_.weights)
        if self.memory_ is not None:
            self.memory_ = faded(self.memory_, 1.0 - share, sample.rows, self.encoder)
        self.encoder.n_rows_ += sample.n_rows_seen
        return self

    def fit_predict(self, table: Any, y: object = None) -> npt.NDArray[np.int64]:
        """Fit, and predict for the same rows; see `fit` and `predict`."""
        return self._fit_and("predict", table)

    def fit_transform(self, table: Any, y: object = None) -> npt.NDArray[np.float32]:
        """Fit, and transform the same rows; see `fit` and `transform`."""
        return self._fit_and("transform", table)

    @for_partitions
    def score_samples(self, table: Any) -> npt.NDArray[np.float64]:
        """How normal each row is: the higher, the more normal. Shape (n_rows,)."""
        return self._gather(table, self.estimator.score_samples)

    @for_partitions
    def decision_function(self, table: Any) -> npt.NDArray[np.float64]:
        """Negative for rows that are reported as anomalous. Shape (n_rows,)."""
        return self._gather(table, self.estimator.decision_function)

    @for_partitions
    def predict(self, table: Any) -> npt.NDArray[np.int64]:
        """Of a detector: -1 for reported rows, +1 for others; of a clusterer: the cluster. Shape (n_rows,)."""
        return self._gather(table, self.estimator.predict)

    @for_partitions
    def transform(self, table: Any) -> npt.NDArray[np.float32]:
        """Of a transformer: features; of a clusterer: distances to the centres. Shape (n_rows, n_components)."""
        return self._gather(table, self.estimator.transform)

    @for_partitions
    def explain(self, table: Any, *, rows: Sequence[int] | None = None) -> Explanation:
        """Which columns of the table made each row as anomalous as it is.

        Components that came from one column of the table, such as the parts of a date, are explained as one, with the
        table's own values and what was typical at fit.

        Parameters
        ----------
        rows : sequence of int, optional
            Places of the rows to explain, from 0, in the order wanted; by default all of them.

        Examples
        --------
        >>> import pandas as pd, rdplearn
        >>> people = pd.DataFrame({"age": [31, 57, 44, 45] * 50, "city": ["Oslo", "Rome"] * 100})
        >>> detector = rdplearn.RDPDetector(n_members=2, n_rounds=1, n_steps=50, random_state=0)
        >>> model = rdplearn.TableModel(detector).fit(people)
        >>> model.explain(pd.DataFrame({"age": [9000], "city": ["Rome"]})).sentences(0)[0]  # doctest: +ELLIPSIS
        'age 9,000 (typical 31 to 57) accounts for ...% of the score'
        """
        opened = open_table(table)
        wanted = None if rows is None else np.unique(_checked_places(rows))
        if wanted is not None and len(wanted) and wanted[0] < 0:
            raise TableError(f"The 'rows' parameter of explain counts from 0. Got {wanted[0]} instead.")
        pieces, found, first_row = [], 0, 0
        for batch, matrix in self.encoder.encode_batches(opened):
            here = np.arange(batch.num_rows) if wanted is None else wanted[found:] - first_row
            here = here[here < batch.num_rows]
            if len(here):
                pieces.append(self.explain_encoded(batch.take(here), matrix[here]))
            found, first_row = found + len(here), first_row + batch.num_rows
            if wanted is not None and found == len(wanted):
                break
        if wanted is not None and found < len(wanted) and first_row:
            raise RowPlaceError(opened.name, first_row, int(wanted[found]))
        if not pieces:
            raise TableError(f"There are no rows in {opened.name} to explain.")
        explanation = joined(pieces)
        if wanted is None:
            return explanation
        return replace(explanation.of_rows(np.searchsorted(wanted, np.asarray(rows))), places=np.asarray(rows))

    @for_partitions
    def assess(self, table: Any, *, n_rows: int | None = None) -> Assessment | ClusterAssessment:
        """How far to trust what the model says of a table's rows, without labels.

        Of a detector, whether another seed would have the same rows at the top, and the alarms at several false-alarm
        rates; of a clusterer, whether there are clusters at all. A large table is judged by a random sample.

        Parameters
        ----------
        n_rows : int, optional
            Rows of the table, if this is only a random sample of it.
        """
        opened = open_table(table)
        sample = self._sample(opened)
        matrix = self.encoder.transform(Table(opened.name, *read_frame(sample.rows)))
        return self.estimator.assess(matrix, n_rows=n_rows or sample.n_rows_seen)

    def apply_batches(
        self, table: Any, function: Callable[[Any], Any], *, skip_rows: int = 0
    ) -> Iterator[tuple[pa.RecordBatch, Any]]:
        """Apply a method of the estimator to a table of any size; each batch of rows comes with its result.

        The same table gives the same batches. `skip_rows` skips those that make up the first rows.
        """
        n_rows = skip_rows
        for batch, matrix in read_ahead(self.encoder.encode_batches(table, skip_rows=skip_rows)):
            n_rows += batch.num_rows
            if batch.num_rows:
                with rows_so_far(n_rows):
                    result = function(matrix)
                yield batch, result

    def explain_encoded(self, batch: pa.RecordBatch, matrix: Any) -> Explanation:
        """Explain rows of a table that are encoded already."""
        explanation = self.estimator.explain(matrix, groups=self.encoder.groups_)
        return replace(explanation, values=self.encoder.cell_values(batch), typical=self.encoder.typical_values())

    def _fit_and(self, method: str, table: Any) -> Any:
        """Fit, and then do this with the same rows, which may be those of a stream that can be read once."""
        getattr(self.estimator, method)  # what it cannot do is told before the work
        opened = table if is_partitioned(table) else open_table(table)
        return getattr(self.fit(opened), method)(opened)

    def _sample(self, table: Table) -> RowSample:
        """As many rows as the estimator is fitted on."""
        sampler = self.sampler(len(table.column_names))
        for batch in table.batches():
            sampler.add(batch)
        return sampler.sample()

    def _gather(self, table: Any, function: Callable[[Any], Any]) -> Any:
        results = [result for _, result in self.apply_batches(table, function)]
        return np.concatenate(results) if results else np.empty(0)

    def sampler(self, n_columns: int) -> RowSampler:
        """Draws the rows that the estimator is fitted on, from a table of so many columns."""
        n_rows = int(np.clip(SAMPLED_CELLS // n_columns, FEWEST_SAMPLED_ROWS, MOST_SAMPLED_ROWS))
        return RowSampler(n_rows, seed=draw_seed(self.estimator.random_state))


def _checked_places(rows: Any) -> npt.NDArray[np.int64]:
    """Places of rows, as whole numbers."""
    places = np.asarray(rows)
    start = "The 'rows' parameter of explain must be a list of places"
    if places.ndim != 1:
        raise TableError(f"{start}. Got {rows!r}; pass [{rows!r}].")
    if places.dtype == bool:
        raise TableError(f"{start}. Got a mask of True and False; pass its places, as numpy.flatnonzero gives them.")
    if len(places) and not np.issubdtype(places.dtype, np.integer):
        raise TableError(f"{start}, from 0. Got {rows!r:.60} instead.")
    return places.astype(np.int64)


def watched(table: Table, sampler: RowSampler, ignored: frozenset[str]) -> Table:
    """The same table, whose rows are offered to a sampler as they are read."""
    kept = [name for name in table.column_names if name not in ignored]

    def read() -> Iterator[pa.RecordBatch]:
        for batch in table.batches():
            sampler.add(batch.select(kept))
            yield batch

    return Table(table.name, table.column_names, read)


def anomaly_scores_of(normality: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """What people are told of rows: `score_samples` the other way round, and never -0.

    Examples
    --------
    >>> anomaly_scores_of(np.array([-2.5, 0.0])).tolist()
    [2.5, 0.0]
    """
    return 0.0 - normality


def threshold_of(estimator: Any) -> float:
    """The anomaly score above which a detector reports a row: `offset_` the other way round, and never -0."""
    return 0.0 - float(estimator.offset_)
