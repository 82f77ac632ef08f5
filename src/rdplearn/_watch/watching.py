"""Watch a model: compare a new table with what the model remembers of the one that it was fitted on."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import clone

from rdplearn._feedback.reviewed import Reviewed
from rdplearn._types import Doubles
from rdplearn._watch.changes import SCORES, column_changes, gone_column, score_changes, with_correction
from rdplearn._watch.verdict import Verdict, make_verdict
from rdplearn.detector import RDPDetector
from rdplearn.errors import TableError, no_rows, told_already, warn_user
from rdplearn.table import RowSample, RowSampler, Table, open_table
from rdplearn.table.memory import REMEMBERED_ROWS, ScoreMemory, TableMemory, count_memory, thinned, with_scores
from rdplearn.table.profiles import count_numbers, learn_numbers
from rdplearn.table_model import TableModel, watched

LEVEL = 0.01
SAMPLED_ROWS = 50_000  # of a new table, for its columns; all rows are scored
SEED = 0  # of what is drawn: the same table gives the same verdict
FOLDED_ROWS, N_FOLDS, ENOUGH_SCORED = 20_000, 5, 2_000
FEWEST_ROWS = 50


def watch(model: TableModel, table: Any, *, level: float = LEVEL) -> Verdict:
    """Has the data changed since the model was fitted? Compare a table with what the model remembers.

    It compares how many rows are reported, how they score, and each column: its values, how many are missing, cells
    that cannot be read, and values that were not there at fit. A change counts if it touches enough rows to matter, and
    if it is unlikely to come by chance, given how much is compared. See `docs/watch.md`.

    Parameters
    ----------
    model : fitted `TableModel`
    table : path, pandas, polars or Arrow table, or 2-D array
    level : float in (0, 0.5], default=0.01
        At most about this share of tables from an unchanged source is called changed.

    Returns
    -------
    Verdict
        With ``due``, ``sentences()``, ``columns()`` and ``to_dict()``.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rdplearn
    >>> rng = np.random.default_rng(0)
    >>> def people(age):
    ...     return pd.DataFrame({"age": rng.normal(age, 9, 500).round(), "city": rng.choice(["Oslo", "Rome"], 500)})
    >>> model = rdplearn.TableModel(rdplearn.RDPDetector(random_state=0)).fit(people(40))
    >>> rdplearn.watch(model, people(40)).due, rdplearn.watch(model, people(48)).due
    (False, True)
    """
    if not 0 < level <= 0.5:
        raise ValueError(f"The 'level' parameter of watch must be in (0, 0.5]. Got {level!r}: pass 0.01, for example.")
    memory = memory_of(model)
    opened = open_table(table)
    with told_already():  # what is odd about the table is the verdict's business
        sample, scored, not_compared = _look(model, opened, memory)
        counted = {profile.column: profile for profile in count_memory(memory, sample.rows, model.encoder)}
    changes = [
        change
        for profile in memory.columns
        if profile.column in counted
        for change in column_changes(profile, counted[profile.column])
    ]
    if scored is not None and memory.scores is not None:
        changes += score_changes(memory.scores, scored.histogram, scored.n_beyond, promised(model))
    changes = with_correction(changes)
    names = [profile.column for profile in memory.columns]
    changes += [gone_column(name, name in model.encoder.groups_) for name in names if name not in opened.column_names]
    new = [name for name in opened.column_names if name not in {*names, *model.encoder.ignore}]
    n_remembered = max((profile.n_rows for profile in memory.columns), default=0)
    table_name = opened.name.strip("'")
    return make_verdict(table_name, sample.n_rows_seen, n_remembered, level, changes, new, not_compared)


def remember_scores(model: TableModel, table: Any) -> TableModel:
    """Remember how new rows score, so that `watch` can tell later whether scores have changed.

    Rows that a model was trained on look more normal to it than others. So copies of the model are fitted on four
    fifths of the rows and score the last fifth: five times for tables of up to 2,000 rows, once from 10,000 on.
    `rdplearn fit` does this by itself.

    Parameters
    ----------
    model : fitted `TableModel` of an `RDPDetector`
    table : the table that it was fitted on

    Returns
    -------
    TableModel
        The same model.
    """
    opened = open_table(table)
    sampler = score_sampler()
    for batch in opened.batches():
        sampler.add(batch)
    return remember_scores_of(model, sampler)


def score_sampler() -> RowSampler:
    """Draws the rows by which scores are remembered, while a table is read for something else."""
    return RowSampler(FOLDED_ROWS, seed=SEED)


def remember_scores_of(model: TableModel, sampler: RowSampler, before: TableModel | None = None) -> TableModel:
    """The same as `remember_scores`, of rows that were drawn already; tables of very few rows have nothing to tell.

    before : the model that `partial_fit` went on from, if it did
    """
    memory = memory_of(model)
    if not isinstance(model.estimator, RDPDetector):
        raise TypeError(f"Scores are those of an RDPDetector. Got {type(model.estimator).__name__} instead.")
    rows = sampler.sample().rows.select([profile.column for profile in memory.columns])
    if rows.num_rows < FEWEST_ROWS:
        return model
    try:
        with told_already():
            folds = list(_scores_of_folds(before or _settled_copy(model), rows))
    except ValueError as fault:
        warn_user(f"How new rows score was not remembered, 'watch' will compare columns only: {fault}")
        return model
    scores = np.concatenate([scores for scores, _ in folds])
    # Thresholds of copies differ from the model's, and so do their scores: the rate is known no better than this.
    n_beyond = max(int((scores > -model.estimator.offset_).sum()), sum(n_beyond for _, n_beyond in folds))
    model.memory_ = with_scores(memory, ScoreMemory(learn_numbers(SCORES, scores), len(scores), n_beyond))
    return model


def memory_of(model: Any) -> TableMemory:
    """What the model remembers of its table; an error that says what to do if that is nothing."""
    if not isinstance(model, TableModel):
        raise TypeError(
            f"watch needs a TableModel, which knows the columns of a table. Got {type(model).__name__} instead: "
            "TableModel(RDPDetector()).fit(table) makes one."
        )
    memory = model.memory_
    if memory is None:
        raise TableError(
            "The model remembers nothing of the table that it was fitted on: it is not fitted, or its file was written "
            "by an earlier version. Fit it again."
        )
    return memory


def promised(model: TableModel) -> float | None:
    """The share of rows that the detector was told to report; None if it chose the line by itself."""
    detector = model.estimator
    if detector.false_alarm_rate is not None:
        return float(detector.false_alarm_rate)
    return None if isinstance(detector.contamination, str) else float(detector.contamination)


def _look(model: TableModel, table: Table, memory: TableMemory) -> tuple[RowSample, ScoreMemory | None, list[str]]:
    """A sample of the rows, how all of them score if that can be compared, and what cannot, in one pass."""
    if memory.scores is None:
        return _sampled(table), None, _why_no_scores(model)
    sampler = RowSampler(SAMPLED_ROWS, seed=SEED)
    counted, n_beyond, n_rows = np.zeros(len(memory.scores.histogram.counts), dtype=np.int64), 0, 0
    try:
        tapped = watched(table, sampler, frozenset(model.encoder.ignore))
        for batch, normality in model.apply_batches(tapped, model.estimator.score_samples):
            counted += count_numbers(memory.scores.histogram, -normality).counts
            n_beyond += int((normality < model.estimator.offset_).sum())
            n_rows += batch.num_rows
    except TableError as fault:
        if isinstance(fault.__context__, OSError):
            raise  # the disk is at fault, and says nothing about the rows
        return _sampled(table), None, [f"The rows could not be scored: {fault}"]
    if sampler.is_empty:
        raise no_rows(table.name)
    histogram = replace(memory.scores.histogram, counts=counted.tolist())
    return sampler.sample(), ScoreMemory(histogram, n_rows, n_beyond), []


def _sampled(table: Table) -> RowSample:
    sampler = RowSampler(SAMPLED_ROWS, seed=SEED)
    for batch in table.batches():
        sampler.add(batch)
    if sampler.is_empty:
        raise no_rows(table.name)
    return sampler.sample()


def _why_no_scores(model: TableModel) -> list[str]:
    if isinstance(model.estimator, Reviewed):
        return ["Alarms and scores were not compared: the model takes answers, which move them."]
    if not isinstance(model.estimator, RDPDetector):
        return []
    return [
        "Alarms and scores were not compared: the model remembers no scores. 'rdplearn fit' remembers them for tables "
        f"of at least {FEWEST_ROWS} rows, rdplearn.remember_scores(model, table) for a model made in Python."
    ]


def _scores_of_folds(start: TableModel, rows: pa.Table) -> Iterator[tuple[Doubles, int]]:
    """Anomaly scores of rows by models that were fitted on others, and how many these would report.

    start : what is fitted, or goes on if it is fitted already
    """
    folds, n_scored = np.random.default_rng(SEED).permutation(rows.num_rows) % N_FOLDS, 0
    for fold in range(N_FOLDS):
        held_back = thinned(rows.take(pa.array(np.flatnonzero(folds == fold))), REMEMBERED_ROWS)
        twin = copy.deepcopy(start).partial_fit(rows.take(pa.array(np.flatnonzero(folds != fold))))
        scores = -twin.score_samples(held_back)
        yield scores, int((scores > -twin.estimator.offset_).sum())
        n_scored += held_back.num_rows
        if n_scored >= ENOUGH_SCORED:
            return


def _settled_copy(model: TableModel) -> TableModel:
    """An unfitted model that chooses for a part of the table what this one has chosen for all of it."""
    n_fitted = min(model.encoder.n_rows_, model.sampler(len(model.encoder.columns_)).n_rows)
    settled = model.estimator.for_shape(n_fitted, model.estimator.n_features_in_)
    # columns that are ignored are not among the rows
    return TableModel(settled.set_params(verbose=0, callbacks=None), clone(model.encoder).set_params(ignore=()))
