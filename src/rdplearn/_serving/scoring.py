"""What is done with the rows of a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rdplearn._serving.models import LoadedModel
from rdplearn._serving.problems import unusable_rows
from rdplearn.errors import TableError
from rdplearn.table import Table
from rdplearn.table.findings import UNSEEN, Findings
from rdplearn.table.wording import shown

REQUEST = "the request"
MOST_ROWS_TOGETHER = 1024


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


def check_columns(loaded: LoadedModel, names: Sequence[str]) -> None:
    """See that the request has the columns of the fit, and no others."""
    try:
        Table(REQUEST, tuple(names), lambda: iter(()))
        new = loaded.model.encoder.unknown_columns(names, REQUEST)
    except TableError as fault:
        raise unusable_rows(str(fault)) from None
    if new:
        more = f" and {len(new) - 1} more" if len(new) > 1 else ""
        raise unusable_rows(f"Column {shown(new[0])}{more} of the request was not in the fit. Leave it out.")


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
    """Places of jobs with the same model, columns and types, in groups of few rows."""
    groups: dict[tuple[int, pa.Schema], list[list[int]]] = {}
    for place, job in enumerate(jobs):
        of_kind = groups.setdefault((id(job.loaded), job.batch.schema), [[]])
        n_rows = sum(jobs[other].batch.num_rows for other in of_kind[-1])
        if of_kind[-1] and n_rows + job.batch.num_rows > MOST_ROWS_TOGETHER:
            of_kind.append([])
        of_kind[-1].append(place)
    return [group for of_kind in groups.values() for group in of_kind]


def _score_as_one(jobs: Sequence[Rows]) -> list[Scored | Exception] | None:
    """The results, or None if anything about the rows is unusual."""
    try:
        scored = score(Rows(jobs[0].loaded, pa.concat_batches([job.batch for job in jobs])))
    except TableError:
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
    except TableError as fault:
        return unusable_rows(str(fault))
    except Exception as fault:
        return fault


def score(job: Rows) -> Scored:
    """Score rows, in blocks that bound the memory."""
    model, findings = job.loaded.model, Findings(REQUEST)
    parts = []
    for batch in as_table(job.batch).batches():
        parts.append(model.estimator.score_samples(model.encoder.encode_batch(batch, findings)))
        findings.rows_before += batch.num_rows
    normality = np.concatenate(parts)
    return Scored(-normality, normality < model.estimator.offset_, findings.told(), unseen_rows(findings))


def explain_all(jobs: Sequence[Rows]) -> list[Explained | Exception]:
    """Explain the rows of several requests, one after the other."""
    results: list[Explained | Exception] = []
    for job in jobs:
        try:
            results.append(explain(job))
        except TableError as fault:
            results.append(unusable_rows(str(fault)))
        except Exception as fault:
            results.append(fault)
    return results


def explain(job: Rows) -> Explained:
    """Explain rows, in blocks that bound the memory."""
    model, findings = job.loaded.model, Findings(REQUEST)
    scores, told = [], []
    for batch in as_table(job.batch).batches():
        explanation = model.explain_encoded(batch, model.encoder.encode_batch(batch, findings))
        findings.rows_before += batch.num_rows
        scores.append(explanation.anomaly_scores)
        n_columns = len(explanation.column_names)
        told += [
            {**row, "sentences": explanation.sentences(place, n_columns=n_columns)}
            for place, row in enumerate(explanation.to_dicts())
        ]
    found = np.concatenate(scores)
    reported = -found < model.estimator.offset_
    return Explained(Scored(found, reported, findings.told(), unseen_rows(findings)), told)


def as_table(batch: pa.RecordBatch) -> Table:
    """The rows as a table, which reads them in blocks."""
    return Table(REQUEST, tuple(batch.schema.names), lambda: iter([batch]))


def unseen_rows(findings: Findings) -> dict[str, int]:
    """Rows with values that the fit had not seen, by column."""
    return {column: stray.n_rows for (column, matter), stray in findings.strays.items() if matter == UNSEEN}
