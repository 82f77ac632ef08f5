"""`rdplearn report`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from rdplearn.cli.framework import TalkOptions
from rdplearn.cli.options import Jobs, ModelPath, MoreTables, TablePath, UnseenColumns
from rdplearn.cli.reading_options import ReadingOptions

USUAL_NAME = "report.html"


def report(
    *,
    model_path: ModelPath,
    table: TablePath = None,
    more: MoreTables = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help=f"Write the page to this file [{USUAL_NAME}].")
    ] = None,
    unseen: UnseenColumns,
    n_top: Annotated[int, typer.Option("--top", min=1, max=10_000, help="How many rows to list and explain.")] = 300,
    n_jobs: Jobs = -1,
    talk: TalkOptions,
    reading: ReadingOptions,
) -> None:
    """Write a page about a table: its unusual rows and why, or its groups.

    The page is one HTML file for any browser. It needs no network. --json prints what the page shows; the page itself
    is then written only with --output.

    \b
    Examples:
      rdplearn report model.safetensors sales.csv
      rdplearn report model.safetensors sales.csv --id order --label fraud -o sales.html
      rdplearn report model.safetensors sales.csv --json > findings.json
    """
    from rdplearn.cli.checks import check_page, check_paths, files_named, load_table_model, require_columns
    from rdplearn.report import findings, write_page

    files = files_named(table, more)
    reading.check(files)
    path = output if output is not None or talk.as_json else USUAL_NAME
    check_paths({"table": files, "model": model_path}, None, path)
    check_page(path)
    model = load_table_model(model_path, ["RDPDetector", "RDPClusterer"], n_jobs)
    opened = reading.open(files)
    require_columns(opened, carried=unseen.ids, label=unseen.label)
    found = findings(model, opened, ids=unseen.ids, label=unseen.label, n_top=n_top)
    if path is not None:
        write_page(found, path)
    if talk.as_json:
        typer.echo(json.dumps(found, allow_nan=False))
    else:
        verdict = found["verdict"]
        typer.echo("\n".join([f"{verdict['title']}. {verdict['words']}", *found["summary"], f"Report: {path}"]))
