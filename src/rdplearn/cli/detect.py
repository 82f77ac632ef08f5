"""`rdplearn detect`."""

from __future__ import annotations

import typer

from rdplearn.cli.commands import TalkOptions
from rdplearn.cli.options import (
    Carried,
    ColumnOptions,
    Dask,
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
    dask: Dask = None,
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
    from rdplearn._storage.models import save
    from rdplearn.cli.checks import check_paths, require_columns
    from rdplearn.cli.places import work_place
    from rdplearn.cli.scoring import Outlet
    from rdplearn.report import GatheredRows, describe_detection, write_page
    from rdplearn.table_model import TableModel

    if dask is not None and report_path is not None:
        raise typer.BadParameter("is written on one machine only. Leave it out with --dask.", param_hint="--report")
    with work_place(dask, reading, talk) as place:
        place.check(table, output, model_path)
        check_paths(table, None, report_path)
        opened = place.open(table)
        require_columns(opened, carried=carried or [], label=label)
        outlet = Outlet(place, opened, output=output, carried=carried or [], label=label, n_top=n_top)
        unseen = [*(carried or []), *([label] if label else [])]
        detector = training.detector(verbose=talk.shows_progress)
        model = place.fit(TableModel(detector, columns.encoder(unseen)), opened)
        if model_path is not None:
            save(model, model_path)
        gathered = GatheredRows(opened, label=label) if report_path is not None else None
        outlet.score(model, watchers=[gathered] if gathered is not None else [])
    if report_path is not None and gathered is not None:
        write_page(describe_detection(model, gathered, ids=carried or []), report_path)
    files = {"model": model_path, "report": report_path}
    outlet.tell({name: path for name, path in files.items() if path is not None})
