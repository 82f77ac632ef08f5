"""What is done with the rows of a request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rdplearn._serving.models import LoadedModel
from rdplearn._serving.problems import ProblemError, unusable_rows
from rdplearn.detector import RDPDetector
from rdplearn.errors import TableError
from rdplearn.table import Table
from rdplearn.table.findings import UNSEEN, Findings
from rdplearn.table.wording import shown
from rdplearn.table_model import anomaly_scores_of

REQUEST = "the request"
MOST_REMEMBERED = 100
MOST_CELLS_TOGETHER = 4096


@dataclass(frozen=True)
class Rows:
    """Rows to score, and the model that scores them."""

    loaded: LoadedModel
    batch: pa.RecordBatch


@dataclass(frozen=True)
class Scored:
    """Scores of rows.

    scores : (n_rows,), the higher the less normal
    reported : (n_rows,)
    notes : what was unusual in the columns, in words
    unseen : rows with values that the fit had not seen, by column
    """

    scores: npt.NDArray[np.float64]
    reported: npt.NDArray[np.bool_]
    notes: list[str] = field(default_factory=list)
    unseen: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Explained:
    """Scores of rows, with the columns that made them so and the sentences that say it."""

    scored: Scored
    columns: list[dict[str, Any]]


def check_columns(loaded: LoadedModel, names: tuple[str, ...]) -> None:
    """See that the request has the columns of the fit, and no others."""
    if names in loaded.fitting:
        return
    try:
        Table(REQUEST, names, lambda: iter(()))
        new = loaded.model.encoder.unknown_columns(names, REQUEST)
    except TableError as fault:
        raise unusable_rows(str(fault)) from None
    if new:
        more = f" and {len(new) - 1} more" if len(new) > 1 else ""
        raise unusable_rows(f"Column {shown(new[0])}{more} of the request was not in the fit. Leave it out.")
    if len(loaded.fitting) < MOST_REMEMBERED:
        loaded.fitting.add(names)


def score_all(jobs: Sequence[Rows]) -> list[Scored | Exception]:
    """Score the rows of several requests, together where they are alike."""
    results: dict[int, Scored | Exception] = {}
    for places in _alike(jobs):
        found = _score_as_one([jobs[place] for place in places]) if len(places) > 1 else None
        if found is None:  # what is unusual in one of them must be told to that one alone
            found = [_score_one(jobs[place]) for place in places]
        results.update(zip(places, found, strict=True))
    return [results[place] for place in range(len(jobs))]


def _alike(jobs: Sequence[Rows]) -> list[list[int]]:
    """Places of jobs with the same model, columns and types, in groups of few cells."""
    groups: dict[tuple[int, pa.Schema], list[list[int]]] = {}
    for place, job in enumerate(jobs):
        of_kind = groups.setdefault((id(job.loaded), job.batch.schema), [[]])
        n_rows = sum(jobs[other].batch.num_rows for other in (*of_kind[-1], place))
        # a detector's scores do not depend on the rows beside; those that answers have moved do, in their last digit
        fits = isinstance(job.loaded.model.estimator, RDPDetector)
        if of_kind[-1] and (not fits or n_rows * job.batch.num_columns > MOST_CELLS_TOGETHER):
            of_kind.append([])
        of_kind[-1].append(place)
    return [group for of_kind in groups.values() for group in of_kind]


def _score_as_one(jobs: Sequence[Rows]) -> list[Scored | Exception] | None:
    """The results, or None if anything about the rows is unusual."""
    try:
        scored = score(Rows(jobs[0].loaded, pa.concat_batches([job.batch for job in jobs])))
    except ProblemError:
        return None
    if scored.notes:
        return None
    ends = np.cumsum([job.batch.num_rows for job in jobs])[:-1]
    return [
        Scored(*parts) for parts in zip(np.split(scored.scores, ends), np.split(scored.reported, ends), strict=True)
    ]


def _score_one(job: Rows) -> Scored | Exception:
    try:
        return score(job)
    except Exception as fault:
        return fault


def score(job: Rows) -> Scored:
    """Score rows, in blocks that bound the memory."""
    blocks = _Blocks(job)
    parts = [job.loaded.model.estimator.score_samples(matrix) for _, matrix in blocks]
    return blocks.scored(anomaly_scores_of(np.concatenate(parts)))


def explain(job: Rows) -> Explained:
    """Explain rows, in blocks that bound the memory."""
    blocks, scores, told = _Blocks(job), [], []
    for batch, matrix in blocks:
        explanation = job.loaded.model.explain_encoded(batch, matrix)
        scores.append(explanation.anomaly_scores)
        n_columns = len(explanation.column_names)
        told += [
            {**row, "sentences": explanation.sentences(place, n_columns=n_columns)}
            for place, row in enumerate(explanation.to_dicts())
        ]
    return Explained(blocks.scored(np.concatenate(scores)), told)


class _Blocks:
    """The rows of a request, encoded block by block, and what is unusual in them."""

    def __init__(self, job: Rows) -> None:
        self._job, self._findings = job, Findings(REQUEST)

    def __iter__(self) -> Iterator[tuple[pa.RecordBatch, Any]]:
        table = Table(REQUEST, tuple(self._job.batch.schema.names), lambda: iter([self._job.batch]))
        try:
            for batch in table.batches():
                yield batch, self._job.loaded.model.encoder.encode_batch(batch, self._findings)
                self._findings.rows_before += batch.num_rows
        except TableError as fault:
            raise unusable_rows(str(fault)) from None

    def scored(self, scores: npt.NDArray[np.float64]) -> Scored:
        """The result, when all blocks have been gone through."""
        strays = self._findings.strays
        unseen = {column: stray.n_rows for (column, matter), stray in strays.items() if matter == UNSEEN}
        return Scored(scores, -scores < self._job.loaded.model.estimator.offset_, self._findings.told(), unseen)
