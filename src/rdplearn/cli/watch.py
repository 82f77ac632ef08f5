"""`rdplearn watch`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from rdplearn.cli.framework import TalkOptions
from rdplearn.cli.options import Jobs, ModelPath, MoreTables, ReportPath, TablePath
from rdplearn.cli.reading_options import ReadingOptions

DUE = 3
MODELS = ["RDPDetector", "RDPTransformer", "RDPClusterer"]


def watch(
    *,
    model_path: ModelPath,
    table: TablePath = None,
    more: MoreTables = None,
    level: Annotated[
        float, typer.Option(min=1e-9, max=0.5, help="How often an unchanged table may be called changed.")
    ] = 0.01,
    n_top: Annotated[int, typer.Option("--top", min=1, max=10_000, help="How many columns to print.")] = 10,
    report_path: ReportPath = None,
    n_jobs: Jobs = -1,
    talk: TalkOptions,
    reading: ReadingOptions,
) -> None:
    """Check whether the data has changed since the fit, so that a refit is due.

    Compares how many rows are reported, how they score, and how the values of each column spread. The exit code is 3
    if a refit is due, and 0 if not.

    \b
    Examples:
      rdplearn watch model.safetensors today.csv
      rdplearn watch model.safetensors today.csv --report changes.html
      rdplearn watch model.safetensors --sql sqlite:///shop.db --table sales
      rdplearn watch model.safetensors today.csv; [ $? -eq 3 ] && rdplearn fit month.csv -m model.safetensors
    """
    from rdplearn._watch.watching import watch as watch_table
    from rdplearn.cli.checks import check_page, check_paths, files_named, load_table_model
    from rdplearn.report import changes_report, write_page

    files = files_named(table, more)
    reading.check(files)
    check_paths({"table": files, "model": model_path}, None, report_path)
    check_page(report_path)
    model = load_table_model(model_path, MODELS, n_jobs)
    verdict = watch_table(model, reading.open(files), level=level)
    if report_path is not None:
        write_page(changes_report(model, verdict), report_path)
    facts = {**verdict.to_dict(), "model": model_path, "report": report_path}
    talk.tell(facts, lambda told: print_verdict(told, n_top))
    if verdict.due:
        raise typer.Exit(DUE)


def print_verdict(facts: Mapping[str, Any], n_top: int) -> None:
    from rdplearn.cli.printing import print_rows

    rows = [facts[name] for name in ("alarms", "scores") if name in facts and facts[name] is not None]
    print_rows([shown_change(change) for change in [*rows, *facts["columns"][:n_top]]])
    for sentence in facts["summary"]:
        typer.echo(sentence)
    if "report" in facts:
        typer.echo(f"Report: {facts['report']}")


def shown_change(change: Mapping[str, Any]) -> dict[str, Any]:
    """A change as a row of the printout."""
    return {
        "column": change["column"] or "(all rows)",
        "what": change["matter"],
        "rows touched": f"{change['effect']:.1%}",
        "matters from": f"{change['least']:.1%}",
        "by chance": f"{change['p_value']:.2g}",
        "changed": change["matters"],
    }
