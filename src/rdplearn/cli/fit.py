"""`rdplearn fit`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from rdplearn.cli.framework import TalkOptions
from rdplearn.cli.options import Dask, ReadingOptions, TablePath, TrainingOptions

MOST_STEPS_AGAIN = 1000  # training that takes longer is not repeated to see how new rows score


def fit(
    *,
    table: TablePath,
    model_path: Annotated[str, typer.Option("--model", "-m", metavar="FILE", help="Where to write the model.")],
    unseen: Annotated[
        list[str] | None,
        typer.Option("--id", "--label", metavar="COLUMN", help="Leave this column out of the model, as --ignore does."),
    ] = None,
    dask: Dask = None,
    talk: TalkOptions,
    reading: ReadingOptions,
    training: TrainingOptions,
) -> None:
    """Learn what is usual in a table and keep it in a model file.

    The table may be larger than memory: it is read once, and at most 100,000 of its rows are kept. Models that make
    features or groups come from embed and cluster, with -m.

    \b
    Examples:
      rdplearn fit sales.csv -m model.safetensors
      rdplearn fit sales.parquet -m model.safetensors --id order --false-alarm-rate 0.001
    """
    from rdplearn._storage.models import save
    from rdplearn._watch.watching import remember_scores_of, score_sampler
    from rdplearn.cli.backends import chosen_backend
    from rdplearn.cli.checks import require_columns
    from rdplearn.table_model import TableModel, watched

    with chosen_backend(dask, reading, talk) as backend:
        backend.check({"table": table}, None, model_path)
        opened = backend.open(table)
        require_columns(opened, carried=unseen or [])
        detector, encoder = training.detector(verbose=talk.shows_progress), training.encoder(unseen or [])
        sampler = score_sampler()
        read = opened if dask is not None else watched(opened, sampler, frozenset(encoder.ignore))
        model = backend.fit(TableModel(detector, encoder), read)
        if dask is None and (detector.n_steps or 0) <= MOST_STEPS_AGAIN:
            remember_scores_of(model, sampler)
    save(model, model_path)
    facts = {
        "table": opened.name.strip("'"),
        "n_rows": model.encoder.n_rows_,
        "n_columns": len(model.encoder.columns_),
        "n_features": len(model.encoder.feature_names_),
        "threshold": -detector.offset_,
        "model": model_path,
    }
    talk.tell(facts, print_fit)


def print_fit(facts: Mapping[str, Any]) -> None:
    typer.echo(
        f"{facts['n_rows']:,} rows, {facts['n_columns']} columns as {facts['n_features']} numbers. Rows with an "
        f"anomaly score above {facts['threshold']:.4g} are reported.\nModel: {facts['model']}"
    )
