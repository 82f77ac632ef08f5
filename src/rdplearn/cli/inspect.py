"""`rdplearn inspect`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rdplearn.cli.commands import TalkOptions
from rdplearn.cli.options import ColumnOptions, ReadingOptions

if TYPE_CHECKING:
    from rdplearn.detector import RDPDetector


def inspect(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A table or a model file; - is a table on stdin.")],
    talk: TalkOptions,
    reading: ReadingOptions,
    columns: ColumnOptions,
) -> None:
    """Show what becomes of each column of a table, or what is in a model.

    \b
    Examples:
      rdplearn inspect sales.csv
      rdplearn inspect sales.csv --kind zip=category --missing n/a
      rdplearn inspect model.safetensors
    """
    from rdplearn.model_file import looks_like_model_file

    facts = facts_of_model(file) if looks_like_model_file(file) else facts_of_table(file, reading, columns)
    if talk.as_json:
        typer.echo(json.dumps(facts))
    else:
        print_facts(facts)


def facts_of_table(path: str, reading: ReadingOptions, columns: ColumnOptions) -> dict[str, Any]:
    opened = reading.open(path)
    encoder = columns.encoder([]).fit(opened)
    return {
        "table": opened.name.strip("'"),
        "n_rows": encoder.n_rows_,
        "n_features": len(encoder.feature_names_),
        "columns": encoder.describe(),
    }


def facts_of_model(path: str) -> dict[str, Any]:
    from rdplearn.storage import load, training_summary
    from rdplearn.table_model import TableModel

    model = load(path)
    estimator: RDPDetector = model.estimator if isinstance(model, TableModel) else model
    facts = {
        "model": path,
        "estimator": type(estimator).__name__,
        "n_features": int(estimator.n_features_in_),
        "threshold": -float(estimator.offset_),
        "parameters": estimator.get_params(),
        "training": training_summary(estimator.history_),
    }
    if isinstance(model, TableModel):
        facts |= {"n_rows": model.encoder.n_rows_, "columns": model.encoder.describe()}
    return facts


def print_facts(facts: dict[str, Any]) -> None:
    from rdplearn.cli.printing import print_rows

    if "columns" in facts:
        print_rows([shown_column(column) for column in facts["columns"]])
    if "model" in facts:
        print_rows(facts["training"])
        changed = ", ".join(f"{name}={value}" for name, value in facts["parameters"].items() if value is not None)
        typer.echo(f"{facts['estimator']}({changed})")
        typer.echo(f"Rows with an anomaly score above {facts['threshold']:.4g} are reported.")
    rows = f"{facts['n_rows']:,} rows, " if "n_rows" in facts else ""
    typer.echo(f"{rows}{facts['n_features']:,} numbers per row.")


def shown_column(column: dict[str, Any]) -> dict[str, Any]:
    """A column of the table as a row of the printout: the names of its numbers shortened to their count."""
    names = column["becomes"]
    becomes = ", ".join(names) if len(names) <= 2 else f"{len(names)} numbers"
    return {**column, "becomes": becomes or "(left out)"}
