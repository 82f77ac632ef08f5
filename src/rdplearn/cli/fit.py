"""`rdplearn fit`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from rdplearn.cli.commands import TalkOptions
from rdplearn.cli.options import ColumnOptions, Dask, ReadingOptions, TablePath, TrainingOptions


def fit(
    table: TablePath,
    talk: TalkOptions,
    reading: ReadingOptions,
    columns: ColumnOptions,
    training: TrainingOptions,
    model_path: Annotated[str, typer.Option("--model", "-m", metavar="FILE", help="Where to write the model.")],
    unseen: Annotated[
        list[str] | None,
        typer.Option("--id", "--label", metavar="COLUMN", help="Leave this column out of the model, as --ignore does."),
    ] = None,
    dask: Dask = None,
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
    from rdplearn.cli.checks import require_columns
    from rdplearn.cli.places import work_place
    from rdplearn.table_model import TableModel

    with work_place(dask, reading, talk) as place:
        place.check(table, None, model_path)
        opened = place.open(table)
        require_columns(opened, carried=unseen or [])
        detector = training.detector(verbose=talk.shows_progress)
        model = place.fit(TableModel(detector, columns.encoder(unseen or [])), opened)
    save(model, model_path)
    facts = {
        "table": opened.name.strip("'"),
        "n_rows": model.encoder.n_rows_,
        "n_columns": len(model.encoder.columns_),
        "n_features": len(model.encoder.feature_names_),
        "threshold": -detector.offset_,
        "model": model_path,
    }
    if talk.as_json:
        typer.echo(json.dumps(facts))
    else:
        typer.echo(
            f"{facts['n_rows']:,} rows, {facts['n_columns']} columns as {facts['n_features']} numbers. Rows with an "
            f"anomaly score above {facts['threshold']:.4g} are reported.\nModel: {model_path}"
        )
