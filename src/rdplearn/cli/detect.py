"""`rdplearn detect`."""

from __future__ import annotations

from rdplearn.cli.framework import TalkOptions
from rdplearn.cli.options import (
    Dask,
    IfExistsOption,
    KeptModel,
    OutputPath,
    ReadingOptions,
    ReportPath,
    ScoredRowOptions,
    TablePath,
    TrainingOptions,
)


def detect(
    *,
    table: TablePath = None,
    output: OutputPath = None,
    if_exists: IfExistsOption = None,
    model_path: KeptModel = None,
    report_path: ReportPath = None,
    wanted: ScoredRowOptions,
    dask: Dask = None,
    talk: TalkOptions,
    reading: ReadingOptions,
    training: TrainingOptions,
) -> None:
    """Find the rows of a table that are unlike the rest.

    Learns what is usual from the table itself, scores every row and prints the most unusual ones.

    \b
    Examples:
      rdplearn detect sales.csv
      rdplearn detect sales.csv --id order --ignore note --contamination 0.01 -o scores.parquet
      rdplearn detect sales.csv --id order --report report.html
      rdplearn detect --sql postgresql://host/shop --table sales --id order -o sql:scores
      zcat sales.csv.gz | rdplearn detect - --json
    """
    from rdplearn._storage.models import save
    from rdplearn.cli.backends import chosen_backend
    from rdplearn.cli.checks import check_one_machine, check_page, require_columns
    from rdplearn.cli.score_output import ScoreOutput
    from rdplearn.report import GatheredRows, describe_detection, write_page
    from rdplearn.table_model import TableModel

    check_one_machine(dask, report=report_path)
    check_page(report_path)
    with chosen_backend(dask, reading, talk, if_exists) as backend:
        backend.check({"table": table}, output, model_path, report_path)
        opened = backend.open(table)
        require_columns(opened, carried=wanted.ids, label=wanted.label)
        scores = ScoreOutput(backend, opened, output, wanted)
        detector = training.detector(verbose=talk.shows_progress)
        model = backend.fit(TableModel(detector, training.encoder(wanted.all())), opened)
        if model_path is not None:
            save(model, model_path)
        gathered = GatheredRows(opened, label=wanted.label) if report_path is not None else None
        scores.score(model, watchers=[gathered] if gathered is not None else [])
    if report_path is not None and gathered is not None:
        write_page(describe_detection(model, gathered, ids=wanted.ids), report_path)
    scores.tell(model=model_path, report=report_path)
