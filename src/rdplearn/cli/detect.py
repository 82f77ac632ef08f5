"""`rdplearn detect`."""

from __future__ import annotations

from typing import Annotated

import typer

from rdplearn.cli.framework import TalkOptions
from rdplearn.cli.options import (
    Dask,
    IfExistsOption,
    Keep,
    KeptModel,
    MoreTables,
    OutputPath,
    ReportPath,
    ScoredRowOptions,
    TablePath,
)
from rdplearn.cli.reading_options import ReadingOptions
from rdplearn.cli.training_options import TrainingOptions


def detect(
    *,
    table: TablePath = None,
    more: MoreTables = None,
    output: OutputPath = None,
    if_exists: IfExistsOption = None,
    model_path: KeptModel = None,
    report_path: ReportPath = None,
    answers_path: Annotated[
        str | None,
        typer.Option("--answers", metavar="FILE", help="Use the answers in this file, which review or a report wrote."),
    ] = None,
    wanted: ScoredRowOptions,
    keep: Keep = False,
    dask: Dask = None,
    talk: TalkOptions,
    reading: ReadingOptions,
    training: TrainingOptions,
) -> None:
    """Find the unusual rows of a table, and say why.

    Learns what is usual from the table itself, and scores every row. Prints the most unusual rows with reasons, and
    the kinds of anomalies among them.

    \b
    Examples:
      rdplearn detect sales.csv
      rdplearn detect sales.csv --id order --ignore note --contamination 0.01 -o scores.parquet
      rdplearn detect sales.csv --keep -o sales_with_scores.csv
      rdplearn detect sales.csv --id order --report report.html
      rdplearn detect sales.xlsx --sheet 2024
      rdplearn detect january.csv february.csv
      rdplearn detect sales.csv --answers sales.csv.answers.csv
      rdplearn detect --sql postgresql://host/shop --table sales --id order -o sql:scores
      zcat sales.csv.gz | rdplearn detect - --json
    """
    from rdplearn._feedback.answers_file import read_answers
    from rdplearn._feedback.session import tell_file
    from rdplearn._feedback.tables import review
    from rdplearn._storage.models import save
    from rdplearn.cli.backends import chosen_backend
    from rdplearn.cli.checks import check_keeps_answers, check_one_machine, check_page, files_named, require_columns
    from rdplearn.cli.detect_output import DetectOutput
    from rdplearn.report import GatheredRows, describe_detection, write_page
    from rdplearn.table_model import TableModel

    check_one_machine(dask, report=report_path)
    check_page(report_path)
    files = files_named(table, more, dask)
    with chosen_backend(dask, reading, talk, if_exists) as backend:
        backend.check({"table": files, "answers": answers_path}, output, model_path, report_path)
        check_keeps_answers(model_path)
        if answers_path is not None:
            read_answers(answers_path)  # what is wrong with them is told before the work
        opened = backend.open(files)
        require_columns(opened, carried=wanted.ids, label=wanted.label)
        found = DetectOutput(backend, opened, output, wanted, keep=keep)
        detector = training.detector(verbose=talk.shows_progress)
        model = backend.fit(TableModel(detector, training.encoder(wanted.all())), opened)
        if answers_path is not None:
            model = review(model)
            tell_file(model, answers_path)
        if model_path is not None:
            save(model, model_path)
        gathered = GatheredRows(opened, label=wanted.label) if report_path is not None else None
        found.find(model, [gathered] if gathered is not None else [])
        if report_path is not None and gathered is not None:
            write_page(describe_detection(model, gathered, ids=wanted.ids), report_path)
    found.tell(model=model_path, report=report_path)
