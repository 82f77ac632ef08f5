"""Tables of any columns in partitions: one pass learns the encoding and draws the rows that a model is fitted on.

Each partition is summarised where it is. Summaries are joined on the cluster, a few at a time, in the order of the
rows; so the encoding is that of the whole table on one machine, and so are the rows of the sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed

from rdplearn._distributed.client import Tasks, in_groups
from rdplearn._distributed.parquet_parts import Dataset, Part
from rdplearn._distributed.partitions import Collection, column_names_of, partitions_of
from rdplearn._distributed.worker_memory import keep_freed_memory
from rdplearn.errors import TableError
from rdplearn.table import Table, TableEncoder, TableSummary, open_table
from rdplearn.table.frames import read_frame
from rdplearn.table.memory import TableMemory, learn_memory
from rdplearn.table.sampling import RowSample, RowSampler, join_samples
from rdplearn.table_model import TableModel, watched

JOINED_AT_ONCE = 8


@dataclass(frozen=True)
class PartitionedTable:
    """A table of any columns in partitions.

    parts : tasks, or `Part` of a Parquet dataset, which workers read a batch at a time
    first_rows : how many rows come before each part
    """

    name: str
    column_names: tuple[str, ...]
    parts: Sequence[Delayed | Part]
    first_rows: Sequence[int]
    n_rows: int


def partitioned_table(source: Collection | Dataset, tasks: Tasks) -> PartitionedTable:
    """Count the rows of every part; of a Parquet dataset they are known."""
    if isinstance(source, Dataset):
        firsts = [part.first_row for part in source.parts]
        return PartitionedTable(source.name, source.column_names, source.parts, firsts, source.n_rows)
    parts = partitions_of(source)
    counts = tasks.results(tasks.start([tasks.named(f"rdp-count-part-{n}", len, part) for n, part in enumerate(parts)]))
    ends = np.cumsum(counts)
    names = column_names_of(source) or [f"column_{place + 1}" for place in range(int(source.shape[1]))]
    return PartitionedTable("the table", tuple(map(str, names)), parts, list(ends - counts), int(ends[-1]))


def fit_encoder(encoder: TableEncoder, table: PartitionedTable, tasks: Tasks) -> TableEncoder:
    """Learn the encoding of all rows."""
    summaries = [
        tasks.named(f"rdp-summarise-part-{place}", summarise_part, part, table.name, encoder)
        for place, part in enumerate(table.parts)
    ]
    return encoder.fit_summary(tasks.results(tasks.start([merged(summaries, tasks)]))[0])


def fit_table_model(model: TableModel, table: PartitionedTable, tasks: Tasks, fit_estimator: Any) -> TableModel:
    """Learn the columns, draw the rows, fit the estimator on the cluster.

    fit_estimator : fits an estimator on a collection, given the columns of the table
    """
    sampler = model.sampler(len(table.column_names))
    sampling = (sampler.n_rows, sampler.seed, table.n_rows)
    passes = [
        tasks.named(f"rdp-read-part-{place}", read_once, part, table.name, model.encoder, sampling, first_row)
        for place, (part, first_row) in enumerate(zip(table.parts, table.first_rows, strict=True))
    ]
    summaries = [tasks.named(f"rdp-pick-summary-{n}", summary_of, once) for n, once in enumerate(passes)]
    samples = [tasks.named(f"rdp-pick-sample-{n}", sample_of, once) for n, once in enumerate(passes)]
    joined = tasks.named("rdp-join-sample", join_all, samples, sampling)
    summary, sample = tasks.start([merged(summaries, tasks), joined])
    model.encoder.fit_summary(tasks.results([summary])[0])
    if model.encoder.n_rows_ != table.n_rows:
        raise TableError(
            f"{table.name} has changed while it was read: {table.n_rows:,} rows were counted, and "
            f"{model.encoder.n_rows_:,} came. Repeat the fit when nothing writes to the table any more."
        )
    name = table.name if table.n_rows <= sampler.n_rows else f"a sample of {sampler.n_rows:,} rows of {table.name}"
    matrix = tasks.start([tasks.named("rdp-encode-sample", encode_sample, sample, model.encoder, name)])[0]
    shape = (min(table.n_rows, sampler.n_rows), len(model.encoder.feature_names_))
    remembered = tasks.named("rdp-remember-columns", remember_columns, sample, model.encoder)
    collection = da.from_delayed(delayed(matrix), shape, dtype=np.float32)
    fit_estimator(model.estimator, collection, model.encoder.table_columns_)
    model.memory_ = tasks.results(tasks.start([remembered]))[0]
    return model


def merged(summaries: Sequence[Delayed], tasks: Tasks) -> Delayed:
    """A task for the summary of all parts, joined a few neighbours at a time."""
    level = 0
    while len(summaries) > 1:
        groups = enumerate(in_groups(summaries, JOINED_AT_ONCE))
        summaries = [
            tasks.named(f"rdp-merge-summaries-{level}-{number}", merge_summaries, list(group))
            for number, group in groups
        ]
        level += 1
    return summaries[0]


def merge_summaries(summaries: Sequence[TableSummary]) -> TableSummary:
    """The summary of parts that follow each other."""
    whole = summaries[0]
    for later in summaries[1:]:
        whole = whole.merge(later)
    return whole


def summarise_part(part: Any, name: str, encoder: TableEncoder) -> TableSummary:
    """What a part says of the encoding."""
    return encoder.summarise(table_of(part, name))


def read_once(
    part: Any, name: str, encoder: TableEncoder, sampling: tuple[int, int, int], first_row: int
) -> tuple[TableSummary, RowSample | None]:
    """What a part says of the encoding, and its share of the sample, in one pass."""
    keep_freed_memory()
    n_rows, seed, n_rows_in_all = sampling
    sampler = RowSampler(n_rows, seed=seed, first_row=first_row, n_rows_in_all=n_rows_in_all)
    summary = encoder.summarise(watched(table_of(part, name), sampler, frozenset(encoder.ignore)))
    return summary, None if sampler.is_empty else sampler.sample()


def summary_of(once: tuple[TableSummary, RowSample | None]) -> TableSummary:
    """The first half of `read_once`."""
    return once[0]


def sample_of(once: tuple[TableSummary, RowSample | None]) -> RowSample | None:
    """The second half of `read_once`."""
    return once[1]


def join_all(samples: Sequence[RowSample | None], sampling: tuple[int, int, int]) -> RowSample:
    """The sample of the whole table."""
    return join_samples([sample for sample in samples if sample is not None], sampling[0], seed=sampling[1])


def encode_sample(sample: RowSample, encoder: TableEncoder, name: str) -> Any:
    """The matrix of the sampled rows."""
    return encoder.transform(Table(name, *read_frame(sample.rows)))


def remember_columns(sample: RowSample, encoder: TableEncoder) -> TableMemory:
    """How the columns are spread, by the sampled rows."""
    return learn_memory(sample.rows, encoder)


def table_of(part: Any, name: str) -> Table:
    """A partition as a table that is read in batches; a file is never in memory as a whole."""
    opened = part.open() if isinstance(part, Part) else open_table(part)
    return Table(name, opened.column_names, opened.read)
