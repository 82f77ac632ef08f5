"""`rdplearn inspect`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from rdplearn.cli.framework import TalkOptions
from rdplearn.cli.options import MoreTables
from rdplearn.cli.reading_options import ReadingOptions
from rdplearn.cli.training_options import ColumnOptions


def inspect(
    *,
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="A table or a model file; - is a table on stdin.")
    ] = None,
    more: MoreTables = None,
    talk: TalkOptions,
    reading: ReadingOptions,
    columns: ColumnOptions,
) -> None:
    """Show how each column of a table is read, or what is in a model file.

    \b
    Examples:
      rdplearn inspect sales.csv
      rdplearn inspect sales.csv --kind zip=category --missing n/a
      rdplearn inspect january.csv february.csv
      rdplearn inspect --sql sqlite:///shop.db --table sales
      rdplearn inspect model.safetensors
    """
    from rdplearn._storage.container import looks_like_model_file
    from rdplearn.cli.checks import files_named

    if file is not None and not more and looks_like_model_file(file):
        from rdplearn.cli.model_facts import facts_of_model  # here: tables are looked at without models

        facts = facts_of_model(file)
    else:
        files = files_named(file, more)
        reading.check(files)
        facts = facts_of_table(files, talk, reading, columns)
    talk.tell(facts, print_facts)


def facts_of_table(
    path: str | list[str] | None, talk: TalkOptions, reading: ReadingOptions, columns: ColumnOptions
) -> dict[str, Any]:
    from rdplearn.cli.printing import told_while_read

    opened = reading.open(path)
    encoder = columns.encoder([])
    described = encoder.look(told_while_read(opened, talk.shows_progress))
    return {
        "table": opened.name.strip("'"),
        "n_rows": encoder.n_rows_,
        "n_features": sum(len(column["becomes"]) for column in described),
        "columns": described,
    }


def print_facts(facts: Mapping[str, Any]) -> None:
    from rdplearn.cli.printing import print_rows
    from rdplearn.table.wording import counted

    if "columns" in facts:
        print_rows([shown_column(column) for column in facts["columns"]], whole=["typical", "note"])
    if "model" in facts:
        print_rows(facts["training"])
        changed = ", ".join(f"{name}={value}" for name, value in facts["parameters"].items() if value is not None)
        typer.echo(f"{facts['estimator']}({changed})")
        if "threshold" in facts:
            typer.echo(f"Rows with an anomaly score above {facts['threshold']:.4g} are reported.")
        if "n_answers" in facts:
            typer.echo(
                f"It has {counted(facts['n_answers'], 'answer')} about rows, and "
                f"{counted(len(facts['muting_rules']), 'muting rule')}."
            )
        if "n_components" in facts:
            groups = f", in {facts['n_clusters']:,} clusters" if "n_clusters" in facts else ""
            typer.echo(f"{facts['n_components']:,} features per row{groups}.")
    rows = f"{counted(facts['n_rows'], 'row')}, " if "n_rows" in facts else ""
    typer.echo(f"{rows}{counted(facts['n_features'], 'component')} per row.")


def shown_column(column: dict[str, Any]) -> dict[str, Any]:
    """A column of the table as a row of the printout: the names of its numbers shortened to their count."""
    names = column["becomes"]
    becomes = ", ".join(names) if len(names) <= 2 else f"{len(names)} components"
    shown = {**column, "becomes": becomes or "(left out)"}
    about = "about " if shown.pop("distinct_is_estimate", False) else ""
    return shown | {"distinct": f"{about}{column['distinct']:,}"}
