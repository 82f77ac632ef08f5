"""`rdplearn embed`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import typer

from rdplearn.cli.commands import TalkOptions
from rdplearn.cli.options import (
    Carried,
    Classes,
    ColumnOptions,
    Dask,
    FeatureOptions,
    KeptModel,
    OutputPath,
    ReadingOptions,
    Resume,
    TableAfterModel,
    TableOrModel,
)


def embed(
    table_or_model: TableOrModel,
    talk: TalkOptions,
    reading: ReadingOptions,
    columns: ColumnOptions,
    training: FeatureOptions,
    table: TableAfterModel = None,
    output: OutputPath = None,
    kept_model: KeptModel = None,
    carried: Carried = None,
    label: Classes = None,
    resume: Resume = False,
    dask: Dask = None,
) -> None:
    """Turn the rows of a table into features, for any other program to learn from.

    Learns the features from the table itself, at most 100,000 of its rows, or takes a model that was kept. Rows are
    read, turned and written in batches, so the table may be larger than memory. With a MODEL, --resume goes on with
    what a stopped run has left in FILE.partial.

    \b
    Examples:
      rdplearn embed sales.csv -o features.parquet -m model.safetensors
      rdplearn embed model.safetensors new.csv --id order -o features.csv
      rdplearn embed sales.csv --components 16 --label region -o - | head
    """
    from rdplearn._results.embedded import FeatureJudge, embedded_rows, feature_columns
    from rdplearn._results.formats import check_carried
    from rdplearn.cli.models import open_task
    from rdplearn.cli.places import work_place

    if output is None and kept_model is None and label is None:
        raise typer.BadParameter("must say where features go, unless -m keeps the model.", param_hint="--output")
    if dask is not None and label is not None:
        raise typer.BadParameter("is compared on one machine only. Leave it out with --dask.", param_hint="--label")
    with work_place(dask, reading, talk) as place:
        task = open_task(
            table_or_model,
            table,
            place,
            output=output,
            kept_model=kept_model,
            carried=carried or [],
            label=label,
            resume=resume,
        )
        model = task.model(training.transformer(verbose=talk.shows_progress), columns, training)
        n_components = model.estimator.n_components_
        check_carried(task.carried, feature_columns(n_components))
        results = place.results(task.table, output, task.carried)
        judge = FeatureJudge(label, task.table.name) if label else None
        if output is not None or judge is not None:
            results.write(
                embedded_rows,
                model,
                doing="embedded",
                watchers=[judge] if judge else [],
                made_of=task.made_of(),
                resume=resume,
            )
    if output == "-":
        return
    facts = {
        "table": task.table.name.strip("'"),
        "n_rows": results.n_rows or model.encoder.n_rows_,
        "n_components": n_components,
        "model": task.model_path or kept_model,
        "evaluation": judge.figures() if judge else None,
        "output": output,
    }
    tell({name: fact for name, fact in facts.items() if fact is not None}, talk)


def tell(facts: Mapping[str, Any], talk: TalkOptions) -> None:
    if talk.as_json:
        typer.echo(json.dumps(facts))
        return
    typer.echo(f"{facts['n_rows']:,} rows, {facts['n_components']:,} features each.")
    if "evaluation" in facts:
        figures = facts["evaluation"]
        typer.echo(
            f"Against the labels ({figures['n_classes']:,} classes in {figures['n_labelled']:,} rows): a small network "
            f"tells them apart with a macro F-score of {figures['f_score']:.3f}."
        )
    for title in ("model", "output"):
        if title in facts:
            typer.echo(f"{'Features' if title == 'output' else 'Model'}: {facts[title]}")
