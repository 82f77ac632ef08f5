"""`rdplearn embed`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from rdplearn.cli.framework import TalkOptions
from rdplearn.cli.options import ClassedRowOptions, FileOptions
from rdplearn.cli.reading_options import ReadingOptions
from rdplearn.cli.training_options import FeatureOptions

AGREEMENT = (
    "({n_classes:,} classes in {n_labelled:,} rows): a small network tells them apart with a macro F-score of "
    "{f_score:.3f}."
)


def embed(
    *,
    files: FileOptions,
    wanted: ClassedRowOptions,
    talk: TalkOptions,
    reading: ReadingOptions,
    training: FeatureOptions,
) -> None:
    """Turn each row of a table into features that other programs can learn from.

    Learns the features from the table, from at most 100,000 of its rows, or uses a saved model. The table may be larger
    than memory. With a MODEL, --resume continues a run that was stopped.

    \b
    Examples:
      rdplearn embed sales.csv -o features.parquet -m model.safetensors
      rdplearn embed model.safetensors new.csv --id order -o features.csv
      rdplearn embed sales.csv --components 16 --label region -o - | head
    """
    from rdplearn._results.embedded import FeatureJudge, embedded_rows, feature_columns
    from rdplearn._results.formats import check_carried
    from rdplearn.cli.backends import chosen_backend
    from rdplearn.cli.checks import check_one_machine
    from rdplearn.cli.task import open_task

    if files.output is None and files.kept_model is None and wanted.label is None:
        raise typer.BadParameter(
            "is missing. Say where to write the features, or save only the model with -m.", param_hint="--output"
        )
    check_one_machine(wanted.dask, label=wanted.label)
    with chosen_backend(wanted.dask, reading, talk, files.if_exists) as backend:
        task = open_task(files, wanted, backend)
        model = task.model(training.transformer(verbose=talk.shows_progress), training)
        n_components, n_rows = model.estimator.n_components_, model.encoder.n_rows_
        check_carried(wanted.ids, feature_columns(n_components))
        judge = FeatureJudge(wanted.label, task.table.name) if wanted.label else None
        if files.output is not None or judge is not None:
            n_rows = task.write(embedded_rows, model, "embedded", [judge]).n_rows
    if files.output == "-":
        return
    facts = {
        "table": task.table.name.strip("'"),
        "n_rows": n_rows,
        "n_components": n_components,
        "model": files.model or files.kept_model,
        "evaluation": judge.figures() if judge else None,
        "output": files.output,
    }
    talk.tell(facts, print_features)


def print_features(facts: Mapping[str, Any]) -> None:
    from rdplearn.cli.printing import print_ending

    typer.echo(f"{facts['n_rows']:,} rows, {facts['n_components']:,} features each.")
    print_ending(facts, agreement=AGREEMENT, output="Features")
