"""`rdplearn detect`."""

from __future__ import annotations

from rdplearn.cli.commands import TalkOptions
from rdplearn.cli.options import (
    Carried,
    ColumnOptions,
    KeptModel,
    Label,
    OutputPath,
    ReadingOptions,
    ReportPath,
    TablePath,
    TopCount,
    TrainingOptions,
)


def detect(
    table: TablePath,
    talk: TalkOptions,
    reading: ReadingOptions,
    columns: ColumnOptions,
    training: TrainingOptions,
    output: OutputPath = None,
    model_path: KeptModel = None,
    report_path: ReportPath = None,
    carried: Carried = None,
    label: Label = None,
    n_top: TopCount = 10,
) -> None:
    """Find the rows of a table that are unlike the rest.

    Learns what is usual from the table itself, scores every row and prints the most unusual ones.

    \b
    Examples:
      rdplearn detect sales.csv
      rdplearn detect sales.csv --id order --ignore note --contamination 0.01 -o scores.parquet
      rdplearn detect sales.csv --id order --report report.html
      zcat sales.csv.gz | rdplearn detect - --json
    """
    from rdplearn.cli.checks import check_paths, require_columns
    from rdplearn.cli.printing import told_while_read
    from rdplearn.cli.scoring import Outlet
    from rdplearn.report import GatheredRows, describe_detection, write_page
    from rdplearn.storage import save
    from rdplearn.table_model import TableModel

    check_paths(table, output, model_path, report_path)
    opened = reading.open(table)
    require_columns(opened, carried=carried or [], label=label)
    outlet = Outlet(opened, talk, output=output, carried=carried or [], label=label, n_top=n_top)
    unseen = [*(carried or []), *([label] if label else [])]
    detector = training.detector(verbose=talk.shows_progress)
    model = TableModel(detector, columns.encoder(unseen)).fit(told_while_read(opened, talk.shows_progress))
    if model_path is not None:
        save(model, model_path)
    gathered = GatheredRows(opened, label=label) if report_path is not None else None
    outlet.score(model, watchers=[gathered.add] if gathered is not None else [])
    if report_path is not None and gathered is not None:
        write_page(describe_detection(model, gathered, ids=carried or []), report_path)
    files = {"model": model_path, "report": report_path}
    outlet.tell({name: path for name, path in files.items() if path is not None})
